package session_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
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
	proxytest.Eventually(t, "entry in the log", func() bool {
		tail, err := s.Memory.Read(context.Background(), log, 0, 100)
		proxytest.Must(t, err)
		return tail.Last >= number
	})
}

// ahead has a client leave a gateway that it has had an event of which is not written yet,
// and gives another gateway on the same store beside the first.
func ahead(t *testing.T) (s *late, one, two *proxytest.Gateway, k *proxytest.Worker, l *proxytest.Listener) {
	t.Helper()
	s = &late{Memory: state.NewMemory(state.Config{}), written: make(chan struct{})}
	t.Cleanup(func() { _ = s.Close() })
	var first *proxytest.Setup
	replica := func(name string) func(*proxytest.Setup) {
		return func(o *proxytest.Setup) {
			o.Store, o.Hub = s.Memory, stream.HubOptions{Replica: name, Logs: s, Holds: s.Memory}
			if first == nil {
				first = o
				return
			}
			o.Sealer, o.Agent.Card.URL = first.Sealer, first.Agent.Card.URL
		}
	}
	one = proxytest.NewGateway(t, proxytest.WithStreams(), replica("one"))
	two = proxytest.NewGateway(t, proxytest.WithStreams(), replica("two"))
	k = one.StartWorker()
	l = one.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
	k.Say("a")
	l.Hears("task submitted ", "+a")
	s.has(t, logOfTask, 2)
	s.holds.Store(true)
	k.Say("b")
	l.Hears("+b")
	l.Leave()
	one.Agent.Take()
	return s, one, two, k, l
}

const logOfTask = "stream/rec\x00t"

// TestComeBackAhead: who comes back at another replica, and has had more than was written,
// is shown the task as the agent has it, which is no older than what the client has had.
func TestComeBackAhead(t *testing.T) {
	t.Parallel()
	s, _, two, k, l := ahead(t)
	t.Cleanup(func() { close(s.written) })
	again := two.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
	again.Hears("task submitted ab")
	k.Say("c")
	again.Hears("+c")
	k.Become("COMPLETED")
	again.Hears("completed", "")
	if r := two.RecordWith("resumed"); r["gap"] != true {
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
	again := two.Listen("alice", "SubscribeToTask", `{"id":"t"}`, "Last-Event-ID: "+l.Last)
	k.Say("c")
	again.Hears("+c")
	k.Become("COMPLETED")
	again.Hears("completed", "")
	if r := two.RecordWith("resumed"); r["gap"] != nil {
		t.Errorf("recorded %v", r)
	}
	if got := methods(one); len(got) != 0 {
		t.Errorf("the agent got %q", got)
	}
}
