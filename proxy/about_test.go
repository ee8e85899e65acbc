package proxy

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
)

// TestAbout: the metadata say what is true of the configuration.
func TestAbout(t *testing.T) {
	t.Parallel()
	const one, two = "https://one.test", "https://two.test"
	issuer := func(name, header string, bound bool) jwt.Issuer {
		return jwt.Issuer{Issuer: name, Audiences: []string{"gw"}, Header: header, SenderConstrained: bound}
	}
	proofs := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
	header := []string{"header"}
	for name, tt := range map[string]struct {
		authn schemes.Config
		auth  string // server.tls.clientAuth; "none" for no TLS
		want  admit.Metadata
	}{
		"keys only": {schemes.Config{APIKeys: &apikey.Config{File: t.TempDir() + "/keys", Bearer: true}}, "require", admit.Metadata{}},
		"an issuer": {schemes.Config{OIDC: []jwt.Issuer{issuer(one, "", false)}}, "none",
			admit.Metadata{Servers: []string{one}, Methods: header, Proofs: proofs}},
		"two": {schemes.Config{OIDC: []jwt.Issuer{issuer(two, "", true), issuer(one, "X-User", false)}}, "off",
			admit.Metadata{Servers: []string{two, one}, Methods: header, Proofs: proofs}},
		"a header of its own": {schemes.Config{OIDC: []jwt.Issuer{issuer(one, "X-User", false)}}, "",
			admit.Metadata{Servers: []string{one}, Proofs: proofs}},
		"bound": {schemes.Config{OIDC: []jwt.Issuer{issuer(one, "", true), issuer(two, "", true)}}, "off",
			admit.Metadata{Servers: []string{one, two}, Methods: header, Proofs: proofs, NeedsProof: true}},
		"bound to this or that": {schemes.Config{OIDC: []jwt.Issuer{issuer(one, "", true)}}, "request",
			admit.Metadata{Servers: []string{one}, Methods: header, Proofs: proofs, Certificates: true}},
		"certificates": {schemes.Config{OIDC: []jwt.Issuer{issuer(one, "", false)}}, "optional",
			admit.Metadata{Servers: []string{one}, Methods: header, Proofs: proofs, Certificates: true}},
	} {
		chain, err := schemes.New(t.Context(), tt.authn, schemes.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(chain.Close)
		p := &Proxy{Options: Options{PublicURL: &url.URL{Scheme: "https", Host: "gw"}, Authn: chain}}
		p.mountStages()
		if tt.auth != "none" {
			p.Server.TLS = &server.TLS{ClientAuth: tt.auth}
		}
		tt.want.Resource, tt.want.Name = "https://gw/agents/x", "a2a-gateway"
		if diff := cmp.Diff(tt.want, p.authenticator.MetadataOf("https://gw/agents/x")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
