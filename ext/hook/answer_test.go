package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// FuzzAnswer makes sure that nothing but a well-formed answer has an effect, and that
// a document which goes on is one JSON object on one line.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"action":"pass"}`, `{"action":"mutate","document":{"a":[1,{"b":null}]}}`, `{"action":"deny","message":"no"}`,
		"{\n\"action\":\"mutate\",\"document\":{\r\n}}", `{"action":"deny","document":{}}`, `null`, `{"action":"pass",}`,
	} {
		f.Add([]byte(seed))
	}
	was := []byte(`{"was":1}`)
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := parse(body)
		if err != nil {
			return
		}
		doc, err := a.settle(was)
		var said struct{ Action string }
		if e := json.Unmarshal(body, &said); e != nil {
			t.Fatalf("%q was read, but is not JSON: %v", body, e)
		}
		denied := new(Denied)
		switch {
		case errors.As(err, &denied):
			if said.Action != "deny" || len(denied.Message) > maxMessage {
				t.Fatalf("%q denied with %q", body, denied.Message)
			}
		case err != nil:
		case said.Action == "pass":
			if !bytes.Equal(doc, was) {
				t.Fatalf("pass made %q", doc)
			}
		case said.Action == "mutate":
			if !json.Valid(doc) || doc[0] != '{' || bytes.ContainsAny(doc, "\r\n") {
				t.Fatalf("%q made %q", body, doc)
			}
		default:
			t.Fatalf("%q made %q", body, doc)
		}
	})
}
