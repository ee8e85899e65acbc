package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// others are pairs of a caller and an agent that speak differently.
func others(t *testing.T, check func(w *world, caller, agent wire.Side)) {
	t.Helper()
	for _, agent := range sides {
		w := in(t, speaks(agent), tied)
		for _, caller := range sides {
			if caller != agent {
				check(w, caller, agent)
			}
		}
	}
}

// sends are the two sends of a caller, unary and streaming.
func (w *world) sends(caller wire.Side, check func(what string, got said)) {
	w.Helper()
	for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
		check(fmt.Sprintf("%s %s", caller, name), w.speak("tied", w.base, caller, ask{method: name, task: ifOld(caller, "broken")}))
	}
}

// malformed makes answers that no side has, by what is wrong with them.
var malformed = map[string]func(wire.Side) string{
	"number as id": func(s wire.Side) string {
		return strings.Replace(taskIn(s, "x", "c", "completed", ""), `"id":"x"`, `"id":7`, 1)
	},
	"list as parts": func(s wire.Side) string { return taskIn(s, "x", "c", "completed", `,"artifacts":[[1]]`) },
	"number as message": func(s wire.Side) string {
		return strings.Replace(taskIn(s, "x", "c", "completed", ""), `"status":{`, `"status":{"message":7,`, 1)
	},
	"a list": func(wire.Side) string { return `[]` },
}

// TestMalformedAnswers: what cannot be retold is the agent's fault, said in the
// caller's words, and nothing of it gets through.
func TestMalformedAnswers(t *testing.T) {
	t.Parallel()
	others(t, func(w *world, caller, agent wire.Side) {
		if agent.Binding == wire.GRPC {
			return // has no such messages; see TestGRPCAgentFails
		}
		for name, bad := range malformed {
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				task := bad(agent)
				if agent == rpc10 || agent.Binding == wire.HTTPJSON {
					task = `{"task":` + task + `}`
				}
				r.say(rw, task)
			})
			w.sends(caller, func(what string, got said) {
				if got.err == nil || got.err.Reason != "INVALID_AGENT_RESPONSE" && got.err.Code != -32603 && got.err.Code != -32006 {
					t.Errorf("%s from %s, %s: %d %v %s %s", what, agent, name, got.status, got.err, got.body, got.docs)
				}
				if strings.Contains(fmt.Sprint(got.docs), "rtifact") {
					t.Errorf("%s from %s, %s: %s", what, agent, name, got.docs)
				}
			})
		}
	})
}

// TestAgentsErrors: an agent's own error keeps its meaning and its words on every
// side, a stream's first event among them, and is recorded as the agent's.
func TestAgentsErrors(t *testing.T) {
	t.Parallel()
	others(t, func(w *world, caller, agent wire.Side) {
		for _, k := range []*wire.Kind{wire.TaskNotFound, wire.Unsupported, wire.InvalidParams, wire.Unauthenticated, wire.Denied, wire.RateLimited, wire.Unavailable} {
			if agent.Version == wire.V03 && agent.Binding == wire.GRPC && k == wire.Unsupported {
				k = wire.TaskNotFound // whose codes 0.3 has not settled
			}
			w.agent.answers(func(rw http.ResponseWriter, r *record) { r.fail(rw, k, "as the agent says") })
			w.sends(caller, func(what string, got said) {
				if got.err == nil || !strings.Contains(got.err.Text(), "as the agent says") {
					t.Errorf("%s from %s, %s: %d %v %s", what, agent, k.Reason, got.status, got.err, got.body)
					return
				}
				if got.err.Reason != k.Reason && !sameMeaning(caller, got.err.Kind, k) {
					t.Errorf("%s from %s, %s: became %s", what, agent, k.Reason, got.err.Reason)
				}
			})
		}
		for _, r := range w.audited("call") {
			if r["decision"] != "error" {
				t.Fatalf("%s from %s: recorded as %v", caller, agent, r)
			}
		}
	})
}

// sameMeaning knows the kinds that versions cannot tell apart.
func sameMeaning(caller wire.Side, got, want *wire.Kind) bool {
	return caller.Version != wire.V10 && (got.Code == want.Code || got.GRPC == want.GRPC)
}

// TestUnknownCodes: an agent's own code is kept, as far as the caller's side has
// codes.
func TestUnknownCodes(t *testing.T) {
	t.Parallel()
	for _, agent := range []wire.Side{rpc10, rpc03} {
		w := in(t, speaks(agent), tied)
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32051,"message":"out of tea","data":{"cups":2}}}`, r.rpc().ID)
		})
		for _, caller := range sides {
			got := w.speak("tied", w.base, caller, ask{method: wire.SendMessage, task: ifOld(caller, "t")})
			if got.err == nil || !strings.Contains(got.err.Text(), "out of tea") {
				t.Errorf("%s from %s: %d %v %s", caller, agent, got.status, got.err, got.body)
			}
			if caller.Binding == wire.JSONRPC && !strings.Contains(got.body, "-32051") {
				t.Errorf("%s from %s: %s", caller, agent, got.body)
			}
			if caller == rest10 && (got.status != 500 || !strings.Contains(got.body, `"cups":2`)) {
				t.Errorf("%s from %s: %d %s", caller, agent, got.status, got.body)
			}
			if caller == grpc10 && got.code != 2 {
				t.Errorf("%s from %s: grpc-status %d", caller, agent, got.code)
			}
		}
	}
}

// TestStatusesOfOthers: what only an HTTP status says, with nothing or with a page.
func TestStatusesOfOthers(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", "<html>busy</html>"} {
		others(t, func(w *world, caller, agent wire.Side) {
			for status, want := range map[int]*wire.Kind{
				429: wire.RateLimited, 503: wire.Unavailable, 504: wire.AgentTimeout, 502: wire.BadAgentResponse, 500: wire.BadAgentResponse,
			} {
				w.agent.answers(func(rw http.ResponseWriter, _ *record) {
					rw.Header().Set("Content-Type", "text/html")
					rw.Header().Set("Retry-After", "7")
					rw.WriteHeader(status)
					_, _ = io.WriteString(rw, page)
				})
				w.sends(caller, func(what string, got said) {
					if got.err == nil || got.err.Kind != want && !sameMeaning(caller, got.err.Kind, want) || strings.Contains(got.body, "busy") {
						t.Errorf("%s from %s, %d: %d %v %s", what, agent, status, got.status, got.err, got.body)
					}
					if status == 429 && got.header.Get("Retry-After") != "7" {
						t.Errorf("%s from %s: %v", what, agent, got.header)
					}
				})
			}
			for _, r := range w.audited("call") {
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
	for _, agent := range []wire.Side{rpc10, rest10, rpc03, rest03} {
		w := in(t, speaks(agent), tied)
		for _, caller := range sides {
			if caller == agent {
				continue
			}
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				rw.Header().Set("Content-Type", "text/event-stream")
				_, _ = rw.Write(failure.Event(&wire.Call{
					Version: agent.Version, Binding: agent.Binding, ID: r.rpc().ID,
				}, wire.Errorf(wire.TaskNotFound, "not here")))
			})
			got := w.speak("tied", w.base, caller, ask{method: wire.SendStreamingMessage, task: ifOld(caller, "t")})
			got.refused(t, fmt.Sprintf("%s from %s", caller, agent), wire.TaskNotFound)
			media, status := got.header.Get("Content-Type"), got.status
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
				t.Errorf("%s from %s: %s %d %s", caller, agent, media, status, got.body)
			}
		}
	}
}

// TestStreamBreaks after it has begun: the caller hears of it at the end.
func TestStreamBreaks(t *testing.T) {
	t.Parallel()
	others(t, func(w *world, caller, agent wire.Side) {
		for name, end := range map[string]func(http.ResponseWriter, *record){
			"dies": func(http.ResponseWriter, *record) { panic(http.ErrAbortHandler) },
			"malformed": func(rw http.ResponseWriter, r *record) {
				if agent.Binding == wire.GRPC {
					_, _ = io.WriteString(rw, frame(0, "\xff\xff"))
					return
				}
				_, _ = io.WriteString(rw, "data: {\"jsonrpc\":\n\n")
			},
		} {
			id := strings.NewReplacer(" ", "-", "+", "-").Replace(fmt.Sprint(caller, agent, name))
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				rw.Header().Set("Content-Type", "text/event-stream")
				if agent.Binding == wire.GRPC {
					rw.Header().Set("Content-Type", "application/grpc")
				}
				task := id
				if agent == rpc01 {
					task = r.call().TaskID
				}
				r.event(rw, statusIn(agent, task, "c-"+id, "working", ""))
				end(rw, r)
			})
			got := w.speak("tied", w.base, caller, ask{method: wire.SendStreamingMessage, task: ifOld(caller, id)})
			if got.err == nil || len(got.docs) == 0 || got.err.Reason != "INVALID_AGENT_RESPONSE" && got.err.GRPC != "INTERNAL" {
				t.Errorf("%s from %s, %s: %v %s %s", caller, agent, name, got.err, got.docs, got.body)
			}
		}
	})
}

// TestAnswerInsteadOfStream: an agent that answers a streaming call with one
// document; the caller gets a stream of it.
func TestAnswerInsteadOfStream(t *testing.T) {
	t.Parallel()
	others(t, func(w *world, caller, agent wire.Side) {
		if agent.Binding == wire.GRPC || agent == rpc01 {
			return // has no such thing: an event of 0.1 is no task
		}
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "application/json")
			task := taskIn(agent, "t-"+r.Header.Get("X-Request-Id"), "", "completed", "")
			if agent != rpc03 {
				task = `{"task":` + task + `}`
			}
			if agent.Binding == wire.JSONRPC {
				task = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.rpc().ID, task)
			}
			_, _ = io.WriteString(rw, task)
		})
		got := w.speak("tied", w.base, caller, ask{method: wire.SendStreamingMessage, task: ifOld(caller, "t"+agent.String())})
		got.ok(t, fmt.Sprintf("%s from %s", caller, agent))
		if caller.Binding != wire.GRPC && got.header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s from %s: %v %s", caller, agent, got.header, got.body)
		}
	})
}
