package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/health"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestHealthByAPI: whoever watches sees what a call takes of the limits while it goes on,
// the certificate that is served, and how state and audit log do.
func TestHealthByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	server, transport := w.secure()
	g := w.start(w.yaml(server, openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	admin := adminOf(t, w.dir)
	read := func() (h health.Health) {
		t.Helper()
		_, body := fetch(t, g.AdminURL()+"/api/v1/health", admin)
		if err := json.Unmarshal([]byte(body), &h); err != nil {
			t.Fatal(body, err)
		}
		return h
	}
	limit := func(h health.Health, name string) *health.Limit {
		for i := range h.Limits {
			if h.Limits[i].Name == name {
				return &h.Limits[i]
			}
		}
		return nil
	}
	body := strings.Replace(sendBody("SendStreamingMessage", "1"), "hello", "refund INV-7", 1)
	var resp *http.Response
	eventually(t, "a stream is open", func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+"/agents/a", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = sendHeader(w.token("alice"))
		if resp, err = transport().RoundTrip(req); err != nil || resp.StatusCode != http.StatusOK {
			return false
		}
		return true
	})
	defer resp.Body.Close()
	h := read()
	if h.Build.ID != "test" || h.Build.Go == "" || h.Build.Processors < 1 {
		t.Errorf("%+v", h.Build)
	}
	if h.State != (health.StoreHealth{Driver: h.State.Driver, OK: true}) || h.State.Driver == "" {
		t.Errorf("%+v", h.State)
	}
	if !h.Audit.OK || h.Audit.Seq < 1 || h.Audit.FailOpen || len(h.Sinks) != 0 {
		t.Errorf("%+v, %+v", h.Audit, h.Sinks)
	}
	if len(h.Certificates) != 1 || h.Certificates[0].Listener != "server" || h.Certificates[0].Names[0] != "127.0.0.1" {
		t.Errorf("%+v", h.Certificates)
	}
	for _, name := range []string{"requests", "streams", "connections"} {
		if l := limit(h, "server.limits."+name); l == nil || l.Max <= 0 || l.Refuses || name == "connections" && l.Used < 1 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	eventually(t, "memory and delay were measured", func() bool {
		h = read()
		return limit(h, "server.limits.memory") != nil
	})
	if l := limit(h, "server.limits.memory"); l.Used <= 0 || l.Unit != "bytes" {
		t.Errorf("%+v", l)
	}
	if l := limit(h, "server.limits.delay"); l == nil || l.Max != 3600 {
		t.Errorf("%+v", l)
	}
}
