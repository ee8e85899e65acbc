package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// TestEndsBeforeTask: a stream that the agent ends while the task works, and of which it has no
// other, ends with one error toward the client. One that ends where it may ends without.
func TestEndsBeforeTask(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sides  []wire.Side
		state  string // that the agent's last event shows; "" for a message as the only event
		unable *wire.Kind
		early  bool
	}{
		"working, and unknown then":     {[]wire.Side{rpc10, rest10, grpc10, rpc03, rest03}, "working", wire.TaskNotFound, true},
		"working, and cannot be asked":  {[]wire.Side{rpc10, rest10, grpc10, rpc03, rest03}, "working", wire.MethodNotFound, true},
		"waiting for its user":          {[]wire.Side{rpc10, rest10, grpc10, rpc03, rest03}, "input-required", wire.TaskNotFound, false},
		"a message":                     {[]wire.Side{rpc10, rest10, grpc10, rpc03, rest03}, "", wire.TaskNotFound, false},
		"a terminal state of an update": {[]wire.Side{rpc03, rest03}, "completed", wire.TaskNotFound, false},
	} {
		for _, s := range tt.sides {
			t.Run(name+"/"+s.String(), func(t *testing.T) {
				t.Parallel()
				window := secret.Duration(time.Second)
				w := in(t, speaks(s), tied, streaming(func(c *stream.Config) { c.Resubscribe = &window }))
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					if r.method().Name != wire.SendStreamingMessage {
						r.fail(rw, tt.unable, "no")
						return
					}
					if tt.state == "" {
						r.say(rw, onlyMessage(s))
						return
					}
					task := taskIn(s, "t", "c", "working", "")
					if s != rpc03 {
						task = `{"task":` + task + `}`
					}
					r.say(rw, task, strings.Replace(statusIn(s, "t", "c", tt.state, ""), `"final":true`, `"final":false`, 1))
				})
				got := w.speak("tied", w.base, s, ask{method: wire.SendStreamingMessage})
				if (got.err != nil) != tt.early {
					t.Errorf("got %d documents and %v: %s", len(got.docs), got.err, got.body)
				}
				end, reason := "agent finished", ""
				if tt.early {
					end, reason = "agent stream ended before the task", wire.BadAgentResponse.Reason
				}
				record := w.ended(1)
				if found, _ := record["reason"].(string); record["end"] != end || found != reason {
					t.Errorf("recorded %v", record)
				}
			})
		}
	}
}

// onlyMessage is a message as the only event of a stream.
func onlyMessage(s wire.Side) string {
	switch {
	case s == rpc03:
		return `{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"text","text":"hi"}]}`
	case s.Version == wire.V10:
		return `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`
	}
	return `{"msg":{"messageId":"m","role":"ROLE_AGENT","content":[{"text":"hi"}]}}`
}

// TestNoEvent: a message that is answered with a stream of no event has not been answered, and
// its client hears so, whatever the stream has instead.
func TestNoEvent(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"nothing": "", "comments": ": hi\n\n: there\n\n", "empty data": "data:\n\ndata: \n\n", "a retry": "retry: 1000\n\n",
		"what ends other streams": "data: [DONE]",
		"a document":              `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n",
	} {
		for _, agent := range []wire.Side{rpc10, rest10, rpc03, rest03} {
			for _, caller := range []wire.Side{rpc10, rest10, grpc10, rpc03} {
				t.Run(fmt.Sprintf("%s from %s for %s", name, agent, caller), func(t *testing.T) {
					t.Parallel()
					w := in(t, speaks(agent), tied)
					w.agent.answers(func(rw http.ResponseWriter, _ *record) {
						rw.Header().Set("Content-Type", "text/event-stream")
						_, _ = io.WriteString(rw, body)
					})
					got := w.speak("tied", w.base, caller, ask{method: wire.SendStreamingMessage})
					if len(got.docs) != 0 || got.err == nil || got.err.Kind.Reason != wire.BadAgentResponse.Reason {
						t.Errorf("got %d documents and %v: %s", len(got.docs), got.err, got.body)
					}
					if r := w.ended(1); r["end"] != "agent stream ended before the task" || r["reason"] != wire.BadAgentResponse.Reason {
						t.Errorf("recorded %v", r)
					}
				})
			}
		}
	}
}

// TestResumeInventsNothing: a client of 1.0 that comes back to the stream of an older agent is
// given what came behind the event that it had, and not the task that such a stream begins with.
func TestResumeInventsNothing(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc03))
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		r.event(rw, taskIn(rpc03, "t", "c", "working", ""))
		r.event(rw, statusIn(rpc03, "t", "c", "input-required", ""))
		r.event(rw, statusIn(rpc03, "t", "c", "working", ""))
		<-r.Context().Done()
	})
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task working ", "input_required")
	had := l.last
	l.hears("working")
	for method, params := range map[string]string{"SendStreamingMessage": message(""), "SubscribeToTask": `{"id":"t"}`} {
		again := w.listen("alice", method, params, "Last-Event-ID: "+had)
		if got := again.data(); !strings.Contains(got, `"statusUpdate"`) || !strings.HasSuffix(again.last, ".3") {
			t.Errorf("%s: %s", method, got)
		}
		again.leave()
	}
	l.leave()
}
