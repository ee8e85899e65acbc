package limits_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// TestOpenTasksAfterLeave: the place of a send whose answer nobody waited for runs out, and
// is not given back.
func TestOpenTasksAfterLeave(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, k := limiter(t, limits.Options{}, "{name: tasks, openTasks: 1, concurrency: 1}"), &calls{t: t}
		p, _ := admit(t, l, k.send())
		p.Leave(t.Context())
		for _, tt := range []struct {
			pause time.Duration
			free  bool
		}{{0, false}, {4 * time.Minute, false}, {2 * time.Minute, true}} {
			time.Sleep(tt.pause)
			if got := room(t, l, k.send()); got != tt.free {
				t.Errorf("after another %s there is room: %t", tt.pause, got)
			}
		}
		p = nil
		p.Leave(t.Context())
	})
}

// TestPlacesAreHeldForAgents: with Leave the places of a call stay, at all gateways, for as
// long as somebody holds them, and a client who comes back takes no other.
func TestPlacesAreHeldForAgents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory(t)
		const one = "{name: one, concurrency: 1}"
		l, other, k := limiter(t, limits.Options{Store: store}, one), limiter(t, limits.Options{Store: store}, one), &calls{t: t}
		p, _ := admit(t, l, k.send())
		if p.Return() {
			t.Error("there is something to return to before anybody has left")
		}
		free := p.Hold()
		p.Leave(t.Context())
		for range 5 {
			if room(t, l, k.send()) || room(t, other, k.send()) {
				t.Fatal("there is room while the agent goes on")
			}
			time.Sleep(time.Minute)
		}
		if !p.Return() || p.Return() {
			t.Error("one comes back, and only one")
		}
		back := k.send()
		back.Placed = true
		q, by := admit(t, l, back)
		if by != "" || q.Holds() {
			t.Errorf("who comes back needs a place: %q", by)
		}
		q.Release(t.Context())
		free()
		free()
		if room(t, other, k.send()) {
			t.Error("there is room while somebody listens")
		}
		p.Leave(t.Context())
		if !room(t, other, k.send()) || !room(t, l, k.send()) || p.Return() || p.Holds() {
			t.Error("the place is not given back")
		}
	})
}

// TestPlacesOfEndedTasks: what has ended holds no place, whoever has not noticed.
func TestPlacesOfEndedTasks(t *testing.T) {
	t.Parallel()
	l, k := limiter(t, limits.Options{}, "{name: one, concurrency: 1}"), &calls{t: t}
	for name, end := range map[string]func(*limits.Pass){
		"done":           func(p *limits.Pass) { p.Done(); p.Leave(t.Context()) },
		"released":       func(p *limits.Pass) { p.Release(t.Context()) },
		"left, not held": func(p *limits.Pass) { p.Leave(t.Context()) },
	} {
		p, _ := admit(t, l, k.send())
		free := func() {}
		if name != "left, not held" {
			free = p.Hold()
		}
		end(p)
		if !room(t, l, k.send()) {
			t.Errorf("%s: there is no room", name)
		}
		free()
	}
	var none *limits.Pass
	none.Hold()()
	none.Done()
	if none.Holds() || none.Return() {
		t.Error("nothing holds a place")
	}
}
