package console

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// TestBrowserInstances looks at an agent of two instances, of which one answers every call
// with a plain 500; what it looks for is in internal/console/ui/test/instances.mjs.
func TestBrowserInstances(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	billing, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = billing.Close(context.Background()) })
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "out of order", http.StatusInternalServerError)
	}))
	t.Cleanup(broken.Close)
	good, bad := host(t, billing.CardURL), host(t, broken.URL)
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: "http://gateway.example", dataDir: %q}
admin: {address: "127.0.0.1:0", token: %s}
authn: {anonymous: true}
policy: {default: allow}
telemetry: {logs: {level: error}}
agents:
  - id: billing
    card: %q
    load: {instances: [{static: [%q, %q]}], health: {off: true}, ejection: {for: 10m, within: 10m}}
`, dir, officeToken, billing.CardURL, good, bad)
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
		"CONSOLE=" + g.AdminURL(), "GATEWAY=" + g.URL(), "TOKEN=" + officeToken, "CHROMIUM=" + chromium, "GOOD=" + good, "BAD=" + bad,
	}, "test/instances.mjs")
}

// host is where a URL is connected to.
func host(t *testing.T, at string) string {
	t.Helper()
	u, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}
