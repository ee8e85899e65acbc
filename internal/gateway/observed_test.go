package gateway

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// failing answers every lookup with one error.
type failing struct {
	state.Store
	err error
}

func (f failing) Lookup(context.Context, string, state.Kind, string) (state.Record, bool, error) {
	return state.Record{}, false, f.err
}

func TestObservedTellsFailuresFromAnswers(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk I/O error")
	for name, tt := range map[string]struct {
		err         error
		unavailable bool
	}{
		"an answer":         {nil, false},
		"no room":           {state.ErrFull, false},
		"nobody waits":      {context.Canceled, false},
		"the store says so": {state.ErrUnavailable, true},
		"it took too long":  {context.DeadlineExceeded, true},
		"anything else":     {broken, true},
	} {
		var counted error
		o := &observed{failing{err: tt.err}, func(_ string, _ time.Duration, err error) { counted = err }}
		_, _, err := o.Lookup(t.Context(), "billing", state.Task, "t")
		if errors.Is(err, state.ErrUnavailable) != tt.unavailable || !errors.Is(err, tt.err) || !errors.Is(counted, tt.err) {
			t.Errorf("%s: %v, counted as %v", name, err, counted)
		}
	}
}

// moving has logs that somebody else writes to.
type moving struct{ state.Store }

func (moving) Append(context.Context, string, uint64, [][]byte, state.Bound) error {
	return state.ErrMoved
}

// A log that has moved on is an answer, and nothing that an operator has to look at.
func TestObservedCountsMovedAsAnswered(t *testing.T) {
	t.Parallel()
	counted := errors.New("not counted")
	o := &observed{moving{}, func(_ string, _ time.Duration, err error) { counted = err }}
	err := o.Append(t.Context(), "log", 1, nil, state.Bound{})
	if !errors.Is(err, state.ErrMoved) || errors.Is(err, state.ErrUnavailable) || counted != nil {
		t.Errorf("%v, counted as %v", err, counted)
	}
}

// losing has a queue in which somebody else has taken every item.
type losing struct{ state.Store }

func (losing) Done(context.Context, string, string, string) error { return state.ErrTaken }

// What only the caller got wrong, or somebody else did sooner, is no failure of the store.
func TestObservedCountsTakenAsAnswered(t *testing.T) {
	t.Parallel()
	counted := errors.New("not counted")
	o := &observed{losing{}, func(_ string, _ time.Duration, err error) { counted = err }}
	err := o.Done(t.Context(), "q", "h", "1")
	if !errors.Is(err, state.ErrTaken) || errors.Is(err, state.ErrUnavailable) || counted != nil {
		t.Errorf("%v, counted as %v", err, counted)
	}
	_, push := o.Push(t.Context(), "q", state.Item{}, 0)
	_, take := o.Take(t.Context(), "q", "", time.Now(), 1, time.Minute)
	for _, err := range []error{push, take} {
		if err == nil || errors.Is(err, state.ErrUnavailable) {
			t.Errorf("what means nothing: %v", err)
		}
	}
}
