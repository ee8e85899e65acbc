package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// deaf loses the first word on what is done, as a process that ends does.
type deaf struct {
	state.Queue

	told atomic.Bool
}

func (d *deaf) Done(ctx context.Context, queue, holder, id string) error {
	if d.told.CompareAndSwap(false, true) {
		return errors.New("killed")
	}
	return d.Queue.Done(ctx, queue, holder, id)
}

// TestKilledBetweenDeliveryAndDone: it comes again, under its ID, and before the next.
func TestKilledBetweenDeliveryAndDone(t *testing.T) {
	t.Parallel()
	b := work(t, open(), func(o *WorkerOptions) { o.Queue = &deaf{Queue: o.Queue} })
	r := receive(t, b.clock, nil)
	b.push(t, notification(r.URL, "t1", 0))
	b.push(t, notification(r.URL, "t1", 1))
	b.await(t, Delivered, 3)
	if diff := cmp.Diff([]string{"t1-0", "t1-0", "t1-1"}, r.ids("/t1")); diff != "" {
		t.Errorf("deliveries (-want +got):\n%s", diff)
	}
}

// TestReplicasShareAQueue: two workers deliver each item once, in the order of its line.
func TestReplicasShareAQueue(t *testing.T) {
	t.Parallel()
	store, c := state.NewMemory(state.Config{}), newCipher(t)
	t.Cleanup(func() { _ = store.Close() })
	share := func(name string) func(*WorkerOptions) {
		return func(o *WorkerOptions) { o.Queue, o.Values, o.Cipher, o.Holder, o.Clock = store, store, c, name, nil }
	}
	many := open()
	many.PerTarget = PerTarget{InFlight: 16, Rate: 10_000}
	one, two := work(t, many, share("one")), work(t, many, share("two"))
	r := receive(t, system{}, nil)
	const lines, each = 8, 10
	for n := range each {
		for line := range lines {
			b := []*bench{one, two}[line%2]
			b.push(t, notification(r.URL, fmt.Sprintf("t%d", line), n))
		}
	}
	wait(t, "all", func() bool { return len(r.seen()) >= lines*each })
	for line := range lines {
		task := fmt.Sprintf("t%d", line)
		var want []string
		for n := range each {
			want = append(want, fmt.Sprintf("%s-%d", task, n))
		}
		if diff := cmp.Diff(want, r.ids("/"+task)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", task, diff)
		}
	}
}

// TestStopDrains: what is under way is finished, what waits stays, and nothing is taken.
func TestStopDrains(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	arrived, finish := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r := receive(t, b.clock, func(http.ResponseWriter, got) {
		once.Do(func() { close(arrived) })
		<-finish
	})
	b.push(t, notification(r.URL, "t1", 0))
	b.push(t, notification(r.URL, "t1", 1))
	<-arrived
	stopped := make(chan error)
	go func() { stopped <- b.Stop(context.WithoutCancel(t.Context())) }()
	select {
	case err := <-stopped:
		t.Fatalf("stopped while a delivery is under way: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(finish)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if d := b.depth(t); d.Waiting != 1 || len(r.seen()) != 1 {
		t.Errorf("left: %+v after %d requests", d, len(r.seen()))
	}
}

// TestStopBreaksOff: nobody waits for a target for ever, and nothing is lost.
func TestStopBreaksOff(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	arrived, finish := make(chan struct{}, 1), make(chan struct{})
	r := receive(t, b.clock, func(http.ResponseWriter, got) { arrived <- struct{}{}; <-finish })
	b.push(t, notification(r.URL, "t1", 0))
	<-arrived
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := b.Stop(ctx); err == nil {
		t.Error("Stop says that all is done")
	}
	<-b.done
	close(finish)
	if d := b.depth(t); d.Waiting != 1 || d.Dead != 0 || b.outcomes(outcomeFailed) != 0 {
		t.Errorf("left: %+v, observed %v", d, b.observed())
	}
}
