package proxy_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// openTasks gives each caller of a world so many tasks at once.
func (w *world) openTasks(n int64) {
	w.Helper()
	memory := state.NewMemory(state.Config{})
	w.Cleanup(func() { _ = memory.Close() })
	l, err := limits.New(limits.Config{Each: []limits.Limit{{Name: "tasks", OpenTasks: n}}},
		limits.Options{Agents: []string{"rec"}, Store: memory})
	must(w, err)
	w.Cleanup(l.Close)
	o := w.proxy.Options
	o.Limits = l
	w.proxy, err = proxy.New(o)
	must(w, err)
}

// TestOpenTasksWaitedFor: a task that the gateway itself has seen end, as it waited for
// it in a caller's place, is open no more.
func TestOpenTasksWaitedFor(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc01), tied)
	w.openTasks(1)
	a := &oldAgent{looks: 2}
	w.agent.answers(a.answer)
	for range 3 {
		if _, _, state, _ := shown(t, w.speak("tied", w.base, rpc10, ask{method: wire.SendMessage})); state != "completed" {
			t.Fatalf("the task is %s", state)
		}
	}
}

// TestOpenTasksListed: so is one that the gateway has seen ended when it made a list.
func TestOpenTasksListed(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc03), tied)
	w.openTasks(1)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		state := "completed"
		if r.call().Method.Name == wire.SendMessage {
			state = "working"
		}
		r.say(rw, taskIn(rpc03, "t", "c", state, ""))
	})
	send := ask{method: wire.SendMessage, more: unhurried(rpc10)}
	w.speak("tied", w.base, rpc10, send).ok(t, "first")
	if got := w.speak("tied", w.base, rpc10, send); got.err == nil {
		t.Fatal("there was room for a second task")
	}
	w.speak("tied", w.base, rpc10, ask{method: wire.ListTasks}).ok(t, "list")
	w.speak("tied", w.base, rpc10, send).ok(t, "after the list")
}

// TestOpenTasksAbandoned: who hangs up before an answer has shown the task does not get
// room for another one by it.
func TestOpenTasksAbandoned(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.openTasks(1)
	arrived, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	w.agent.answers(func(_ http.ResponseWriter, r *record) {
		arrived <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	ctx, hangUp := context.WithCancel(context.Background())
	r := w.request("alice", "POST", "", rpcBody("SendMessage", message("")), "A2A-Version: 1.0").WithContext(ctx)
	go func() {
		<-arrived
		hangUp()
	}()
	if resp, err := w.http.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	<-gone
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	w.agent.answers(agreeable)
	wantStatus(t, "another task", w.call("alice", "SendMessage", message("")), http.StatusTooManyRequests)
	wantStatus(t, "bob's task", w.call("bob", "SendMessage", message("")), http.StatusOK)
}
