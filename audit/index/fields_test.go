package index

import (
	"encoding/json"
	"testing"
)

// FuzzFields: what is found under a name is a record that has it, as the standard
// library's parser sees it, in the record or among what an event is about.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{
		`{"seq":1,"type":"call","time":"2026-11-22T13:00:00Z","principal":"alice","agent":"billing"}`,
		`{"seq":2,"type":"event","time":"2026-11-22T13:00:00Z","event":"key.created","attrs":{"who":"bob","agent":"billing"}}`,
		`{"seq":3,"type":"call","time":"2026-11-22T13:00:00Z","principal":"alice","principal":"bob"}`,
		`{"type":"call","time":"0001-01-01T00:00:00Z"}`, `[]`, `{"type":7}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var got fields
		if got.read(line) != nil {
			return
		}
		var plain struct {
			Type, Principal, Agent string
			Attrs                  struct{ Principal, Who, Agent string }
		}
		if err := json.Unmarshal(line, &plain); err != nil {
			t.Fatalf("%q is %+v, and for others: %v", line, got, err)
		}
		of := plain.Principal
		if got.Type == "event" {
			if of = plain.Attrs.Principal; of == "" {
				of = plain.Attrs.Who
			}
		}
		if !json.Valid(line) || got.Principal != of || got.Type == "" {
			t.Errorf("%q is %+v, and for others of %q", line, got, of)
		}
	})
}
