// Package wiretest holds the documents that every reader of calls has to judge: one table,
// rule by rule, of JSON in all the ways in which parsers disagree. It is for tests.
//
// It imports nothing of ours.
package wiretest

import (
	_ "embed" // the table
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// vectors is the table.
//
//go:embed testdata/vectors.json
var vectors []byte

// Vector is a request and what becomes of it.
type Vector struct {
	Rule string `json:"rule"` // of which it is a case
	Name string `json:"name"`

	// Doc is a body of JSON-RPC, and Value a value within one of any binding, where nothing
	// is decided. One of them is there.
	Doc   text `json:"doc,omitzero"`
	Value text `json:"value,omitzero"`

	Want string `json:"want"`        // "ok", or the reason of the refusal
	ID   string `json:"id,omitzero"` // of an answer; default 7
}

// Vectors reads the table.
func Vectors() (all []Vector, err error) {
	if err := json.Unmarshal(vectors, &all, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("read vectors: %w", err)
	}
	for i, v := range all {
		if v.Rule == "" || v.Name == "" || v.Want == "" || (v.Doc == "") == (v.Value == "") {
			return nil, fmt.Errorf("vector %d, %q, is not complete", i, v.Name)
		}
	}
	return all, nil
}

const message = `"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}`

// JSONRPC is the request as JSON-RPC.
func (v *Vector) JSONRPC() string {
	if v.Doc != "" {
		return string(v.Doc)
	}
	return `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":` + v.HTTPJSON() + `}`
}

// HTTPJSON is the request as HTTP+JSON, or "" where there is no such.
func (v *Vector) HTTPJSON() string {
	if v.Value == "" {
		return ""
	}
	return `{` + message + `,"metadata":{"v":` + strings.TrimPrefix(string(v.Value), empty) + `}}`
}

// empty is a value of no bytes, which is not the same as none.
const empty = "\x00"

// text is made of pieces: text, {"hex"} for bytes that JSON cannot hold, and {"times","of"}.
type text string

// UnmarshalJSON puts the pieces together.
func (t *text) UnmarshalJSON(doc []byte) error {
	var pieces []any
	if err := json.Unmarshal(doc, &pieces); err != nil {
		return err
	}
	var b strings.Builder
	for _, p := range pieces {
		switch p := p.(type) {
		case string:
			b.WriteString(p)
		case map[string]any:
			written, _ := p["hex"].(string)
			raw, err := hex.DecodeString(written)
			if err != nil {
				return err
			}
			b.Write(raw)
			n, _ := p["times"].(float64)
			of, _ := p["of"].(string)
			b.WriteString(strings.Repeat(of, int(n)))
		default:
			return fmt.Errorf("a piece is %T", p)
		}
	}
	if *t = text(b.String()); *t == "" {
		*t = empty
	}
	return nil
}
