package push

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// TestSlowWebhooks: somebody registers very many webhooks whose hosts take a call and
// never answer. Everybody else's notifications go out as if there were none of them.
func TestSlowWebhooks(t *testing.T) {
	t.Parallel()
	const slow = 600
	resolver := gatewaytest.DNS(t, func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("127.0.0.1")} })
	b := work(t, open(), func(o *WorkerOptions) { o.Resolver = resolver })
	release := make(chan struct{})
	var held atomic.Int64
	tar := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		held.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(tar.Close)
	t.Cleanup(func() { close(release) })
	port := tar.URL[strings.LastIndexByte(tar.URL, ':'):]
	for i := range slow {
		d := notification(fmt.Sprintf("http://host%d.example%s", i, port), fmt.Sprintf("slow%d", i), 0)
		d.Owner = "mallory"
		b.push(t, d)
	}
	wait(t, "those that are slow", func() bool { return held.Load() >= 48 })
	r := receive(t, b.clock, nil)
	for n := range 4 {
		d := notification(r.URL, "t1", n)
		d.Owner = "bob"
		b.push(t, d)
		began := time.Now()
		wait(t, "one of somebody else's", func() bool { return len(r.ids("/t1")) == n+1 })
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	// The place of a delivery is given back a moment after its answer.
	wait(t, "one owner to have no more than half of the places", func() bool { return b.slots.Load() <= 64 })
}

// flood has an owner enter as often as may be, each time at another target unless one is
// named.
func flood(ts *targets, owner, target string, now time.Time, limit limits) (entered int) {
	for i := range 2 * limit.all {
		v := visit{target, owner}
		if target == "" {
			v.target = fmt.Sprint(owner, i)
		}
		if _, ok := ts.enter(v, now, limit, time.Second); ok {
			entered++
		}
	}
	return entered
}

// TestShares: one owner has half of the places, of two each a third, and there is always
// one for the next.
func TestShares(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limit := limits{120, PerTarget{InFlight: 4, Rate: 1000}}
	ts := &targets{}
	total := 0
	for i, least := range []int{60, 30, 15, 7, 3, 2, 1} {
		n := flood(ts, fmt.Sprint("owner", i), "", now, limit)
		if n < least {
			t.Errorf("owner %d has %d places, want %d", i, n, least)
		}
		total += n
	}
	if total > limit.all || total != ts.inFlight {
		t.Errorf("%d of %d are under way", total, ts.inFlight)
	}
	one := limits{1, PerTarget{InFlight: 4, Rate: 1000}}
	if n := flood(&targets{}, "a", "", now, one); n != 1 {
		t.Errorf("%d of one place", n)
	}
}

// TestSharedTarget: at a host that many have webhooks at, such as a chat's, what one path
// does is its owner's affair.
func TestSharedTarget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		limit := limits{1000, PerTarget{InFlight: 4, Rate: 1000}}
		ts := &targets{}
		mallory, bob := visit{"chat", "mallory"}, visit{"chat", "bob"}
		enter := func(v visit, want bool) (later time.Time) {
			t.Helper()
			later, ok := ts.enter(v, now, limit, 15*time.Second)
			if ok != want {
				t.Errorf("%s entered: %v", v.owner, ok)
			}
			return later
		}
		leave := func(v visit, said verdict, took time.Duration) {
			now = now.Add(took)
			ts.leave(v, now, took, said, limit)
		}
		// Alone, one has all, and a thousand that wait for them.
		for range 4 {
			enter(mallory, true)
		}
		for range 4 {
			leave(mallory, well, 15*time.Second)
			enter(mallory, true)
		}
		for range 1000 {
			enter(mallory, false)
		}
		// Who comes anew does not wait behind them, and from then on finds places.
		if later := enter(bob, false); later.After(now.Add(time.Second)) {
			t.Errorf("bob is to come back in %s", later.Sub(now))
		}
		leave(mallory, well, time.Second)
		leave(mallory, well, time.Second)
		enter(mallory, false)
		enter(bob, true)
		// What fails for one fails for nobody else.
		leave(mallory, unwell, 0)
		leave(mallory, unwell, 0)
		for range 5 {
			if _, ok := ts.enter(mallory, now, limit, time.Second); ok {
				leave(mallory, unwell, 0)
			}
		}
		if !ts.open(mallory) || ts.open(bob) {
			t.Errorf("open for mallory %v, for bob %v", ts.open(mallory), ts.open(bob))
		}
		enter(mallory, false)
		enter(bob, true)
	})
}

// TestDeadLettersAreApart: what is given up takes no room from what waits, of which an
// owner whose notifications all come to nothing has as many as there is room for others'.
func TestDeadLettersAreApart(t *testing.T) {
	t.Parallel()
	c := open()
	c.Queue = 10
	b := work(t, c)
	r := receive(t, b.clock, nil)
	for n := range 30 {
		d := notification("http://169.254.169.254", fmt.Sprint("t", n), 0) // given up at once
		d.Owner = "mallory"
		b.push(t, d)
		b.await(t, outcomeRefused, n+1)
		wait(t, "the end of it", func() bool { return b.depth(t).Waiting == 0 })
	}
	if n := b.depth(t).Dead; n != 5 {
		t.Errorf("%d are kept, want 5", n)
	}
	for n := range 30 {
		b.push(t, notification(r.URL, "t1", n))
		b.await(t, Delivered, n+1)
		wait(t, "the end of it", func() bool { return b.depth(t).Waiting == 0 })
	}
}

// TestLinesWithoutOwners: what was queued when lines had no owners is delivered, and is
// dropped with its webhook.
func TestLinesWithoutOwners(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	r := receive(t, b.clock, nil)
	former := func(n int, due time.Time) *Delivery {
		d := notification(r.URL, "t1", n)
		it, err := d.item(b.Cipher)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := b.Cipher.Open(it.Data, place(it.ID, it.Line))
		if err != nil {
			t.Fatal(err)
		}
		it.Line = lineOf(d.Agent, d.Task, d.Config)
		it.Data = b.Cipher.Seal(plain, place(it.ID, it.Line))
		it.Pushed, it.Due = due, due
		if ok, err := b.store.Push(t.Context(), Queue, it, 0); err != nil || !ok {
			t.Fatal(ok, err)
		}
		return d
	}
	former(0, b.clock.Now())
	b.Wake()
	b.await(t, Delivered, 1)
	d := former(1, b.clock.Now().Add(1000*time.Hour))
	if err := b.Drop(t.Context(), &Webhook{Agent: d.Agent, Task: d.Task, Registrant: Registrant{Owner: d.Owner}, id: d.Config}); err != nil {
		t.Fatal(err)
	}
	if n := b.depth(t).Waiting; n != 0 {
		t.Errorf("%d wait for a webhook that was deleted", n)
	}
}
