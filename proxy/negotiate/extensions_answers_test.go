package negotiate_test

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
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA07_NoDowngrade: another version is another extension, and an agent that speaks
// of it is not believed.
func TestA07_NoDowngrade(t *testing.T) {
	t.Parallel()
	const v1, v2 = "https://example.com/ext/pay/v1", "https://example.com/ext/pay/v2"
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied)
	for _, agent := range proxytest.Sides {
		for _, required := range []bool{false, true} {
			w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(agent), fmt.Sprintf(`{"uri":%q,"required":%t}`, v1, required)))
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				rw.Header().Set(nameFor(agent.Version), v1+","+v2)
				proxytest.Fluent(rw, r)
			})
			for _, caller := range proxytest.Sides {
				for _, asked := range []string{v2, v1 + "/", strings.ToUpper(v1), strings.Replace(v1, "https", "http", 1), v1 + "?", v1 + "#1"} {
					a := proxytest.Ask{Method: wire.SendMessage, Header: []string{"A2A-Extensions: " + asked}}
					if caller == proxytest.RPC01 {
						a.Task = fmt.Sprint("mine-", agent, required, asked)
					}
					what := fmt.Sprintf("%q from %s to %s, required %t", asked, caller, agent, required)
					got := w.Speak("tied", w.Base, caller, a)
					if required {
						form := refusals[caller]
						if got.Err == nil || got.Err.Code != form.code || !strings.Contains(got.Err.Message, v1) {
							t.Errorf("%s: %d %v %s", what, got.Status, got.Err, got.Body)
						}
						w.Agent.Silent(t, what)
						continue
					}
					got.OK(t, what)
					if seen := w.Agent.Take(); len(seen) == 0 || seen[0].Header[nameFor(agent.Version)] != nil {
						t.Errorf("%s: the agent got %v", what, seen)
					}
					if got.Header["A2a-Extensions"] != nil || got.Header["X-A2a-Extensions"] != nil {
						t.Errorf("%s: told %v", what, got.Header)
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
	w := proxytest.NewGatewayFor(t, proxytest.CardDeclaring(proxytest.Card, `{"uri":"`+focus+`","required":true}`))
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	for _, lines := range [][]string{
		{"A2A-Extensions: " + focus, "Connection: A2A-Extensions"},
		{"X-A2A-Extensions: " + focus, "Connection: close, x-a2a-extensions"},
		{"A2A-Extensions: "}, {"A2A-Extension: " + focus}, {"A2A_Extensions: " + focus}, {},
	} {
		got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", append(slices.Clone(lines), "A2A-Version: 1.0",
			"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
		if got.Status == 200 && !strings.Contains(got.Body, "-32008") {
			t.Errorf("%q: %d %s", lines, got.Status, got.Body)
		}
		w.Agent.Silent(t, strings.Join(lines, "|"))
	}
	proxytest.WantStatus(t, "asked", w.Call("alice", "SendMessage", proxytest.Message(""), "A2A-Extensions: "+focus), 200)
	records := w.Audited("call")
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
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), evilWorld, func(s *proxytest.Setup) { s.Agent.Extensions.Unrequested = mode })
			for _, agent := range proxytest.Sides {
				w.BecomeCard(evilCard(agent))
				w.Given("tied", w.Base, w.Agent, "t", "c", "")
				words := &evil{where: map[string]string{"t": "c"}}
				for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03} {
					for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask, wire.SubscribeToTask, wire.ListTasks} {
						if caller == proxytest.RPC03 && method == wire.ListTasks {
							continue
						}
						a := proxytest.Ask{Method: method, Task: "t", Context: "c"}
						what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
						words.becomes("completed", "")
						if method == wire.SubscribeToTask {
							words.becomes("working", "")
						}
						w.Agent.Answers(words.answer)
						modes(w, t, what, mode, a, caller)
						w.Agent.Answers(old)
						if got := w.Speak("tied", w.Base, caller, a); mode == "refuse" && !strings.Contains(method, "tream") && method != wire.SubscribeToTask {
							got.OK(t, what+", history")
							if text := strings.Join(got.Docs, ""); strings.Contains(text, "secret") {
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
func modes(w *proxytest.Gateway, t *testing.T, what, mode string, a proxytest.Ask, caller wire.Side) {
	t.Helper()
	got := w.Speak("tied", w.Base, caller, a)
	text := strings.Join(got.Docs, "\n")
	switch {
	case mode == "report":
		if got.OK(t, what); !strings.Contains(text, "secret") {
			t.Errorf("%s: nothing was passed on: %s", what, text)
		}
	case strings.Contains(text, "secret"):
		t.Errorf("%s: %s", what, text)
	case got.Err == nil || got.Err.Reason != wire.BadAgentResponse.Reason && !proxytest.SameMeaning(caller, got.Err.Kind, wire.BadAgentResponse):
		t.Errorf("%s: %d %v %s", what, got.Status, got.Err, got.Body)
	}
}

// old answers with a working task whose history has what an earlier call left.
func old(w http.ResponseWriter, r *proxytest.Request) {
	e := evilWords{Side: r.Side(), id: cmp.Or(r.Call().TaskID, "t"), context: "c"}
	task := proxytest.TaskIn(e.Side, e.id, e.context, "completed", `,"history":[`+e.message()+`]`)
	switch c := r.Call(); {
	case c.Method.Name == wire.ListTasks:
		task = `{"tasks":[` + task + `],"nextPageToken":"","pageSize":50,"totalSize":1}`
	case c.Method.Subject == wire.OfMessage && e.Side != proxytest.RPC01 && e.Side != proxytest.RPC03:
		task = `{"task":` + task + `}`
	case c.Method.Streams && e.Side == proxytest.RPC01:
		task = proxytest.StatusIn(e.Side, e.id, e.context, "completed", "")
	}
	r.Say(w, task)
}

// TestActivatedLate: an agent of gRPC says at the end of a stream what it activated, and
// callers of gRPC are told there too.
func TestActivatedLate(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.GRPC10), proxytest.WithTied)
	for _, agent := range []wire.Side{proxytest.GRPC10, proxytest.GRPC03} {
		w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(agent), `{"uri":"`+focus+`"}`, `{"uri":"`+bystander+`"}`))
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set(nameFor(agent.Version), focus)
			rw.Header().Set(http.TrailerPrefix+nameFor(agent.Version), bystander+", urn:else")
			proxytest.Fluent(rw, r)
		})
		for _, caller := range []wire.Side{proxytest.GRPC10, proxytest.GRPC03} {
			for _, name := range []string{"A2a-Extensions", "X-A2a-Extensions"} {
				m := proxytest.MethodOf(wire.SendStreamingMessage)
				message, err := wire.RequestMessage(m, caller.Version, []byte(proxytest.Ask{Method: m.Name}.Params(caller)))
				proxytest.Must(t, err)
				got := w.Dial("tied", m.RPC(caller.Version), grpcframe.Append(nil, message), name+": "+bystander+","+focus)
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.HeardRPC(m, caller, got).OK(t, what)
				if header, trailer := got.Header.Get(name), got.Trailer.Get(name); header != focus || trailer != bystander+","+focus {
					t.Errorf("%s: told %q, then %q", what, header, trailer)
				}
				records := w.Audited("call")
				if active := proxytest.JoinedText(records[len(records)-1]["extensions_activated"]); active != bystander+","+focus {
					t.Errorf("%s: recorded %q", what, active)
				}
			}
		}
	}
}

// TestVerifiedErrors: an agent that refuses has activated nothing, and says so itself.
func TestVerifiedErrors(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithTied, func(s *proxytest.Setup) { s.Agent.Extensions.Verify = true })
	for _, agent := range proxytest.Sides {
		w.BecomeCard(proxytest.CardDeclaring(proxytest.CardFor(agent), `{"uri":"`+focus+`","required":true}`))
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			c := r.Call() // JSON-RPC has the errors of streams in them
			failure.Write(rw, c, wire.Errorf(wire.InvalidParams, "no such thing"))
		})
		for _, caller := range proxytest.Sides {
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				a := proxytest.Ask{Method: method, Header: []string{"A2A-Extensions: " + focus}}
				if caller == proxytest.RPC01 {
					a.Task = fmt.Sprint(agent, method)
				}
				what := fmt.Sprintf("%s from %s to %s", method, caller, agent)
				if got := w.Speak("tied", w.Base, caller, a); got.Err == nil || got.Err.Message != "no such thing" {
					t.Errorf("%s: %d %v %s", what, got.Status, got.Err, got.Body)
				}
			}
		}
	}
}
