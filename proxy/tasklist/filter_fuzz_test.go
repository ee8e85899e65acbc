package tasklist

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// FuzzReadFilter: a filter is the same in params as in a query, and within its bounds.
func FuzzReadFilter(f *testing.F) {
	for _, seed := range [][2]string{
		{"pageSize", "100"}, {"pageSize", "-1"}, {"page_size", "0"}, {"status", "TASK_STATE_WORKING"}, {"status", "working"},
		{"historyLength", "99999999999999999999"}, {"statusTimestampAfter", "2026-11-22T13:00:00.5+14:00"},
		{"lastUpdatedAfter", "0000-01-01T00:00:00Z"}, {"includeArtifacts", "T"}, {"include_artifacts", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		params, err := json.Marshal(map[string]string{name: value})
		if err != nil {
			t.Fatal(err)
		}
		asked, e := readFilter(&wire.Call{Binding: wire.HTTPJSON}, url.Values{name: {value}})
		if e == nil && (asked.size < 1 || asked.size > 100 || asked.history < 0) {
			t.Errorf("%q = %q: %+v", name, value, asked)
		}
		var same map[string]string
		if json.Unmarshal(params, &same) != nil || same[name] != value {
			return // not UTF-8, which JSON has not
		}
		told, e2 := readFilter(&wire.Call{Binding: wire.JSONRPC, Params: params}, nil)
		if (e == nil) != (e2 == nil) || e == nil && (asked.size != told.size || asked.state != told.state ||
			!asked.since.Equal(told.since) || asked.history != told.history || asked.artifacts != told.artifacts) {
			t.Errorf("%q = %q is %+v, %v in a query, and %+v, %v in params", name, value, asked, e, told, e2)
		}
	})
}

// FuzzReadPlace: a place in a list comes back as it was written, and whatever else is
// behind a seal is one place at most.
func FuzzReadPlace(f *testing.F) {
	f.Add(place{token: "agent's", after: "task"}.plain(), "a", "")
	f.Add([]byte{}, "", "b")
	f.Add([]byte{5, 'a'}, "\x00", "")
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, "", "")
	f.Fuzz(func(t *testing.T, plain []byte, token, after string) {
		if got, ok := readPlace(place{token, after}.plain()); !ok || got != (place{token, after}) {
			t.Errorf("%q and %q are %+v", token, after, got)
		}
		got, ok := readPlace(plain)
		if again, same := readPlace(got.plain()); ok && (!same || again != got) {
			t.Errorf("%x is %+v, and that %+v", plain, got, again)
		}
	})
}
