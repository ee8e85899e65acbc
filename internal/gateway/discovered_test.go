package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// cluster is an API server with the services of one namespace.
type cluster struct {
	*httptest.Server
	t *testing.T

	mu       sync.Mutex
	changed  chan struct{} // closed and made anew with every change
	services map[string]map[string]any
	events   []string // from version 1
	refuse   int      // status of every answer, if not 0
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{t: t, services: map[string]map[string]any{}, changed: make(chan struct{})}
	c.Server = httptest.NewServer(c)
	t.Cleanup(func() {
		c.CloseClientConnections()
		c.Close()
	})
	return c
}

// set makes a service that leads to an address; "" takes it away.
func (c *cluster) set(name, address string, annotations map[string]string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	kind, object := "MODIFIED", map[string]any{}
	if address != "" {
		u, err := url.Parse(address)
		if err != nil {
			c.t.Fatal(err)
		}
		port, _ := strconv.Atoi(u.Port())
		object["spec"] = map[string]any{"clusterIP": u.Hostname(), "ports": []any{map[string]any{"name": "a2a", "port": port, "protocol": "TCP"}}}
		c.services[name] = object
	} else {
		kind, object = "DELETED", c.services[name]
		delete(c.services, name)
	}
	object["metadata"] = map[string]any{
		"name": name, "namespace": "agents", "resourceVersion": strconv.Itoa(len(c.events) + 1), "annotations": annotations,
		"creationTimestamp": "2026-01-02T03:04:05Z",
	}
	line, err := json.Marshal(map[string]any{"type": kind, "object": object})
	if err != nil {
		c.t.Fatal(err)
	}
	c.events = append(c.events, string(line))
	close(c.changed)
	c.changed = make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	q := r.URL.Query()
	status := c.refuse
	if r.URL.Path != "/api/v1/namespaces/agents/services" || q.Get("labelSelector") != "team=a2a" {
		status = http.StatusNotFound
	}
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	if q.Get("watch") == "" {
		items := []any{}
		for _, s := range c.services {
			items = append(items, s)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"metadata": map[string]any{"resourceVersion": strconv.Itoa(len(c.events) + 1)}, "items": items})
		return
	}
	from, _ := strconv.Atoi(q.Get("resourceVersion"))
	w.WriteHeader(http.StatusOK)
	for sent := max(from-1, 0); r.Context().Err() == nil; {
		for ; sent < len(c.events); sent++ {
			fmt.Fprintln(w, c.events[sent])
		}
		_ = http.NewResponseController(w).Flush()
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
		}
		c.mu.Lock()
	}
}

// base is where an agent is, without the path of its card.
func base(cardURL string) string {
	address, _, _ := strings.Cut(cardURL, "/.well-known")
	return address
}

// TestServicesAreAgents: a service with the label is an agent, as its annotations say, from
// the first moment, and comes, changes and goes with it. What is wrong with one is said,
// and keeps it as it was; others do not mind.
func TestServicesAreAgents(t *testing.T) {
	t.Parallel()
	w, c := newWorld(t), newCluster(t)
	one, two, alice := greeter(t), greeter(t), w.key("alice")
	c.set("first", base(one.CardURL), map[string]string{"a2a-gateway.dev/id": "a"})
	file := w.yaml(together, "admin: {token: "+adminToken+"}\n"+openPolicy+fmt.Sprintf(
		"fleet: {kubernetes: [{selector: team=a2a, namespace: agents, address: clusterIP, server: %q}]}\n", c.URL)+
		fmt.Sprintf("agents: [{id: file, card: %q}]\n", one.CardURL))
	g := w.start(file)
	if resp := w.knock(g, nil, alice); resp.StatusCode != http.StatusOK {
		t.Errorf("at first: %d", resp.StatusCode)
	}
	shows := func(path, text string) bool {
		_, answer := w.admin(g, "GET", path, "")
		return strings.Contains(answer, text)
	}
	w.want(g, "GET", "/a", "", 200, `"origin":"kubernetes","source":"agents/first"`)
	w.want(g, "DELETE", "/a", "", 404, "NO_SUCH_AGENT")
	w.want(g, "POST", "", `{"id":"b","card":"http://127.0.0.1/card"}`, 403, "AGENTS_OFF")

	c.set("second", base(two.CardURL), map[string]string{"a2a-gateway.dev/visibility": "caller", "a2a-gateway.dev/skills": "x, y"})
	eventually(t, "another one", func() bool { return shows("/second", `"served":true`) })

	// What is wrong is said, whatever else there is.
	c.set("second", base(two.CardURL), map[string]string{"a2a-gateway.dev/port": "none"})
	c.set("third", base(two.CardURL), map[string]string{"a2a-gateway.dev/id": "file"})
	c.set("fourth", base(two.CardURL), map[string]string{"a2a-gateway.dev/card-path": "//elsewhere.example/x"})
	c.set("fifth", base(two.CardURL), map[string]string{"a2a-gateway.dev/id": "no id"})
	for path, text := range map[string]string{
		"/second": `"served":true,"state":"serving","failure":"service agents/second: a2a-gateway.dev/port: it has no TCP port`,
		"/file":   `"origin":"file","served":true,"state":"serving","failure":"service agents/third: id: \"file\" is taken`,
		"/fourth": `"served":false,"failure":"service agents/fourth: a2a-gateway.dev/card-path`,
		"":        `"id":"no id"`,
	} {
		eventually(t, text, func() bool { return shows(path, text) })
	}
	if text := readyz(t, g); !strings.Contains(text, "agent fourth left out: failed: service agents/fourth") {
		t.Error(text)
	}
	for _, name := range []string{"third", "fourth", "fifth"} {
		c.set(name, "", nil)
	}
	eventually(t, "all is well", func() bool { return !shows("", "fourth") && !shows("", "no id") && !shows("/file", "failure") })

	// While the API server refuses, what was found holds; then it is asked again.
	c.mu.Lock()
	c.refuse = http.StatusForbidden
	c.mu.Unlock()
	c.CloseClientConnections()
	eventually(t, "it is said", func() bool { return strings.Contains(readyz(t, g), "fleet.kubernetes: failed") })
	if resp := w.knock(g, nil, alice); resp.StatusCode != http.StatusOK {
		t.Errorf("without the API server: %d", resp.StatusCode)
	}
	c.set("first", "", nil)
	c.mu.Lock()
	c.refuse = 0
	c.mu.Unlock()
	eventually(t, "it is gone", func() bool { return w.knock(g, nil, alice).StatusCode == http.StatusNotFound })

	if err := g.Reload(t.Context(), w.load(strings.Replace(file, "team=a2a", "team=b2b", 1))); err == nil ||
		!strings.Contains(err.Error(), "fleet.kubernetes: changing it needs a restart") {
		t.Error(err)
	}
	w.onRecord("agent.added", "agents/second")
	w.onRecord("agent.removed", "agents/first")
}

// onRecord waits for an event about a service.
func (w *world) onRecord(kind, service string) {
	w.t.Helper()
	eventually(w.t, kind, func() bool {
		for _, r := range w.records("event") {
			if attrs, ok := r["attrs"].(map[string]any); ok && r["event"] == kind && attrs["service"] == service {
				return true
			}
		}
		return false
	})
}

// A gateway whose API server does not answer serves what it has, and does not wait for long.
func TestServicesWithoutCluster(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, alice := greeter(t), w.key("alice")
	began := time.Now()
	g := w.start(w.yaml(together, openPolicy+fmt.Sprintf(
		"fleet: {kubernetes: [{namespace: agents, server: %q}]}\nagents: [{id: a, card: %q}]\n", "http://"+freeAddress(t), agent.CardURL)))
	if resp := w.knock(g, nil, alice); resp.StatusCode != http.StatusOK || time.Since(began) > patience {
		t.Errorf("status %d after %v", resp.StatusCode, time.Since(began))
	}
	if text := readyz(t, g); !strings.Contains(text, "fleet.kubernetes: failed: list services: ") {
		t.Error(text)
	}
}
