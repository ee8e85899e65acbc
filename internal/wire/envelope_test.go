package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
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

// FuzzIsEnvelope: of what is JSON, the same is taken for an envelope as by encoding/json.
func FuzzIsEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`, `{"message":{"parts":[]}}`, `{"json\u0072pc":1,"method":{}}`,
		`{"jsonrpc":"2.0","jsonrpc":"1.0","method":[[[[]]]]}`, `[]`, `{"method":"x","jsonrpc"}`, strings.Repeat("[", 100), `{"":{},"jsonrpc":"\ud800","method":""}`,
		"{\"jsonrpc\":1,\"method\":{\xff\xed>\xf3}}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if !json.Valid(body) {
			_ = IsEnvelope(body) // whoever reads the body next refuses it
			return
		}
		var doc map[string]json.RawMessage
		err := json.Unmarshal(body, &doc)
		want := err == nil && doc["jsonrpc"] != nil && doc["method"] != nil
		lossy := !utf8.Valid(body) || bytes.Contains(body, []byte(`\u`)) // encoding/json replaces what is no text
		if got := IsEnvelope(body); got && !want || want && !got && !lossy {
			t.Errorf("%q is an envelope: %v, and to encoding/json %v, %v", body, got, doc, err)
		}
	})
}
