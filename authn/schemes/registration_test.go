package schemes

import (
	"os"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
)

// TestRegistrations: every section of the configuration that makes a scheme is registered
// once with all of its parts, cards have words for it, the chain has the scheme under that name, asks for it or looks
// at the connection, and docs/identity.md has its section and the issuer of its principals.
func TestRegistrations(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../docs/identity.md")
	if err != nil {
		t.Fatal(err)
	}
	_, path := keyStore(t)
	all := Config{APIKeys: &apikey.Config{File: path}, OIDC: []jwt.Issuer{issuerConfig()}, MTLS: &clientcert.Config{}}
	c := open(t, all, Options{})
	seen := map[string]bool{}
	for _, r := range All() {
		if r.Name == "" || len(r.Methods) == 0 || r.Configured == nil || r.Security == nil || r.make == nil || seen[r.Name] || seen[r.Methods[0]+" method"] {
			t.Errorf("%+v lacks a part, or has that of another", r)
		}
		seen[r.Name], seen[r.Methods[0]+" method"] = true, true
		if r.Configured(&Config{}) {
			t.Errorf("%s is configured by nothing", r.Name)
		}
		if len(r.Security(&all)) == 0 {
			t.Errorf("agent cards do not ask for %s", r.Name)
		}
		for _, method := range r.Methods {
			if HaveClaims(method) != r.Claims {
				t.Errorf("callers by %s have claims: %v", method, !r.Claims)
			}
		}
		s := c.Scheme(r.Name)
		if s == nil || s.Name() != r.Name || len(s.Carriers()) == 0 {
			t.Errorf("the chain has no %s", r.Name)
			continue
		}
		_, connection := s.Carriers()[0].(authn.Connection)
		if asks := len(s.Challenges(&authn.Demand{Realm: "gateway"})) > 0; asks == connection {
			t.Errorf("%s: a challenge asks for it: %v, and it belongs to the connection: %v", r.Name, asks, connection)
		}
		if MethodOf(r.Issuer) != r.Methods[0] {
			t.Errorf("callers of %q are explained as proved by %s, not %s", r.Issuer, MethodOf(r.Issuer), r.Methods[0])
		}
		row := "| `authn." + r.Name + "` |"
		at := strings.Index(string(doc), row)
		if at < 0 {
			t.Errorf("docs/identity.md has no row %s", row)
			continue
		}
		line, _, _ := strings.Cut(string(doc)[at:], "\n")
		if r.Issuer != "" && !strings.Contains(line, "`"+r.Issuer+"`") {
			t.Errorf("docs/identity.md does not say that the issuer of %s is %s: %s", r.Name, r.Issuer, line)
		}
	}
}
