package statetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Steps runs the suite for stores of where tasks stand. Calls of open are as those
// for Ledger.
func Steps(t *testing.T, open func(testing.TB) state.Steps) {
	t.Helper()
	for name, run := range map[string]func(*testing.T, state.Steps){
		"a task goes step by step":    stepByStep,
		"steps do not collide":        stepsApart,
		"names of states are bytes":   stateBytes,
		"one takes each step":         oneStepper,
		"everybody sees states go on": onward,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(t, open(t))
		})
	}
	t.Run("behaves like a map of states", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) { stepModel(rt, open(t)) })
	})
}

// ExampleStep is a Step with every field set.
func ExampleStep() state.Step {
	r := Example()
	return state.Step{Agent: r.Agent, Task: r.ID, Extension: r.Extensions[0]}
}

func stepByStep(t *testing.T, l state.Steps) {
	s := ExampleStep()
	for i, tc := range []struct{ from, to, want string }{
		{"", "", ""},               // reading what nobody wrote
		{"offered", "offered", ""}, // neither does reading write
		{"offered", "paid", ""},    // nor a step from where the task is not
		{"", "offered", "offered"}, // the first
		{"", "paid", "offered"},    // the first again
		{"", "", "offered"},        // reading
		{"offered", "offered", "offered"},
		{"offered", "paid", "paid"},
		{"offered", "refused", "paid"}, // somebody else was first
		{"paid", "offered", "offered"}, // what may follow is not the store's to say
		{"paid", "", "offered"},
		{"offered", "", ""}, // no state again
		{"offered", "paid", ""},
		{"", "paid", "paid"},
	} {
		if got := advance(t, l, s, tc.from, tc.to); got != tc.want {
			t.Fatalf("step %d, from %q to %q: the task is in %q, want %q", i, tc.from, tc.to, got, tc.want)
		}
	}
}

// stepsApart holds triples that careless concatenation would make the same key.
func stepsApart(t *testing.T, l state.Steps) {
	keys := []state.Step{
		{Agent: "a", Task: "1", Extension: "x"},
		{Agent: "b", Task: "1", Extension: "x"},
		{Agent: "a", Task: "2", Extension: "x"},
		{Agent: "a", Task: "1", Extension: "y"},
		{Agent: "a1", Task: "", Extension: "x"},
		{Agent: "", Task: "a1", Extension: "x"},
		{Agent: "a", Task: "", Extension: "1x"},
		{Agent: "a", Task: "1x", Extension: ""},
		{Agent: "ax", Task: "1", Extension: ""},
		{Agent: "", Task: "1", Extension: "ax"},
		{Agent: "a\x00", Task: "1", Extension: "x"},
		{Agent: "a", Task: "\x001", Extension: "x"},
		{Agent: "a", Task: "1\x00", Extension: "x"},
		{Agent: "a", Task: "1", Extension: "\x00x"},
		{Agent: "A", Task: "1", Extension: "x"},
		{Agent: "a", Task: "1", Extension: "X"},
		{Agent: "a", Task: "1 ", Extension: "x"},
		{Agent: "a:1", Task: "x", Extension: ""},
		{Agent: "a", Task: "1:x", Extension: ""},
	}
	for i, k := range keys {
		if got := advance(t, l, k, "", fmt.Sprint(i)); got != fmt.Sprint(i) {
			t.Errorf("step %d (%+v) collides with step %s", i, k, got)
		}
	}
	for i, k := range keys {
		if got := advance(t, l, k, "", ""); got != fmt.Sprint(i) {
			t.Errorf("step %d (%+v) is in %q now", i, k, got)
		}
	}
}

// stateBytes: all of a step comes from agents.
func stateBytes(t *testing.T, l state.Steps) {
	long := make([]byte, 4000)
	for i := range long {
		long[i] = byte(i)
	}
	s := state.Step{Agent: "ü\x00'\"\\%_", Task: string(long), Extension: "\xff"}
	from := ""
	for _, to := range []string{string(long), "\xff", "ü\x00'\"\\%_", "\n"} {
		if got := advance(t, l, s, from, to); got != to {
			t.Errorf("the task is in %q, want %q", got, to)
		}
		from = to
	}
}

// oneStepper: of many who take the same step to different states at the same moment
// one succeeds, and all are told where the task then is.
func oneStepper(t *testing.T, l state.Steps) {
	const rounds, callers = 50, 16
	from := ""
	for round := range rounds {
		var took atomic.Int64
		got := make([]string, callers)
		together(callers, func(caller int) {
			to := fmt.Sprint("round ", round, " caller ", caller)
			got[caller], _ = l.Advance(t.Context(), ExampleStep(), from, to)
			if got[caller] == to {
				took.Add(1)
			}
		})
		if took.Load() != 1 {
			t.Fatalf("round %d: %d callers took the step", round, took.Load())
		}
		stands := advance(t, l, ExampleStep(), "", "")
		for caller, s := range got {
			if s != stands {
				t.Fatalf("round %d: caller %d was told %q, but the task is in %q", round, caller, s, stands)
			}
		}
		from = stands
	}
}

// onward: callers count up together, each from what it was told last. No number is
// taken twice or left out, and nobody is told of one that is past.
func onward(t *testing.T, l state.Steps) {
	const callers, last = 8, 400
	var took [last + 1]atomic.Int64
	together(callers, func(caller int) {
		from := ""
		for at := 0; at < last; {
			to := fmt.Sprint(at+1, " by ", caller)
			got, err := l.Advance(t.Context(), ExampleStep(), from, to)
			n := 0
			if _, scan := fmt.Sscan(got, &n); err != nil || scan != nil || n <= at {
				t.Errorf("caller %d: from %q to %q: %q, %v", caller, from, to, got, err)
				return
			}
			if got == to {
				took[n].Add(1)
			}
			from, at = got, n
		}
	})
	for n := 1; n <= last; n++ {
		if took[n].Load() != 1 {
			t.Errorf("step %d was taken %d times", n, took[n].Load())
		}
	}
}

// stepModel compares a store with a map under random operations.
func stepModel(rt *rapid.T, l state.Steps) {
	want := map[state.Step]string{}
	text := rapid.StringOfN(rapid.RuneFrom([]rune("a:\x00")), 0, 2, -1)
	rt.Repeat(map[string]func(*rapid.T){
		"advance": func(rt *rapid.T) {
			s := state.Step{Agent: text.Draw(rt, "agent"), Task: text.Draw(rt, "task"), Extension: text.Draw(rt, "uri")}
			from, to := text.Draw(rt, "from"), text.Draw(rt, "to")
			if rapid.Bool().Draw(rt, "from where it is") {
				from = want[s]
			}
			if want[s] == from && (want[s] != "" || from != to) {
				want[s] = to
			}
			if got := advance(rt, l, s, from, to); got != want[s] {
				rt.Fatalf("from %q to %q: the task is in %q, want %q", from, to, got, want[s])
			}
		},
	})
}

func advance(t reporter, l state.Steps, s state.Step, from, to string) string {
	t.Helper()
	got, err := l.Advance(context.Background(), s, from, to)
	if err != nil {
		t.Fatalf("Advance(%+v, %q, %q): %v", s, from, to, err)
	}
	return got
}
