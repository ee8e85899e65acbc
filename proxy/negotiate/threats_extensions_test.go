package negotiate_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA08_EvilAgents: an agent of any side leaves in every object what nobody asked
// for, and no caller of any side sees it; what the caller asked for, and what is
// nobody's extension, stays.
func TestA08_EvilAgents(t *testing.T) {
	testenv.Long(t, "agents of every side answer callers of every side")
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), evilWorld)
	methods := []string{
		wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.CancelTask, wire.SubscribeToTask, wire.ListTasks,
	}
	for _, agent := range proxytest.Sides {
		w.BecomeCard(evilCard(agent))
		w.Given("tied", w.Base, w.Agent, "t", "c", "")
		words := &evil{where: map[string]string{"t": "c"}}
		w.Agent.Answers(words.answer)
		for _, caller := range proxytest.Sides {
			for _, method := range methods {
				if caller.Version != wire.V10 && method == wire.ListTasks {
					continue // has no such method
				}
				a := proxytest.Ask{Method: method, Header: []string{"A2A-Extensions: " + bystander + "," + denied}}
				words.becomes("working", "")
				if proxytest.MethodOf(method).Subject == wire.OfTask {
					a.Task = "t"
				} else if proxytest.MethodOf(method).Subject == wire.OfMessage {
					// Declared and permitted, but this call has not asked for it.
					words.becomes("completed", `,"`+focus+`":"secret"`)
					if caller == proxytest.RPC01 {
						a.Task = fmt.Sprint("mine-", agent, method)
					}
				}
				what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
				got := w.Speak("tied", w.Base, caller, a).OK(t, what)
				if caller == agent {
					words.compare(t, what, proxytest.MethodOf(method), caller, got)
				}
				text := fmt.Sprint(got.Header)
				for _, doc := range got.Docs {
					text += plainText(doc)
				}
				if strings.Contains(text, "secret") || !strings.Contains(text, "kept") {
					t.Errorf("%s: %s", what, text)
				}
			}
		}
	}
}

// compare checks that a caller who speaks like the agent got what it said, but for
// what must not be seen.
func (a *evil) compare(t *testing.T, what string, m *wire.Method, s wire.Side, got proxytest.Reply) {
	t.Helper()
	for i, good := range a.good {
		if s.Binding == wire.GRPC { // it says some things in other words
			message, err := wire.ResponseMessage(m, s.Version, []byte(good))
			proxytest.Must(t, err)
			doc, err := wire.ResponseJSON(m, s.Version, message)
			proxytest.Must(t, err)
			good = string(doc)
		}
		if i >= len(got.Docs) || plainText(got.Docs[i]) != plainText(good) {
			t.Errorf("%s: event %d of %d is\n%s\nwant\n%s", what, i, len(got.Docs), got.Docs[min(i, len(got.Docs)-1)], good)
		}
	}
}

// TestA06_HeaderSpellings: however the header is written, the agent gets the one name of
// its version, a line for each extension, and nothing that was not negotiated.
func TestA06_HeaderSpellings(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardDeclaring(proxytest.Card, `{"uri":"`+focus+`"}`, `{"uri":"`+bystander+`"}`))
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	send := func(lines ...string) proxytest.Response {
		return w.Raw(w.Head("POST /agents/rec HTTP/1.1", append(lines, "A2A-Version: 1.0",
			"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
	}
	checks := func(what string, got proxytest.Response, want ...string) {
		t.Helper()
		seen := w.Agent.Take()
		if got.Status >= 400 && len(seen) == 0 {
			return // a spelling that is refused
		}
		for name, lines := range seen[0].Header {
			if strings.Contains(strings.ToLower(name), "extensions") && name != "A2a-Extensions" {
				t.Errorf("%s: the agent got %s: %q", what, name, lines)
			}
		}
		if lines := seen[0].Header["A2a-Extensions"]; !slices.Equal(lines, want) {
			t.Errorf("%s: the agent got %q, want %q", what, lines, want)
		}
	}
	for _, one := range []string{"A2A-Extensions", "X-A2A-Extensions"} {
		for i, spelled := range proxytest.HeaderSpellings(one) {
			line := spelled + ": " + focus + " , urn:unknown,," + bystander + ",\t" + focus
			got := send(line)
			if i < 4 {
				proxytest.WantStatus(t, spelled, got, 200)
				checks(spelled, got, focus, bystander)
				checks(spelled+" twice", send(line, line), focus, bystander)
				continue
			}
			checks(spelled, got)
			// Beside the real one it adds nothing.
			checks(spelled+" beside", send("A2A-Extensions: "+bystander, spelled+": "+focus), bystander)
		}
	}
	checks("both", send("X-A2A-Extensions: "+focus, "a2a-extensions: "+bystander), bystander, focus)
	checks("lines", send("A2A-Extensions: "+bystander, "A2A-Extensions:", "A2A-Extensions: "+focus), bystander, focus)
	for _, bad := range []string{"no URI", "urn:a urn:b", focus + ",x", "urn:" + strings.Repeat("x", 600), "https://a/\"quoted\""} {
		proxytest.WantStatus(t, bad, send("A2A-Extensions: "+bad), 200) // with an error, as JSON-RPC has it
		w.Agent.Silent(t, bad)
	}
}

// TestA06_Query: what a query says activates nothing, and does not reach the agent.
func TestA06_Query(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10))
	for _, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardFor(agent))
		w.Given("alice", w.Base, w.Agent, "t", "c", "")
		for _, caller := range []wire.Side{proxytest.REST10, proxytest.REST03} {
			for _, name := range []string{
				"A2A-Extensions", "a2a-extensions", "X-A2A-Extensions", "x_a2a_extensions", "A2A%2dExtensions", "%41%32a-extensions",
			} {
				a := proxytest.Ask{Method: wire.GetTask, Task: "t", Query: name + "=urn:declared&historyLength=1&" + name + "=urn:other"}
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.Speak("alice", w.Base, caller, a).OK(t, what)
				seen := w.Agent.One(t)
				if all := fmt.Sprint(seen.URL, seen.Header, string(seen.Content)); strings.Contains(strings.ToLower(all), "extensions") {
					t.Errorf("%s: the agent got %s", what, all)
				}
			}
		}
	}
}

// TestA06_QueryOfParams: nor does what the params of a call say, where they become a
// query.
func TestA06_QueryOfParams(t *testing.T) {
	t.Parallel()
	const stray = `,"A2A-Extensions":"` + denied + `","a2a-version":"0.3","X\u002dA2A_Extensions":"urn:x","other":1`
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.REST10))
	w.Given("alice", w.Base, w.Agent, "t", "c", "")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		switch m := r.Called(); m.Name {
		case wire.ListTasks, wire.GetTask:
			proxytest.Fluent(rw, r)
		case wire.GetExtendedAgentCard:
			r.Say(rw, w.Agent.Doc(w.Agent.URL))
		case "ListTaskPushNotificationConfigs":
			r.Say(rw, `{"configs":[]}`)
		default:
			r.Say(rw, `{"taskId":"t","id":"c","url":"https://hook.example/"}`)
		}
	})
	const config = `,"taskId":"t","id":"c"`
	for method, more := range map[string]string{
		wire.GetTask: "", wire.ListTasks: "", wire.GetExtendedAgentCard: "",
		"GetTaskPushNotificationConfig": config, "ListTaskPushNotificationConfigs": `,"taskId":"t"`,
		"DeleteTaskPushNotificationConfig": config,
	} {
		w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: method, Task: "t", More: more + stray}).OK(t, method)
		seen := w.Agent.One(t)
		if all := strings.ToLower(fmt.Sprint(seen.URL, seen.Header)); strings.Contains(all, "extensions") ||
			strings.Contains(all, "0.3") || !strings.Contains(all, "other=1") || len(seen.Content) > 0 {
			t.Errorf("%s: the agent got %s %s", method, all, seen.Content)
		}
	}
}

// TestA06_Bodies: what a body carries of extensions that are not active is taken out,
// refused or reported, wherever it stands and whatever the caller and the agent speak.
func TestA06_Bodies(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"strip", "refuse", "report"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), evilWorld, func(s *proxytest.Setup) {
				s.Agent.Extensions.Inject, s.Agent.Extensions.Unrequested = nil, mode
			})
			for _, agent := range proxytest.Sides {
				w.BecomeCard(evilCard(agent))
				for _, caller := range proxytest.Sides {
					for i, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
						a := proxytest.Ask{Method: method, Header: []string{nameFor(proxytest.Sides[i].Version) + ": " + bystander + "," + denied}}
						if caller == proxytest.RPC01 {
							a.Task = fmt.Sprint("mine-", agent, method)
						}
						what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
						carries(w, t, what, mode, caller, agent, a)
					}
				}
			}
		})
	}
}

// carries makes a call whose objects all carry something.
func carries(w *proxytest.Gateway, t *testing.T, what, mode string, caller, agent wire.Side, a proxytest.Ask) {
	t.Helper()
	e := evilWords{Side: caller}
	clean := a
	fill := func(a *proxytest.Ask) { a.More, a.InMessage, a.InPart = e.leave(false), e.leave(true), e.leave(false) }
	fill(&a)
	e.good = true
	fill(&clean)
	got := w.Speak("tied", w.Base, caller, a)
	if mode == "refuse" {
		if w.Agent.Silent(t, what); got.Err == nil || got.Err.Code != wire.InvalidParams.Code && got.Code != 3 {
			t.Errorf("%s: %d %v %s", what, got.Status, got.Err, got.Body)
		}
		if caller.Version == wire.V10 && (!strings.HasPrefix(got.Err.Meta["pointer"], "/") || got.Err.Meta["extension"] == "") {
			t.Errorf("%s: details %v", what, got.Err.Meta)
		}
		return
	}
	got.OK(t, what)
	want := clean
	if mode == "report" {
		want = a
	}
	text := plainText(string(w.Agent.Take()[0].Call().Body))
	if strings.Contains(text, "secret") != (mode == "report") || strings.Count(text, "kept") < 9 {
		t.Errorf("%s: the agent got %s", what, text)
	}
	if doc := plainText(want.Params(caller)); caller == agent && caller.Binding != wire.GRPC && !strings.Contains(text, doc) {
		t.Errorf("%s: the agent got\n%s\nwant\n%s", what, text, doc)
	}
}
