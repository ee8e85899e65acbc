package translate

import (
	"encoding/json"
	"testing"
)

// TestZoned: of an answer, timestamps of statuses that have no zone are in UTC, and nothing
// else is another byte; a document without one is the same piece of memory.
func TestZoned(t *testing.T) {
	t.Parallel()
	const status = `{"state":"TASK_STATE_COMPLETED","timestamp":`
	for name, tt := range map[string]struct{ doc, want string }{
		"task":            {`{"id":"t","status":` + status + `"2026-11-27T02:26:04.123456"}}`, `{"id":"t","status":` + status + `"2026-11-27T02:26:04.123456Z"}}`},
		"spaces":          {`{ "id" : "t" , "status" : { "timestamp" : "2026-11-27T02:26:04" } }`, `{ "id" : "t" , "status" : { "timestamp" : "2026-11-27T02:26:04Z" } }`},
		"a space for T":   {`{"status":{"timestamp":"2026-11-27 02:26:04.5"}}`, `{"status":{"timestamp":"2026-11-27T02:26:04.5Z"}}`},
		"result":          {`{"jsonrpc":"2.0","id":1,"result":{"status":{"timestamp":"2026-11-27T02:26:04"}}}`, `{"jsonrpc":"2.0","id":1,"result":{"status":{"timestamp":"2026-11-27T02:26:04Z"}}}`},
		"wrapped":         {`{"result":{"task":{"status":{"timestamp":"2026-11-27T02:26:04"}}}}`, `{"result":{"task":{"status":{"timestamp":"2026-11-27T02:26:04Z"}}}}`},
		"event":           {`{"statusUpdate":{"status":{"timestamp":"2026-11-27T02:26:04"}}}`, `{"statusUpdate":{"status":{"timestamp":"2026-11-27T02:26:04Z"}}}`},
		"proto's names":   {`{"status_update":{"status":{"timestamp":"2026-11-27T02:26:04"}}}`, `{"status_update":{"status":{"timestamp":"2026-11-27T02:26:04Z"}}}`},
		"escaped name":    {`{"status":{"\u0074imestamp":"2026-11-27T02:26:04","timestamp":null}}`, ""},
		"list":            {`{"result":{"tasks":[{"status":{"timestamp":"2026-11-27T02:26:04"}},{"status":{"timestamp":"2026-11-27T02:26:05Z"}},{"status":{"timestamp":"2026-11-27T02:26:06"}}]}}`, `{"result":{"tasks":[{"status":{"timestamp":"2026-11-27T02:26:04Z"}},{"status":{"timestamp":"2026-11-27T02:26:05Z"}},{"status":{"timestamp":"2026-11-27T02:26:06Z"}}]}}`},
		"with a zone":     {`{"status":{"timestamp":"2026-11-27T02:26:04Z"}}`, ""},
		"with an offset":  {`{"status":{"timestamp":"2026-11-27T02:26:04+01:00"}}`, ""},
		"no time":         {`{"status":{"timestamp":"yesterday, about noon"}}`, ""},
		"no such day":     {`{"status":{"timestamp":"2026-02-30T02:26:04"}}`, ""},
		"too fine":        {`{"status":{"timestamp":"2026-11-27T02:26:04.1234567890"}}`, ""},
		"year 0":          {`{"status":{"timestamp":"0000-11-27T02:26:04"}}`, ""},
		"of metadata":     {`{"id":"t","metadata":{"status":{"timestamp":"2026-11-27T02:26:04"}}}`, ""},
		"of data":         {`{"task":{"artifacts":[{"parts":[{"data":{"status":{"timestamp":"2026-11-27T02:26:04"}}}]}]}}`, ""},
		"of the message":  {`{"status":{"message":{"metadata":{"timestamp":"2026-11-27T02:26:04"}}}}`, ""},
		"of no status":    {`{"task":{"timestamp":"2026-11-27T02:26:04"}}`, ""},
		"broken off":      {`{"status":{"timestamp":"2026-11-27T02:26:04`, ""},
		"broken off late": {`{"status":{"timestamp":"2026-11-27T02:26:04"`, `{"status":{"timestamp":"2026-11-27T02:26:04Z"`},
	} {
		doc := []byte(tt.doc)
		got := Zoned(doc)
		switch {
		case tt.want == "" && (string(got) != tt.doc || &got[0] != &doc[0]):
			t.Errorf("%s: %s is another: %s", name, tt.doc, got)
		case tt.want != "" && string(got) != tt.want:
			t.Errorf("%s: %s\nwant %s", name, got, tt.want)
		case string(doc) != tt.doc:
			t.Errorf("%s: what was given is %s now", name, doc)
		}
	}
}

// FuzzZoned: whatever comes, a valid document stays one, and what comes of it has no more
// timestamps to change.
func FuzzZoned(f *testing.F) {
	f.Add([]byte(`{"result":{"task":{"status":{"timestamp":"2026-11-27T02:26:04"}}}}`))
	f.Add([]byte(`{"status":{"timestamp":"2026-11-27 02:26:04.5"}} {"timestamp":"2026-11-27T02:26:04`))
	f.Add([]byte(`{"tasks":[[{"status":{"timestamp":"2026-11-27T02:26:04"}}],`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		out := Zoned(doc)
		if json.Valid(doc) && !json.Valid(out) {
			t.Errorf("%q becomes %q", doc, out)
		}
		if again := Zoned(out); string(again) != string(out) {
			t.Errorf("%q becomes %q, and then %q", doc, out, again)
		}
	})
}
