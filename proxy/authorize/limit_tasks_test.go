package authorize_test

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// openTasks gives each caller of a world so many tasks at once.
func openTasks(w *proxytest.Gateway, n int64) {
	w.Helper()
	memory := state.NewMemory(state.Config{})
	w.Cleanup(func() { _ = memory.Close() })
	l, err := limits.New(limits.Config{Each: []limits.Limit{{Name: "tasks", OpenTasks: n}}},
		limits.Options{Agents: []string{"rec"}, Store: memory})
	proxytest.Must(w, err)
	w.Cleanup(l.Close)
	o := w.Proxy.Options
	o.Limits = l
	w.Proxy, err = proxy.New(o)
	proxytest.Must(w, err)
}

// TestOpenTasksWaitedFor: a task that the gateway itself has seen end, as it waited for
// it in a caller's place, is open no more.
func TestOpenTasksWaitedFor(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC01), proxytest.WithTied)
	openTasks(w, 1)
	a := &proxytest.OldAgent{Looks: 2}
	w.Agent.Answers(a.Answer)
	for range 3 {
		if _, _, state, _ := proxytest.ShownTask(t, w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage})); state != "completed" {
			t.Fatalf("the task is %s", state)
		}
	}
}

// TestOpenTasksListed: so is one that the gateway has seen ended when it made a list.
func TestOpenTasksListed(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC03), proxytest.WithTied)
	openTasks(w, 1)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		state := "completed"
		if r.Call().Method.Name == wire.SendMessage {
			state = "working"
		}
		r.Say(rw, proxytest.TaskIn(proxytest.RPC03, "t", "c", state, ""))
	})
	send := proxytest.Ask{Method: wire.SendMessage, More: proxytest.Unhurried(proxytest.RPC10)}
	w.Speak("tied", w.Base, proxytest.RPC10, send).OK(t, "first")
	if got := w.Speak("tied", w.Base, proxytest.RPC10, send); got.Err == nil {
		t.Fatal("there was room for a second task")
	}
	w.Speak("tied", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.ListTasks}).OK(t, "list")
	w.Speak("tied", w.Base, proxytest.RPC10, send).OK(t, "after the list")
}

// TestOpenTasksAbandoned: who hangs up before an answer has shown the task does not get
// room for another one by it.
func TestOpenTasksAbandoned(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	openTasks(w, 1)
	arrived, gone := make(chan struct{}, 1), make(chan struct{}, 1)
	w.Agent.Answers(func(_ http.ResponseWriter, r *proxytest.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
		gone <- struct{}{}
	})
	ctx, hangUp := context.WithCancel(context.Background())
	r := w.Request("alice", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0").WithContext(ctx)
	go func() {
		<-arrived
		hangUp()
	}()
	if resp, err := w.Client.Do(r); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	<-gone
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	w.Agent.Answers(proxytest.Agreeable)
	proxytest.WantStatus(t, "another task", w.Call("alice", "SendMessage", proxytest.Message("")), http.StatusTooManyRequests)
	proxytest.WantStatus(t, "bob's task", w.Call("bob", "SendMessage", proxytest.Message("")), http.StatusOK)
}
