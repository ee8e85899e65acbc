package forward_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// others are pairs of a caller and an agent that speak differently.
func others(t *testing.T, check func(w *proxytest.Gateway, caller, agent wire.Side)) {
	t.Helper()
	for _, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		for _, caller := range proxytest.Sides {
			if caller != agent {
				check(w, caller, agent)
			}
		}
	}
}

// sends are the two sends of a caller, unary and streaming.
func sends(w *proxytest.Gateway, caller wire.Side, check func(what string, got proxytest.Reply)) {
	w.Helper()
	for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
		check(fmt.Sprintf("%s %s", caller, name), w.Speak("tied", w.Base, caller, proxytest.Ask{Method: name, Task: proxytest.IDForV01(caller, "broken")}))
	}
}

// malformed makes answers that no side has, by what is wrong with them.
var malformed = map[string]func(wire.Side) string{
	"number as id": func(s wire.Side) string {
		return strings.Replace(proxytest.TaskIn(s, "x", "c", "completed", ""), `"id":"x"`, `"id":7`, 1)
	},
	"list as parts": func(s wire.Side) string { return proxytest.TaskIn(s, "x", "c", "completed", `,"artifacts":[[1]]`) },
	"number as message": func(s wire.Side) string {
		return strings.Replace(proxytest.TaskIn(s, "x", "c", "completed", ""), `"status":{`, `"status":{"message":7,`, 1)
	},
	"a list": func(wire.Side) string { return `[]` },
}

// TestMalformedAnswers: what cannot be retold is the agent's fault, said in the
// caller's words, and nothing of it gets through.
func TestMalformedAnswers(t *testing.T) {
	t.Parallel()
	others(t, func(w *proxytest.Gateway, caller, agent wire.Side) {
		if agent.Binding == wire.GRPC {
			return // has no such messages; see TestGRPCAgentFails
		}
		for name, bad := range malformed {
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				task := bad(agent)
				if agent == proxytest.RPC10 || agent.Binding == wire.HTTPJSON {
					task = `{"task":` + task + `}`
				}
				r.Say(rw, task)
			})
			sends(w, caller, func(what string, got proxytest.Reply) {
				if got.Err == nil || got.Err.Reason != "INVALID_AGENT_RESPONSE" && got.Err.Code != -32603 && got.Err.Code != -32006 {
					t.Errorf("%s from %s, %s: %d %v %s %s", what, agent, name, got.Status, got.Err, got.Body, got.Docs)
				}
				if strings.Contains(fmt.Sprint(got.Docs), "rtifact") {
					t.Errorf("%s from %s, %s: %s", what, agent, name, got.Docs)
				}
			})
		}
	})
}

// TestAgentsErrors: an agent's own error keeps its meaning and its words on every
// side, a stream's first event among them, and is recorded as the agent's.
func TestAgentsErrors(t *testing.T) {
	t.Parallel()
	others(t, func(w *proxytest.Gateway, caller, agent wire.Side) {
		for _, k := range []*wire.Kind{wire.TaskNotFound, wire.Unsupported, wire.InvalidParams, wire.Unauthenticated, wire.Denied, wire.RateLimited, wire.Unavailable} {
			if agent.Version == wire.V03 && agent.Binding == wire.GRPC && k == wire.Unsupported {
				k = wire.TaskNotFound // whose codes 0.3 has not settled
			}
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, k, "as the agent says") })
			sends(w, caller, func(what string, got proxytest.Reply) {
				if got.Err == nil || !strings.Contains(got.Err.Text(), "as the agent says") {
					t.Errorf("%s from %s, %s: %d %v %s", what, agent, k.Reason, got.Status, got.Err, got.Body)
					return
				}
				if got.Err.Reason != k.Reason && !proxytest.SameMeaning(caller, got.Err.Kind, k) {
					t.Errorf("%s from %s, %s: became %s", what, agent, k.Reason, got.Err.Reason)
				}
			})
		}
		for _, r := range w.Audited("call") {
			if r["decision"] != "error" {
				t.Fatalf("%s from %s: recorded as %v", caller, agent, r)
			}
		}
	})
}

// TestUnknownCodes: an agent's own code is kept, as far as the caller's side has
// codes.
func TestUnknownCodes(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.RPC03} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32051,"message":"out of tea","data":{"cups":2}}}`, r.RPC().ID)
		})
		for _, caller := range proxytest.Sides {
			got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.IDForV01(caller, "t")})
			if got.Err == nil || !strings.Contains(got.Err.Text(), "out of tea") {
				t.Errorf("%s from %s: %d %v %s", caller, agent, got.Status, got.Err, got.Body)
			}
			if caller.Binding == wire.JSONRPC && !strings.Contains(got.Body, "-32051") {
				t.Errorf("%s from %s: %s", caller, agent, got.Body)
			}
			if caller == proxytest.REST10 && (got.Status != 500 || !strings.Contains(got.Body, `"cups":2`)) {
				t.Errorf("%s from %s: %d %s", caller, agent, got.Status, got.Body)
			}
			if caller == proxytest.GRPC10 && got.Code != 2 {
				t.Errorf("%s from %s: grpc-status %d", caller, agent, got.Code)
			}
		}
	}
}

// TestStatusesOfOthers: what only an HTTP status says, with nothing or with a page.
func TestStatusesOfOthers(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", "<html>busy</html>"} {
		others(t, func(w *proxytest.Gateway, caller, agent wire.Side) {
			for status, want := range map[int]*wire.Kind{
				429: wire.RateLimited, 503: wire.Unavailable, 504: wire.AgentTimeout, 502: wire.BadAgentResponse, 500: wire.BadAgentResponse,
			} {
				w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
					rw.Header().Set("Content-Type", "text/html")
					rw.Header().Set("Retry-After", "7")
					rw.WriteHeader(status)
					_, _ = io.WriteString(rw, page)
				})
				sends(w, caller, func(what string, got proxytest.Reply) {
					if got.Err == nil || got.Err.Kind != want && !proxytest.SameMeaning(caller, got.Err.Kind, want) || strings.Contains(got.Body, "busy") {
						t.Errorf("%s from %s, %d: %d %v %s", what, agent, status, got.Status, got.Err, got.Body)
					}
					if status == 429 && got.Header.Get("Retry-After") != "7" {
						t.Errorf("%s from %s: %v", what, agent, got.Header)
					}
				})
			}
			for _, r := range w.Audited("call") {
				if r["decision"] != "error" {
					t.Fatalf("%s from %s: recorded as %v", caller, agent, r)
				}
			}
		})
	}
}

// TestStreamBeginsWithError: an agent may stream nothing but an error. Its caller
// gets what an error looks like there: a response of its own on HTTP+JSON and
// gRPC, an event on JSON-RPC.
func TestStreamBeginsWithError(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.REST03} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
		for _, caller := range proxytest.Sides {
			if caller == agent {
				continue
			}
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				_, _ = rw.Write(failure.Event(&wire.Call{
					Version: agent.Version, Binding: agent.Binding, ID: r.RPC().ID,
				}, wire.Errorf(wire.TaskNotFound, "not here")))
			})
			got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage, Task: proxytest.IDForV01(caller, "t")})
			got.Refused(t, fmt.Sprintf("%s from %s", caller, agent), wire.TaskNotFound)
			media, status := got.Header.Get("Content-Type"), got.Status
			var want string
			switch caller.Binding {
			case wire.JSONRPC:
				want = "text/event-stream 200"
			case wire.HTTPJSON:
				want = "application/json 404"
			default:
				want = "application/grpc 200"
			}
			if fmt.Sprintf("%s %d", media, status) != want {
				t.Errorf("%s from %s: %s %d %s", caller, agent, media, status, got.Body)
			}
		}
	}
}

// TestStreamBreaks after it has begun: the caller hears of it at the end.
func TestStreamBreaks(t *testing.T) {
	t.Parallel()
	others(t, func(w *proxytest.Gateway, caller, agent wire.Side) {
		for name, end := range map[string]func(http.ResponseWriter, *proxytest.Request){
			"dies": func(http.ResponseWriter, *proxytest.Request) { panic(http.ErrAbortHandler) },
			"malformed": func(rw http.ResponseWriter, r *proxytest.Request) {
				if agent.Binding == wire.GRPC {
					_, _ = io.WriteString(rw, proxytest.GRPCFrame(0, "\xff\xff"))
					return
				}
				_, _ = io.WriteString(rw, "data: {\"jsonrpc\":\n\n")
			},
		} {
			id := strings.NewReplacer(" ", "-", "+", "-").Replace(fmt.Sprint(caller, agent, name))
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				rw.Header().Set("Content-Type", "text/event-stream")
				if agent.Binding == wire.GRPC {
					rw.Header().Set("Content-Type", "application/grpc")
				}
				task := id
				if agent == proxytest.RPC01 {
					task = r.Call().TaskID
				}
				r.Event(rw, proxytest.StatusIn(agent, task, "c-"+id, "working", ""))
				end(rw, r)
			})
			got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage, Task: proxytest.IDForV01(caller, id)})
			if got.Err == nil || len(got.Docs) == 0 || got.Err.Reason != "INVALID_AGENT_RESPONSE" && got.Err.GRPC != "INTERNAL" {
				t.Errorf("%s from %s, %s: %v %s %s", caller, agent, name, got.Err, got.Docs, got.Body)
			}
		}
	})
}

// TestAnswerInsteadOfStream: an agent that answers a streaming call with one
// document; the caller gets a stream of it.
func TestAnswerInsteadOfStream(t *testing.T) {
	t.Parallel()
	others(t, func(w *proxytest.Gateway, caller, agent wire.Side) {
		if agent.Binding == wire.GRPC || agent == proxytest.RPC01 {
			return // has no such thing: an event of 0.1 is no task
		}
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/json")
			task := proxytest.TaskIn(agent, "t-"+r.Header.Get("X-Request-Id"), "", "completed", "")
			if agent != proxytest.RPC03 {
				task = `{"task":` + task + `}`
			}
			if agent.Binding == wire.JSONRPC {
				task = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, task)
			}
			_, _ = io.WriteString(rw, task)
		})
		got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage, Task: proxytest.IDForV01(caller, "t"+agent.String())})
		got.OK(t, fmt.Sprintf("%s from %s", caller, agent))
		if caller.Binding != wire.GRPC && got.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s from %s: %v %s", caller, agent, got.Header, got.Body)
		}
	})
}
