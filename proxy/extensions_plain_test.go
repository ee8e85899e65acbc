package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// governed has a registry, an agent's section and rules that say a lot, but nothing of
// calls without extensions.
func governed(s *setup) {
	tied(s)
	for i := range 100 {
		s.extensions = append(s.extensions, ext.Entry{URI: fmt.Sprintf("https://example.com/ext/%d/v1", i)})
	}
	s.agent.Extensions = ext.Config{
		Deny: []string{denied}, Allow: []string{focus}, Verify: true, Unrequested: "refuse", Provide: []string{timestamp},
	}
	s.policy.Rules = append(s.policy.Rules, policy.Rule{Name: "ext", Extensions: &policy.RuleExtensions{Deny: []string{bystander}}})
}

// TestPlainBytes: a call without extensions between sides that speak alike passes byte
// for byte, however it is written and whatever is configured, and so does its answer.
func TestPlainBytes(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), governed)
	// Metadata of nobody's extension, escapes, odd numbers and white space.
	const odd = ` , "metadata" : {"pl\u0061in" : 1.0e2 ,"https://nobody.example/x":[ ],"n":9007199254740993} `
	for _, s := range sides {
		w.becomes(declares(speaks(s), `{"uri":"`+focus+`"}`))
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.SubscribeToTask} {
			if s.Version != wire.V10 && method == wire.SubscribeToTask {
				continue
			}
			what := fmt.Sprint(s, method)
			a := ask{method: method, task: "t"}
			if methodOf(method).Subject == wire.OfMessage {
				a = ask{method: method, inMessage: odd}
				if s == rpc01 {
					a.task = what
				}
			}
			w.given("tied", w.base, w.agent, "t", "c", "")
			var answered string
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				kept := &copied{ResponseWriter: rw}
				e := evilWords{Side: s, id: "t", context: "c"}
				if c := r.call(); c.Method.Subject == wire.OfMessage {
					e.id, e.context = "task-"+r.Header.Get("X-Request-Id"), "context"
					if s == rpc01 {
						e.id = c.TaskID
					}
				}
				task := taskIn(s, e.id, e.context, "working", odd)
				switch m := r.method(); {
				case m.Streams && s == rpc01:
					task = statusIn(s, e.id, e.context, "working", "")
				case (m.Streams || m.Subject == wire.OfMessage) && s != rpc01 && s != rpc03:
					task = ` {"task": ` + task + ` } `
				}
				r.say(kept, task)
				answered = kept.text.String()
			})
			got := w.speak("tied", w.base, s, a).ok(t, what)
			if unnumbered(got.body) != answered {
				t.Errorf("%s: got\n%q\nthe agent said\n%q", what, got.body, answered)
			}
			seen := w.agent.one(t)
			if want := w.bodyOf(s, a); string(seen.body) != want && len(seen.body) > 0 {
				t.Errorf("%s: the agent got\n%q\nwant\n%q", what, seen.body, want)
			}
			if all := fmt.Sprint(seen.Header, got.header); strings.Contains(strings.ToLower(all), "extensions") {
				t.Errorf("%s: %s", what, all)
			}
		}
	}
}

// TestStrangersCard: who has no credential is shown what holds for everybody, and not
// what holds for somebody.
func TestStrangersCard(t *testing.T) {
	t.Parallel()
	w := in(t, declares(cardOf, `{"uri":"`+focus+`","required":true,"params":{"a":1}}`, `{"uri":"`+blocked+`"}`, `{"uri":"`+denied+`"}`, `{"uri":"`+fading+`"}`),
		evilWorld, grown(""), func(s *setup) {
			s.agent.Extensions = ext.Config{Deny: []string{denied}, Require: []string{above}, Inject: []string{quiet}, Provide: []string{timestamp}}
			for name, e := range map[string]policy.RuleExtensions{
				"all":   {Require: []string{"urn:for:all"}},
				"alice": {Require: []string{"urn:for:alice"}, Deny: []string{focus}},
			} {
				r := policy.Rule{Name: "ext " + name, Extensions: &e}
				if name == "alice" {
					r.Subjects = []string{name}
				}
				s.policy.Rules = append(s.policy.Rules, r)
			}
		})
	get := func(who string) (string, listedExtensions) {
		doc := w.do(who, "GET", "/.well-known/agent-card.json", "", "A2A-Version: 1.0").body
		return doc, cardExtensions(t, doc)
	}
	doc, strangers := get("")
	want := listedExtensions{
		focus: true, fading: false, above: true, quiet: false, timestamp: false, "urn:for:all": true,
	}
	w.sameLists("strangers", strangers, want)
	if !strings.Contains(doc, `"params":{"a":1}`) || !strings.Contains(doc, "Deprecated until 2999-01-01: use "+below) {
		t.Errorf("the card is %s", doc)
	}
	delete(want, focus)
	want["urn:for:alice"] = true
	_, alices := get("alice")
	w.sameLists("alice", alices, want)
}
