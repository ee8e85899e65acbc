package session_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// listenIn opens a stream of the agent's under a path and gives its events as they come.
func listenIn(w *proxytest.Gateway, who, path, body string, header ...string) *proxytest.Listener {
	w.Helper()
	resp, err := w.Client.Do(w.Request(who, "POST", path, body, header...))
	proxytest.Must(w, err)
	l := &proxytest.Listener{Gateway: w, Resp: resp, In: bufio.NewReader(resp.Body)}
	w.Cleanup(l.Leave)
	return l
}

// TestA05_ResumedByAnotherCall: an event id gives nobody what a subscription to its task
// would not: neither to those who may not subscribe at all, nor by a call for another
// skill than the task's.
func TestA05_ResumedByAnotherCall(t *testing.T) {
	t.Parallel()
	t.Run("may not subscribe", func(t *testing.T) {
		t.Parallel()
		w := proxytest.NewGateway(t, proxytest.WithStreams(), func(s *proxytest.Setup) {
			s.Policy.Rules = append(s.Policy.Rules, policy.Rule{
				Name: "sends only", Effect: "deny", Subjects: []string{"alice"}, Methods: []string{"SubscribeToTask"},
			})
		})
		k := w.StartWorker()
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		l.Hears("task submitted ")
		k.Say("a")
		l.Hears("+a")
		l.Leave()
		k.Say("b")
		got := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""), "Last-Event-ID: "+l.Last)
		if got.Resp.StatusCode != http.StatusForbidden {
			t.Errorf("status %d, %q", got.Resp.StatusCode, got.Next())
		}
	})
	t.Run("another skill", func(t *testing.T) {
		t.Parallel()
		w := proxytest.NewGateway(t, proxytest.WithStreams())
		k := w.StartWorker()
		const one, other = "/skills/read", "/skills/write%20it"
		send := proxytest.RPCBody("SendStreamingMessage", proxytest.Message(""))
		l := listenIn(w, "alice", one, send, "A2A-Version: 1.0")
		l.Hears("task submitted ")
		l.Leave()
		k.Say("b")
		got := listenIn(w, "alice", other, send, "A2A-Version: 1.0", "Last-Event-ID: "+l.Last)
		if got.Resp.StatusCode != http.StatusForbidden {
			t.Errorf("status %d, %q", got.Resp.StatusCode, got.Next())
		}
		again := listenIn(w, "alice", "", send, "A2A-Version: 1.0", "Last-Event-ID: "+l.Last)
		again.Hears("+b")
		again.Leave()
		if r := w.RecordWith("resumed"); r["skill"] != "read" {
			t.Errorf("recorded %v", r)
		}
	})
}

// TestResumeGapAnswers: also what is shown in the place of missed events answers the call
// of whoever has missed them.
func TestResumeGapAnswers(t *testing.T) {
	t.Parallel()
	for _, end := range []bool{true, false} {
		w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) { c.Buffer.Events = 1 }))
		k := w.StartWorker()
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		l.Hears("task submitted ")
		first := l.Last
		k.Say("a")
		k.Say("b")
		l.Hears("+a", "+b")
		if end {
			k.Become("COMPLETED")
			l.Hears("completed", "")
		}
		again := w.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first)
		if got := again.Data(); !strings.Contains(got, `"id":7`) || !strings.Contains(got, `"task"`) {
			t.Errorf("end %v: %s", end, got)
		}
		if !end {
			k.Say("c")
			if got := again.Data(); !strings.Contains(got, `"id":7`) || again.Last == "" {
				t.Errorf("end %v: %s, id %q", end, got, again.Last)
			}
			again.Leave()
		}
	}
}

// TestOldCallersResume: the ids that a client of 0.1 chose are its own in the events of a
// stream that it joins or comes back to.
func TestOldCallersResume(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithStreams(func(c *stream.Config) { c.Buffer.Events = 3 }))
	k := w.StartWorker()
	l := listenIn(w, "alice", "", proxytest.RPCBody("tasks/sendSubscribe", proxytest.OldSend("mine", "s")))
	l.Data()
	k.Say("a")
	if got := l.Data(); !strings.Contains(got, `"id":"mine"`) || l.Last == "" {
		t.Fatalf("%s, id %q", got, l.Last)
	}
	first := l.Last
	k.Become("WORKING")
	mine := func(what string, header ...string) {
		t.Helper()
		again := listenIn(w, "alice", "", proxytest.RPCBody("tasks/resubscribe", `{"id":"mine"}`), header...)
		for range 1 {
			if got := again.Data(); !strings.Contains(got, `"id":"mine"`) {
				t.Errorf("%s: %s", what, got)
			}
		}
		again.Leave()
	}
	mine("joined")
	mine("resumed", "Last-Event-ID: "+first)
	for _, c := range []string{"b", "c", "d", "e"} {
		k.Say(c)
		l.Data()
	}
	mine("started over", "Last-Event-ID: "+first)
}

// TestEndsEarly: of an agent that ends its stream in good order before its task is done,
// and has nothing further to say of it, clients hear at once that there is no more.
func TestEndsEarly(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithStreams(func(c *stream.Config) {
		window := quantity.Duration(10 * time.Second)
		c.Resubscribe = &window
	}))
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		if r.RPC().Method != "SendStreamingMessage" {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"no such task"}}`, r.RPC().ID)
			return
		}
		proxytest.Respond(rw, r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`)
	})
	l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	l.Hears("task working ", "error -32006", "")
	if got := methods(w); !slices.Equal(got, []string{"SendStreamingMessage", "SubscribeToTask", "GetTask"}) {
		t.Errorf("the agent got %q", got)
	}
}
