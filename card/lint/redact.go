package lint

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// redacted stands in the place of what looks like a secret.
const redacted = "[removed]"

// Redact is a card for its gateway's operators: without strings that look like secrets,
// credentials of 0.1's authentication, and whatever else does not show, and otherwise as
// the agent has it. Its members are in the order of their names. Of what is not JSON, and
// of nothing, it is nil.
func Redact(card []byte) jsontext.Value {
	var v any
	if len(card) == 0 || json.Unmarshal(trimBOM(card), &v) != nil {
		return nil
	}
	if top, ok := v.(map[string]any); ok {
		if old, ok := top["authentication"].(map[string]any); ok && old["credentials"] != nil {
			old["credentials"] = redacted
		}
	}
	out, err := json.Marshal(redact(v), json.Deterministic(true))
	if err != nil {
		return nil
	}
	return out
}

// redact cleans every string, names of members included. A member whose name holds a secret is left
// out with its value, since there is no other name that it could have.
func redact(v any) any {
	switch v := v.(type) {
	case string:
		clean := Clean(v)
		if SecretIn(clean) >= 0 || hasUserinfo(ASCIILower(clean)) {
			return redacted
		}
		return clean
	case []any:
		for i := range v {
			v[i] = redact(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, m := range v {
			if clean := Clean(name); SecretIn(clean) < 0 {
				out[clean] = redact(m)
			}
		}
		return out
	}
	return v
}
