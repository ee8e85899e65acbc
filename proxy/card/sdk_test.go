package card_test

import (
	"encoding/json" // as the SDK's parsers use it, on our own output
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	resolver03 "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
)

// serve answers like the gateway: the form depends on the version asked for, and
// where none is on the name of the file.
func serve(t *testing.T, c *card.Card, v func(wire.Version) card.View) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version := card.FormFor(r.Header.Get(card.VersionHeader))
		if r.Header.Get(card.VersionHeader) == "" && strings.HasSuffix(r.URL.Path, "/agent.json") {
			version = wire.V01
		}
		body, etag, err := c.Render(v(version))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		card.Reply{Body: body, ETag: etag}.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestSDKParsers: every golden card, however odd the agent's own, is read by the
// official Go clients of both generations, with and without a version header.
func TestSDKParsers(t *testing.T) {
	t.Parallel()
	for path, a := range archives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c := mustParse(t, string(part(a, "agent.json")))
			url := serve(t, c, func(v wire.Version) card.View { return view(c, v) })
			for _, version := range []string{"", "0.3", "1.0"} {
				opt := agentcard.WithRequestHeader("A2A-Version", version)
				got, err := agentcard.DefaultResolver.Resolve(t.Context(), url, opt)
				if err != nil {
					t.Fatalf("2.4.0, version %q: %v", version, err)
				}
				checkModern(t, c, got)
				compat := &agentcard.Resolver{CardParser: a2av0.NewAgentCardParser()}
				if got, err = compat.Resolve(t.Context(), url, opt); err != nil {
					t.Fatalf("2.4.0 compatible, version %q: %v", version, err)
				}
				checkModern(t, c, got)
			}
			for _, path := range []string{"/.well-known/agent-card.json", "/.well-known/agent.json"} {
				got, err := resolver03.DefaultResolver.Resolve(t.Context(), url, resolver03.WithPath(path))
				if err != nil {
					t.Fatalf("0.3.15, %s: %v", path, err)
				}
				checkLegacy(t, c, got)
			}
		})
	}
}

func checkModern(t *testing.T, c *card.Card, got *a2a.AgentCard) {
	t.Helper()
	if got.Name != c.Name || len(got.Skills) != len(c.Skills) || len(got.SecuritySchemes) != 2 ||
		len(got.Signatures) != 0 {
		t.Errorf("read %+v", got)
	}
	oidc, _ := got.SecuritySchemes["oidc"].(a2a.OpenIDConnectSecurityScheme)
	key, _ := got.SecuritySchemes["apiKey"].(a2a.APIKeySecurityScheme)
	if oidc.OpenIDConnectURL != "https://idp.example.com/realm/.well-known/openid-configuration" ||
		key.Name != "X-API-Key" || key.Location != a2a.APIKeySecuritySchemeLocationHeader {
		t.Errorf("schemes %+v", got.SecuritySchemes)
	}
	if got.Capabilities.ExtendedAgentCard != c.Extended || got.Capabilities.PushNotifications {
		t.Errorf("capabilities %+v", got.Capabilities)
	}
	if n := len(got.SupportedInterfaces); n < 4 || got.SupportedInterfaces[0].ProtocolVersion != "1.0" ||
		got.SupportedInterfaces[0].ProtocolBinding != a2a.TransportProtocolJSONRPC ||
		got.SupportedInterfaces[n-1].ProtocolVersion != "0.3" {
		t.Errorf("interfaces %+v", got.SupportedInterfaces)
	}
	for _, i := range got.SupportedInterfaces {
		if i.URL != base {
			t.Errorf("interface %+v", i)
		}
	}
}

func checkLegacy(t *testing.T, c *card.Card, got *a2a03.AgentCard) {
	t.Helper()
	oidc, _ := got.SecuritySchemes["oidc"].(a2a03.OpenIDConnectSecurityScheme)
	key, _ := got.SecuritySchemes["apiKey"].(a2a03.APIKeySecurityScheme)
	if oidc.OpenIDConnectURL == "" || key.In != a2a03.APIKeySecuritySchemeInHeader || len(got.Security) != 2 {
		t.Errorf("security %+v %+v", got.SecuritySchemes, got.Security)
	}
	if got.SupportsAuthenticatedExtendedCard != c.Extended {
		t.Error("extended card flag")
	}
	if got.URL != base || got.ProtocolVersion != "0.3.0" ||
		got.PreferredTransport != a2a03.TransportProtocolJSONRPC || len(got.AdditionalInterfaces) != 2 {
		t.Errorf("url %q, version %q, transport %q, more %v", got.URL, got.ProtocolVersion, got.PreferredTransport,
			got.AdditionalInterfaces)
	}
}

// TestRequirementsShapes states which shape the Go SDK reads, since that is why
// the default is to leave them out.
func TestRequirementsShapes(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","protocolVersion":"0.3.0"}`)
	tests := []struct {
		shape card.Requirements
		read  bool
		want  int
	}{
		{"", true, 0}, {card.OmitRequirements, true, 0}, {card.GoRequirements, true, 2}, {card.SpecRequirements,
			false, 0},
	}
	for _, tt := range tests {
		v := view(c, wire.V10)
		v.Requirements = tt.shape
		var got a2a.AgentCard
		err := json.Unmarshal([]byte(mustRender(t, c, v)), &got)
		if (err == nil) != tt.read || tt.read && len(got.SecurityRequirements) != tt.want {
			t.Errorf("%q: %d requirements, %v", tt.shape, len(got.SecurityRequirements), err)
		}
	}
}
