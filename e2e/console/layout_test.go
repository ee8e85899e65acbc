package console

import (
	"context"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// shots names the directory that screenshots are written to.
const shots = "A2A_GATEWAY_TEST_SCREENSHOTS"

// longAgent is an id of an agent as registries of larger companies have them.
const longAgent = "accounts-receivable-reconciliation-eu-west-production"

// TestBrowserLayout opens every screen at the widths of a phone, a tablet and a desktop, in both
// themes: nothing is wider than the window, nothing is cut that cannot be read otherwise, no word
// is broken, and axe finds no violation. It takes screenshots, and has axe look at more of the pairs, where
// A2A_GATEWAY_TEST_SCREENSHOTS names a directory for them or go test keeps artifacts (-artifacts). What it looks for is in
// internal/console/ui/test/layout.mjs.
func TestBrowserLayout(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	env := newBusy(t)
	if kept := flag.Lookup("test.artifacts"); os.Getenv(shots) == "" && kept != nil && kept.Value.String() == "true" {
		env = append(env, shots+"="+t.ArtifactDir())
	}
	node(t, env, "test/layout.mjs")
}

// TestBrowserKeyboard uses the console by the keyboard alone, and its navigation on a phone; what
// it looks for is in internal/console/ui/test/keyboard.mjs.
func TestBrowserKeyboard(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/keyboard.mjs")
}

// TestBrowserEmpty opens every screen of a gateway that has served nothing yet: each says what to
// do next. What it looks for is in internal/console/ui/test/empty.mjs.
func TestBrowserEmpty(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	dir := t.TempDir()
	g := serve(t, dir, fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: "http://gateway.example", dataDir: %q}
admin: {address: "127.0.0.1:0", token: %s}
authn: {anonymous: true}
policy: {default: deny}
telemetry: {logs: {level: error}}
`, dir, officeToken))
	chromium, _ := exec.LookPath("chromium")
	node(t, []string{"CONSOLE=" + g.AdminURL(), "GATEWAY=" + g.URL(), "TOKEN=" + officeToken, "CHROMIUM=" + chromium}, "test/empty.mjs")
}

// serve runs a gateway of a configuration until the test ends.
func serve(t *testing.T, dir, text string) *gateway.Gateway {
	t.Helper()
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
	return g
}

// newBusy is a gateway that has something on every screen: agents of both versions, one with a
// long id, one that cannot be reached and one whose card changed; issuers, keys, rate limits,
// extensions, captured content, a call that waits for approval, and notifications that no receiver takes.
func newBusy(t *testing.T) []string {
	t.Helper()
	billing, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	weather, err := demo.Agent03(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		_, _, _ = billing.Close(ctx), weather.Close(ctx), issuer.Close(ctx) // nobody waits for them
	})
	dir := t.TempDir()
	keys, err := apikey.Open(filepath.Join(dir, "keys.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"TOKEN=" + officeToken, "LONG=" + longAgent}
	for _, spec := range []apikey.Spec{
		{ID: "alice", Groups: []string{"finance"}, Owner: "finance-platform-team@example.com"},
		{ID: "bob", Groups: []string{"support"}},
		{ID: "reconciliation-batch-job-of-the-night", Groups: []string{"finance"}, Scopes: []string{"billing.read", "billing.write"}, Agents: []string{"billing", longAgent}},
	} {
		_, key, err := keys.Create(spec)
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, strings.ToUpper(spec.ID[:3])+"="+key)
	}
	s := &stage{fickle: fickle(t), token: officeToken}
	courier := gatewaytest.NewCourier(t)
	s.gateway = serve(t, dir, fmt.Sprintf(busyConfig, dir, officeToken, sha256.Sum256([]byte(officeViewer)), issuer.URL, demo.CostCentre,
		billing.CardURL, weather.CardURL, billing.CardURL, s.fickle.URL, courier.CardURL, longAgent))
	s.post(t, courier)
	chromium, _ := exec.LookPath("chromium")
	return append(env, "CONSOLE="+s.gateway.AdminURL(), "GATEWAY="+s.gateway.URL(), "AGENT="+s.fickle.URL, "CHROMIUM="+chromium)
}

const busyConfig = `server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: "http://gateway.example", dataDir: %[1]q}
admin:
  address: "127.0.0.1:0"
  token: %[2]s
  tokens: [{name: onlooker, role: viewer, digest: "sha256:%[3]x"}]
authn:
  anonymous: true
  oidc: [{issuer: %[4]q, audiences: [a2a-gateway]}]
  apiKeys: {file: keys.yaml, api: true}
policy:
  rules:
    - {name: finance-uses-billing, effect: allow, agents: [billing, %[11]s], groups: [finance]}
    - {name: support-summarizes, effect: allow, agents: [billing], skills: [summarize], groups: [support]}
    - {name: everyone-has-weather, effect: allow, agents: [weather, courier]}
    - {name: parcels-to-another-address-need-a-person, effect: approve, agents: [courier], subjects: [alice], approvers: {subjects: [admin-token, "*@logistics.example.com"]}}
  approvals: {wait: 10ms}
  guards:
    - {name: telephone-numbers-are-only-counted, on: [request, answer], use: pii, kinds: [phone, email], action: report, agents: [weather, %[11]s]}
    - {name: no-text-of-any-length, use: size, size: {text: 1B}, mode: shadow, agents: [billing, weather]}
  limits:
    each:
      - {name: bob-on-weather, agents: [weather], subjects: [bob], rate: {units: 2, per: 1h, burst: 2}}
      - {name: per-caller, rate: {units: 500, per: 1s, burst: 1000}, quota: {units: 100000, per: day}, concurrency: 20, openTasks: 100, bytes: 4MiB}
push: {allowPrivateNetworks: true, plaintext: true, attempts: {first: 10ms, longest: 10ms, for: 20ms, timeout: 1s}}
telemetry:
  logs: {level: error}
  audit:
    encryption: {keys: [7c0a2c5e9f4f3d1b8a66e0d5b1f27394c8e5a0719d3b64f20e8c17a5d9423b6f]}
    content: {labels: [internal], rules: [{agents: [weather], capture: both, label: internal, retention: 30d}]}
extensions:
  - {uri: %[5]q, description: Books the call on a cost centre., schemas: {metadata: {%[5]q: {type: string, pattern: "^cc-"}}}}
  - {uri: "https://billing.example/extensions/tenancy/v1", status: deprecated, replacement: "https://billing.example/extensions/tenancy/v2", sunset: "2099-03-31"}
agents:
  - {id: billing, card: %[6]q}
  - {id: weather, card: %[7]q}
  - {id: %[11]s, card: %[8]q, extensions: {require: [%[5]q]}}
  - {id: fickle, card: {url: "%[9]s/card", refresh: 1s, trust: {onChange: quarantine}}}
  - {id: absent, card: "http://127.0.0.1:9/card"}
  - {id: courier, card: %[10]q}
`
