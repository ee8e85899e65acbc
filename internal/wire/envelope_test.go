package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestIsEnvelope(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`:     true,
		` {"params":{"message":{}},"method":"tasks/get","jsonrpc":"2.0"}`: true,
		`{"json\u0072pc":"2.0","m\u0065thod":"x"}`:                        true,
		`{"jsonrpc":"1.0","method":"x","message":{}}`:                     true,
		`{"jsonrpc":null,"method":7}`:                                     true,

		`{"message":{"jsonrpc":"2.0","method":"x"}}`:         false,
		`{"message":{},"metadata":{"jsonrpc":1,"method":2}}`: false,
		`{"jsonrpc":"2.0","message":{}}`:                     false,
		`{"method":"x"}`:                                     false,
		`{"JSONRPC":"2.0","Method":"x"}`:                     false,
		`[{"jsonrpc":"2.0","method":"x"}]`:                   false,
		`"jsonrpc method"`:                                   false,
		`{"jsonrpc":"2.0","method":"x"`:                      false,
		`{"jsonrpc":"2.0","method":"x"} {}`:                  false,
		``:                                                   false,
	} {
		if got := IsEnvelope([]byte(body)); got != want {
			t.Errorf("%s: got %v", body, got)
		}
	}
}

// FuzzIsEnvelope: what is taken for an envelope is one to encoding/json as well.
func FuzzIsEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`, `{"message":{"parts":[]}}`, `{"json\u0072pc":1,"method":{}}`,
		`{"jsonrpc":"2.0","jsonrpc":"1.0","method":[[[[]]]]}`, `[]`, `{"method":"x","jsonrpc"}`, strings.Repeat("[", 100), `{"":{},"jsonrpc":"\ud800","method":""}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !IsEnvelope(body) {
			return
		}
		var doc map[string]json.RawMessage
		if err := json.Unmarshal(body, &doc); err != nil || doc["jsonrpc"] == nil || doc["method"] == nil {
			t.Errorf("%q is an envelope, and to encoding/json %v, %v", body, doc, err)
		}
	})
}
