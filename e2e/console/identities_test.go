package console

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// TestBrowserIdentities uses the screen Identities, where keys may be made; what it looks for
// is in internal/console/ui/test/identities.mjs.
func TestBrowserIdentities(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	billing, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = billing.Close(context.Background()), issuer.Close(context.Background()) })
	dir := t.TempDir()
	keys, err := apikey.Open(filepath.Join(dir, "keys.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := keys.Create(apikey.Spec{ID: "alice", Scopes: []string{"billing.read"}, Agents: []string{"billing"}}); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: "http://gateway.example", dataDir: %q}
admin:
  address: "127.0.0.1:0"
  token: %s
  tokens: [{name: onlooker, role: viewer, digest: "sha256:%x"}]
authn:
  oidc: [{issuer: %q, audiences: [a2a-gateway]}]
  apiKeys: {file: keys.yaml, api: true}
  failures: {perMinute: -1}
policy: {rules: [{name: robots, effect: allow, groups: [robots]}]}
telemetry: {logs: {level: error}}
agents: [{id: billing, card: %q}]
`, dir, officeToken, sha256.Sum256([]byte(officeViewer)), issuer.URL, billing.CardURL)
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.New(t.Context(), cfg, gateway.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	g.Start()
	t.Cleanup(func() { _ = g.Shutdown(context.Background()) })
	chromium, _ := exec.LookPath("chromium")
	node(t, []string{
		"CONSOLE=" + g.AdminURL(), "GATEWAY=" + g.URL(), "TOKEN=" + officeToken, "VIEWER=" + officeViewer, "CHROMIUM=" + chromium, "ISSUER=" + issuer.URL,
	}, "test/identities.mjs")
}
