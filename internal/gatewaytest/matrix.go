package gatewaytest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Gateway is how a test reaches the gateway that it started.
type Gateway struct {
	// Base gives the base URL of an agent behind the gateway, below which its
	// card is, by [Agent.ID].
	Base func(id string) string
	// Header has the credential that the gateway wants.
	Header http.Header
	// Credential, when set, gives what to send instead of Header, by the name of
	// the calling flavour and the agent's ID: some calls say only by their
	// credential which agent they are for, and some clients must not share tasks.
	Credential func(caller, id string) http.Header
	// Push tells that the gateway passes push configurations on.
	Push bool
	// Transport, when set, reaches the gateway: its certificates, for instance.
	Transport func() *http.Transport
}

// Difference is an operation that went another way through the gateway.
type Difference struct {
	Operation string
	Direct    []string // what happened, a line each: results first, then the wire
	Behind    []string // the same through the gateway
	Diff      string   // lines of direct (-) and of the gateway (+)
}

// RunMatrix runs every operation with every client on every agent, direct and
// through a gateway, and fails the test where results differ. start is called
// once, with all agents running; it starts the gateway in front of them, with
// push mode passthrough if it has that.
func RunMatrix(t *testing.T, start func(t *testing.T, agents []*Agent) Gateway) {
	t.Helper()
	type pair struct {
		sdk            SDK
		direct, behind *Agent
	}
	var pairs []pair
	var agents []*Agent
	for _, f := range AllFlavours() {
		for _, sdk := range f.SDKs() {
			// Two agents each, so that lists hold the same tasks.
			p := pair{sdk: sdk, direct: Start(t, f), behind: Start(t, f)}
			p.behind.ID = f.Name + "-" + strings.ReplaceAll(string(sdk), "/", "-")
			pairs = append(pairs, p)
			agents = append(agents, p.behind)
		}
	}
	gateway := start(t, agents)
	for _, p := range pairs {
		t.Run(p.behind.ID, func(t *testing.T) {
			t.Parallel()
			for _, d := range Differences(t, p.sdk, p.direct, p.behind, gateway) {
				t.Errorf("%s: through the gateway it differs (-direct +gateway):\n%s", d.Operation, d.Diff)
			}
		})
	}
}

// Differences runs the operations with one client, directly on one agent and
// through the gateway on another of the same flavour, and gives where they went
// different ways. only names operations, where not all are to run.
func Differences(t testing.TB, sdk SDK, direct, behind *Agent, g Gateway, only ...string) []Difference {
	t.Helper()
	left := open(t, sdk, direct.Flavour, direct.URL, nil, nil)
	right := g.open(t, sdk, direct.Flavour, behind.ID)
	var found []Difference
	for _, op := range Operations() {
		if op.Push && !g.Push || op.List && !speaks(direct.Version, "1.0") || only != nil && !slices.Contains(only, op.Name) {
			continue
		}
		a, b := left.perform(op), right.perform(op)
		if diff := cmp.Diff(toldMore(a, b), b); diff != "" {
			found = append(found, Difference{op.Name, a, b, diff})
		}
	}
	return found
}

// open gives a session with an agent behind the gateway, of a client of the
// flavour.
func (g Gateway) open(t testing.TB, sdk SDK, caller Flavour, id string) *session {
	t.Helper()
	var transport *http.Transport
	if g.Transport != nil {
		transport = g.Transport()
	}
	header := g.Header
	if g.Credential != nil {
		header = g.Credential(caller.Name, id)
	}
	return open(t, sdk, caller, g.Base(id), header, transport)
}

func open(
	t testing.TB, sdk SDK, f Flavour, base string, header http.Header, transport *http.Transport,
) *session {
	t.Helper()
	tape := newTape(t, header, transport)
	client, _ := Dial(t, sdk, &http.Client{Transport: tape}, base, f.Version, f.Binding)
	return &session{ctx: t.Context(), client: client, tape: tape, names: names{seen: map[string]string{}}}
}

// String writes a difference for a log.
func (d Difference) String() string { return fmt.Sprintf("%s:\n%s", d.Operation, d.Diff) }
