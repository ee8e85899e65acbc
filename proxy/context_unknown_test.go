package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// A3: an id that nobody is known to have never reaches an agent, from no side to no side: the
// agent gets one made for the caller, the same in every life of the state and another for
// everybody else, and the caller is shown its own. Sessions of 0.1 are no exception.
func TestA03_UnknownContextIsMade(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rest10, grpc10, rpc03, rpc01} {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			seen := map[string]string{} // by caller and side
			for life := range 2 {
				w := in(t, speaks(agent))
				w.agent.answers(new(archive).answer)
				for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03, rpc01} {
					for _, who := range []string{"alice", "bob"} {
						what := fmt.Sprintf("%s of %s", caller, who)
						a := ask{method: wire.SendMessage, context: "of-" + caller.String(), task: ifOld(caller, who+caller.String())}
						if caller == grpc10 {
							a.more = `,"tenant":"rec"`
						}
						got := w.speak(who, w.base, caller, a).ok(t, what)
						context := w.agent.one(t).call().ContextID
						if caller == rpc01 && agent != rpc01 {
							if context != "" { // the agent chooses
								t.Errorf("%s: the agent got %q", what, context)
							}
							continue
						}
						if !aliases.MatchString(`"` + context + `"`) {
							t.Errorf("%s: the agent got %q", what, context)
						}
						if all := strings.Join(got.docs, ""); strings.Contains(all, context) || !strings.Contains(all, `"`+a.context+`"`) {
							t.Errorf("%s was shown %s", what, all)
						}
						for other, theirs := range seen {
							if (other == what) != (theirs == context) {
								t.Errorf("life %d: %s has %s, %s has %s", life, what, context, other, theirs)
							}
						}
						seen[what] = context
					}
				}
			}
		})
	}
}

// With adopt the agent gets the id as it is, and the next caller one of its own.
func TestA03_AdoptedContext(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), func(s *setup) { s.policy.Tasks.Contexts = "adopt" })
	w.agent.answers(new(archive).answer)
	for _, who := range []string{"alice", "bob", "alice"} {
		w.speak(who, w.base, rpc10, ask{method: wire.SendMessage, context: "mine"}).ok(t, who)
		if got := w.agent.one(t).call().ContextID; (got == "mine") != (who == "alice") {
			t.Errorf("of %s the agent got %q", who, got)
		}
	}
}

// Two tenants of one server are two backends: the ids of their contexts may be the same, and
// nobody's answer is withheld for that. Entries with the same tenant have them in common.
func TestContextsOfTenants(t *testing.T) {
	t.Parallel()
	tenant := func(s *setup, name string) []card.InterfaceConfig {
		at := strings.TrimSuffix(s.agent.Card.URL.Reveal(), "/card") + "/rpc"
		return []card.InterfaceConfig{{URL: secret.URL(at), Binding: "JSONRPC", Version: "1.0", Tenant: name}}
	}
	w := build(t, func(s *setup) {
		other, same := s.agent, s.agent
		other.ID, other.Interfaces = "other", tenant(s, "two")
		same.ID, same.Interfaces = "same", tenant(s, "one")
		s.agent.Interfaces = tenant(s, "one")
		s.more = []agents.Config{other, same}
	})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		reply(rw, r, taskResult(r, "task-"+r.Header.Get("X-Request-Id"), "1"))
	})
	send := func(who, agent, tenant string) answer {
		w.base = w.url + "/agents/" + agent
		return w.call(who, "SendMessage", `{"tenant":"`+tenant+`",`+message("")[1:])
	}
	for who, at := range map[string][2]string{"alice": {"rec", "one"}, "bob": {"other", "two"}} {
		agent := at[0]
		if got := send(who, agent, at[1]); got.status != http.StatusOK || !strings.Contains(got.body, `"contextId":"1"`) {
			t.Errorf("%s at %s: %d %s", who, agent, got.status, got.body)
		}
	}
	if got := send("bob", "same", "one"); strings.Contains(got.body, `"contextId"`) {
		t.Errorf("bob was shown a context of alice's: %d %s", got.status, got.body)
	}
}
