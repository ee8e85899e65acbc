package console

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// TestTokens: what a token's entry lacks or has twice is named, and nothing of it shown.
func TestTokens(t *testing.T) {
	t.Parallel()
	one, two := "sha256:"+strings.Repeat("0a", 32), "sha256:"+strings.Repeat("0b", 32)
	for name, tt := range map[string]struct {
		tokens []Token
		want   string
	}{
		"two":           {[]Token{{Name: "a", Role: api.Viewer, Digest: one}, {Name: "b", Role: api.Admin, Digest: two}}, ""},
		"no digest":     {[]Token{{Name: "a", Role: api.Viewer}}, "tokens[0].digest: want sha256:"},
		"the token":     {[]Token{{Name: "a", Role: api.Viewer, Digest: "canary"}}, "tokens[0].digest: want sha256:"},
		"no hex":        {[]Token{{Name: "a", Role: api.Viewer, Digest: "sha256:" + strings.Repeat("zz", 32)}}, "tokens[0].digest: want"},
		"short":         {[]Token{{Name: "a", Role: api.Viewer, Digest: "sha256:00"}}, "tokens[0].digest: want"},
		"no name":       {[]Token{{Role: api.Viewer, Digest: one}}, "tokens[0].name: want letters"},
		"a reader's":    {[]Token{{Name: "a@issuer", Role: api.Viewer, Digest: one}}, "tokens[0].name: want letters"},
		"taken":         {[]Token{{Name: adminToken, Role: api.Viewer, Digest: one}}, "tokens[0].name: \"admin-token\" is taken"},
		"no role":       {[]Token{{Name: "a", Digest: one}}, "tokens[0].role: \"\" is not viewer"},
		"another role":  {[]Token{{Name: "a", Role: "root", Digest: one}}, "tokens[0].role: \"root\" is not viewer"},
		"a name twice":  {[]Token{{Name: "a", Role: api.Viewer, Digest: one}, {Name: "a", Role: api.Viewer, Digest: two}}, "tokens[1].name: \"a\" is taken"},
		"a token twice": {[]Token{{Name: "a", Role: api.Viewer, Digest: one}, {Name: "b", Role: api.Viewer, Digest: one}}, "tokens[1].digest: another"},
	} {
		err := Config{Address: off, Tokens: tt.tokens}.Validate()
		if (err == nil) != (tt.want == "") || err != nil && (!strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		}
	}
}
