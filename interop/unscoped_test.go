package interop_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// unscoped is an agent, on an SDK of its own version, that gives a task to whoever names
// it. All its sides share one store.
type unscoped struct {
	URL  string `json:"url"`
	GRPC string `json:"grpc"`
}

// startUnscoped builds the agent and runs it until the test ends.
func startUnscoped(t *testing.T) *unscoped {
	t.Helper()
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	binary, err := unscopedProgram()
	if err != nil {
		if requireAll() {
			t.Fatalf("build the agent: %v", err)
		}
		t.Skipf("the agent's modules are not there: %v", err)
	}
	var u unscoped
	runProgram(t, &u, nil, binary)
	return &u
}

// unscopedSides are those that the agent speaks.
func unscopedSides() []side {
	return slices.DeleteFunc(sides(), func(s side) bool { return s.version == "0.1" || s == side{"0.3", "HTTP+JSON"} })
}

// side is below which the card of a side is.
func (u *unscoped) side(s side) string {
	return u.URL + "/" + agentOf(s)
}

// requests is how many the agent has received.
func (u *unscoped) requests(t *testing.T) int64 {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, u.URL+"/requests", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var n int64
	if err := json.NewDecoder(response.Body).Decode(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestUnscoped shows, without the gateway, what it is there for: whoever names a task
// of this agent has it, and lists show all.
func TestUnscoped(t *testing.T) {
	t.Parallel()
	u := startUnscoped(t)
	for _, s := range unscopedSides() {
		t.Run(s.String(), func(t *testing.T) {
			dial := func(who string) gatewaytest.Client {
				hc := gatewaytest.HTTPClient(t, http.Header{"Authorization": {"Bearer " + who}}, nil)
				version, binding := a2a.ProtocolVersion(s.version), a2a.TransportProtocol(s.binding)
				client, _ := gatewaytest.Dial(t, gatewaytest.Go10, hc, u.side(s), version, binding)
				return client
			}
			alice, bob := dial("alice"), dial("bob")
			made, err := alice.SendMessage(t.Context(), request("auth"))
			if err != nil {
				t.Fatal(err)
			}
			id := made.TaskInfo().TaskID
			if got, err := bob.GetTask(t.Context(), &a2a.GetTaskRequest{ID: id}); err != nil || got.ID != id {
				t.Errorf("get: %v, %v", got, err)
			}
			if s.version == "1.0" {
				list, err := bob.ListTasks(t.Context(), &a2a.ListTasksRequest{})
				if err != nil || !slices.ContainsFunc(list.Tasks, func(a *a2a.Task) bool { return a.ID == id }) {
					t.Errorf("list: %v, %v", list, err)
				}
			}
			config := &a2a.PushConfig{TaskID: id, ID: "c", URL: "https://hooks.example/bob"}
			if _, err := bob.CreateTaskPushConfig(t.Context(), config); err != nil {
				t.Errorf("create a webhook: %v", err)
			}
			if got, err := bob.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: id}); err != nil || got.Status.State != a2a.TaskStateCanceled {
				t.Errorf("cancel: %v, %v", got, err)
			}
		})
	}
}

// guarded is the gateway in front of all sides of the agent, with a key for each caller
// and side, which says which of them a call is for where nothing else does.
type guarded struct {
	*gateway

	agent *unscoped
}

func startGuarded(t *testing.T, u *unscoped, callers ...string) *guarded {
	t.Helper()
	g := &gateway{binary: buildGateway(t), dir: t.TempDir(), keys: map[string]string{}}
	var fleet strings.Builder
	for _, s := range unscopedSides() {
		for _, who := range callers {
			g.keys[who+" "+s.String()] = g.keyOf(t, who, agentOf(s))
		}
		fmt.Fprintf(&fleet, "  - {id: %s, card: {url: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}, endpoints: [%s]}\n", agentOf(s), u.side(s)+wellKnown, u.GRPC)
	}
	file := filepath.Join(g.dir, "config.yaml")
	config := fmt.Sprintf(`server:
  id: interop
  address: "127.0.0.1:0"
  statusAddress: "off"
  publicURL: "http://127.0.0.1"
  dataDir: %q
  limits: {delay: 1h}
authn:
  apiKeys: {file: keys.yaml}
policy:
  rules: [{name: all, effect: allow, agents: ["*"]}]
push: {mode: passthrough}
agents:
%s`, g.dir, fleet.String())
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g.serve(t, file)
	return &guarded{g, u}
}

// agentOf is the id that a side of the agent has at the gateway.
func agentOf(s side) string { return "v" + strings.Replace(s.version, ".", "", 1) + "-" + s.id() }

// keyOf makes a caller's key for one agent.
func (g *gateway) keyOf(t *testing.T, who, agent string) string {
	t.Helper()
	//nolint:noctx // the test has its own timeout
	out, err := exec.Command(g.binary, "keys", "create", "--file", filepath.Join(g.dir, "keys.yaml"),
		"--id", who+"."+agent, "--subject", who, "--agent", agent, "-o", "json").Output()
	var made struct {
		Key string `json:"key"`
	}
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("make a key: %s", exit.Stderr)
	}
	if err != nil || made.Key == "" {
		t.Fatalf("make a key: %v, %s", err, out)
	}
	return made.Key
}

func (g *guarded) credential(who string, s side) http.Header {
	return http.Header{"X-Api-Key": {g.keys[who+" "+s.String()]}}
}

// methodsOf are the operations that a version has, by their names in 1.0.
func methodsOf(version string) []string {
	var names []string
	for _, m := range wire.Methods() {
		if map[string]string{"1.0": m.Name, "0.3": m.V03, "0.1": m.V01}[version] != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// TestA01_UnscopedAgent: the same agent behind the gateway keeps two callers apart, in
// every operation, version and binding.
func TestA01_UnscopedAgent(t *testing.T) {
	t.Parallel()
	u := startUnscoped(t)
	g := startGuarded(t, u, "owner", "thief")
	for _, s := range unscopedSides() {
		for _, caller := range gatewaytest.AllFlavours() {
			t.Run(caller.Name+" to "+agentOf(s), func(t *testing.T) {
				gatewaytest.Theft{
					Caller: caller, Base: g.base(agentOf(s)), Owner: g.credential("owner", s), Thief: g.credential("thief", s),
					Methods: methodsOf(string(caller.Version)[:3]), Lacks: lacking(s.version),
					Requests: func() int64 { return u.requests(t) },
				}.Run(t)
			})
		}
	}
}

// lacking are the operations that a version does not have.
func lacking(version string) []string {
	return slices.DeleteFunc(methodsOf("1.0"), func(m string) bool { return slices.Contains(methodsOf(version), m) })
}
