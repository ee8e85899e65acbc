package jwt

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// serve runs an issuer on a real server and returns it with its configuration.
func serve(t *testing.T, secure bool) (*authntest.IDP, *httptest.Server, Issuer) {
	t.Helper()
	i := authntest.Standard()
	var s *httptest.Server
	if secure {
		s = httptest.NewUnstartedServer(i)
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes refused on purpose
		s.StartTLS()
	} else {
		s = httptest.NewServer(i)
	}
	t.Cleanup(s.Close)
	i.Issuer = s.URL
	return i, s, Issuer{Issuer: s.URL, Audiences: []string{authntest.TestAudience}}
}

func tryReal(t *testing.T, c *authn.Chain, issuer string) string {
	t.Helper()
	_, err := c.Authenticate(authntest.BearerOf(authntest.Good(t, map[string]any{"iss": issuer})))
	return authntest.FaultOf(err)
}

// The client that is made when none is given.
func TestDefaultClient(t *testing.T) {
	t.Parallel()
	_, s, cfg := serve(t, false)
	authntest.Want(t, s.URL, tryReal(t, openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{}), s.URL), "ok")
}

func TestRealIssuer(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{true, false} {
		_, s, cfg := serve(t, secure)
		c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: s.Client()})
		authntest.Want(t, s.URL, tryReal(t, c, s.URL), "ok")
	}
}

// The test issuer of the OIDC library, with its own idea of tokens.
func TestLibraryIssuer(t *testing.T) {
	t.Parallel()
	i := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: authntest.RsaKey().Public(), KeyID: "r",
		Algorithm: "RS256"}}}
	s := httptest.NewServer(i)
	t.Cleanup(s.Close)
	i.SetIssuer(s.URL)
	c := openTokens(t, Config{OIDC: []Issuer{{Issuer: s.URL, Audiences: []string{authntest.TestAudience}}}},
		Options{Client: s.Client()})
	claims := fmt.Sprintf(`{"iss":%q,"sub":"alice","aud":[%q],"exp":%d}`, s.URL, authntest.TestAudience,
		time.Now().Add(time.Hour).Unix())
	p, err := c.Authenticate(authntest.BearerOf(oidctest.SignIDToken(authntest.RsaKey(), "r", "RS256", claims)))
	if err != nil || p.Subject != "alice" {
		t.Errorf("%v, %v", p, err)
	}
}

// A certificate that the client does not trust is an outage, not a reason to go on.
func TestUntrustedCertificate(t *testing.T) {
	t.Parallel()
	_, s, cfg := serve(t, true)
	c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{}})
	authntest.Want(t, "untrusted", tryReal(t, c, s.URL), "unavailable")
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	type doc = func(issuer string) string
	tests := []struct {
		name, path string
		doc        doc
		want       string
	}{
		{"OpenID Connect", "/.well-known/openid-configuration",
			func(is string) string { return `{"issuer":"` + is + `","jwks_uri":"` + is + `/jwks","x":{}}` }, "ok"},
		{"RFC 8414", "/.well-known/oauth-authorization-server",
			func(is string) string { return `{"issuer":"` + is + `","jwks_uri":"` + is + `/jwks"}` }, "ok"},
		{"of another issuer", "/.well-known/openid-configuration",
			func(is string) string { return `{"issuer":"` + is + `/","jwks_uri":"` + is + `/jwks"}` }, "unavailable"},
		{"issuer twice", "/.well-known/openid-configuration",
			func(is string) string { return `{"issuer":"x","issuer":"` + is + `","jwks_uri":"` + is + `/jwks"}` },
			"unavailable"},
		{"key set over plain HTTP", "/.well-known/openid-configuration",
			func(is string) string {
				return `{"issuer":"` + is + `","jwks_uri":"http` + strings.TrimPrefix(is, "https") + `/jwks"}`
			}, "unavailable"},
		{"key set in a file", "/.well-known/openid-configuration",
			func(is string) string { return `{"issuer":"` + is + `","jwks_uri":"file:///etc/passwd"}` },
			"unavailable"},
		{"no key set", "/.well-known/openid-configuration",
			func(is string) string { return `{"issuer":"` + is + `"}` }, "unavailable"},
		{"too long", "/.well-known/openid-configuration",
			func(is string) string {
				return `{"p":"` + strings.Repeat("x",
					maxDocument) + `","issuer":"` + is + `","jwks_uri":"` + is + `/jwks"}`
			}, "unavailable"},
		{"nowhere", "/elsewhere", func(string) string { return "{}" }, "unavailable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i := authntest.Standard()
			var s *httptest.Server
			s = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == tt.path {
					_, _ = io.WriteString(w, tt.doc(s.URL))
					return
				}
				i.ServeHTTP(w, r)
			}))
			t.Cleanup(s.Close)
			i.DocPath = "/none"
			c := openTokens(t, Config{OIDC: []Issuer{{Issuer: s.URL, Audiences: []string{authntest.TestAudience}}}},
				Options{Client: s.Client()})
			authntest.Want(t, tt.name, tryReal(t, c, s.URL), tt.want)
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	_, good, _ := serve(t, true)
	for _, path := range []string{"/.well-known/openid-configuration", "/jwks"} {
		i := authntest.Standard()
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				http.Redirect(w, r, good.URL+path, http.StatusTemporaryRedirect)
				return
			}
			i.ServeHTTP(w, r)
		}))
		t.Cleanup(s.Close)
		i.Issuer = s.URL
		client := s.Client()
		c := openTokens(t, Config{OIDC: []Issuer{{Issuer: s.URL, Audiences: []string{authntest.TestAudience}}}},
			Options{Client: client})
		authntest.Want(t, path, tryReal(t, c, s.URL), "unavailable")
		if client.CheckRedirect != nil {
			t.Error("the caller's client was changed")
		}
	}
}

func TestConfiguredKeySetAddress(t *testing.T) {
	t.Parallel()
	i, s, cfg := serve(t, true)
	cfg.Issuer, cfg.JWKS = "https://never.asked", secret.URL(s.URL+"/jwks")
	c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: s.Client()})
	authntest.Want(t, "configured", tryReal(t, c, cfg.Issuer), "ok")
	if i.Metadata.Load() != 0 {
		t.Error("discovery was asked all the same")
	}
}

func TestOAuthMetadataAddress(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]string{
		"https://idp.test":     "https://idp.test/.well-known/oauth-authorization-server",
		"https://idp.test/":    "https://idp.test/.well-known/oauth-authorization-server",
		"https://idp.test/a/b": "https://idp.test/.well-known/oauth-authorization-server/a/b",
	} {
		authntest.Want(t, in, oauthMetadata(in), out)
	}
}
