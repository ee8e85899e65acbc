package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestBrowserLive uses the screen Live while calls are made; what it looks for is in
// internal/console/ui/test/live.mjs.
func TestBrowserLive(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/live.mjs")
}

// TestBrowserStreams uses the screen of streams that are open while some are; what it looks
// for is in internal/console/ui/test/streams.mjs.
func TestBrowserStreams(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/streams.mjs")
}

// TestBrowserWatch watches a stream that is open, and reads the messages of its task, where admin.content shows what
// was captured and where it does not; what it looks for is in internal/console/ui/test/watch.mjs.
func TestBrowserWatch(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	for _, content := range []string{"", "true"} {
		o := openOffice(t, content != "")
		o.env = append(o.env, "CONTENT="+content)
		o.play(t, "test/watch.mjs")
	}
}

// TestBrowserAudit uses the screen Audit and those that it leads to; what it looks for is in
// internal/console/ui/test/audit.mjs.
func TestBrowserAudit(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t, "    - {name: no-bob, effect: deny, agents: [billing], subjects: [bob], methods: [SendMessage]}").play(t, "test/audit.mjs")
}

// office is a gateway whose callers have names: alice may do everything with the agent
// billing, and bob nothing but with the agent weather. Further rules are lines of its
// configuration.
type office struct {
	gateway *gateway.Gateway
	courier *gatewaytest.Courier // an agent that notifies when it is told to
	dir     string
	env     []string // of scripts
}

const (
	officeToken  = "console-office-token"
	officeViewer = "console-viewer-token-0123456789"
)

func newOffice(t *testing.T, rules ...string) *office {
	t.Helper()
	return openOffice(t, false, rules...)
}

// capturedBilling has bodies of the agent billing captured.
const capturedBilling = `, audit: {content: {rules: [{agents: [billing], capture: both, label: internal}]}}`

// openOffice is a newOffice which, with content, captures what is said to billing, and shows it.
func openOffice(t *testing.T, content bool, rules ...string) *office {
	t.Helper()
	captured := ""
	if content {
		captured = capturedBilling
	}
	billing, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	weather, err := demo.Agent03(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		_, _ = billing.Close(ctx), weather.Close(ctx) // nobody waits for them
	})
	o := &office{dir: t.TempDir(), courier: gatewaytest.NewCourier(t)}
	keys, err := apikey.Open(filepath.Join(o.dir, "keys.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	chromium, _ := exec.LookPath("chromium")
	o.env = []string{"CHROMIUM=" + chromium, "TOKEN=" + officeToken, "VIEWER=" + officeViewer}
	for _, id := range []string{"alice", "bob"} {
		_, key, err := keys.Create(apikey.Spec{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		o.env = append(o.env, strings.ToUpper(id)+"="+key)
	}
	file := filepath.Join(o.dir, "config.yaml")
	text := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: "http://gateway.example", dataDir: %q}
admin:
  address: "127.0.0.1:0"
  token: %s
  tokens: [{name: onlooker, role: viewer, digest: "sha256:%x"}]
  dashboards: https://grafana.example/d/gateway
  content: %t
authn: {apiKeys: {file: keys.yaml}}
policy:
  rules:
    - {name: finance, effect: allow, agents: [billing], subjects: [alice]}
    - {name: everybody, effect: allow, agents: [weather]}
    - {name: look-around, effect: allow, agents: [billing], methods: [GetTask]}
    - {name: parcels, effect: allow, agents: [courier], subjects: [alice]}
%s
push: {allowPrivateNetworks: true, plaintext: true}
fleet: {api: true}
telemetry: {logs: {level: error}%s}
agents:
  - {id: billing, card: %q}
  - {id: weather, card: %q}
  - {id: courier, card: %q}
`, o.dir, officeToken, sha256.Sum256([]byte(officeViewer)), content, strings.Join(rules, "\n"), captured, billing.CardURL, weather.CardURL, o.courier.CardURL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if o.gateway, err = gateway.New(t.Context(), cfg, gateway.Options{Version: "test"}); err != nil {
		t.Fatal(err)
	}
	o.gateway.Start()
	t.Cleanup(func() { _ = o.gateway.Shutdown(context.Background()) })
	hand := httptest.NewServer(o)
	t.Cleanup(hand.Close)
	o.env = append(o.env, "CONSOLE="+o.gateway.AdminURL(), "GATEWAY="+o.gateway.URL(), "HAND="+hand.URL)
	o.ready(t)
	return o
}

// ServeHTTP does for scripts what no browser can: the receiver of webhooks, an agent that
// notifies, and somebody who changes the log.
func (o *office) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch r.URL.Path {
	case "/hook":
	case "/notify":
		_, err = o.courier.Notify(o.gateway.URL(), r.FormValue("task"), 1, nil)
	case "/tamper":
		err = o.tamper()
	default:
		err = errors.New("there is nothing here")
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// tamper has the log say that bob was somebody else.
func (o *office) tamper() error {
	files, err := filepath.Glob(filepath.Join(o.dir, "audit", "audit-*.jsonl"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no files: %w", err)
	}
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	at := bytes.Index(text, []byte(`"principal":"bob"`))
	if at < 0 {
		return errors.New("bob is not there")
	}
	_, err = f.WriteAt([]byte(`"principal":"eve"`), int64(at))
	return err
}

// ready waits until there are cards.
func (o *office) ready(t *testing.T) {
	t.Helper()
	for _, agent := range []string{"billing", "weather", "courier"} {
		for deadline := time.Now().Add(time.Minute); ; {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, o.gateway.AdminURL()+"/api/v1/cards/"+agent, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+officeToken)
			body, err := answer(r)
			if err == nil && strings.Contains(body, `"state":"accepted"`) {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s has no card: %s, %v", agent, body, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}

func answer(r *http.Request) (string, error) {
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return string(body), err
}

// play runs a script in the browser.
func (o *office) play(t *testing.T, script string) {
	t.Helper()
	node(t, o.env, script)
}
