package push

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

func TestDeliversInOrder(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	r := receive(t, b.clock, nil)
	var want []string
	for n := range 20 {
		d := notification(r.URL, "t1", n)
		want = append(want, d.ID)
		b.push(t, d)
	}
	b.await(t, Delivered, 20)
	if diff := cmp.Diff(want, r.ids("/t1")); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if again, err := b.Enqueue(t.Context(), notification(r.URL, "t1", 99)); err != nil || !again {
		t.Errorf("a new one: %v, %v", again, err)
	}
	b.await(t, Delivered, 21)
	if d := b.depth(t); d.Waiting != 0 || d.Dead != 0 {
		t.Errorf("left: %+v", d)
	}
}

// TestLinesAreIndependent: a task whose webhook fails holds up nobody else's.
func TestLinesAreIndependent(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	r := receive(t, b.clock, func(w http.ResponseWriter, g got) {
		if g.path == "/bad" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	for n := range 5 {
		b.push(t, notification(r.URL, "bad", n))
		b.push(t, notification(r.URL, "good", n))
	}
	wait(t, "good ones", func() bool { return len(r.ids("/good")) == 5 })
	if ids := r.ids("/bad"); slices.ContainsFunc(ids, func(id string) bool { return id != "bad-0" }) {
		t.Errorf("the next was sent before the first was taken: %v", ids)
	}
}

// TestBackOffAndDeadLetters: pauses double from 1 s to 1 h, after 24 h it is given up,
// and what is revived is delivered.
func TestBackOffAndDeadLetters(t *testing.T) {
	t.Parallel()
	var well atomic.Bool
	b := work(t, open())
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) {
		if !well.Load() {
			w.WriteHeader(http.StatusNotFound) // about this webhook alone, so no breaker
		}
	})
	began := b.pushAll(t, notification(r.URL, "t1", 0))
	b.await(t, outcomeDead, 1)
	all := r.seen()
	for i, g := range all[1:] {
		pause, most := g.at.Sub(all[i].at), min(time.Second<<min(i, 12), time.Hour)
		if last := i == len(all)-2; pause > most+2*time.Second || !last && pause < most/2 {
			t.Errorf("pause %d is %s, want %s to %s", i+1, pause, most/2, most)
		}
	}
	if life := all[len(all)-1].at.Sub(began); life < 24*time.Hour || life > 24*time.Hour+2*time.Second {
		t.Errorf("the last attempt came after %s", life)
	}
	for _, g := range all {
		if g.id() != "t1-0" || g.body != `{"n":0}` {
			t.Errorf("an attempt was another: %v", g)
		}
	}
	dead, err := b.store.Items(t.Context(), Queue, true, "", 10)
	if err != nil || len(dead) != 1 || dead[0].Error != fmt.Sprintf("attempt %d: status 404", len(all)) {
		t.Fatalf("dead letters: %v, %v", dead, err)
	}
	well.Store(true)
	if ok, err := b.store.Revive(t.Context(), Queue, "t1-0", b.clock.Now()); err != nil || !ok {
		t.Fatal(ok, err)
	}
	b.Wake()
	b.await(t, Delivered, 1)
}

func TestGoneAndRefusedAreGivenUpAtOnce(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusGone) })
	b.push(t, notification(r.URL, "gone", 0))
	d := notification(r.URL, "refused", 0)
	d.URL = "http://169.254.169.254/latest/meta-data/?token=canary"
	b.push(t, d)
	d = notification(r.URL, "header", 0)
	d.Token = secret.New("a\r\nb: canary")
	b.push(t, d)
	b.await(t, outcomeGone, 1)
	b.await(t, outcomeRefused, 2)
	if n := len(r.seen()); n != 1 {
		t.Errorf("%d requests", n)
	}
	for _, a := range b.observed() {
		if strings.Contains(fmt.Sprintf("%+v", a), "canary") {
			t.Errorf("the report shows a secret: %+v", a)
		}
	}
	if d := b.depth(t); d.Dead != 3 || d.Waiting != 0 {
		t.Errorf("left: %+v", d)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	var asked atomic.Int64
	r := receive(t, b.clock, func(w http.ResponseWriter, g got) {
		switch asked.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.Header().Set("Retry-After", g.at.Add(300*time.Second).Format(http.TimeFormat))
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3:
			w.Header().Set("Retry-After", "9999999")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	b.push(t, notification(r.URL, "t1", 0))
	b.await(t, Delivered, 1)
	all := r.seen()
	for i, want := range []time.Duration{120 * time.Second, 300 * time.Second, time.Hour} {
		if pause := all[i+1].at.Sub(all[i].at); pause < want || pause > want+2*time.Second {
			t.Errorf("pause %d is %s, want %s", i+1, pause, want)
		}
	}
}

// TestRedirectsAreFailures: nobody is sent elsewhere.
func TestRedirectsAreFailures(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	other := receive(t, b.clock, nil)
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	b.push(t, notification(r.URL, "t1", 0))
	b.await(t, outcomeFailed, 2)
	if len(other.seen()) != 0 {
		t.Error("the redirect was followed")
	}
}

// TestQueueIsBounded: what does not fit is an error to whoever brings it, and there is room
// for somebody else's.
func TestQueueIsBounded(t *testing.T) {
	t.Parallel()
	c := open()
	c.Queue = 4
	b := work(t, c)
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusNotFound) })
	b.clock.stop(b.clock.Now()) // nothing is given up meanwhile
	b.push(t, notification(r.URL, "t1", 0))
	b.push(t, notification(r.URL, "t1", 1))
	if _, err := b.Enqueue(t.Context(), notification(r.URL, "t1", 2)); !errors.Is(err, state.ErrFull) {
		t.Errorf("got %v", err)
	}
	other := notification(r.URL, "t2", 0)
	other.Owner = "bob"
	b.push(t, other)
}

// TestUnreadableItemsDie: one that another key has sealed holds up its line no longer.
func TestUnreadableItemsDie(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	r := receive(t, b.clock, nil)
	it, err := notification(r.URL, "t1", 0).item(newCipher(t))
	if err != nil {
		t.Fatal(err)
	}
	it.Pushed, it.Due = b.clock.Now(), b.clock.Now()
	if _, err := b.store.Push(t.Context(), Queue, it, 0); err != nil {
		t.Fatal(err)
	}
	b.push(t, notification(r.URL, "t1", 1))
	b.await(t, Delivered, 1)
	if b.outcomes(outcomeDead) != 1 {
		t.Errorf("observed: %v", b.observed())
	}
}

func TestUse(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	r := receive(t, b.clock, nil)
	closed := open()
	closed.AllowPrivateNetworks = false
	if err := b.Use(closed, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Check(r.URL); err == nil {
		t.Error("the configuration of before is in force")
	}
	b.push(t, notification(r.URL, "t1", 0))
	b.await(t, outcomeRefused, 1)
	if err := b.Use(Config{CA: "testdata/none.pem"}, nil); err == nil {
		t.Error("a CA file that is not there")
	}
	if len(r.seen()) != 0 {
		t.Error("a target was called that is not allowed any more")
	}
}

// taking does something before each item is taken from a queue.
type taking struct {
	state.Queue

	before func()
}

func (q *taking) Take(ctx context.Context, queue, holder string, now time.Time, limit int, lease time.Duration) ([]state.Item, error) {
	q.before()
	return q.Queue.Take(ctx, queue, holder, now, limit, lease)
}

// TestUseWhileTaking: an item that comes after a configuration goes by it, even if the
// worker set out to look before.
func TestUseWhileTaking(t *testing.T) {
	t.Parallel()
	q := &taking{}
	looking, used := make(chan bool), make(chan bool)
	var once sync.Once
	q.before = func() { once.Do(func() { looking <- true; <-used }) }
	b := work(t, open(), func(o *WorkerOptions) { q.Queue, o.Queue = o.Queue, q })
	r := receive(t, b.clock, nil)
	<-looking
	closed := open()
	closed.AllowPrivateNetworks = false
	if err := b.Use(closed, nil); err != nil {
		t.Fatal(err)
	}
	b.push(t, notification(r.URL, "t1", 0))
	close(used)
	wait(t, "attempt", func() bool { return len(b.observed()) > 0 })
	if b.outcomes(outcomeRefused) != 1 || len(r.seen()) != 0 {
		t.Errorf("%v, %d requests", b.observed(), len(r.seen()))
	}
}

// TestDepthIsCounted also shows the age of what waits.
func TestDepthIsCounted(t *testing.T) {
	t.Parallel()
	depths := make(chan state.Depth, 1000)
	b := work(t, open(), func(o *WorkerOptions) {
		o.Depth = func(d state.Depth) {
			select {
			case depths <- d:
			default:
			}
		}
	})
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusNotFound) })
	b.push(t, notification(r.URL, "t1", 0))
	b.clock.stop(b.clock.Now().Add(time.Hour)) // before it is given up
	wait(t, "depth", func() bool { d := <-depths; return d.Waiting == 1 && !d.Oldest.IsZero() })
}
