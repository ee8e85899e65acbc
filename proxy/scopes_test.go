package proxy_test

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
)

// scopedCard is a card of which the skill "pay" asks for these alternatives.
func scopedCard(alternatives string) func(string) string {
	return func(base string) string {
		return picky(`"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{}}}},"defaultInputModes":["*/*"]`,
			`"look"`, `"pay","securityRequirements":`+alternatives)(base)
	}
}

const needsPay = `[{"schemes":{"o":{"list":["pay","read"]}}},{"schemes":{"o":["admin"]}}]`

// newScopes builds a world whose callers have scopes of their names: "pay+read" has two.
func newScopes(t testing.TB, callers []string, edit ...func(*setup)) *world {
	t.Helper()
	made := map[string]string{}
	w := in(t, scopedCard(needsPay), append([]func(*setup){func(s *setup) {
		s.policy = policy.Config{Rules: []policy.Rule{{Name: "all", Effect: "allow"}}}
		s.policy.Skills.Scopes = "card"
		keys, err := apikey.Open(s.authn.APIKeys.File)
		must(t, err)
		for _, who := range callers {
			_, key, err := keys.Create(apikey.Spec{
				ID: strings.ReplaceAll(who, "+", "-"), Scopes: strings.Split(who, "+"), Agents: []string{"rec"},
			})
			must(t, err)
			made[who] = key
		}
	}}, edit...)...)
	maps.Copy(w.keys, made)
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
		for _, s := range sides {
			if s.Binding == wire.GRPC {
				continue // has no path to declare a skill by
			}
			got := w.speak(who, w.base+"/skills/pay", s, ask{method: wire.SendMessage, task: taskFor(s)})
			if (got.err == nil) != may || got.err != nil && got.err.Kind != wire.Denied {
				t.Errorf("%s on %v: %+v", who, s, got.err)
			}
			if seen := len(w.agent.take()); (seen == 1) != may {
				t.Errorf("%s on %v: the agent saw %d requests", who, s, seen)
			}
			if got := w.speak(who, w.base+"/skills/look", s, ask{method: wire.SendMessage, task: taskFor(s)}); got.err != nil {
				t.Errorf("%s on %v, for another skill: %v", who, s, got.err)
			}
			w.agent.one(t)
			// Of no known skill: both have to be allowed.
			if got := w.speak(who, w.base, s, ask{method: wire.SendMessage, task: taskFor(s)}); (got.err == nil) != may {
				t.Errorf("%s on %v, for no skill: %+v", who, s, got.err)
			}
			w.agent.take()
		}
		if got := w.do(who, "GET", "/.well-known/agent-card.json", ""); strings.Contains(got.body, `"pay"`) != may || !strings.Contains(got.body, `"look"`) {
			t.Errorf("%s reads %s", who, got.body)
		}
	}
	got := w.do("pay", "POST", "/skills/pay", rpcBody("SendMessage", message("")), "A2A-Version: 1.0")
	if got.status != http.StatusForbidden || !strings.Contains(got.body, "missing scope read") {
		t.Errorf("a scope is missing: %d %s", got.status, got.body)
	}
}

// TestCardScopesOff: without the switch cards ask for nothing.
func TestCardScopesOff(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "off"} {
		w := newScopes(t, []string{"other"}, func(s *setup) { s.policy.Skills.Scopes = word })
		if got := w.speak("other", w.base+"/skills/pay", rpc10, ask{method: wire.SendMessage}); got.err != nil {
			t.Errorf("%q: %v", word, got.err)
		}
		if got := w.do("other", "GET", "/.well-known/agent-card.json", ""); !strings.Contains(got.body, `"pay"`) {
			t.Errorf("%q: the card is %s", word, got.body)
		}
	}
}

// TestCardScopesOfExtendedCard: the agent's own word on who may read of a skill does not
// count less than the public card's.
func TestCardScopesOfExtendedCard(t *testing.T) {
	t.Parallel()
	w := newScopes(t, []string{"other", "admin", "vip"})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		r.say(rw, strings.Replace(scopedCard(needsPay)("https://agent.example"), `"skills":[`, `"skills":[{"id":"gold","name":"s",
			"securityRequirements":[{"schemes":{"o":{"list":["vip"]}}}]},{"id":"late","name":"s"},`, 1))
	})
	for who, want := range map[string]string{"other": "late,look", "admin": "late,look,pay", "vip": "gold,late,look"} {
		got := w.speak(who, w.base, rpc10, ask{method: wire.GetExtendedAgentCard}).ok(t, who)
		var ids []string
		for _, id := range []string{"gold", "late", "look", "pay"} {
			if strings.Contains(got.docs[0], `"id":"`+id+`"`) {
				ids = append(ids, id)
			}
		}
		if strings.Join(ids, ",") != want {
			t.Errorf("%s reads of %v, want %s: %s", who, ids, want, got.docs)
		}
	}
}

// TestCardScopesEndStreams: a card that asks for more ends the streams of those who do
// not have it.
func TestCardScopesEndStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	w := newScopes(t, []string{"admin"}, func(s *setup) { s.streams = streams })
	cancelled := w.eachStreams(make(chan struct{}))
	resp, err := w.http.Do(w.request("admin", "POST", "/skills/pay", rpcBody("SendStreamingMessage", message("")), "A2A-Version: 1.0"))
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	in := bufio.NewReader(resp.Body)
	w.event(in)
	streams.Review(w.proxy)
	w.agent.doc = scopedCard(`[{"schemes":{"o":{"list":["more"]}}}]`)
	must(t, w.sources[0].Refresh(context.Background()))
	w.reviewed(streams, w.proxy, cancelled)
	if rest, err := io.ReadAll(in); err != nil || !strings.Contains(string(rest), "UNAUTHORIZED") {
		t.Errorf("the stream ended with %s, %v", rest, err)
	}
}
