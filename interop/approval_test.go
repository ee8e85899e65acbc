package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestApprovedCalls has clients who know nothing of approvals finish calls that a person agrees to: of
// agents on their own SDK, and of agents of the other version.
func TestApprovedCalls(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	t.Parallel()
	there := present(t)
	var agents []agent
	for _, a := range goAgents(t) {
		if a.side.version != "0.1" { // which has no word for a call that waits
			agents = append(agents, a)
		}
	}
	for _, of := range startAgents(t, there) {
		agents = append(agents, of...)
	}
	patient, hasty := startApproving(t, agents, "20s"), startApproving(t, agents, "1ms")
	for _, c := range append(programCallers(t, there), goCallers()...) {
		t.Run(c.id, func(t *testing.T) {
			t.Parallel()
			for _, a := range agents {
				if name := c.id + " to " + a.id; c.meets(a) && only(name) {
					t.Run(a.id, func(t *testing.T) { c.finish(t, a, patient, hasty) })
				}
			}
		})
	}
}

// caller is a client of one side, which does one operation at a time.
type caller struct {
	id string
	// own and foreign begin the ids of the agents that it meets: of its side, and of the other version.
	own, foreign string
	side         side
	do           func(t *testing.T, base, key, operation string) outcome
}

func programCallers(t *testing.T, there []sdk) []caller {
	t.Helper()
	var all []caller
	for _, s := range there {
		w := &worker{command: s.client}
		t.Cleanup(w.stop)
		for _, side := range s.sides {
			c := caller{id: s.id + "-" + side.id(), own: s.id, foreign: "go-", side: side}
			if s.id == "java-v03" { // cannot read null in metadata, which artifacts of the Go agents have
				c.foreign = "python-v1"
			}
			c.do = func(t *testing.T, base, key, operation string) outcome {
				t.Helper()
				return one(t, w.run(t, job{Base: base, Binding: side.binding, Headers: map[string]string{"X-API-Key": key}, Only: operation}))
			}
			all = append(all, c)
		}
	}
	return all
}

// goCallers are clients of both Go SDKs. The one for 0.3 speaks no HTTP+JSON.
func goCallers() []caller {
	var all []caller
	for _, side := range sides()[1:] {
		for name, kind := range map[string]gatewaytest.SDK{"go2": gatewaytest.Go10, "go0": gatewaytest.Go03} {
			if kind == gatewaytest.Go03 && (side.version != "0.3" || side.binding == "HTTP+JSON") {
				continue
			}
			c := caller{id: name + "-v" + strings.Replace(side.version, ".", "", 1) + "-" + side.id(), own: "go-", foreign: "python-", side: side}
			c.do = func(t *testing.T, base, key, operation string) outcome {
				t.Helper()
				hc := gatewaytest.HTTPClient(t, http.Header{"X-Api-Key": {key}}, nil)
				sdk, _ := gatewaytest.Dial(t, kind, hc, base, a2a.ProtocolVersion(side.version), a2a.TransportProtocol(side.binding))
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				r := &conversation{ctx: ctx, sdk: sdk}
				if operation == getUntilCompleted {
					r.getUntilCompleted()
					return outcome{Lines: r.lines}
				}
				for _, op := range goOperations {
					if op.name == operation {
						op.do(r)
					}
				}
				return outcome{Lines: r.lines}
			}
			all = append(all, c)
		}
	}
	return all
}

const getUntilCompleted = "get a task until it is completed"

func (c *conversation) getUntilCompleted() {
	id := c.send("task", "")
	for !strings.Contains(c.lines[len(c.lines)-1], "COMPLETED") && c.ctx.Err() == nil {
		time.Sleep(50 * time.Millisecond) // as a client does that polls
		c.get("get", id, nil)
	}
}

// meets reports whether a client is to call an agent.
func (c *caller) meets(a agent) bool {
	if a.side == c.side {
		return strings.HasPrefix(a.id, c.own)
	}
	return a.side.binding == c.side.binding && strings.HasPrefix(a.id, c.foreign)
}

// finish has a client do operations of which each sends a message that has to be approved, and looks
// whether it gets the agent's answer: under one id, of a task that ends completed.
func (c *caller) finish(t *testing.T, a agent, patient, hasty *approving) {
	t.Helper()
	for _, tt := range []struct {
		operation string
		gateway   *approving
		kind      string   // of key
		lines     int      // how many lines it prints, "end" not among them; 0 for at least 2
		says      []string // what the agent has to say
	}{
		{"message reply", patient, "", 1, []string{`"answer"`}},
		{"task reply", patient, "", 1, []string{"result"}},
		{"stream to completion", patient, "", 0, []string{"one", "three"}},
		{"stream of one message", patient, "", 0, []string{`"answer"`}},
		{getUntilCompleted, hasty, "", 0, []string{"result"}},
		{"subscribe to an ended task", hasty, follows, 0, []string{"result"}},
	} {
		if strings.HasPrefix(c.id, "python-v1-") && c.side.binding != "GRPC" && strings.HasPrefix(a.id, "python-") && tt.operation == "stream to completion" {
			continue // this client ends a line of a stream at the U+2028 that the agent says, also without the gateway
		}
		got := c.do(t, tt.gateway.base(a.id), tt.gateway.keys[a.id+tt.kind], tt.operation).Lines
		s := sightOf(t, got)
		lacks := slices.ContainsFunc(tt.says, func(word string) bool { return !strings.Contains(strings.Join(got, "\n"), word) })
		switch {
		case lacks, s.failed, tt.lines > 0 && s.events != tt.lines, tt.lines == 0 && s.events < 2:
		case tt.operation == "message reply" && s.state == "": // the answer itself, no task
			continue
		case len(s.ids) == 1 && strings.HasPrefix(s.ids[0], "approval-") && s.state == "completed":
			continue
		}
		t.Errorf("%s: %+v\n%s", tt.operation, s, strings.Join(got, "\n"))
	}
}

// sight is what a client has seen.
type sight struct {
	ids    []string // of tasks
	state  string   // the last
	events int      // and answers
	failed bool
}

func sightOf(t *testing.T, lines []string) sight {
	t.Helper()
	var s sight
	for _, line := range lines {
		_, text, _ := strings.Cut(line, ": ")
		var value any
		switch {
		case strings.HasPrefix(text, "error"), text == "no end":
			s.failed = true
		case text == "end":
		case json.Unmarshal([]byte(text), &value) != nil:
			t.Fatalf("printed %q", line)
		default:
			s.events++
			s.look(value)
		}
	}
	slices.Sort(s.ids)
	s.ids = slices.Compact(s.ids)
	return s
}

// look finds tasks in what an SDK has handed out, whatever it puts around them.
func (s *sight) look(value any) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			s.look(one)
		}
	case map[string]any:
		if status, ok := v["status"].(map[string]any); ok {
			s.state = strings.ToLower(strings.TrimPrefix(fmt.Sprint(status["state"]), "TASK_STATE_"))
			if n, ok := status["state"].(float64); ok && int32(n) == int32(a2apb.TaskState_TASK_STATE_COMPLETED) { // of JavaScript
				s.state = "completed"
			}
			if id, ok := v["id"].(string); ok {
				s.ids = append(s.ids, id)
			}
		}
		if id, ok := v["taskId"].(string); ok && id != "" {
			s.ids = append(s.ids, id)
		}
		for _, one := range v {
			s.look(one)
		}
	}
}

// approving is a gateway with a rule that asks a person about each message, and with that person.
type approving struct {
	*gateway
	admin string
}

const (
	// follows ends the names of callers about whose calls the person waits for a subscription, so that
	// there is something to subscribe to.
	follows = "-follows"
	// thinking is how long the person takes about any other call.
	thinking = 300 * time.Millisecond
	// personToken is what the person signs in with; the configuration has its SHA-256.
	personToken = "lead-token-of-the-test"
)

func startApproving(t *testing.T, agents []agent, wait string) *approving {
	t.Helper()
	dir := t.TempDir()
	g := &approving{gateway: &gateway{binary: buildGateway(t), dir: dir, keys: map[string]string{}}}
	var fleet strings.Builder
	for _, a := range agents {
		fmt.Fprintf(&fleet, "  - {id: %s, card: {url: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}, endpoints: [%s]}\n", a.id, a.card, strings.Join(a.endpoints, ", "))
		for _, kind := range []string{"", follows} {
			g.keys[a.id+kind] = g.unboundKey(t, a.id+kind, "--agent", a.id, "--scope", "a2a.invoke")
		}
	}
	file := filepath.Join(dir, "config.yaml")
	config := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q, limits: {delay: 1h}, timeouts: {heartbeat: 10ms}}
admin:
  address: "127.0.0.1:0"
  tokens: [{name: lead, role: viewer, digest: "sha256:e8468ef05f45f2bb63d10a2f235d0185dc27039d66e3ea5e6255e1dc79671729"}]
authn: {apiKeys: {file: keys.yaml}}
policy:
  rules:
    - {name: all, effect: allow, agents: ["*"]}
    - {name: ask, effect: approve, agents: ["*"], approvers: {subjects: [lead]}}
  approvals: {wait: %s}
agents:
%s`, dir, wait, fleet.String())
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t, file)
	address, err := os.ReadFile(filepath.Join(dir, "admin.address"))
	if err != nil {
		t.Fatal(err)
	}
	g.admin = "http://" + strings.TrimSpace(string(address))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.decide(ctx, t)
	}()
	t.Cleanup(func() { stop(); <-done })
	return g
}

// decide is the person: it agrees to every call that waits, until the test is over.
func (g *approving) decide(ctx context.Context, t *testing.T) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var page struct {
			Approvals []struct {
				ID, State, Caller, Digest string
				Created                   time.Time
			}
		}
		g.ask(ctx, t, http.MethodGet, "approvals?limit=100", "", &page)
		for _, call := range page.Approvals {
			ready := time.Since(call.Created) >= thinking
			if strings.HasSuffix(call.Caller, follows) {
				var open struct{ Found int }
				g.ask(ctx, t, http.MethodGet, "streams?task="+call.ID, "", &open)
				ready = open.Found > 0
			}
			if ready && call.State == "waiting" {
				g.ask(ctx, t, http.MethodPost, "approvals/"+call.ID+"/approve", fmt.Sprintf(`{"digest":%q}`, call.Digest), nil)
			}
		}
	}
}

// ask calls the admin API.
func (g *approving) ask(ctx context.Context, t *testing.T, method, path, body string, answer any) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, g.admin+"/api/v1/"+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+personToken)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		if ctx.Err() == nil {
			t.Error(err)
		}
		return
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && answer != nil {
		err = json.Unmarshal(text, answer)
	}
	if ctx.Err() == nil && (err != nil || resp.StatusCode != http.StatusOK) {
		t.Errorf("%s %s: %s %s %v", method, path, resp.Status, text, err)
	}
}
