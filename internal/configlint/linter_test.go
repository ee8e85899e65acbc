package configlint

import (
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/clientcert"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// TestIssuers: rules may be about callers with certificates where those are identities.
func TestIssuers(t *testing.T) {
	t.Parallel()
	var cfg config.Config
	cfg.Authn = schemes.Config{OIDC: []jwt.Issuer{{Issuer: "https://one.test"}, {Issuer: "https://two.test"}}}
	if slices.Contains(issuers(&cfg), "mtls") {
		t.Error("certificates are identities that nothing says so of")
	}
	cfg.Authn.MTLS = &clientcert.Config{}
	if !slices.Contains(issuers(&cfg), "mtls") {
		t.Error("a rule about callers with certificates is warned of")
	}
}
