package provided

import (
	"encoding/json"
	"testing"
)

// FuzzInspect: a passport that passes is the caller's, whoever reads it.
func FuzzInspect(f *testing.F) {
	for _, seed := range []string{
		`{"clientId":"alice","state":{}}`, `{"clientId":"alice","state":{"a":[1]},"signature":"s","sessionId":"x"}`,
		`{"clientId":"alice","clientId":"bob","state":{}}`, `{"clientId":"al\u0069ce","state":{}}`,
		`{"clientid":"bob","clientId":"alice","state":{}}`, `{"clientId":["alice"],"state":{}}`, `[]`, `null`, ` {"state":null}`,
		`{"clientId":"alice","state":{},"signature":null}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		if _, err := inspect(value, "alice"); err != nil {
			return
		}
		var other struct {
			ClientID  any `json:"clientId"`
			State     map[string]any
			Signature any
		}
		if err := json.Unmarshal(value, &other); err != nil || other.ClientID != "alice" || other.State == nil {
			t.Errorf("%q passes, and is %+v, %v", value, other, err)
		}
		if _, err := inspect(value, ""); err == nil {
			t.Errorf("%q is nobody's and passes", value)
		}
	})
}
