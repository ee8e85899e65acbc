package authorize_test

import (
	"bufio"
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// scopedCard is a card of which the skill "pay" asks for these alternatives.
func scopedCard(alternatives string) func(string) string {
	return func(base string) string {
		return proxytest.CardWithModes(`"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{}}}},"defaultInputModes":["*/*"]`,
			`"look"`, `"pay","securityRequirements":`+alternatives)(base)
	}
}

const needsPay = `[{"schemes":{"o":{"list":["pay","read"]}}},{"schemes":{"o":["admin"]}}]`

// newScopes builds a world whose callers have scopes of their names: "pay+read" has two.
func newScopes(t testing.TB, callers []string, edit ...func(*proxytest.Setup)) *proxytest.Gateway {
	t.Helper()
	made := map[string]string{}
	w := proxytest.NewGatewayFor(t, scopedCard(needsPay), append([]func(*proxytest.Setup){func(s *proxytest.Setup) {
		s.Policy = policy.Config{Rules: []policy.Rule{{Name: "all", Effect: "allow"}}}
		s.Policy.Skills.Scopes = "card"
		keys, err := apikey.Open(s.Authn.APIKeys.File)
		proxytest.Must(t, err)
		for _, who := range callers {
			_, key, err := keys.Create(apikey.Spec{
				ID: strings.ReplaceAll(who, "+", "-"), Scopes: strings.Split(who, "+"), Agents: []string{"rec"},
			})
			proxytest.Must(t, err)
			made[who] = key
		}
	}}, edit...)...)
	maps.Copy(w.Keys, made)
	return w
}

// TestCardScopes: a skill that the card asks scopes for is for callers who have them, on
// every side, and nobody else reads of it.
func TestCardScopes(t *testing.T) {
	t.Parallel()
	callers := map[string]bool{"pay+read": true, "admin": true, "pay": false, "other": false, "admin+x": true}
	var names []string
	for who := range callers {
		names = append(names, who)
	}
	w := newScopes(t, names)
	for who, may := range callers {
		for _, s := range proxytest.Sides {
			if s.Binding == wire.GRPC {
				continue // has no path to declare a skill by
			}
			got := w.Speak(who, w.Base+"/skills/pay", s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s)})
			if (got.Err == nil) != may || got.Err != nil && got.Err.Kind != wire.Denied {
				t.Errorf("%s on %v: %+v", who, s, got.Err)
			}
			if seen := len(w.Agent.Take()); (seen == 1) != may {
				t.Errorf("%s on %v: the agent saw %d requests", who, s, seen)
			}
			if got := w.Speak(who, w.Base+"/skills/look", s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s)}); got.Err != nil {
				t.Errorf("%s on %v, for another skill: %v", who, s, got.Err)
			}
			w.Agent.One(t)
			// Of no known skill: both have to be allowed.
			if got := w.Speak(who, w.Base, s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.NewTaskID(s)}); (got.Err == nil) != may {
				t.Errorf("%s on %v, for no skill: %+v", who, s, got.Err)
			}
			w.Agent.Take()
		}
		if got := w.Do(who, "GET", "/.well-known/agent-card.json", ""); strings.Contains(got.Body, `"pay"`) != may || !strings.Contains(got.Body, `"look"`) {
			t.Errorf("%s reads %s", who, got.Body)
		}
	}
	got := w.Do("pay", "POST", "/skills/pay", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0")
	if got.Status != http.StatusForbidden || !strings.Contains(got.Body, "missing scope read") {
		t.Errorf("a scope is missing: %d %s", got.Status, got.Body)
	}
}

// TestCardScopesOff: without the switch cards ask for nothing.
func TestCardScopesOff(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "off"} {
		w := newScopes(t, []string{"other"}, func(s *proxytest.Setup) { s.Policy.Skills.Scopes = word })
		if got := w.Speak("other", w.Base+"/skills/pay", proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}); got.Err != nil {
			t.Errorf("%q: %v", word, got.Err)
		}
		if got := w.Do("other", "GET", "/.well-known/agent-card.json", ""); !strings.Contains(got.Body, `"pay"`) {
			t.Errorf("%q: the card is %s", word, got.Body)
		}
	}
}

// TestCardScopesOfExtendedCard: the agent's own word on who may read of a skill does not
// count less than the public card's.
func TestCardScopesOfExtendedCard(t *testing.T) {
	t.Parallel()
	w := newScopes(t, []string{"other", "admin", "vip"})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		r.Say(rw, strings.Replace(scopedCard(needsPay)("https://agent.example"), `"skills":[`, `"skills":[{"id":"gold","name":"s",
			"securityRequirements":[{"schemes":{"o":{"list":["vip"]}}}]},{"id":"late","name":"s"},`, 1))
	})
	for who, want := range map[string]string{"other": "late,look", "admin": "late,look,pay", "vip": "gold,late,look"} {
		got := w.Speak(who, w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.GetExtendedAgentCard}).OK(t, who)
		var ids []string
		for _, id := range []string{"gold", "late", "look", "pay"} {
			if strings.Contains(got.Docs[0], `"id":"`+id+`"`) {
				ids = append(ids, id)
			}
		}
		if strings.Join(ids, ",") != want {
			t.Errorf("%s reads of %v, want %s: %s", who, ids, want, got.Docs)
		}
	}
}

// TestCardScopesEndStreams: a card that asks for more ends the streams of those who do
// not have it.
func TestCardScopesEndStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := newScopes(t, []string{"admin"}, func(s *proxytest.Setup) { s.Streams = streams })
	cancelled := w.StreamEachTask(make(chan struct{}))
	resp, err := w.Client.Do(w.Request("admin", "POST", "/skills/pay", proxytest.RPCBody("SendStreamingMessage", proxytest.Message("")), "A2A-Version: 1.0"))
	proxytest.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReader(resp.Body)
	w.ReadEvent(in)
	streams.Review(w.Proxy)
	w.Agent.Doc = scopedCard(`[{"schemes":{"o":{"list":["more"]}}}]`)
	proxytest.Must(t, w.Sources[0].Refresh(context.Background()))
	w.ReviewUntil(streams, w.Proxy, cancelled)
	if rest, err := io.ReadAll(in); err != nil || !strings.Contains(string(rest), "UNAUTHORIZED") {
		t.Errorf("the stream ended with %s, %v", rest, err)
	}
}
