package snapshot

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// A snapshot closes once, after it was replaced and the last who held it has let
// go; never before, however requests and reloads interleave.
func TestSnapshotClosesOnce(t *testing.T) {
	t.Parallel()
	const generations, callers = 300, 8
	var current Current
	type life struct{ holders, closed atomic.Int64 }
	lives := sync.Map{} // of *snapshot to *life
	fresh := func() *Snapshot {
		s, l := &Snapshot{}, &life{}
		s.Refs.Store(1)
		s.Close = sync.OnceFunc(func() {
			l.closed.Add(1)
			if n := l.holders.Load(); n != 0 {
				t.Errorf("closed while %d requests used it", n)
			}
		})
		lives.Store(s, l)
		return s
	}
	current.Store(fresh())
	stop := make(chan struct{})
	var calling sync.WaitGroup
	for range callers {
		calling.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s := current.Acquire()
				v, _ := lives.Load(s)
				l := v.(*life)
				l.holders.Add(1)
				if l.closed.Load() != 0 {
					t.Error("a request got a closed snapshot")
				}
				l.holders.Add(-1)
				s.Release()
			}
		})
	}
	for range generations {
		old := current.Load()
		current.Store(fresh())
		old.Release()
	}
	close(stop)
	calling.Wait()
	lives.Range(func(s, v any) bool {
		want := int64(1)
		if s == current.Load() {
			want = 0
		}
		if n := v.(*life).closed.Load(); n != want {
			t.Errorf("a snapshot was closed %d times, want %d", n, want)
		}
		return true
	})
	last := current.Swap(nil)
	last.Release()
	if current.Acquire() != nil {
		t.Error("a closed gateway has a snapshot")
	}
}

// A member that is in several snapshots ends with the last of them.
func TestMemberEndsWithLastSnapshot(t *testing.T) {
	t.Parallel()
	up, err := upstream.New(upstream.Config{}, upstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stopped := 0
	m := &Member{Users: new(atomic.Int64), Stop: func() { stopped++ }, Agent: &agents.Agent{Upstream: up}}
	m.Users.Store(2)
	a := &Snapshot{Agents: map[string]*Member{"m": m}}
	b := &Snapshot{Agents: map[string]*Member{"m": m}}
	for i, s := range []*Snapshot{a, b} {
		if stopped != 0 {
			t.Fatalf("it ended while %d snapshots held it", 2-i)
		}
		s.Dismiss()
	}
	if stopped != 1 {
		t.Errorf("it ended %d times", stopped)
	}
}
