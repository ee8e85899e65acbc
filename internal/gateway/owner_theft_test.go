package gateway_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// methodsOf are the operations that a version has in some binding, by their names in
// 1.0.
func methodsOf(v a2a.ProtocolVersion) []string {
	var names []string
	for _, m := range wire.Methods() {
		if name := map[string]string{"1.0": m.Name, "0.3": m.V03, "0.1": m.V01}[string(v)[:3]]; name != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

// lacking are the operations that a version does not have.
func lacking(v a2a.ProtocolVersion) []string {
	return slices.DeleteFunc(methodsOf("1.0"), func(m string) bool { return slices.Contains(methodsOf(v), m) })
}

// keyFor makes a key that is good for one agent, and says so where nothing else does.
func (w *world) keyFor(who, agent string) http.Header {
	w.t.Helper()
	keys, err := apikey.Open(filepath.Join(w.dir, "keys.yaml"))
	if err != nil {
		w.t.Fatal(err)
	}
	_, key, err := keys.Create(apikey.Spec{
		ID: who + "." + agent, Subject: who, Groups: []string{"all"}, Agents: []string{agent},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return http.Header{"X-Api-Key": {key}}
}

// TestA01_Theft: agents on every SDK, which give a task to whoever names it, and two
// callers of every version and binding, of whom one goes for the other's task by
// every operation.
func TestA01_Theft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var agents []*gatewaytest.Agent
	owner, thief := map[string]http.Header{}, map[string]http.Header{}
	for _, f := range gatewaytest.AllFlavours() {
		a := gatewaytest.Start(t, f)
		agents = append(agents, a)
		owner[a.ID], thief[a.ID] = w.keyFor("owner", a.ID), w.keyFor("thief", a.ID)
	}
	g := w.start(w.yaml(plain, everyAgent+origins(agents)))
	for _, a := range agents {
		t.Run(a.ID, func(t *testing.T) {
			t.Parallel()
			for _, caller := range gatewaytest.AllFlavours() {
				t.Run("by "+caller.Name, func(t *testing.T) {
					gatewaytest.Theft{
						Caller: caller, Base: g.URL() + "/agents/" + a.ID, Owner: owner[a.ID], Thief: thief[a.ID],
						Methods: methodsOf(caller.Version), Lacks: lacking(a.Version), Requests: a.Exec.Requests,
					}.Run(t)
				})
			}
		})
	}
}
