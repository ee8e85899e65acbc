package frameworks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestFrameworks has a neutral caller talk to every framework's agent, and every
// framework's client to a neutral agent, direct and through the gateway.
func TestFrameworks(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make frameworks`")
	}
	binary := buildGateway(t)
	var found document
	t.Run("of", func(t *testing.T) {
		for _, f := range frameworks() {
			if !only(f.id) {
				continue
			}
			t.Run(f.id, func(t *testing.T) {
				t.Parallel()
				if lacking := f.lacks(); lacking != "" {
					if _, err := os.Stat(filepath.Join(f.id, ".venv", ".left-out")); err == nil {
						t.Skipf("setup found no Python for %s", f.id)
					}
					testenv.Missing(t, "%s needs %s; run interop/frameworks/setup", f.id, lacking)
				}
				r := row{framework: f, version: f.version(t)}
				if f.speaks != "" {
					r.agent = asAgent(t, binary, f)
				}
				if f.calls != "" {
					r.client = asClient(t, binary, f)
				}
				found.add(r)
			})
		}
	})
	if !t.Failed() && len(found.rows) == len(frameworks()) {
		found.check(t)
	}
}

// asAgent has a caller of each version call a framework's agent through the gateway, and
// compares with a caller of its own version directly.
func asAgent(t *testing.T, binary string, f framework) result {
	t.Helper()
	url := startAgent(t, f)
	directly := newCaller(t, f.speaks, url, "", f.cardPath(), f.endpoint)
	directly.elsewhere(url, f.methods)
	direct := converse(directly)
	g := startGateway(t, binary, entry{id: f.id, card: strings.TrimSuffix(url, "/") + f.cardPath(), set: f.settings(url)})
	r := result{notes: f.agentNotes, direct: direct}
	r.through("through", converse(newCaller(t, f.speaks, g.base(f.id), g.key, wellKnown, "")))
	other := otherVersion(f.speaks)
	r.through("from "+other, converse(newCaller(t, other, g.base(f.id), g.key, wellKnown, "")))
	r.report(t, "agent")
	return r
}

// asClient has a framework's client call an agent of its version directly, and through the
// gateway that and an agent of the other version.
func asClient(t *testing.T, binary string, f framework) result {
	t.Helper()
	other := otherVersion(f.calls)
	own, foreign := startNeutral(t, f.calls), startNeutral(t, other)
	g := startGateway(t, binary,
		entry{id: "v" + f.calls, card: own.CardURL, set: f.agents}, entry{id: "v" + other, card: foreign.CardURL, set: f.agents})
	r := result{notes: f.clientNotes, direct: runClient(t, f, own.URL+"/", "")}
	r.through("through", runClient(t, f, g.base("v"+f.calls), g.key))
	r.through("to "+other, runClient(t, f, g.base("v"+other), g.key))
	r.report(t, "client")
	return r
}

// startNeutral runs an agent of no framework that speaks a version over JSON-RPC.
func startNeutral(t *testing.T, version string) *gatewaytest.Agent {
	t.Helper()
	name := map[string]string{"0.1": "hand01-jsonrpc", "0.3": "compat03-jsonrpc", "1.0": "go10-jsonrpc"}[version]
	flavours := gatewaytest.AllFlavours()
	i := slices.IndexFunc(flavours, func(f gatewaytest.Flavour) bool { return f.Name == name })
	return gatewaytest.Start(t, flavours[i])
}

// only keeps what A2A_INTEROP_ONLY asks for, one of whose words a framework's name has.
func only(name string) bool {
	words := strings.Fields(os.Getenv("A2A_INTEROP_ONLY"))
	return len(words) == 0 || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
