package console

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestBrowserCluster looks at gateways that share a Redis: two that are alike but for their
// configuration, and one with other keys. What it looks for is in
// internal/console/ui/test/cluster.mjs.
func TestBrowserCluster(t *testing.T) {
	t.Parallel()
	needBrowser(t, "redis-server")
	address := gatewaytest.FreeAddress()
	redis := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", address[strings.LastIndexByte(address, ':')+1:], "--save", "", "--dir", t.TempDir()) //nolint:gosec // its port is this test's
	if err := redis.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = redis.Process.Kill(), redis.Wait() })
	keys := t.TempDir()
	var first *gateway.Gateway
	for i, own := range []struct{ id, keys, more string }{
		{"gateway-1", keys, ""}, {"gateway-2", keys, "streams: {turns: 50}\n"}, {"gateway-3", t.TempDir(), ""},
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		text := fmt.Sprintf(`server: {id: %s, address: "127.0.0.1:0", statusAddress: "off", publicURL: "http://gateway.example", dataDir: %q}
admin: {address: "127.0.0.1:0", token: %s}
authn: {anonymous: true}
telemetry: {logs: {level: error}}
keys: {dir: %q}
state: {driver: redis, redis: {addresses: [%q]}}
agents: []
%s`, own.id, filepath.Dir(file), officeToken, own.keys, address, own.more)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := config.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		var g *gateway.Gateway
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) { // until Redis is there
			if g, err = gateway.New(t.Context(), cfg, gateway.Options{Version: "test"}); err == nil {
				break
			}
			if time.Now().After(end) {
				t.Fatal(err)
			}
		}
		g.Start()
		t.Cleanup(func() { _ = g.Shutdown(context.Background()) })
		if i == 0 {
			first = g
		}
	}
	chromium, _ := exec.LookPath("chromium")
	node(t, []string{"CONSOLE=" + first.AdminURL(), "TOKEN=" + officeToken, "CHROMIUM=" + chromium}, "test/cluster.mjs")
}
