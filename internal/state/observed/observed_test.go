package observed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
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
	broken, uncounted := errors.New("disk I/O error"), errors.New("not counted")
	cut := fmt.Errorf("%w: %w", state.ErrUnavailable, context.Canceled) // as redis has it
	gone, leave := context.WithCancel(t.Context())
	leave()
	late, stop := context.WithTimeout(t.Context(), 0)
	defer stop()
	for name, tt := range map[string]struct {
		err         error
		ctx         context.Context //nolint:containedctx // of a case
		unavailable bool
		counted     error
	}{
		"an answer":                    {err: nil},
		"no room":                      {err: fmt.Errorf("push: %w", state.ErrFull)},
		"no memory":                    {err: state.Refusing("redis", broken), unavailable: true, counted: broken},
		"the caller has gone":          {err: context.Canceled, ctx: gone, counted: uncounted},
		"and the store says so":        {err: cut, ctx: gone, unavailable: true, counted: uncounted},
		"and it broke":                 {err: broken, ctx: gone, unavailable: true, counted: uncounted},
		"answered all the same":        {ctx: gone},
		"somebody else gave up":        {err: context.Canceled, unavailable: true, counted: context.Canceled},
		"the store says so":            {err: state.ErrUnavailable, unavailable: true, counted: state.ErrUnavailable},
		"it took too long":             {err: context.DeadlineExceeded, unavailable: true, counted: context.DeadlineExceeded},
		"longer than the caller could": {err: context.DeadlineExceeded, ctx: late, unavailable: true, counted: context.DeadlineExceeded},
		"anything else":                {err: broken, unavailable: true, counted: broken},
	} {
		counted := uncounted
		o := &Store{failing{err: tt.err}, func(_ string, _ time.Duration, err error) { counted = err }}
		_, _, err := o.Lookup(cmp.Or(tt.ctx, t.Context()), "billing", state.Task, "t")
		if errors.Is(err, state.ErrUnavailable) != tt.unavailable || !errors.Is(err, tt.err) || !errors.Is(counted, tt.counted) {
			t.Errorf("%s: %v, counted as %v", name, err, counted)
		}
	}
}

// Each operation has a name of its own in the metrics, and none of them is other.
func TestObservedOperationsHaveNames(t *testing.T) {
	t.Parallel()
	metrics, err := os.ReadFile("../../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(metrics), "\n| `operation` | ")
	row, _, _ = strings.Cut(row, " |\n")
	known := strings.Split(row, ", ")
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	counted := map[string]bool{}
	o := reflect.ValueOf(&Store{memory, func(operation string, _ time.Duration, _ error) { counted[operation] = true }})
	for i := range o.NumMethod() {
		if o.Type().Method(i).Name == "Close" {
			continue
		}
		args := make([]reflect.Value, o.Method(i).Type().NumIn())
		for n := range args {
			if args[n] = reflect.Zero(o.Method(i).Type().In(n)); n == 0 && args[n].Kind() == reflect.Interface {
				args[n] = reflect.ValueOf(t.Context())
			}
		}
		o.Method(i).Call(args)
	}
	for name := range counted {
		if !slices.Contains(known, name) {
			t.Errorf("%q is counted, and not among %v", name, known)
		}
	}
	if len(counted) < 10 {
		t.Errorf("only %v", counted)
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
	o := &Store{moving{}, func(_ string, _ time.Duration, err error) { counted = err }}
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
	o := &Store{losing{}, func(_ string, _ time.Duration, err error) { counted = err }}
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
