package proxy_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// listenIn opens a stream of the agent's under a path and gives its events as they come.
func (w *world) listenIn(who, path, body string, header ...string) *listener {
	w.Helper()
	resp, err := w.http.Do(w.request(who, "POST", path, body, header...))
	must(w, err)
	l := &listener{world: w, resp: resp, in: bufio.NewReader(resp.Body)}
	w.Cleanup(l.leave)
	return l
}

// data is the next event as it came; "" at the end.
func (l *listener) data() string {
	l.Helper()
	for {
		line, err := l.in.ReadString('\n')
		if err != nil {
			return ""
		}
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			l.last = strings.TrimSpace(id)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			return strings.TrimSpace(data)
		}
	}
}

// TestA05_ResumedByAnotherCall: an event id gives nobody what a subscription to its task
// would not: neither to those who may not subscribe at all, nor by a call for another
// skill than the task's.
func TestA05_ResumedByAnotherCall(t *testing.T) {
	t.Parallel()
	t.Run("may not subscribe", func(t *testing.T) {
		t.Parallel()
		w := build(t, streaming(), func(s *setup) {
			s.policy.Rules = append(s.policy.Rules, policy.Rule{
				Name: "sends only", Effect: "deny", Subjects: []string{"alice"}, Methods: []string{"SubscribeToTask"},
			})
		})
		k := w.works()
		l := w.listen("alice", "SendStreamingMessage", message(""))
		l.hears("task submitted ")
		k.say("a")
		l.hears("+a")
		l.leave()
		k.say("b")
		got := w.listen("alice", "SendStreamingMessage", message(""), "Last-Event-ID: "+l.last)
		if got.resp.StatusCode != http.StatusForbidden {
			t.Errorf("status %d, %q", got.resp.StatusCode, got.next())
		}
	})
	t.Run("another skill", func(t *testing.T) {
		t.Parallel()
		w := build(t, streaming())
		k := w.works()
		const one, other = "/skills/read", "/skills/write%20it"
		send := rpcBody("SendStreamingMessage", message(""))
		l := w.listenIn("alice", one, send, "A2A-Version: 1.0")
		l.hears("task submitted ")
		l.leave()
		k.say("b")
		got := w.listenIn("alice", other, send, "A2A-Version: 1.0", "Last-Event-ID: "+l.last)
		if got.resp.StatusCode != http.StatusForbidden {
			t.Errorf("status %d, %q", got.resp.StatusCode, got.next())
		}
		again := w.listenIn("alice", "", send, "A2A-Version: 1.0", "Last-Event-ID: "+l.last)
		again.hears("+b")
		again.leave()
		if r := w.found("resumed"); r["skill"] != "read" {
			t.Errorf("recorded %v", r)
		}
	})
}

// TestResumeGapAnswers: also what is shown in the place of missed events answers the call
// of whoever has missed them.
func TestResumeGapAnswers(t *testing.T) {
	t.Parallel()
	for _, end := range []bool{true, false} {
		w := build(t, streaming(func(c *stream.Config) { c.Buffer.Events = 1 }))
		k := w.works()
		l := w.listen("alice", "SendStreamingMessage", message(""))
		l.hears("task submitted ")
		first := l.last
		k.say("a")
		k.say("b")
		l.hears("+a", "+b")
		if end {
			k.become("COMPLETED")
			l.hears("completed", "")
		}
		again := w.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+first)
		if got := again.data(); !strings.Contains(got, `"id":7`) || !strings.Contains(got, `"task"`) {
			t.Errorf("end %v: %s", end, got)
		}
		if !end {
			k.say("c")
			if got := again.data(); !strings.Contains(got, `"id":7`) || again.last == "" {
				t.Errorf("end %v: %s, id %q", end, got, again.last)
			}
			again.leave()
		}
	}
}

// TestOldCallersResume: the ids that a client of 0.1 chose are its own in the events of a
// stream that it joins or comes back to.
func TestOldCallersResume(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), streaming(func(c *stream.Config) { c.Buffer.Events = 3 }))
	k := w.works()
	l := w.listenIn("alice", "", rpcBody("tasks/sendSubscribe", oldSend("mine", "s")))
	l.data()
	k.say("a")
	if got := l.data(); !strings.Contains(got, `"id":"mine"`) || l.last == "" {
		t.Fatalf("%s, id %q", got, l.last)
	}
	first := l.last
	k.become("WORKING")
	mine := func(what string, header ...string) {
		t.Helper()
		again := w.listenIn("alice", "", rpcBody("tasks/resubscribe", `{"id":"mine"}`), header...)
		for range 1 {
			if got := again.data(); !strings.Contains(got, `"id":"mine"`) {
				t.Errorf("%s: %s", what, got)
			}
		}
		again.leave()
	}
	mine("joined")
	mine("resumed", "Last-Event-ID: "+first)
	for _, c := range []string{"b", "c", "d", "e"} {
		k.say(c)
		l.data()
	}
	mine("started over", "Last-Event-ID: "+first)
}

// TestEndsEarly: of an agent that ends its stream in good order before its task is done,
// and has nothing further to say of it, clients hear at once that there is no more.
func TestEndsEarly(t *testing.T) {
	t.Parallel()
	w := build(t, streaming(func(c *stream.Config) {
		window := secret.Duration(10 * time.Second)
		c.Resubscribe = &window
	}))
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		if r.rpc().Method != "SendStreamingMessage" {
			rw.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"no such task"}}`, r.rpc().ID)
			return
		}
		reply(rw, r, `{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`)
	})
	l := w.listen("alice", "SendStreamingMessage", message(""))
	l.hears("task working ", "error -32006", "")
	if got := w.methods(); !slices.Equal(got, []string{"SendStreamingMessage", "SubscribeToTask", "GetTask"}) {
		t.Errorf("the agent got %q", got)
	}
}
