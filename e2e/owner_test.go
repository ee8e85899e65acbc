package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// estate is what gateways share that have one state: agents, keys and the state itself.
type estate struct {
	t      *testing.T
	dir    string
	state  string // the section of the configuration
	agents []*gatewaytest.Agent
	keys   map[string]http.Header // by caller and agent
}

// newEstate has agents of the flavours, and keys of two callers for each.
func newEstate(t *testing.T, state string, flavours ...string) *estate {
	t.Helper()
	e := &estate{t: t, dir: t.TempDir(), state: state, keys: map[string]http.Header{}}
	for _, f := range gatewaytest.AllFlavours() {
		if !slices.Contains(flavours, f.Name) {
			continue
		}
		a := gatewaytest.Start(t, f)
		e.agents = append(e.agents, a)
		for _, who := range []string{"owner", "thief"} {
			e.keys[who+" "+a.ID] = e.key(who, a.ID)
		}
	}
	return e
}

// key makes a key for one agent, which says so where nothing else does.
func (e *estate) key(who, agent string) http.Header {
	e.t.Helper()
	path, err := binary()
	if err != nil {
		e.t.Fatal(err)
	}
	out, err := exec.Command(path, "keys", "create", "--file", filepath.Join(e.dir, "keys.yaml"),
		"--id", who+"."+agent, "--subject", who, "--agent", agent, "-o", "json").Output()
	var made struct {
		Key string `json:"key"`
	}
	if err == nil {
		err = json.Unmarshal(out, &made)
	}
	if err != nil || made.Key == "" {
		e.t.Fatalf("make a key: %v, %s", err, out)
	}
	return http.Header{"X-Api-Key": {made.Key}}
}

// serve starts a gateway of the estate. Each has a directory of its own, by its id.
func (e *estate) serve(id string) *process {
	e.t.Helper()
	var fleet strings.Builder
	for _, a := range e.agents {
		fmt.Fprintf(&fleet, "  - {id: %s, card: {url: %q, bindings: [JSONRPC, HTTP+JSON, GRPC]}, endpoints: [%s]}\n", a.ID, a.CardURL, strings.Join(a.Endpoints, ", "))
	}
	file := filepath.Join(e.dir, id+".yaml")
	write(e.t, file, fmt.Sprintf(`server:
  id: %s
  address: "127.0.0.1:0"
  statusAddress: "off"
  publicURL: "http://127.0.0.1"
  dataDir: %q
  limits: {delay: 1h}
authn: {apiKeys: {file: keys.yaml}}
policy: {rules: [{name: all, effect: allow, agents: ["*"]}]}
push: {mode: passthrough}
keys: {dir: %q}
%s
agents:
%s`, id, filepath.Join(e.dir, id), filepath.Join(e.dir, "gateway-keys"), e.state, fleet.String()))
	return start(e.t, "serve", "-c", file)
}

// url is where a gateway serves.
func (p *process) url() string {
	p.t.Helper()
	_, rest, _ := strings.Cut(p.await(`"msg":"serving"`), `"url":"`)
	url, _, _ := strings.Cut(rest, `"`)
	return url
}

// theft is a client of a flavour who goes for the tasks of another at an agent.
func (e *estate) theft(caller gatewaytest.Flavour, a *gatewaytest.Agent, url string) gatewaytest.Theft {
	return gatewaytest.Theft{
		Caller: caller, Base: url + "/agents/" + a.ID, Requests: a.Exec.Requests,
		Owner: e.keys["owner "+a.ID], Thief: e.keys["thief "+a.ID],
		Methods: methodsOf(string(caller.Version)), Lacks: []string{wire.ListTasks},
	}
}

// methodsOf are the operations that a version has, by their names in 1.0.
func methodsOf(version string) []string {
	var names []string
	for _, m := range wire.Methods() {
		if map[string]string{"1.0": m.Name, "0.3": m.V03, "0.1": m.V01}[version[:3]] != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// TestR12_OwnersOutliveTheGateway: what was made before the gateway was killed is the
// owner's afterwards, and nobody else's, whatever it is called by.
func TestR12_OwnersOutliveTheGateway(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "state: {driver: sqlite}", "go10-jsonrpc", "compat03-grpc")
	p := e.serve("only")
	for _, a := range e.agents {
		for i, caller := range gatewaytest.AllFlavours() {
			t.Run(caller.Name+" to "+a.ID, func(t *testing.T) {
				th := e.theft(caller, a, p.url())
				if i%3 == 0 { // a start takes longer than all the rest
					th.Between = func() string {
						p.signal(syscall.SIGKILL)
						p = e.serve("only")
						return p.url() + "/agents/" + a.ID
					}
				}
				th.Run(t)
			})
		}
	}
}

// TestR14_OwnersWithTheStateAway: two gateways on one Redis know the owners of each other's
// tasks; without it, whatever concerns tasks is refused at once, and nothing is lost.
func TestR14_OwnersWithTheStateAway(t *testing.T) {
	t.Parallel()
	r := startRedis(t)
	e := newEstate(t, fmt.Sprintf("state: {driver: redis, redis: {addresses: [%q], timeout: 2s}}", r.address), "go10-jsonrpc", "compat03-grpc")
	one, other := e.serve("one").url(), e.serve("other").url()
	var outages []*gatewaytest.Outage
	for _, a := range e.agents {
		for _, caller := range gatewaytest.AllFlavours() {
			t.Run(caller.Name+" to "+a.ID, func(t *testing.T) {
				th := e.theft(caller, a, one)
				th.Between = func() string { return other + "/agents/" + a.ID }
				th.Run(t)
			})
			outages = append(outages, e.theft(caller, a, one).Before(t))
		}
	}
	r.end()
	for _, o := range outages {
		o.During(t, time.Second)
	}
	r.start(t)
	for _, o := range outages {
		o.After(t, 5*time.Second)
	}
}
