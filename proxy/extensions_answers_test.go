package proxy_test

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// TestA07_NoDowngrade: another version is another extension, and an agent that speaks
// of it is not believed.
func TestA07_NoDowngrade(t *testing.T) {
	t.Parallel()
	const v1, v2 = "https://example.com/ext/pay/v1", "https://example.com/ext/pay/v2"
	w := in(t, speaks(rpc10), tied)
	for _, agent := range sides {
		for _, required := range []bool{false, true} {
			w.becomes(declares(speaks(agent), fmt.Sprintf(`{"uri":%q,"required":%t}`, v1, required)))
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				rw.Header().Set(nameFor(agent.Version), v1+","+v2)
				fluent(rw, r)
			})
			for _, caller := range sides {
				for _, asked := range []string{v2, v1 + "/", strings.ToUpper(v1), strings.Replace(v1, "https", "http", 1), v1 + "?", v1 + "#1"} {
					a := ask{method: wire.SendMessage, header: []string{"A2A-Extensions: " + asked}}
					if caller == rpc01 {
						a.task = fmt.Sprint("mine-", agent, required, asked)
					}
					what := fmt.Sprintf("%q from %s to %s, required %t", asked, caller, agent, required)
					got := w.speak("tied", w.base, caller, a)
					if required {
						form := refusals[caller]
						if got.err == nil || got.err.Code != form.code || !strings.Contains(got.err.Message, v1) {
							t.Errorf("%s: %d %v %s", what, got.status, got.err, got.body)
						}
						w.agent.silent(t, what)
						continue
					}
					got.ok(t, what)
					if seen := w.agent.take(); len(seen) == 0 || seen[0].Header[nameFor(agent.Version)] != nil {
						t.Errorf("%s: the agent got %v", what, seen)
					}
					if got.header["A2a-Extensions"] != nil || got.header["X-A2a-Extensions"] != nil {
						t.Errorf("%s: told %v", what, got.header)
					}
				}
			}
		}
	}
}

// TestA07_OnPath: who is in between cannot make a call go without an extension that is
// required; one that an agent leaves out is on record.
func TestA07_OnPath(t *testing.T) {
	t.Parallel()
	w := in(t, declares(cardOf, `{"uri":"`+focus+`","required":true}`))
	body := rpcBody("SendMessage", message(""))
	for _, lines := range [][]string{
		{"A2A-Extensions: " + focus, "Connection: A2A-Extensions"},
		{"X-A2A-Extensions: " + focus, "Connection: close, x-a2a-extensions"},
		{"A2A-Extensions: "}, {"A2A-Extension: " + focus}, {"A2A_Extensions: " + focus}, {},
	} {
		got := w.raw(w.head("POST /agents/rec HTTP/1.1", append(slices.Clone(lines), "A2A-Version: 1.0",
			"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
		if got.status == 200 && !strings.Contains(got.body, "-32008") {
			t.Errorf("%q: %d %s", lines, got.status, got.body)
		}
		w.agent.silent(t, strings.Join(lines, "|"))
	}
	wantStatus(t, "asked", w.call("alice", "SendMessage", message(""), "A2A-Extensions: "+focus), 200)
	records := w.audited("call")
	last := records[len(records)-1]
	if fmt.Sprint(last["extensions_requested"]) != "["+focus+"]" || last["extensions_activated"] != nil {
		t.Errorf("recorded as %v", last)
	}
}

// TestA08_Modes: answers with what nobody asked for are withheld, or passed with a
// record, as the configuration wants; what is left in a history of calls gone by is
// taken out all the same.
func TestA08_Modes(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"refuse", "report"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			w := in(t, speaks(rpc10), evilWorld, func(s *setup) { s.agent.Extensions.Unrequested = mode })
			for _, agent := range sides {
				w.becomes(evilCard(agent))
				w.given("tied", w.base, w.agent, "t", "c", "")
				words := &evil{where: map[string]string{"t": "c"}}
				for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03} {
					for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.SubscribeToTask, wire.ListTasks} {
						if caller == rpc03 && method == wire.ListTasks {
							continue
						}
						a := ask{method: method, task: "t", context: "c"}
						what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
						words.becomes("completed", "")
						if method == wire.SubscribeToTask {
							words.becomes("working", "")
						}
						w.agent.answers(words.answer)
						w.modes(t, what, mode, a, caller)
						w.agent.answers(old)
						if got := w.speak("tied", w.base, caller, a); mode == "refuse" && !strings.Contains(method, "tream") && method != wire.SubscribeToTask {
							got.ok(t, what+", history")
							if text := strings.Join(got.docs, ""); strings.Contains(text, "secret") {
								t.Errorf("%s: %s", what, text)
							}
						}
					}
				}
			}
		})
	}
}

// modes makes a call that an evil agent answers.
func (w *world) modes(t *testing.T, what, mode string, a ask, caller wire.Side) {
	t.Helper()
	got := w.speak("tied", w.base, caller, a)
	text := strings.Join(got.docs, "\n")
	switch {
	case mode == "report":
		if got.ok(t, what); !strings.Contains(text, "secret") {
			t.Errorf("%s: nothing was passed on: %s", what, text)
		}
	case strings.Contains(text, "secret"):
		t.Errorf("%s: %s", what, text)
	case got.err == nil || got.err.Reason != wire.BadAgentResponse.Reason && !sameMeaning(caller, got.err.Kind, wire.BadAgentResponse):
		t.Errorf("%s: %d %v %s", what, got.status, got.err, got.body)
	}
}

// old answers with a working task whose history has what an earlier call left.
func old(w http.ResponseWriter, r *record) {
	e := evilWords{Side: r.side(), id: cmp.Or(r.call().TaskID, "t"), context: "c"}
	task := taskIn(e.Side, e.id, e.context, "completed", `,"history":[`+e.message()+`]`)
	switch c := r.call(); {
	case c.Method.Name == wire.ListTasks:
		task = `{"tasks":[` + task + `],"nextPageToken":"","pageSize":50,"totalSize":1}`
	case c.Method.Subject == wire.OfMessage && e.Side != rpc01 && e.Side != rpc03:
		task = `{"task":` + task + `}`
	case c.Method.Streams && e.Side == rpc01:
		task = statusIn(e.Side, e.id, e.context, "completed", "")
	}
	r.say(w, task)
}

// TestActivatedLate: an agent of gRPC says at the end of a stream what it activated, and
// callers of gRPC are told there too.
func TestActivatedLate(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(grpc10), tied)
	for _, agent := range []wire.Side{grpc10, grpc03} {
		w.becomes(declares(speaks(agent), `{"uri":"`+focus+`"}`, `{"uri":"`+bystander+`"}`))
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			rw.Header().Set(nameFor(agent.Version), focus)
			rw.Header().Set(http.TrailerPrefix+nameFor(agent.Version), bystander+", urn:else")
			fluent(rw, r)
		})
		for _, caller := range []wire.Side{grpc10, grpc03} {
			for _, name := range []string{"A2a-Extensions", "X-A2a-Extensions"} {
				m := methodOf(wire.SendStreamingMessage)
				message, err := wire.RequestMessage(m, caller.Version, []byte(ask{method: m.Name}.params(caller)))
				must(t, err)
				got := w.dial("tied", m.RPC(caller.Version), grpcframe.Append(nil, message), name+": "+bystander+","+focus)
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.heardRPC(m, caller, got).ok(t, what)
				if header, trailer := got.header.Get(name), got.trailer.Get(name); header != focus || trailer != bystander+","+focus {
					t.Errorf("%s: told %q, then %q", what, header, trailer)
				}
				records := w.audited("call")
				if active := joined(records[len(records)-1]["extensions_activated"]); active != bystander+","+focus {
					t.Errorf("%s: recorded %q", what, active)
				}
			}
		}
	}
}

// TestVerifiedErrors: an agent that refuses has activated nothing, and says so itself.
func TestVerifiedErrors(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), tied, func(s *setup) { s.agent.Extensions.Verify = true })
	for _, agent := range sides {
		w.becomes(declares(speaks(agent), `{"uri":"`+focus+`","required":true}`))
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			c := r.call() // JSON-RPC has the errors of streams in them
			failure.Write(rw, c, wire.Errorf(wire.InvalidParams, "no such thing"))
		})
		for _, caller := range sides {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				a := ask{method: method, header: []string{"A2A-Extensions: " + focus}}
				if caller == rpc01 {
					a.task = fmt.Sprint(agent, method)
				}
				what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
				if got := w.speak("tied", w.base, caller, a); got.err == nil || got.err.Message != "no such thing" {
					t.Errorf("%s: %d %v %s", what, got.status, got.err, got.body)
				}
			}
		}
	}
}
