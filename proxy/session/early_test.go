package session_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
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
		"working, and unknown then":     {[]wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03}, "working", wire.TaskNotFound, true},
		"working, and cannot be asked":  {[]wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03}, "working", wire.MethodNotFound, true},
		"waiting for its user":          {[]wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03}, "input-required", wire.TaskNotFound, false},
		"a message":                     {[]wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03, proxytest.REST03}, "", wire.TaskNotFound, false},
		"a terminal state of an update": {[]wire.Side{proxytest.RPC03, proxytest.REST03}, "completed", wire.TaskNotFound, false},
	} {
		for _, s := range tt.sides {
			t.Run(name+"/"+s.String(), func(t *testing.T) {
				t.Parallel()
				window := quantity.Duration(time.Second)
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(s), proxytest.WithTied, proxytest.WithStreams(func(c *stream.Config) { c.Resubscribe = &window }))
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					if r.Called().Name != wire.SendStreamingMessage {
						r.Fail(rw, tt.unable, "no")
						return
					}
					if tt.state == "" {
						r.Say(rw, onlyMessage(s))
						return
					}
					task := proxytest.TaskIn(s, "t", "c", "working", "")
					if s != proxytest.RPC03 {
						task = `{"task":` + task + `}`
					}
					r.Say(rw, task, strings.Replace(proxytest.StatusIn(s, "t", "c", tt.state, ""), `"final":true`, `"final":false`, 1))
				})
				got := w.Speak("tied", w.Base, s, proxytest.Ask{Method: wire.SendStreamingMessage})
				if (got.Err != nil) != tt.early {
					t.Errorf("got %d documents and %v: %s", len(got.Docs), got.Err, got.Body)
				}
				end, reason := "agent finished", ""
				if tt.early {
					end, reason = "agent stream ended before the task", wire.BadAgentResponse.Reason
				}
				record := w.RecordOf(1)
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
	case s == proxytest.RPC03:
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
		for _, agent := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.REST03} {
			for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10, proxytest.RPC03} {
				t.Run(fmt.Sprintf("%s from %s for %s", name, agent, caller), func(t *testing.T) {
					t.Parallel()
					w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
					w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
						rw.Header().Set("Content-Type", "text/event-stream")
						_, _ = io.WriteString(rw, body)
					})
					got := w.Speak("tied", w.Base, caller, proxytest.Ask{Method: wire.SendStreamingMessage})
					if len(got.Docs) != 0 || got.Err == nil || got.Err.Kind.Reason != wire.BadAgentResponse.Reason {
						t.Errorf("got %d documents and %v: %s", len(got.Docs), got.Err, got.Body)
					}
					if r := w.RecordOf(1); r["end"] != "agent stream ended before the task" || r["reason"] != wire.BadAgentResponse.Reason {
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
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03))
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		r.Event(rw, proxytest.TaskIn(proxytest.RPC03, "t", "c", "working", ""))
		r.Event(rw, proxytest.StatusIn(proxytest.RPC03, "t", "c", "input-required", ""))
		r.Event(rw, proxytest.StatusIn(proxytest.RPC03, "t", "c", "working", ""))
		<-r.Context().Done()
	})
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task working ", "input_required")
	had := l.Last
	l.Hears("working")
	for method, params := range map[string]string{"SendStreamingMessage": proxytest.Message(""), "SubscribeToTask": `{"id":"t"}`} {
		again := w.Listen("alice", method, params, "Last-Event-ID: "+had)
		if got := again.Data(); !strings.Contains(got, `"statusUpdate"`) || !strings.HasSuffix(again.Last, ".3") {
			t.Errorf("%s: %s", method, got)
		}
		again.Leave()
	}
	l.Leave()
}
