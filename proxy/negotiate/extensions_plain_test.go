package negotiate_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// governed has a registry, an agent's section and rules that say a lot, but nothing of
// calls without extensions.
func governed(s *proxytest.Setup) {
	proxytest.WithTied(s)
	for i := range 100 {
		s.Extensions = append(s.Extensions, ext.Entry{URI: fmt.Sprintf("https://example.com/ext/%d/v1", i)})
	}
	s.Agent.Extensions = ext.Config{
		Deny: []string{denied}, Allow: []string{focus}, Verify: true, Unrequested: "refuse", Provide: []string{timestamp},
	}
	s.Policy.Rules = append(s.Policy.Rules, policy.Rule{Name: "ext", Extensions: &policy.RuleExtensions{Deny: []string{bystander}}})
}

// TestPlainBytes: a call without extensions between sides that speak alike passes byte
// for byte, however it is written and whatever is configured, and so does its answer.
func TestPlainBytes(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), governed)
	// Metadata of nobody's extension, escapes, odd numbers and white space.
	const odd = ` , "metadata" : {"pl\u0061in" : 1.0e2 ,"https://nobody.example/x":[ ],"n":9007199254740993} `
	for _, s := range proxytest.Sides {
		w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(s), `{"uri":"`+focus+`"}`))
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.SubscribeToTask} {
			if s.Version != wire.V10 && method == wire.SubscribeToTask {
				continue
			}
			what := fmt.Sprint(s, method)
			a := proxytest.Ask{Method: method, Task: "t"}
			if proxytest.MethodOf(method).Subject == wire.OfMessage {
				a = proxytest.Ask{Method: method, InMessage: odd}
				if s == proxytest.RPC01 {
					a.Task = what
				}
			}
			w.Given("tied", w.Base, w.Agent, "t", "c", "")
			var answered string
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				kept := &copied{ResponseWriter: rw}
				e := evilWords{Side: s, id: "t", context: "c"}
				if c := r.Call(); c.Method.Subject == wire.OfMessage {
					e.id, e.context = "task-"+r.Header.Get("X-Request-Id"), "context"
					if s == proxytest.RPC01 {
						e.id = c.TaskID
					}
				}
				task := proxytest.TaskIn(s, e.id, e.context, "working", odd)
				switch m := r.Called(); {
				case m.Streams && s == proxytest.RPC01:
					task = proxytest.StatusIn(s, e.id, e.context, "working", "")
				case (m.Streams || m.Subject == wire.OfMessage) && s != proxytest.RPC01 && s != proxytest.RPC03:
					task = ` {"task": ` + task + ` } `
				}
				r.Say(kept, task)
				answered = kept.text.String()
			})
			got := w.Speak("tied", w.Base, s, a).OK(t, what)
			if proxytest.Unnumbered(got.Body) != answered {
				t.Errorf("%s: got\n%q\nthe agent said\n%q", what, got.Body, answered)
			}
			seen := w.Agent.One(t)
			if want := bodyOf(w, s, a); string(seen.Content) != want && len(seen.Content) > 0 {
				t.Errorf("%s: the agent got\n%q\nwant\n%q", what, seen.Content, want)
			}
			if all := fmt.Sprint(seen.Header, got.Header); strings.Contains(strings.ToLower(all), "extensions") {
				t.Errorf("%s: %s", what, all)
			}
		}
	}
}

// TestStrangersCard: who has no credential is shown what holds for everybody, and not
// what holds for somebody.
func TestStrangersCard(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardDeclaring(proxytest.Card, `{"uri":"`+focus+`","required":true,"params":{"a":1}}`, `{"uri":"`+blocked+`"}`, `{"uri":"`+denied+`"}`, `{"uri":"`+fading+`"}`),
		evilWorld, grown(""), func(s *proxytest.Setup) {
			s.Agent.Extensions = ext.Config{Deny: []string{denied}, Require: []string{above}, Inject: []string{quiet}, Provide: []string{timestamp}}
			for name, e := range map[string]policy.RuleExtensions{
				"all":   {Require: []string{"urn:for:all"}},
				"alice": {Require: []string{"urn:for:alice"}, Deny: []string{focus}},
			} {
				r := policy.Rule{Name: "ext " + name, Extensions: &e}
				if name == "alice" {
					r.Subjects = []string{name}
				}
				s.Policy.Rules = append(s.Policy.Rules, r)
			}
		})
	get := func(who string) (string, listedExtensions) {
		doc := w.Do(who, "GET", "/.well-known/agent-card.json", "", "A2A-Version: 1.0").Body
		return doc, cardExtensions(t, doc)
	}
	doc, strangers := get("")
	want := listedExtensions{
		focus: true, fading: false, above: true, quiet: false, timestamp: false, "urn:for:all": true,
	}
	sameLists(w, "strangers", strangers, want)
	if !strings.Contains(doc, `"params":{"a":1}`) || !strings.Contains(doc, "Deprecated until 2999-01-01: use "+below) {
		t.Errorf("the card is %s", doc)
	}
	delete(want, focus)
	want["urn:for:alice"] = true
	_, alices := get("alice")
	sameLists(w, "alice", alices, want)
}
