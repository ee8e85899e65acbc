package card_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	a2a03 "github.com/a2aproject/a2a-go/a2a"
	resolver03 "github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// serve answers like the gateway: the form depends on the version asked for, and
// where none is on the name of the file.
func serve(t *testing.T, c *card.Card, v func(wire.Version) card.View) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version, pure := card.Form("auto").Of(r.Header, r.URL.Query())
		if r.Header.Get(card.VersionHeader) == "" && strings.HasSuffix(r.URL.Path, "/agent.json") {
			version = wire.V01
		}
		view := v(version)
		view.Pure = pure
		body, etag, err := c.Render(view)
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
			compat := &agentcard.Resolver{CardParser: a2av0.NewAgentCardParser()}
			for _, version := range []string{"", "1.0"} {
				opt := agentcard.WithRequestHeader("A2A-Version", version)
				got, err := agentcard.DefaultResolver.Resolve(t.Context(), url, opt)
				if err != nil {
					t.Fatalf("2.4.0, version %q: %v", version, err)
				}
				checkModern(t, c, got)
				if got, err = compat.Resolve(t.Context(), url, opt); err != nil {
					t.Fatalf("2.4.0 compatible, version %q: %v", version, err)
				}
				checkModern(t, c, got)
			}
			got, err := compat.Resolve(t.Context(), url, agentcard.WithRequestHeader("A2A-Version", "0.3"))
			if err != nil {
				t.Fatalf("2.4.0 compatible, 0.3 alone: %v", err)
			}
			checkSchemes(t, got)
			checkInterfaces(t, got, 1)
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
	if got.Name != c.Name || len(got.Skills) != len(c.Skills) || len(got.Signatures) != 0 {
		t.Errorf("read %+v", got)
	}
	checkSchemes(t, got)
	if got.Capabilities.ExtendedAgentCard != c.Extended || got.Capabilities.PushNotifications {
		t.Errorf("capabilities %+v", got.Capabilities)
	}
	if checkInterfaces(t, got, 4); got.SupportedInterfaces[0].ProtocolVersion != "1.0" {
		t.Errorf("interfaces %+v", got.SupportedInterfaces)
	}
}

func checkSchemes(t *testing.T, got *a2a.AgentCard) {
	t.Helper()
	oidc, _ := got.SecuritySchemes["oidc"].(a2a.OpenIDConnectSecurityScheme)
	token, _ := got.SecuritySchemes["oidcBearer"].(a2a.HTTPAuthSecurityScheme)
	key, _ := got.SecuritySchemes["apiKey"].(a2a.APIKeySecurityScheme)
	if oidc.OpenIDConnectURL != "https://idp.example.com/realm/.well-known/openid-configuration" ||
		token.Scheme != "bearer" || key.Name != "X-API-Key" || len(got.SecuritySchemes) != 3 ||
		key.Location != a2a.APIKeySecuritySchemeLocationHeader {
		t.Errorf("schemes %+v", got.SecuritySchemes)
	}
}

func checkInterfaces(t *testing.T, got *a2a.AgentCard, least int) {
	t.Helper()
	n := len(got.SupportedInterfaces)
	if n < least || got.SupportedInterfaces[0].ProtocolBinding != a2a.TransportProtocolJSONRPC ||
		!strings.HasPrefix(string(got.SupportedInterfaces[n-1].ProtocolVersion), "0.3") {
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
	if oidc.OpenIDConnectURL == "" || key.In != a2a03.APIKeySecuritySchemeInHeader || len(got.Security) != 3 {
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

// TestRequirementsShapes states which shape the Go SDK reads, in its own parser and in the
// compatible one: that is why the default writes two.
func TestRequirementsShapes(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","protocolVersion":"0.3.0"}`)
	all := []string{"oidc", "oidcBearer", "apiKey"}
	for _, tt := range []struct {
		shape                card.Requirements
		version              wire.Version
		want, wantCompatible []string
		refused              bool
	}{
		{shape: "", version: wire.V03, want: all, wantCompatible: all},
		{shape: "auto", version: wire.V03, want: all, wantCompatible: all},
		{shape: "auto", version: wire.V10},
		{shape: "omit", version: wire.V03, wantCompatible: all},
		{shape: "omit", version: wire.V10},
		{shape: "go", version: wire.V03, want: all, wantCompatible: all},
		{shape: "go", version: wire.V10, want: all, wantCompatible: all},
		{shape: "spec", version: wire.V03, refused: true},
		{shape: "spec", version: wire.V10, refused: true},
	} {
		v := view(c, tt.version)
		v.Requirements = tt.shape
		doc := []byte(mustRender(t, c, v))
		for _, parser := range []struct {
			name  string
			parse agentcard.Parser
			want  []string
		}{
			{"default", agentcard.DefaultCardParser, tt.want},
			{"compatible", a2av0.NewAgentCardParser(), tt.wantCompatible},
		} {
			got, err := parser.parse(doc)
			if (err != nil) != tt.refused {
				t.Errorf("%q in %s, %s: %v", tt.shape, tt.version, parser.name, err)
				continue
			}
			if names := demanded(got); !slices.Equal(names, parser.want) {
				t.Errorf("%q in %s, %s: %v", tt.shape, tt.version, parser.name, names)
			}
		}
	}
}

// demanded are the schemes of a card's requirements, each of which is one scheme.
func demanded(c *a2a.AgentCard) []string {
	var names []string
	if c == nil {
		return nil
	}
	for _, alternative := range c.SecurityRequirements {
		names = append(names, keys(alternative)...)
	}
	return names
}
