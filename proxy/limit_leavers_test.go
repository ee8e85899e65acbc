package proxy_test

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
)

// jobs is an agent that works on what it was asked for to its end, whoever has gone.
type jobs struct {
	began         chan struct{}
	end           chan struct{}
	running, most atomic.Int64
}

// toils has the world's agent be one, on one side.
func (w *world) toils(s wire.Side) *jobs {
	w.becomes(speaks(s))
	j := &jobs{began: make(chan struct{}), end: make(chan struct{})}
	w.agent.answers(j.serve)
	return j
}

func (j *jobs) serve(rw http.ResponseWriter, r *record) {
	n := j.running.Add(1)
	defer j.running.Add(-1)
	for most := j.most.Load(); n > most && !j.most.CompareAndSwap(most, n); {
		most = j.most.Load()
	}
	if m := r.method(); m.Streams {
		kind := "text/event-stream"
		if r.side().Binding == wire.GRPC {
			kind = "application/grpc"
		}
		rw.Header().Set("Content-Type", kind)
		id := r.Header.Get("X-Request-Id")
		r.event(rw, `{"task":`+taskIn(r.side(), "task-"+id, "context-"+id, "working", "")+`}`)
	}
	select {
	case j.began <- struct{}{}:
	case <-j.end:
	}
	<-j.end
	fluent(rw, r)
}

// asking is a send in the words of a side of A2A 1.0, and who makes it.
func (w *world) asking(who string, s wire.Side, m *wire.Method) (*http.Client, *http.Request) {
	w.Helper()
	body := ask{method: m.Name}.params(s)
	switch s.Binding {
	case wire.GRPC:
		message, err := wire.RequestMessage(m, s.Version, []byte(body))
		must(w, err)
		r := w.request(who, "POST", w.url+m.RPC(s.Version), string(grpcframe.Append(nil, message)), "Te: trailers")
		r.Header.Set("Content-Type", "application/grpc")
		return w.h2(), r
	case wire.JSONRPC:
		return w.http, w.request(who, "POST", "", rpcBody(m.Name, body), "A2A-Version: 1.0")
	}
	return w.http, w.request(who, "POST", m.Path, body, "A2A-Version: 1.0")
}

// hangsUp makes a call and leaves it as soon as the agent has begun with it. It is false
// where the call was answered before, which is a refusal.
func (w *world) hangsUp(j *jobs, who string, s wire.Side, m *wire.Method) bool {
	w.Helper()
	ctx, leave := context.WithCancel(context.Background())
	defer leave()
	client, r := w.asking(who, s, m)
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
		for _, s := range []wire.Side{rpc10, rest10, grpc10} {
			t.Run(fmt.Sprint(name, " ", s), func(t *testing.T) {
				t.Parallel()
				w := limited(t, `each: [{name: two, concurrency: 2}]`, func(s *setup) { s.agent.Card.URL += "?" })
				j := w.toils(s)
				begun := 0
				for range 20 {
					if w.hangsUp(j, "carol", s, methodOf(name)) {
						begun++
					}
				}
				if n := j.most.Load(); n != 2 || begun != 2 {
					t.Errorf("%d jobs ran at the same time, and %d were begun", n, begun)
				}
				if !w.hangsUp(j, "dave", s, methodOf(name)) {
					t.Error("another caller is held up")
				}
				close(j.end)
				w.becomes(speaks(rpc10))
				w.free("carol", "the end of the jobs")
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
			edit := func(s *setup) { s.agent.Card.URL, s.counts = s.agent.Card.URL+"?", counts }
			here, there := onePlaceEach(t, edit), onePlaceEach(t, edit)
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
				j := here.toils(rpc10)
				if !here.hangsUp(j, "carol", rpc10, methodOf(method)) {
					t.Fatal("not begun")
				}
				there.agent.answers(fluent)
				wantStatus(t, "at the other replica", there.call("carol", "SendMessage", message("")), 429)
				close(j.end)
				there.free("carol", "the end of the job")
			}
		})
	}
}

// TestAnswerBehindLeaver: what an agent answers to somebody who has left is looked at and
// recorded all the same: the task that came of it is the caller's.
func TestAnswerBehindLeaver(t *testing.T) {
	t.Parallel()
	w := onePlaceEach(t, func(s *setup) { s.agent.Card.URL += "?" })
	j := w.toils(rpc10)
	if !w.hangsUp(j, "alice", rpc10, methodOf(wire.SendMessage)) {
		t.Fatal("not begun")
	}
	made := "task-" + w.agent.one(t).Header.Get("X-Request-Id")
	close(j.end)
	eventually(t, "the task", func() bool {
		return w.call("alice", "GetTask", fmt.Sprintf(`{"id":%q}`, made)).status == 200
	})
}

// TestLeaverWithoutLimit: where nothing bounds the calls at the same time, an agent is told
// that nobody waits any more.
func TestLeaverWithoutLimit(t *testing.T) {
	t.Parallel()
	w := limited(t, `each: [{name: many, rate: {units: 100, per: 1s}}]`)
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		began, gone := make(chan struct{}), make(chan struct{})
		w.agent.answers(func(_ http.ResponseWriter, r *record) {
			close(began)
			<-r.Context().Done()
			close(gone)
		})
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			resp, err := w.http.Do(w.request("alice", "POST", "", rpcBody(method, message("")), "A2A-Version: 1.0").WithContext(ctx))
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
func (w *world) patient(end chan struct{}) {
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		id := cmp.Or(r.call().TaskID, "t")
		switch r.method().Name {
		case wire.GetTask:
			r.say(rw, taskIn(rpc10, id, "c", "working", ""))
		case wire.CancelTask:
			r.say(rw, taskIn(rpc10, id, "c", "canceled", ""))
		case wire.SendMessage:
			fluent(rw, r)
		default:
			rw.Header().Set("Content-Type", "text/event-stream")
			r.event(rw, `{"task":`+taskIn(rpc10, id, "c", "working", "")+`}`)
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
	w.patient(end)
	first, _ := w.open()
	_ = first.Body.Close()
	again := w.subscribeUntilIn()
	for method, status := range map[string]int{"SendMessage": 429, "GetTask": 429} {
		params := message("")
		if method == "GetTask" {
			params = `{"id":"t"}`
		}
		wantStatus(t, method+" while it is listened to", w.call("alice", method, params), status)
	}
	_ = again.Body.Close()
	eventually(t, "GetTask", func() bool { return w.call("alice", "GetTask", `{"id":"t"}`).status == 200 })
	wantStatus(t, "a send that is not waited for", w.call("alice", "SendMessage", message("")), 429)
	wantStatus(t, "a task of that place, cancelled", w.call("alice", "CancelTask", `{"id":"t"}`), 200)
	eventually(t, "place", func() bool { return w.call("alice", "SendMessage", message("")).status == 200 })
}

// subscribeUntilIn subscribes to alice's task as soon as the gateway has noticed that its
// client has left, and reads the first event.
func (w *world) subscribeUntilIn() *http.Response {
	w.Helper()
	var resp *http.Response
	eventually(w, "a way back", func() bool {
		var err error
		resp, err = w.http.Do(w.request("alice", "POST", "", rpcBody("SubscribeToTask", `{"id":"t"}`), "A2A-Version: 1.0"))
		must(w, err)
		if resp.StatusCode == 200 && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			return true
		}
		_ = resp.Body.Close()
		return false
	})
	w.event(bufio.NewReader(resp.Body))
	return resp
}
