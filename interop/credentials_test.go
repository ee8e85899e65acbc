package interop_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// intercepting are the versions that SDKs name where they ask for a card, "" for none, of
// those whose clients send a credential by what the card asks for. The SDKs for JavaScript
// have no such means: there the program says which headers to send.
var intercepting = map[string][]string{
	"python-v1": {"", "1.0"}, "python-v03": {"", "0.3"}, "java-v03": {"", "0.3"},
}

// TestCardCredentials: with the card that is served by default, the interceptors of the SDKs
// find out which of the caller's credentials to send, and as what. Whom a credential names
// shows in which agent it is good for.
func TestCardCredentials(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	token, err := issuer.Issue("alice", demo.IssueOptions{})
	if err != nil {
		t.Fatal(err)
	}
	g, key := credentialGateway(t, issuer.URL)
	for _, s := range present(t) {
		versions := intercepting[s.id]
		if versions == nil {
			continue
		}
		w := &worker{command: s.client}
		t.Cleanup(w.stop)
		for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
			if s.id == "python-v03" && binding == "HTTP+JSON" {
				continue // runs no interceptor, over this and gRPC
			}
			for _, version := range versions {
				t.Run(strings.Join([]string{s.id, binding, version}, " "), func(t *testing.T) {
					j := job{Binding: binding, Headers: map[string]string{}, Only: "message reply"}
					if version != "" {
						j.Headers["A2A-Version"] = version
					}
					sendByCard(t, g, w, j, key, token)
				})
			}
		}
	}
}

// sendByCard has a client call with each credential alone, and with several.
func sendByCard(t *testing.T, g *gateway, w *worker, j job, key, token string) {
	t.Helper()
	for _, tt := range []struct {
		store   map[string]string
		agent   string
		refused bool
	}{
		{map[string]string{"apiKey": key}, "robots", false},
		{map[string]string{"bearer": key}, "robots", false},
		{map[string]string{"oidc": token}, "alices", false},
		{map[string]string{"oidcBearer": token}, "alices", false},
		{map[string]string{"apiKey": key, "oidc": token}, "alices", false}, // the card has it first
		{map[string]string{"another": key}, "robots", true},
	} {
		j.Base, j.Credentials = g.base(tt.agent), tt.store
		o := one(t, w.run(t, j))
		if strings.Contains(strings.Join(o.Lines, "\n"), ": error") != tt.refused {
			t.Errorf("%s by %v: %s", tt.agent, tt.store, o.Lines)
		}
	}
}

// credentialGateway has an agent for a key's owner and one for a token's, whose cards are for
// everybody.
func credentialGateway(t *testing.T, issuer string) (g *gateway, key string) {
	t.Helper()
	agents := goAgents(t)
	agent := agents[side{"1.0", "JSONRPC"}]
	dir := t.TempDir()
	g = &gateway{binary: buildGateway(t), dir: dir}
	key = g.unboundKey(t, "robot")
	file := filepath.Join(dir, "config.yaml")
	config := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q, limits: {delay: 1h}, mcp: {path: /mcp}}
admin: {address: "127.0.0.1:0"}
authn:
  oidc: [{issuer: %q, audiences: [a2a-gateway]}]
  apiKeys: {file: keys.yaml, bearer: true}
policy:
  rules:
    - {name: alices, effect: allow, agents: [alices], subjects: [alice]}
    - {name: robots, effect: allow, agents: [robots], subjects: [robot]}
agents:
  - {id: alices, card: %[3]q}
  - {id: robots, card: %[3]q}
`, dir, issuer, agent.card)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t, file)
	return g, key
}
