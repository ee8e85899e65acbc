package ownership_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// A3: an id that nobody is known to have never reaches an agent, from no side to no side: the
// agent gets one made for the caller, the same in every life of the state and another for
// everybody else, and the caller is shown its own. Sessions of 0.1 are no exception.
func TestA03_UnknownContextIsMade(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.RPC01} {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			seen := map[string]string{} // by caller and side
			for life := range 2 {
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent))
				w.Agent.Answers(new(archive).answer)
				for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.RPC01} {
					for _, who := range []string{"alice", "bob"} {
						what := fmt.Sprintf("%s of %s", caller, who)
						a := proxytest.Ask{Method: wire.SendMessage, Context: "of-" + caller.String(), Task: proxytest.IDForV01(caller, who+caller.String())}
						if caller == proxytest.GRPC10 {
							a.More = `,"tenant":"rec"`
						}
						got := w.Speak(who, w.Base, caller, a).OK(t, what)
						context := w.Agent.One(t).Call().ContextID
						if caller == proxytest.RPC01 && agent != proxytest.RPC01 {
							if context != "" { // the agent chooses
								t.Errorf("%s: the agent got %q", what, context)
							}
							continue
						}
						if !aliases.MatchString(`"` + context + `"`) {
							t.Errorf("%s: the agent got %q", what, context)
						}
						if all := strings.Join(got.Docs, ""); strings.Contains(all, context) || !strings.Contains(all, `"`+a.Context+`"`) {
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), func(s *proxytest.Setup) { s.Policy.Tasks.Contexts = "adopt" })
	w.Agent.Answers(new(archive).answer)
	for _, who := range []string{"alice", "bob", "alice"} {
		w.Speak(who, w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage, Context: "mine"}).OK(t, who)
		if got := w.Agent.One(t).Call().ContextID; (got == "mine") != (who == "alice") {
			t.Errorf("of %s the agent got %q", who, got)
		}
	}
}

// Two tenants of one server are two backends: the ids of their contexts may be the same, and
// nobody's answer is withheld for that. Entries with the same tenant have them in common.
func TestContextsOfTenants(t *testing.T) {
	t.Parallel()
	tenant := func(s *proxytest.Setup, name string) []card.InterfaceConfig {
		at := strings.TrimSuffix(s.Agent.Card.URL.Reveal(), "/card") + "/rpc"
		return []card.InterfaceConfig{{URL: secret.URL(at), Binding: "JSONRPC", Version: "1.0", Tenant: name}}
	}
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		other, same := s.Agent, s.Agent
		other.ID, other.Interfaces = "other", tenant(s, "two")
		same.ID, same.Interfaces = "same", tenant(s, "one")
		s.Agent.Interfaces = tenant(s, "one")
		s.More = []agents.Config{other, same}
	})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, proxytest.TaskResult(r, "task-"+r.Header.Get("X-Request-Id"), "1"))
	})
	send := func(who, agent, tenant string) proxytest.Response {
		w.Base = w.URL + "/agents/" + agent
		return w.Call(who, "SendMessage", `{"tenant":"`+tenant+`",`+proxytest.Message("")[1:])
	}
	for who, at := range map[string][2]string{"alice": {"rec", "one"}, "bob": {"other", "two"}} {
		agent := at[0]
		if got := send(who, agent, at[1]); got.Status != http.StatusOK || !strings.Contains(got.Body, `"contextId":"1"`) {
			t.Errorf("%s at %s: %d %s", who, agent, got.Status, got.Body)
		}
	}
	if got := send("bob", "same", "one"); strings.Contains(got.Body, `"contextId"`) {
		t.Errorf("bob was shown a context of alice's: %d %s", got.Status, got.Body)
	}
}
