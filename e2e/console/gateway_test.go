package console

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

// TestBrowserGateway uses the screen Config and health, of a gateway with TLS that follows
// its file; what it looks for is in internal/console/ui/test/gateway.mjs.
func TestBrowserGateway(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	billing, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = billing.Close(context.Background()) })
	dir := t.TempDir()
	borrow(t, dir)
	text := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: "https://127.0.0.1", dataDir: %q,
  tls: {certificates: [{cert: cert.pem, key: key.pem}]}}
admin:
  address: "127.0.0.1:0"
  token: %s
  tokens: [{name: onlooker, role: viewer, digest: "sha256:%x"}]
authn: {anonymous: true}
policy: {default: allow}
telemetry: {logs: {level: error}}
agents:
  - {id: billing, card: %q}
  - {id: absent, card: "http://127.0.0.1:9/card"}
`, dir, officeToken, sha256.Sum256([]byte(officeViewer)), billing.CardURL)
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
	ctx, stop := context.WithCancel(context.Background())
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		g.Follow(ctx, file, nil)
	}()
	t.Cleanup(func() {
		stop()
		<-followed
		_ = g.Shutdown(context.Background())
	})
	chromium, _ := exec.LookPath("chromium")
	node(t, []string{
		"CONSOLE=" + g.AdminURL(), "TOKEN=" + officeToken, "VIEWER=" + officeViewer, "CHROMIUM=" + chromium,
		"CONFIG=" + file, "TEXT=" + text, "SECRET=" + officeToken,
	}, "test/gateway.mjs")
}

// borrow writes the certificate that net/http tests itself with into cert.pem and key.pem.
func borrow(t *testing.T, dir string) {
	t.Helper()
	lender := httptest.NewTLSServer(nil)
	defer lender.Close()
	pair := lender.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
