package proxy_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// late is a store that can keep what is written to logs waiting.
type late struct {
	*state.Memory

	holds   atomic.Bool
	written chan struct{} // closed when what waits may be written
	looks   atomic.Pointer[func(log string)]
}

func (s *late) Append(ctx context.Context, log string, after uint64, entries [][]byte, keep state.Bound) error {
	if s.holds.Load() && len(entries) > 0 {
		select {
		case <-s.written:
		case <-ctx.Done():
			return state.ErrUnavailable
		}
	}
	return s.Memory.Append(ctx, log, after, entries, keep)
}

func (s *late) Read(ctx context.Context, log string, after uint64, limit int) (state.Tail, error) {
	if looks := s.looks.Load(); looks != nil {
		(*looks)(log)
	}
	return s.Memory.Read(ctx, log, after, limit)
}

// has waits until a log has come to an entry.
func (s *late) has(t testing.TB, log string, number uint64) {
	t.Helper()
	eventually(t, "entry in the log", func() bool {
		tail, err := s.Memory.Read(context.Background(), log, 0, 100)
		must(t, err)
		return tail.Last >= number
	})
}

// ahead has a client leave a gateway that it has had an event of which is not written yet,
// and gives another gateway on the same store beside the first.
func ahead(t *testing.T) (s *late, one, two *world, k *worker, l *listener) {
	t.Helper()
	s = &late{Memory: state.NewMemory(state.Config{}), written: make(chan struct{})}
	t.Cleanup(func() { _ = s.Close() })
	var first *setup
	replica := func(name string) func(*setup) {
		return func(o *setup) {
			o.store, o.hub = s.Memory, stream.HubOptions{Replica: name, Logs: s, Holds: s.Memory}
			if first == nil {
				first = o
				return
			}
			o.sealer, o.agent.Card.URL = first.sealer, first.agent.Card.URL
		}
	}
	one = build(t, streaming(), replica("one"))
	two = build(t, streaming(), replica("two"))
	k = one.works()
	l = one.listen("alice", "SendStreamingMessage", message(""))
	k.say("a")
	l.hears("task submitted ", "+a")
	s.has(t, logOfTask, 2)
	s.holds.Store(true)
	k.say("b")
	l.hears("+b")
	l.leave()
	one.agent.take()
	return s, one, two, k, l
}

const logOfTask = "stream/rec\x00t"

// TestComeBackAhead: who comes back at another replica, and has had more than was written,
// is shown the task as the agent has it, which is no older than what the client has had.
func TestComeBackAhead(t *testing.T) {
	t.Parallel()
	s, _, two, k, l := ahead(t)
	t.Cleanup(func() { close(s.written) })
	again := two.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
	again.hears("task submitted ab")
	k.say("c")
	again.hears("+c")
	k.become("COMPLETED")
	again.hears("completed", "")
	if r := two.found("resumed"); r["gap"] != true {
		t.Errorf("recorded %v", r)
	}
}

// TestComeBackSoon: what is written a moment later is waited for.
func TestComeBackSoon(t *testing.T) {
	t.Parallel()
	s, one, two, k, l := ahead(t)
	var looked atomic.Int64
	looks := func(log string) {
		if looked.Add(1) == 2 { // the first has shown that the client is ahead
			close(s.written)
			s.has(t, log, 3)
		}
	}
	s.looks.Store(&looks)
	again := two.listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.last)
	k.say("c")
	again.hears("+c")
	k.become("COMPLETED")
	again.hears("completed", "")
	if r := two.found("resumed"); r["gap"] != nil {
		t.Errorf("recorded %v", r)
	}
	if got := one.methods(); len(got) != 0 {
		t.Errorf("the agent got %q", got)
	}
}
