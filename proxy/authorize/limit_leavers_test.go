package authorize_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// jobs is an agent that works on what it was asked for to its end, whoever has gone.
type jobs struct {
	began         chan struct{}
	end           chan struct{}
	running, most atomic.Int64
}

// toils has the world's agent be one, on one side.
func toils(w *proxytest.Gateway, s wire.Side) *jobs {
	w.BecomeCard(proxytest.CardFor(s))
	j := &jobs{began: make(chan struct{}), end: make(chan struct{})}
	w.Agent.Answers(j.serve)
	return j
}

func (j *jobs) serve(rw http.ResponseWriter, r *proxytest.Request) {
	n := j.running.Add(1)
	defer j.running.Add(-1)
	for most := j.most.Load(); n > most && !j.most.CompareAndSwap(most, n); {
		most = j.most.Load()
	}
	if m := r.Called(); m.Streams {
		kind := "text/event-stream"
		if r.Side().Binding == wire.GRPC {
			kind = "application/grpc"
		}
		rw.Header().Set("Content-Type", kind)
		id := r.Header.Get("X-Request-Id")
		r.Event(rw, `{"task":`+proxytest.TaskIn(r.Side(), "task-"+id, "context-"+id, "working", "")+`}`)
	}
	select {
	case j.began <- struct{}{}:
	case <-j.end:
	}
	<-j.end
	proxytest.Fluent(rw, r)
}

// asking is a send in the words of a side of A2A 1.0, and who makes it.
func asking(w *proxytest.Gateway, who string, s wire.Side, m *wire.Method) (*http.Client, *http.Request) {
	w.Helper()
	body := proxytest.Ask{Method: m.Name}.Params(s)
	switch s.Binding {
	case wire.GRPC:
		message, err := wire.RequestMessage(m, s.Version, []byte(body))
		proxytest.Must(w, err)
		r := w.Request(who, "POST", w.URL+m.RPC(s.Version), string(grpcframe.Append(nil, message)), "Te: trailers")
		r.Header.Set("Content-Type", "application/grpc")
		return w.H2(), r
	case wire.JSONRPC:
		return w.Client, w.Request(who, "POST", "", proxytest.RPCBody(m.Name, body), "A2A-Version: 1.0")
	}
	return w.Client, w.Request(who, "POST", m.Path, body, "A2A-Version: 1.0")
}

// hangsUp makes a call and leaves it as soon as the agent has begun with it. It is false
// where the call was answered before, which is a refusal.
func hangsUp(w *proxytest.Gateway, j *jobs, who string, s wire.Side, m *wire.Method) bool {
	w.Helper()
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	client, r := asking(w, who, s, m)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		if resp, err := client.Do(r.WithContext(ctx)); err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		}
	}()
	select {
	case <-answered:
		return false
	case <-j.began:
		leave()
		<-answered
		return true
	}
}

// TestA26_HangingUpMakesNoRoom: who hangs up on one call after the other has no more done at
// the same time than who waits, on whatever side, and has the places again as the agent
// comes to its ends.
func TestA26_HangingUpMakesNoRoom(t *testing.T) {
	t.Parallel()
	for _, name := range []string{wire.SendMessage, wire.SendStreamingMessage} {
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			t.Run(fmt.Sprint(name, " ", s), func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewLimitedGateway(t, `each: [{name: two, concurrency: 2}]`, func(s *proxytest.Setup) { s.Agent.Card.URL += "?" })
				j := toils(w, s)
				begun := 0
				for range 20 {
					if hangsUp(w, j, "carol", s, proxytest.MethodOf(name)) {
						begun++
					}
				}
				if n := j.most.Load(); n != 2 || begun != 2 {
					t.Errorf("%d jobs ran at the same time, and %d were begun", n, begun)
				}
				if !hangsUp(w, j, "dave", s, proxytest.MethodOf(name)) {
					t.Error("another caller is held up")
				}
				close(j.end)
				w.BecomeCard(proxytest.CardFor(proxytest.RPC10))
				free(w, "carol", "the end of the jobs")
			})
		}
	}
}

// TestLeaversAtReplicas: the place of a call that was left is taken at each gateway that
// counts in the same state, until the agent has ended it.
func TestLeaversAtReplicas(t *testing.T) {
	t.Parallel()
	for name, open := range ledgers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counts, ok := open(t).(state.Limits)
			if !ok {
				t.Fatal("it counts nothing")
			}
			edit := func(s *proxytest.Setup) { s.Agent.Card.URL, s.Counts = s.Agent.Card.URL+"?", counts }
			here, there := onePlaceEach(t, edit), onePlaceEach(t, edit)
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				j := toils(here, proxytest.RPC10)
				if !hangsUp(here, j, "carol", proxytest.RPC10, proxytest.MethodOf(method)) {
					t.Fatal("not begun")
				}
				there.Agent.Answers(proxytest.Fluent)
				proxytest.WantStatus(t, "at the other replica", there.Call("carol", "SendMessage", proxytest.Message("")), 429)
				close(j.end)
				free(there, "carol", "the end of the job")
			}
		})
	}
}

// TestAnswerBehindLeaver: what an agent answers to somebody who has left is looked at and
// recorded all the same: the task that came of it is the caller's.
func TestAnswerBehindLeaver(t *testing.T) {
	t.Parallel()
	w := onePlaceEach(t, func(s *proxytest.Setup) { s.Agent.Card.URL += "?" })
	j := toils(w, proxytest.RPC10)
	if !hangsUp(w, j, "alice", proxytest.RPC10, proxytest.MethodOf(wire.SendMessage)) {
		t.Fatal("not begun")
	}
	made := "task-" + w.Agent.One(t).Header.Get("X-Request-Id")
	close(j.end)
	proxytest.Eventually(t, "the task", func() bool {
		return w.Call("alice", "GetTask", fmt.Sprintf(`{"id":%q}`, made)).Status == 200
	})
}

// TestLeaverWithoutLimit: where nothing bounds the calls at the same time, an agent is told
// that nobody waits any more.
func TestLeaverWithoutLimit(t *testing.T) {
	t.Parallel()
	w := proxytest.NewLimitedGateway(t, `each: [{name: many, rate: {units: 100, per: 1s}}]`)
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		began, gone := make(chan struct{}), make(chan struct{})
		w.Agent.Answers(func(_ http.ResponseWriter, r *proxytest.Request) {
			close(began)
			<-r.Context().Done()
			close(gone)
		})
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			resp, err := w.Client.Do(w.Request("alice", "POST", "", proxytest.RPCBody(method, proxytest.Message("")), "A2A-Version: 1.0").WithContext(ctx))
			if err == nil {
				_ = resp.Body.Close()
			}
		}()
		<-began
		leave()
		<-gone
	}
}

// patient is an agent whose streams of a task go on until end is closed, and that answers
// GetTask and CancelTask meanwhile.
func patient(w *proxytest.Gateway, end chan struct{}) {
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		id := cmp.Or(r.Call().TaskID, "t")
		switch r.Called().Name {
		case wire.GetTask:
			r.Say(rw, proxytest.TaskIn(proxytest.RPC10, id, "c", "working", ""))
		case wire.CancelTask:
			r.Say(rw, proxytest.TaskIn(proxytest.RPC10, id, "c", "canceled", ""))
		case wire.SendMessage:
			proxytest.Fluent(rw, r)
		default:
			rw.Header().Set("Content-Type", "text/event-stream")
			r.Event(rw, `{"task":`+proxytest.TaskIn(proxytest.RPC10, id, "c", "working", "")+`}`)
			<-end
		}
	})
}

// TestReturnToHeldPlace: who has left a stream that holds the only place can come back to
// it, look at its task and cancel it, one at a time, and do nothing else. The task's end
// makes room, whatever becomes of the agent's stream.
func TestReturnToHeldPlace(t *testing.T) {
	t.Parallel()
	w := onePlaceEach(t)
	end := make(chan struct{})
	defer close(end)
	patient(w, end)
	first, _ := w.OpenStream()
	_ = first.Body.Close()
	again := subscribeUntilIn(w)
	for method, status := range map[string]int{"SendMessage": 429, "GetTask": 429} {
		params := proxytest.Message("")
		if method == "GetTask" {
			params = `{"id":"t"}`
		}
		proxytest.WantStatus(t, method+" while it is listened to", w.Call("alice", method, params), status)
	}
	_ = again.Body.Close()
	proxytest.Eventually(t, "GetTask", func() bool { return w.Call("alice", "GetTask", `{"id":"t"}`).Status == 200 })
	proxytest.WantStatus(t, "a send that is not waited for", w.Call("alice", "SendMessage", proxytest.Message("")), 429)
	proxytest.WantStatus(t, "a task of that place, cancelled", w.Call("alice", "CancelTask", `{"id":"t"}`), 200)
	proxytest.Eventually(t, "place", func() bool { return w.Call("alice", "SendMessage", proxytest.Message("")).Status == 200 })
}

// subscribeUntilIn subscribes to alice's task as soon as the gateway has noticed that its
// client has left, and reads the first event.
func subscribeUntilIn(w *proxytest.Gateway) *http.Response {
	w.Helper()
	var resp *http.Response
	proxytest.Eventually(w, "a way back", func() bool {
		var err error
		resp, err = w.Client.Do(w.Request("alice", "POST", "", proxytest.RPCBody("SubscribeToTask", `{"id":"t"}`), "A2A-Version: 1.0"))
		proxytest.Must(w, err)
		if resp.StatusCode == 200 && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			return true
		}
		_ = resp.Body.Close()
		return false
	})
	w.ReadEvent(bufio.NewReader(resp.Body))
	return resp
}
