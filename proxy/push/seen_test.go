package push

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// mute is a store that forgets nothing while it is asked to.
type mute struct {
	state.Values

	on bool
}

func (m *mute) Delete(ctx context.Context, space, key string) error {
	if m.on {
		return state.ErrUnavailable
	}
	return m.Values.Delete(ctx, space, key)
}

// TestBegin: what was begun with the same body goes on under its id once that is known to
// be broken off, and never while it may be another notification.
func TestBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		one, _ := newRegistry(t, Config{Age: quantity.Duration(time.Minute)})
		other := func() *Registry { // another process on the same state
			r := *one
			r.underway = newUnderway(time.Now())
			return &r
		}
		h := find(t, one, register(t, one, hook("alice", "T", "C")))
		begin := func(r *Registry, id, want string) func(bool) {
			t.Helper()
			got, end, err := r.Begin(ctx, h, []byte("ha"), id)
			if err != nil || got != want {
				t.Fatalf("%s is delivered as %q, want %q: %v", id, got, want, err)
			}
			return end
		}
		two := other()
		time.Sleep(time.Second)
		first := begin(one, "a", "a")
		begin(one, "b", "b")(true)  // both are under way
		begin(two, "c", "c")(false) // likewise, at another gateway
		first(true)
		begin(one, "d", "d")(false) // the agent was told that a is taken
		begin(one, "e", "d")(true)  // and not that d is
		begin(one, "f", "f")        // its gateway is killed
		time.Sleep(time.Second)
		begin(other(), "g", "f")(false) // as one that began since then can tell
		begin(two, "h", "h")(false)
		time.Sleep(2 * waiting)
		begin(two, "i", "f")(true) // so can others, in time
		time.Sleep(2 * time.Minute)

		store := &mute{one.values, true}
		lame := other()
		lame.values = store
		begin(lame, "j", "j")(true)
		store.on = false
		begin(lame, "k", "k")(true) // the state was not told that j is taken
		time.Sleep(2 * time.Minute)
		begin(lame, "l", "l")(true)
	})
}

// TestBeginWithoutState: an agent whose notification cannot be told from others is to
// send it again.
func TestBeginWithoutState(t *testing.T) {
	t.Parallel()
	r, _ := newRegistry(t, Config{})
	h := find(t, r, register(t, r, hook("alice", "T", "C")))
	values := r.values
	r.values = away{}
	if _, _, err := r.Begin(t.Context(), h, []byte("ha"), "a"); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("with the state away: %v", err)
	}
	r.values = values
	if got, end, err := r.Begin(t.Context(), h, []byte("ha"), "b"); err != nil || got != "b" {
		t.Errorf("with the state back: %q %v", got, err)
	} else {
		end(true)
	}
	if len(r.underway.keys) > 0 {
		t.Errorf("%d are under way for ever", len(r.underway.keys))
	}
}

// away is a state that cannot be reached.
type away struct{ state.Values }

func (away) Add(context.Context, string, string, []byte, time.Duration) (bool, error) {
	return false, state.ErrUnavailable
}
