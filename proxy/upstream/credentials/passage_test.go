package credentials

import (
	"encoding/base64"
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// FuzzAudiences: those that authentication has read are believed; of any other text there
// is a list or none.
func FuzzAudiences(f *testing.F) {
	for _, claims := range []string{`{"aud":"a"}`, `{"aud":["a","b"]}`, `{"aud":["a",1]}`, `{"aud":{}}`, `{"aud":"a","aud":"b"}`, `[]`} {
		f.Add("Bearer e30." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2ln")
	}
	f.Add("DPoP a.b.c")
	f.Add("a.b")
	f.Add("..")
	f.Fuzz(func(t *testing.T, text string) {
		if got := audiences(nil, "Authorization", text); slices.Contains(got, "") && len(got) > len(text) {
			t.Errorf("%q is for %q", text, got)
		}
		known := &authn.Principal{Carrier: "Authorization", Claims: map[string]any{"aud": []any{"here"}}}
		if got := audiences(known, "Authorization", text); !slices.Equal(got, []string{"here"}) {
			t.Errorf("%q is for %q, and was verified to be for this gateway", text, got)
		}
	})
}
