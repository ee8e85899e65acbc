package gateway_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// everyAgent lets every caller do everything, as long as its key is for the agent.
const everyAgent = "push: {mode: passthrough}\nstreams: {resubscribe: 0s}\n" + everyRule

const everyRule = `policy:
  rules: [{name: everything, effect: allow, groups: [all]}]
`

// A client of any version and binding gets from an agent of any other what it
// gets from one of its own. All of them meet at one gateway, and nobody sees
// another's tasks.
func TestTranslations(t *testing.T) {
	testenv.Long(t, "clients of every version call agents of every other")
	t.Parallel()
	gatewaytest.RunTranslations(t, func(t *testing.T, agents []*gatewaytest.Agent) gatewaytest.Gateway {
		return openToAll(t, agents)
	})
}

// Where both speak the same version over the same binding, bytes pass untouched:
// over gRPC and in 0.1 too.
func TestSameSides(t *testing.T) {
	testenv.Long(t, "clients of every version call agents of theirs")
	t.Parallel()
	gatewaytest.RunMatrix(t, func(t *testing.T, agents []*gatewaytest.Agent) gatewaytest.Gateway {
		return openToAll(t, agents)
	})
}

// openToAll is a gateway in front of the agents. Each flavour of client has a key
// of its own for each agent, which also says which agent a call is for where
// nothing else does.
func openToAll(t *testing.T, agents []*gatewaytest.Agent) gatewaytest.Gateway {
	t.Helper()
	return openWith(t, agents, everyAgent)
}

// openWith is such a gateway with these sections in its configuration.
func openWith(t *testing.T, agents []*gatewaytest.Agent, sections string) gatewaytest.Gateway {
	t.Helper()
	w := newWorld(t)
	keys, err := apikey.Open(filepath.Join(w.dir, "keys.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	header := map[string]http.Header{}
	for _, caller := range gatewaytest.AllFlavours() {
		for _, a := range agents {
			id := caller.Name + "." + a.ID
			_, key, err := keys.Create(apikey.Spec{
				ID: id, Subject: caller.Name, Groups: []string{"all"}, Agents: []string{a.ID},
			})
			if err != nil {
				t.Fatal(err)
			}
			header[id] = http.Header{"X-Api-Key": {key}}
		}
	}
	g := w.start(w.yaml(plain, sections+origins(agents)))
	return gatewaytest.Gateway{
		Base:       func(id string) string { return g.URL() + "/agents/" + id },
		Credential: func(caller, id string) http.Header { return header[caller+"."+id] },
		Push:       true,
	}
}

// origins is an agents section whose agents may be reached where their cards say.
func origins(agents []*gatewaytest.Agent) string {
	var b strings.Builder
	b.WriteString("agents:\n")
	for _, a := range agents {
		fmt.Fprintf(&b, "  - {id: %q, card: %s, endpoints: [%s]}\n", a.ID, everyBinding(a.CardURL), strings.Join(a.Endpoints, ", "))
	}
	return b.String()
}
