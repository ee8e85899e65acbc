package push

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// TestR18_OutageOfAnHour: a receiver is away for an hour while notifications come in. All
// of them arrive, those of each task in their order, under the IDs they had, and it is
// asked no more than a breaker lets through.
func TestR18_OutageOfAnHour(t *testing.T) {
	t.Parallel()
	b := work(t, open())
	back := b.clock.Now().Add(time.Hour)
	var refused atomic.Int64
	r := receive(t, b.clock, func(w http.ResponseWriter, g got) {
		if g.at.Before(back) {
			refused.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	const lines, each = 20, 10
	var all []*Delivery
	for n := range each {
		for line := range lines {
			all = append(all, notification(r.URL, fmt.Sprintf("t%d", line), n))
		}
	}
	b.pushAll(t, all...)
	b.await(t, Delivered, lines*each)
	arrived := map[string][]string{}
	for _, g := range r.seen() {
		if !g.at.Before(back) {
			arrived[g.path] = append(arrived[g.path], g.id())
		}
	}
	for line := range lines {
		var want []string
		for n := range each {
			want = append(want, fmt.Sprintf("t%d-%d", line, n))
		}
		if ids := arrived[fmt.Sprintf("/t%d", line)]; !slices.Equal(ids, want) {
			t.Errorf("task %d: %v", line, ids)
		}
	}
	// 5 and some that were under way open it; then 1, 2, 4 … 256 s and every 5 minutes.
	if n := refused.Load(); n > 35 {
		t.Errorf("%d requests in the hour", n)
	}
	if last := r.seen()[len(r.seen())-1].at.Sub(back); last > 2*time.Hour {
		t.Errorf("the last arrived %s after the outage", last)
	}
	if d := b.depth(t); d.Waiting != 0 || d.Dead != 0 {
		t.Errorf("left: %+v", d)
	}
}

// TestA21_TargetThatFails: somebody registers a victim that answers with errors, in very
// many tasks; what it gets is bounded, and all of it is given up in the end.
func TestA21_TargetThatFails(t *testing.T) {
	t.Parallel()
	c := open()
	c.Attempts.Longest = quantity.Duration(time.Minute) // as impatient as may be
	c.Attempts.For = quantity.Duration(4 * time.Hour)
	b := work(t, c)
	r := receive(t, b.clock, func(w http.ResponseWriter, _ got) { w.WriteHeader(http.StatusInternalServerError) })
	const tasks = 100
	b.pushAll(t, oneEach(r.URL, tasks)...)
	b.await(t, outcomeDead, tasks)
	if n := len(r.seen()); n > 4*60/5+30 {
		t.Errorf("the victim got %d requests in four hours", n)
	}
}

// TestA21_Rate: one target gets no more than its rate, and no more at once than allowed,
// whoever's webhooks are there.
func TestA21_Rate(t *testing.T) {
	t.Parallel()
	c := open()
	c.PerTarget = PerTarget{InFlight: 2, Rate: 5}
	b := work(t, c)
	var atOnce, most atomic.Int64
	r := receive(t, b.clock, func(http.ResponseWriter, got) {
		now := atOnce.Add(1)
		defer atOnce.Add(-1)
		for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
		}
		time.Sleep(time.Millisecond)
	})
	const tasks = 100
	began := b.pushAll(t, oneEach(r.URL, tasks)...)
	b.await(t, Delivered, tasks)
	all := r.seen()
	for i, g := range all {
		if i >= 11 && g.at.Sub(all[i-11].at) <= time.Second {
			t.Fatalf("11 requests within %s", g.at.Sub(all[i-11].at))
		}
	}
	if most.Load() > 2 {
		t.Errorf("%d at once", most.Load())
	}
	if took := all[len(all)-1].at.Sub(began); took > 3*tasks/5*time.Second {
		t.Errorf("it took %s", took)
	}
	if n := b.outcomes(outcomeFailed); n != 0 {
		t.Errorf("%d attempts failed", n)
	}
}

// TestL41_RebindingAtDelivery: the name was public when it was registered.
func TestL41_RebindingAtDelivery(t *testing.T) {
	t.Parallel()
	c := open()
	c.AllowPrivateNetworks = false
	var asked atomic.Int64
	resolver := gatewaytest.DNS(t, func(string, int) []netip.Addr {
		asked.Add(1)
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	})
	inside := receive(t, system{}, nil)
	u, err := url.Parse(inside.URL)
	if err != nil {
		t.Fatal(err)
	}
	var port uint16
	if _, err := fmt.Sscan(u.Port(), &port); err != nil {
		t.Fatal(err)
	}
	c.Ports = []uint16{port}
	b := work(t, c, func(o *WorkerOptions) { o.Resolver = resolver })
	d := notification("http://rebind.example:"+u.Port(), "t1", 0)
	if _, err := b.Check(d.URL); err != nil {
		t.Fatalf("registration: %v", err)
	}
	b.push(t, d)
	b.await(t, outcomeRefused, 1)
	if len(inside.seen()) != 0 || asked.Load() == 0 {
		t.Errorf("%d requests inside, after %d questions", len(inside.seen()), asked.Load())
	}
	b.push(t, notification("http://127.0.0.1:"+u.Port(), "t2", 0)) // as if registered under other rules
	b.await(t, outcomeRefused, 2)
	if len(inside.seen()) != 0 {
		t.Error("a literal address was called")
	}
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limit := limits{1000, PerTarget{InFlight: 10, Rate: 1000}}
	ts := &targets{}
	enter := func(want bool) time.Time {
		t.Helper()
		later, ok := ts.enter(visit{"o", "a"}, now, limit, 15*time.Second)
		if ok != want {
			t.Fatalf("entered: %v", ok)
		}
		return later
	}
	for range 5 {
		enter(true)
		ts.leave(visit{"o", "a"}, now, time.Millisecond, unwell, limit)
	}
	if !ts.open(visit{"o", "a"}) || ts.open(visit{"other", "a"}) || ts.open(visit{"o", "b"}) {
		t.Error("after five failures it is open, and no other")
	}
	if later := enter(false); later.Before(now.Add(time.Second)) || later.After(now.Add(2*time.Second)) {
		t.Errorf("come back at %s", later.Sub(now))
	}
	now = now.Add(time.Second)
	enter(true) // the probe
	enter(false)
	ts.leave(visit{"o", "a"}, now, time.Millisecond, unwell, limit)
	now = now.Add(time.Second)
	enter(false) // the pause has doubled
	now = now.Add(time.Second)
	enter(true)
	ts.leave(visit{"o", "a"}, now, time.Millisecond, silent, limit) // it came to nothing: the next may try
	now = now.Add(15 * time.Second)
	enter(true)
	ts.leave(visit{"o", "a"}, now, time.Millisecond, well, limit)
	enter(true)
	enter(true)
}

// TestBreakerAndThoseUnderWay: however many fail at once, the target is left alone for no
// longer than after five.
func TestBreakerAndThoseUnderWay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limit := limits{1000, PerTarget{InFlight: 64, Rate: 1000}}
	ts := &targets{}
	enter := func() (time.Time, bool) { return ts.enter(visit{"o", "a"}, now, limit, 15*time.Second) }
	for range limit.InFlight {
		if _, ok := enter(); !ok {
			t.Fatal("not entered")
		}
	}
	for range limit.InFlight {
		ts.leave(visit{"o", "a"}, now, time.Millisecond, unwell, limit)
	}
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if later, ok := enter(); ok || later.After(now.Add(pause+time.Second)) {
			t.Errorf("entered: %v; come back after %s, want %s", ok, later.Sub(now), pause)
		}
		now = now.Add(pause)
		if _, ok := enter(); !ok {
			t.Fatalf("no probe after %s", pause)
		}
		ts.leave(visit{"o", "a"}, now, time.Millisecond, unwell, limit)
	}
}

// TestTargetsAreForgotten when nobody sends to them.
func TestTargetsAreForgotten(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	limit := limits{1000, PerTarget{InFlight: 1, Rate: 1}}
	ts := &targets{}
	for i := range 5 * manyTargets {
		name := fmt.Sprint(i)
		if _, ok := ts.enter(visit{name, "a"}, now, limit, time.Second); !ok {
			t.Fatal("not entered")
		}
		if i > 0 {
			ts.leave(visit{name, "a"}, now, time.Millisecond, well, limit)
		}
		now = now.Add(forgetTarget / manyTargets)
	}
	if n := len(ts.all); n > 2*manyTargets {
		t.Errorf("%d targets are known", n)
	}
	if _, ok := ts.enter(visit{"0", "a"}, now, limit, time.Second); ok {
		t.Error("one was forgotten that has a delivery under way")
	}
}

// TestPauses holds the bounds of every pause: at least half of what it would be without
// chance, at most the longest, and one last time at the end.
func TestPauses(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := Attempts{
			First:   quantity.Duration(rapid.Int64Range(int64(10*time.Millisecond), int64(time.Minute)).Draw(t, "first")),
			Longest: quantity.Duration(rapid.Int64Range(int64(time.Minute), int64(2*time.Hour)).Draw(t, "longest")),
			For:     quantity.Duration(24 * time.Hour),
		}
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		whole := a.Longest.Std()
		if n < 40 && a.First.Std()<<(n-1) < whole && a.First.Std()<<(n-1) > 0 {
			whole = a.First.Std() << (n - 1)
		}
		if p := a.pause(n); p > whole || p < whole/2 {
			t.Fatalf("pause %d is %s of %s", n, p, whole)
		}
		pushed := time.Unix(0, 0)
		now := pushed.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "now")))
		asked := time.Duration(rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "asked"))
		due := a.after(n, now, pushed, asked)
		if due.Sub(now) > a.Longest.Std() || due.Before(now) || !a.over(now, pushed) && due.After(pushed.Add(a.For.Std())) {
			t.Fatalf("due %s after %s, pushed at %s", due.Sub(now), now, pushed)
		}
	})
}
