package gateway

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// TestSchemes: cards ask for what the configuration takes, with issuers by the names
// that combinations have for them.
func TestSchemes(t *testing.T) {
	t.Parallel()
	const one, two, three = "https://one.test", "https://two.test", "https://three.test"
	var cfg config.Config
	cfg.Authn = schemes.Config{
		OIDC:    []jwt.Issuer{{Issuer: one}, {Issuer: two, Header: "authorization"}, {Issuer: three, Header: "X-User"}},
		APIKeys: &apikey.Config{}, MTLS: &clientcert.Config{}, Anonymous: true,
		Combinations: []authn.Combination{{User: three, Client: one}, {User: "oidc", Client: "mtls"}, {User: "apiKeys"}},
	}
	want := card.Schemes{
		OIDC:         []card.Issuer{{URL: one}, {URL: two}, {URL: three, Header: "X-User"}},
		APIKeyHeader: "X-API-Key", MTLS: true, Anonymous: true,
		Combinations: [][]string{{three, one}, {"oidc", "mtls"}, {"apiKeys"}},
	}
	if diff := cmp.Diff(want, cardSchemes(&cfg)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	cfg.Authn.APIKeys.Header = "X-Company-Key"
	if got := cardSchemes(&cfg).APIKeyHeader; got != "X-Company-Key" {
		t.Errorf("API keys in %s", got)
	}
}
