package gateway_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// freeAddress is one that nothing listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	address := gatewaytest.FreeAddress()
	if address == "" {
		t.Fatal("no port is free")
	}
	return address
}

// A gateway that cannot start says why and leaves nothing behind: the addresses
// are free again, and so is the audit log.
func TestNewFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	tests := []struct {
		name   string
		change func(w *world, yaml string) string
		want   string
	}{
		{"address in use", func(w *world, yaml string) string {
			return strings.Replace(yaml, w.publicAddress(), taken.Addr().String(), 1)
		}, "address already in use"},
		{"status address in use", func(w *world, yaml string) string {
			return strings.Replace(yaml, `statusAddress: "127.0.0.1:0"`,
				fmt.Sprintf("statusAddress: %q", taken.Addr()), 1)
		}, "statusAddress"},
		{"admin address in use", func(_ *world, yaml string) string {
			return yaml + fmt.Sprintf("admin: {address: %q}\n", taken.Addr())
		}, "admin.address: listen"},
		{"admin token that is none", func(w *world, yaml string) string {
			w.put("admin.token", "too-short")
			return yaml
		}, "admin.token: "},
		{"unreadable certificate", func(w *world, yaml string) string {
			return strings.Replace(yaml, `publicURL: "http://127.0.0.1"`,
				"publicURL: https://127.0.0.1\n  tls: {certificates: [{cert: no.pem, key: no.pem}]}", 1)
		}, "no.pem"},
		{"unusable key file", func(w *world, yaml string) string {
			w.put("keys.yaml", "keys: [{id: x, hash: short}]\n")
			return yaml
		}, "keys.yaml"},
		{"audit directory that cannot be", func(w *world, yaml string) string {
			w.put("file", "")
			return yaml + "telemetry: {audit: {dir: file/audit}}\n"
		}, "not a directory"},
		{"missing CA of an agent", func(w *world, yaml string) string {
			return yaml + `agents: [{id: a, card: "https://127.0.0.1:1/", tls: {ca: no-ca.pem}}]`
		}, "no-ca.pem"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			address := freeAddress(t)
			w.put("address", address)
			yaml := strings.Replace(w.yaml(plain, openPolicy),
				`address: "127.0.0.1:0"`, fmt.Sprintf("address: %q", address), 1)
			g, err := gateway.New(t.Context(), w.load(tt.change(w, yaml)), gateway.Options{})
			if err == nil {
				_ = g.Shutdown(t.Context())
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q, want one with %q", err, tt.want)
			}
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatalf("it still listens: %v", err)
			}
			_ = l.Close()
			w.put("keys.yaml", "")
			_ = os.Remove(filepath.Join(w.dir, "admin.token"))
			g, err = gateway.New(t.Context(), w.load(yaml), gateway.Options{})
			if err != nil {
				t.Fatalf("it does not start with the mistake mended: %v", err)
			}
			if err := g.Shutdown(t.Context()); err != nil {
				t.Errorf("shut down what never served: %v", err)
			}
		})
	}
}

func (w *world) put(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// publicAddress is what TestNewFails has chosen.
func (w *world) publicAddress() string {
	w.t.Helper()
	address, err := os.ReadFile(filepath.Join(w.dir, "address"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(address)
}

// A gateway that is started before its agents answers for them, says which they
// are, and serves them once they are there.
func TestAgentsLate(t *testing.T) {
	w := newWorld(t)
	late := freeAddress(t)
	g := w.start(w.yaml(plain, openPolicy+
		fmt.Sprintf("agents: [{id: late, card: {url: \"http://%s/card\", refresh: 1s}}]\n", late)))
	credential := w.token("caller")
	status, body := call(t, g, "late", credential)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `"m-`) {
		t.Errorf("a call is answered %d %s, want 503 under its id", status, body)
	}
	status, _ = fetch(t, g.URL()+"/agents/late/.well-known/agent-card.json", credential)
	if status != http.StatusServiceUnavailable {
		t.Errorf("its card is answered %d, want 503", status)
	}
	if status, ready := fetch(t, g.StatusURL()+"/readyz?verbose", nil); status != http.StatusOK ||
		!strings.Contains(ready, "agent late: failed: ") {
		t.Errorf("/readyz is %d %q", status, ready)
	}
	agent := &counter{URL: "http://" + late, seen: map[string]int{}}
	l, err := net.Listen("tcp", late)
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(agent.serve)}}
	server.Start()
	defer func() { server.CloseClientConnections(); server.Close() }()
	eventually(t, "the agent is served", func() bool {
		status, _ := call(t, g, "late", credential)
		return status == http.StatusOK
	})
	// Its card is in force a moment before the fetch that brought it is over.
	eventually(t, "/readyz says so", func() bool {
		_, ready := fetch(t, g.StatusURL()+"/readyz?verbose", nil)
		return strings.Contains(ready, "agent late: ok")
	})
}

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil)
	g := w.start(w.yaml(plain, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	if status, body := call(t, g, "a", w.token("caller")); status != http.StatusOK {
		t.Fatal(status, body)
	}
	for path, want := range map[string]string{
		"/livez": "ok\n", "/healthz": "ok\n", "/readyz": "ok\n",
		"/readyz?verbose": "serving: ok\nconfig: ok\naudit: ok\nload: ok\nstate: ok\nagent a: ok\n",
	} {
		if status, body := fetch(t, g.StatusURL()+path, nil); status != http.StatusOK || body != want {
			t.Errorf("%s: %d %q, want %q", path, status, body, want)
		}
	}
	if status, _ := fetch(t, g.URL()+"/readyz", nil); status != http.StatusNotFound {
		t.Errorf("the public listener answers /readyz with %d", status)
	}
	eventually(t, "the call is counted", func() bool {
		return metric(t, g, `a2a_gateway_requests_total{agent="a",binding="JSONRPC",code="OK",method="SendMessage"}`) == "1"
	})
	for series, want := range map[string]string{
		"a2a_gateway_build_info":                                                  "1",
		"a2a_gateway_config_last_reload_successful":                               "1",
		`a2a_gateway_config_reloads_total{result="ok"}`:                           "1",
		`a2a_gateway_card_fetch_total{agent="a",result="ok"}`:                     "1",
		`a2a_gateway_jwks_refreshes_total{result="ok"}`:                           "1",
		`a2a_gateway_authz_decisions_total{decision="allow",rule="all"}`:          "1",
		`a2a_gateway_authn_total{provider="` + w.issuer.URL + `",result="ok"}`:    "1",
		`a2a_gateway_upstream_requests_total{agent="a",code="HTTP_2XX",method="S`: "1",
		"a2a_gateway_requests_in_flight":                                          "0",
		`a2a_gateway_request_duration_seconds_count{agent="a",method="SendMessag`: "1",
	} {
		if got := metric(t, g, series); got != want {
			t.Errorf("%s is %s, want %s", series, got, want)
		}
	}
	_, metrics := fetch(t, g.StatusURL()+"/metrics", nil)
	problems, err := promlint.New(strings.NewReader(metrics)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "a2a_gateway_") {
			t.Errorf("metric %s: %s", p.Metric, p.Text)
		}
	}
}

func TestStatusOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(strings.Replace(w.yaml(plain, openPolicy), `statusAddress: "127.0.0.1:0"`, `statusAddress: "off"`, 1))
	if url := g.StatusURL(); url != "" {
		t.Errorf("status at %s", url)
	}
}

// What is asked of all of the listener is held to its hosts as everything else is.
func TestStatusOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy))
	for host, want := range map[string]int{"localhost": http.StatusNoContent, "evil.example": http.StatusMisdirectedRequest} {
		req, err := http.NewRequest(http.MethodOptions, g.StatusURL(), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host, req.URL.Opaque = host, "*"
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("OPTIONS * of host %s: %d, want %d", host, resp.StatusCode, want)
		}
	}
}

// The port that is bound stands in every URL, and a loopback listener answers to
// this machine's names.
func TestPortZero(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil)
	g := w.start(w.yaml("publicURL: http://gateway.example:8080/\nhosts: [other.example]",
		openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	_, port, _ := strings.Cut(strings.TrimPrefix(g.URL(), "http://"), ":")
	if port == "0" || port == "" {
		t.Fatalf("the URL is %s", g.URL())
	}
	tests := []struct {
		host string
		want int
	}{
		{"127.0.0.1:" + port, http.StatusOK},
		{"localhost:" + port, http.StatusOK},
		{"LOCALHOST:" + port, http.StatusOK},
		{"[::1]:" + port, http.StatusOK},
		{"gateway.example:" + port, http.StatusOK},
		{"other.example", http.StatusOK},
		{"gateway.example:8080", http.StatusMisdirectedRequest},
		{"localhost", http.StatusMisdirectedRequest},
		{"evil.example:" + port, http.StatusMisdirectedRequest},
	}
	for _, tt := range tests {
		req, err := http.NewRequest(http.MethodGet, g.URL()+"/agents/a/.well-known/agent-card.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", tt.host, resp.StatusCode, tt.want)
		}
	}
	_, card := fetch(t, g.URL()+"/agents/a/.well-known/agent-card.json", nil)
	want := `"http://gateway.example:` + port + `/agents/a"`
	if !strings.Contains(card, want) || strings.Contains(card, ":8080") {
		t.Errorf("the card has no %s: %s", want, card)
	}
	_, metadata := fetch(t, g.URL()+"/.well-known/oauth-protected-resource/agents/a", nil)
	if !strings.Contains(metadata, want) {
		t.Errorf("the metadata has no %s: %s", want, metadata)
	}
}
