package proxy_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestA08_EvilAgents: an agent of any side leaves in every object what nobody asked
// for, and no caller of any side sees it; what the caller asked for, and what is
// nobody's extension, stays.
func TestA08_EvilAgents(t *testing.T) {
	testenv.Long(t, "agents of every side answer callers of every side")
	t.Parallel()
	w := in(t, speaks(rpc10), evilWorld)
	methods := []string{
		wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.CancelTask, wire.SubscribeToTask, wire.ListTasks,
	}
	for _, agent := range sides {
		w.becomes(evilCard(agent))
		w.given("tied", w.base, w.agent, "t", "c", "")
		words := &evil{where: map[string]string{"t": "c"}}
		w.agent.answers(words.answer)
		for _, caller := range sides {
			for _, method := range methods {
				if caller.Version != wire.V10 && method == wire.ListTasks {
					continue // has no such method
				}
				a := ask{method: method, header: []string{"A2A-Extensions: " + bystander + "," + denied}}
				words.becomes("working", "")
				if methodOf(method).Subject == wire.OfTask {
					a.task = "t"
				} else if methodOf(method).Subject == wire.OfMessage {
					// Declared and permitted, but this call has not asked for it.
					words.becomes("completed", `,"`+focus+`":"secret"`)
					if caller == rpc01 {
						a.task = fmt.Sprint("mine-", agent, method)
					}
				}
				what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
				got := w.speak("tied", w.base, caller, a).ok(t, what)
				if caller == agent {
					words.compare(t, what, methodOf(method), caller, got)
				}
				text := fmt.Sprint(got.header)
				for _, doc := range got.docs {
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
func (a *evil) compare(t *testing.T, what string, m *wire.Method, s wire.Side, got said) {
	t.Helper()
	for i, good := range a.good {
		if s.Binding == wire.GRPC { // it says some things in other words
			message, err := wire.ResponseMessage(m, s.Version, []byte(good))
			must(t, err)
			doc, err := wire.ResponseJSON(m, s.Version, message)
			must(t, err)
			good = string(doc)
		}
		if i >= len(got.docs) || plainText(got.docs[i]) != plainText(good) {
			t.Errorf("%s: event %d of %d is\n%s\nwant\n%s", what, i, len(got.docs), got.docs[min(i, len(got.docs)-1)], good)
		}
	}
}

// TestA06_HeaderSpellings: however the header is written, the agent gets the one name of
// its version, a line for each extension, and nothing that was not negotiated.
func TestA06_HeaderSpellings(t *testing.T) {
	t.Parallel()
	w := in(t, declares(cardOf, `{"uri":"`+focus+`"}`, `{"uri":"`+bystander+`"}`))
	body := rpcBody("SendMessage", message(""))
	send := func(lines ...string) answer {
		return w.raw(w.head("POST /agents/rec HTTP/1.1", append(lines, "A2A-Version: 1.0",
			"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
	}
	checks := func(what string, got answer, want ...string) {
		t.Helper()
		seen := w.agent.take()
		if got.status >= 400 && len(seen) == 0 {
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
		for i, spelled := range spellings(one) {
			line := spelled + ": " + focus + " , urn:unknown,," + bystander + ",\t" + focus
			got := send(line)
			if i < 4 {
				wantStatus(t, spelled, got, 200)
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
		wantStatus(t, bad, send("A2A-Extensions: "+bad), 200) // with an error, as JSON-RPC has it
		w.agent.silent(t, bad)
	}
}

// TestA06_Query: what a query says activates nothing, and does not reach the agent.
func TestA06_Query(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10))
	for _, agent := range sides {
		w.becomes(speaks(agent))
		w.given("alice", w.base, w.agent, "t", "c", "")
		for _, caller := range []wire.Side{rest10, rest03} {
			for _, name := range []string{
				"A2A-Extensions", "a2a-extensions", "X-A2A-Extensions", "x_a2a_extensions", "A2A%2dExtensions", "%41%32a-extensions",
			} {
				a := ask{method: wire.GetTask, task: "t", query: name + "=urn:declared&historyLength=1&" + name + "=urn:other"}
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.speak("alice", w.base, caller, a).ok(t, what)
				seen := w.agent.one(t)
				if all := fmt.Sprint(seen.URL, seen.Header, string(seen.body)); strings.Contains(strings.ToLower(all), "extensions") {
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
	w := in(t, speaks(rest10))
	w.given("alice", w.base, w.agent, "t", "c", "")
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		switch m := r.method(); m.Name {
		case wire.ListTasks, wire.GetTask:
			fluent(rw, r)
		case wire.GetExtendedAgentCard:
			r.say(rw, w.agent.doc(w.agent.URL))
		case "ListTaskPushNotificationConfigs":
			r.say(rw, `{"configs":[]}`)
		default:
			r.say(rw, `{"taskId":"t","id":"c","url":"https://hook.example/"}`)
		}
	})
	const config = `,"taskId":"t","id":"c"`
	for method, more := range map[string]string{
		wire.GetTask: "", wire.ListTasks: "", wire.GetExtendedAgentCard: "",
		"GetTaskPushNotificationConfig": config, "ListTaskPushNotificationConfigs": `,"taskId":"t"`,
		"DeleteTaskPushNotificationConfig": config,
	} {
		w.speak("alice", w.base, rpc10, ask{method: method, task: "t", more: more + stray}).ok(t, method)
		seen := w.agent.one(t)
		if all := strings.ToLower(fmt.Sprint(seen.URL, seen.Header)); strings.Contains(all, "extensions") ||
			strings.Contains(all, "0.3") || !strings.Contains(all, "other=1") || len(seen.body) > 0 {
			t.Errorf("%s: the agent got %s %s", method, all, seen.body)
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
			w := in(t, speaks(rpc10), evilWorld, func(s *setup) {
				s.agent.Extensions.Inject, s.agent.Extensions.Unrequested = nil, mode
			})
			for _, agent := range sides {
				w.becomes(evilCard(agent))
				for _, caller := range sides {
					for i, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
						a := ask{method: method, header: []string{nameFor(sides[i].Version) + ": " + bystander + "," + denied}}
						if caller == rpc01 {
							a.task = fmt.Sprint("mine-", agent, method)
						}
						what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
						w.carries(t, what, mode, caller, agent, a)
					}
				}
			}
		})
	}
}

// carries makes a call whose objects all carry something.
func (w *world) carries(t *testing.T, what, mode string, caller, agent wire.Side, a ask) {
	t.Helper()
	e := evilWords{Side: caller}
	clean := a
	fill := func(a *ask) { a.more, a.inMessage, a.inPart = e.leave(false), e.leave(true), e.leave(false) }
	fill(&a)
	e.good = true
	fill(&clean)
	got := w.speak("tied", w.base, caller, a)
	if mode == "refuse" {
		if w.agent.silent(t, what); got.err == nil || got.err.Code != wire.InvalidParams.Code && got.code != 3 {
			t.Errorf("%s: %d %v %s", what, got.status, got.err, got.body)
		}
		if caller.Version == wire.V10 && (!strings.HasPrefix(got.err.Meta["pointer"], "/") || got.err.Meta["extension"] == "") {
			t.Errorf("%s: details %v", what, got.err.Meta)
		}
		return
	}
	got.ok(t, what)
	want := clean
	if mode == "report" {
		want = a
	}
	text := plainText(string(w.agent.take()[0].call().Body))
	if strings.Contains(text, "secret") != (mode == "report") || strings.Count(text, "kept") < 9 {
		t.Errorf("%s: the agent got %s", what, text)
	}
	if doc := plainText(want.params(caller)); caller == agent && caller.Binding != wire.GRPC && !strings.Contains(text, doc) {
		t.Errorf("%s: the agent got\n%s\nwant\n%s", what, text, doc)
	}
}
