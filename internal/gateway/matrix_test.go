package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// twoCallers lets one group do everything and another use one skill of two. Streams that
// agents break off stay so, as they would without the gateway.
const twoCallers = `push: {mode: passthrough}
streams: {resubscribe: 0s}
policy:
  rules:
    - {name: everything, effect: allow, groups: [all]}
    - {name: one-skill, effect: allow, groups: [one], skills: [work]}
`

// Through the gateway nothing is different: not what the SDKs return and not
// what is on the wire. Every operation, version, binding and SDK, for callers
// with either kind of credential, over HTTP/1.1 and HTTP/2, and for callers who
// may use a single skill, whether they were given the agent's card or the skill's. Under
// the race detector it is a third of that.
func TestMatrix(t *testing.T) {
	testenv.Long(t, "clients of every SDK call agents of every other")
	t.Parallel()
	bearer := func(groups ...string) func(*world) http.Header {
		return func(w *world) http.Header { return w.token("caller", groups...) }
	}
	tests := []struct {
		name   string
		header func(*world) http.Header
		path   string // below the agent
		tls    bool
		skills string // that the caller sees, where not all
	}{
		{"bearer token", bearer("all"), "", false, ""},
		{"API key", func(w *world) http.Header { return w.key("k", "all") }, "", true, ""},
		{"skill by its card", bearer("one"), "/skills/work", false, "work"},
		{"only skill", bearer("one"), "", false, "work"},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for j, p := range pairs(t) {
				if !gatewaytest.Sampled(i, j) {
					continue
				}
				t.Run(p.behind.ID, func(t *testing.T) {
					w := newWorld(t)
					gw := gatewaytest.Gateway{Header: tt.header(w), Push: true}
					server := plain
					if tt.tls {
						server, gw.Transport = w.secure()
					}
					g := w.start(w.yaml(server, twoCallers+fleet(p.behind)))
					gw.Base = func(id string) string { return g.URL() + "/agents/" + id + tt.path }
					for _, d := range gatewaytest.Differences(t, p.sdk, p.direct, p.behind, gw) {
						if fewerSkills(d, tt.skills) || saysMore(d) {
							continue
						}
						t.Errorf("%s: through the gateway it differs (-direct +gateway):\n%s", d.Operation, d.Diff)
					}
				})
			}
		})
	}
}

// pair is a client and two agents of the flavour it talks to, one for direct
// calls and one for the gateway, so that lists hold the same tasks.
type pair struct {
	sdk            gatewaytest.SDK
	direct, behind *gatewaytest.Agent
}

func pairs(t *testing.T) []pair {
	t.Helper()
	var all []pair
	for _, f := range gatewaytest.Flavours() {
		for _, sdk := range f.SDKs() {
			p := pair{sdk: sdk, direct: gatewaytest.Start(t, f), behind: gatewaytest.Start(t, f)}
			p.behind.ID = f.Name + "-" + strings.ReplaceAll(string(sdk), "/", "-")
			all = append(all, p)
		}
	}
	return all
}

// fewerSkills reports whether two extended cards differ in nothing but the
// skills: both for the direct caller, the caller's own through the gateway.
func fewerSkills(d gatewaytest.Difference, skills string) bool {
	if skills == "" || d.Operation != "extended card" || len(d.Direct) != 1 {
		return false
	}
	return slices.Equal(d.Behind, []string{strings.Replace(d.Direct[0], `["work","rest"]`, `["`+skills+`"]`, 1)})
}

// saysMore reports whether the difference is only that the gateway refuses, with
// the very code the agent would, in a shape from which the SDK can tell what
// happened, and the agent's does not say so much.
func saysMore(d gatewaytest.Difference) bool {
	if d.Operation != "unknown task" || len(d.Direct) != len(d.Behind) {
		return false
	}
	for i, line := range d.Direct {
		if told := line + " " + a2a.ErrTaskNotFound.Error(); d.Behind[i] != line && d.Behind[i] != told {
			return false
		}
	}
	return true
}
