package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

const adminToken = "canary-admin-token"

// admin asks the admin API, and returns the status and the answer.
func (w *world) admin(g *gateway.Gateway, method, path, body string) (int, string) {
	w.t.Helper()
	req, err := http.NewRequestWithContext(w.t.Context(), method, g.AdminURL()+"/api/v1/agents"+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+adminToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client(w.t).Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close() // only read from
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// want asks the admin API and expects a status, and a text in the answer.
func (w *world) want(g *gateway.Gateway, method, path, body string, status int, text string) {
	w.t.Helper()
	if got, answer := w.admin(g, method, path, body); got != status || !strings.Contains(answer, text) {
		w.t.Errorf("%s %s: %d %s, want %d %s", method, path, got, answer, status, text)
	}
}

// registers lets everybody use everything, and registers agents.
const registers = "admin: {token: " + adminToken + "}\nfleet: {api: true, limit: 2}\n" + openPolicy

// TestReplicasShareAgents: what is registered at one gateway is served by every gateway
// with the same state, also by one that begins later; without the state nothing is
// registered, and who was there stays.
func TestReplicasShareAgents(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w := newWorld(t)
	agent, alice := greeter(t), w.key("alice")
	all := w.replicas("", registers+redis.yaml())
	doc := fmt.Sprintf(`{"id":"a","card":%q}`, agent.CardURL)
	w.want(all[0], "POST", "", doc, 200, `"served":true`)
	if resp := w.knock(all[0], nil, alice); resp.StatusCode != http.StatusOK {
		t.Errorf("where it was registered: %d", resp.StatusCode)
	}
	eventually(t, "the other one serves it", func() bool { return w.knock(all[1], nil, alice).StatusCode == http.StatusOK })
	w.want(all[1], "POST", "", doc, 409, "AGENT_EXISTS")
	w.want(all[1], "GET", "/a", "", 200, `"origin":"api"`)
	later := w.replicas("", registers+redis.yaml())[0]
	if resp := w.knock(later, nil, alice); resp.StatusCode != http.StatusOK {
		t.Errorf("one that began later: %d", resp.StatusCode)
	}
	w.want(later, "DELETE", "/a", "", 200, "removed")
	for _, g := range all {
		eventually(t, "it is gone", func() bool { return w.knock(g, nil, alice).StatusCode == http.StatusNotFound })
	}
	w.want(all[0], "PUT", "/a", doc, 200, `"served":true`)
	redis.end()
	w.want(all[0], "DELETE", "/a", "", 503, "STATE_UNAVAILABLE")
	w.want(all[0], "POST", "", `{"id":"b","card":"http://127.0.0.1:1/card"}`, 503, "STATE_UNAVAILABLE")
	eventually(t, "it is said", func() bool { return strings.Contains(readyz(t, all[0]), "fleet: failed") })
	if text := readyz(t, all[0]); !strings.Contains(text, "agent a:") {
		t.Errorf("the agent is gone with the state: %s", text)
	}
}

// TestReplicaCatchesUp: a gateway that cannot be built anew at the moment when another one
// registers an agent says so, and serves the agent as soon as it can.
func TestReplicaCatchesUp(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w := newWorld(t)
	agent, alice := greeter(t), w.key("alice")
	root := filepath.Join(w.dir, "root.pem")
	whole := newClientCA(t, "pdp").PEM()
	write := func(text []byte) {
		if err := os.WriteFile(root, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(whole)
	one := w.replicas("", registers+redis.yaml())[0]
	asks := fmt.Sprintf("policy: {authorizers: [{name: pdp, kind: authzen, url: \"https://127.0.0.1:1\", methods: [GetTask], tls: {ca: %q}}], ", root)
	other := w.replicas("", strings.Replace(registers, "policy: {", asks, 1)+redis.yaml())[0]
	write([]byte("being written"))
	w.want(one, "POST", "", fmt.Sprintf(`{"id":"a","card":%q}`, agent.CardURL), 200, `"served":true`)
	eventually(t, "it is said", func() bool { return strings.Contains(readyz(t, other), "fleet change: failed: ") })
	write(whole)
	eventually(t, "the other one serves it", func() bool { return w.knock(other, nil, alice).StatusCode == http.StatusOK })
	if text := readyz(t, other); strings.Contains(text, "fleet change") {
		t.Error(text)
	}
}

// readyz is what the status listener says.
func readyz(t *testing.T, g *gateway.Gateway) string {
	t.Helper()
	resp, err := http.Get(g.StatusURL() + "/readyz?verbose") //nolint:noctx // a probe of our own
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close() // only read from
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRegistrationChangesAllOrNothing: what cannot be served is not kept, and what is left
// out is named until it can be served.
func TestRegistrationChangesAllOrNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, alice := greeter(t), w.key("alice")
	file := func(id string) string {
		return w.yaml(together, registers+fmt.Sprintf("agents: [{id: %s, card: %q, hosts: [own.test]}]\n", id, agent.CardURL))
	}
	g := w.start(file("file"))
	doc := func(id, more string) string { return fmt.Sprintf(`{"id":%q,"card":%q%s}`, id, agent.CardURL, more) }
	w.want(g, "POST", "", doc("file", ""), 409, "AGENT_IN_FILE")
	w.want(g, "DELETE", "/file", "", 409, "AGENT_IN_FILE")
	w.want(g, "POST", "", doc("b", `,"hosts":["own.test"]`), 400, `\"own.test\" is taken`)
	w.want(g, "POST", "", doc("b", `,"hosts":["agents.test"]`), 400, "is taken")
	w.want(g, "POST", "", doc("b", `,"headers":{"request":["X-API-Key"]}`), 400, "INVALID_AGENT")
	w.want(g, "POST", "", doc("b", `,"extensions":{"require":["urn:x"],"deny":["urn:x"]}`), 400, "INVALID_AGENT")
	w.want(g, "GET", "/b", "", 404, "NO_SUCH_AGENT")
	w.want(g, "POST", "", doc("a", `,"credentials":[{"header":"X-K","value":"canary-secret"}]`), 200, `"value":"(secret)"`)
	w.want(g, "POST", "", doc("c", ""), 200, `"served":true`)
	w.want(g, "POST", "", doc("d", ""), 409, "AGENTS_FULL")
	w.want(g, "PUT", "/c", doc("c", `,"fileBytes":"odd"`), 400, "INVALID_AGENT")
	if resp := w.knock(g, nil, alice); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	// The files take an id, and give it back.
	if err := g.Reload(t.Context(), w.load(file("a"))); err != nil {
		t.Fatal(err)
	}
	w.want(g, "GET", "/a", "", 200, `"origin":"file","served":true,"state":"serving","failure":"the admin API: id: \"a\" is taken`)
	if text := readyz(t, g); !strings.Contains(text, "agent a left out: failed: the admin API") {
		t.Error(text)
	}
	// A file that cannot be loaded changes nothing of that.
	if err := g.Reload(t.Context(), w.load(strings.Replace(file("c"), "id: test", "id: other", 1))); err == nil {
		t.Error("server.id was changed")
	}
	if text := readyz(t, g); !strings.Contains(text, "agent a left out") || strings.Contains(text, "agent c left out") {
		t.Error(text)
	}
	if err := g.Reload(t.Context(), w.load(file("file"))); err != nil {
		t.Fatal(err)
	}
	w.want(g, "GET", "/a", "", 200, `"origin":"api"`)
	if text := readyz(t, g); strings.Contains(text, "left out") {
		t.Error(text)
	}
	w.sealed("canary-secret")
}

// sealed makes sure that a text cannot be read in the state's files, which name agents.
func (w *world) sealed(text string) {
	w.t.Helper()
	paths, err := filepath.Glob(filepath.Join(w.dir, "state.db*"))
	if err != nil || len(paths) == 0 {
		w.t.Fatal(paths, err)
	}
	known := false
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			w.t.Fatal(err)
		}
		known = known || strings.Contains(string(data), "agents")
		if strings.Contains(string(data), text) {
			w.t.Errorf("%s shows %s", path, text)
		}
	}
	if !known {
		w.t.Errorf("no agents in %v: is the test looking in the right place?", paths)
	}
}

// TestAgentsByEdition: what somebody has changed meanwhile is not overwritten by whoever read the one before.
func TestAgentsByEdition(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := greeter(t)
	g := w.replicas("", registers)[0]
	doc := fmt.Sprintf(`{"id":"a","card":%q}`, agent.CardURL)
	w.want(g, "POST", "", doc, 200, `"edition":"`)
	_, answer := w.admin(g, "GET", "/a", "")
	_, rest, _ := strings.Cut(answer, `"edition":"`)
	edition, _, _ := strings.Cut(rest, `"`)
	put := func() int {
		req, err := http.NewRequestWithContext(t.Context(), "PUT", g.AdminURL()+"/api/v1/agents/a", strings.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + adminToken}, "Content-Type": {"application/json"}, "If-Match": {`"` + edition + `"`}}
		resp, err := client(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close() // nothing of it is read
		return resp.StatusCode
	}
	if first, second := put(), put(); first != http.StatusOK || second != http.StatusPreconditionFailed {
		t.Errorf("%d and %d", first, second)
	}
}
