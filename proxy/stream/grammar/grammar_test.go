package grammar

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// steps reads a stream from words: kind, and behind colons state, task, context and
// "final". States are said without TASK_STATE_.
func steps(words string) []Step {
	var found []Step
	for _, word := range strings.Fields(words) {
		f := append(strings.Split(word, ":"), "", "", "", "")
		s := Step{Kind: kinds[f[0]], Task: f[2], Context: f[3], Final: f[4] == "final"}
		if f[1] != "" {
			s.State = "TASK_STATE_" + f[1]
		}
		found = append(found, s)
	}
	return found
}

var kinds = map[string]string{"T": "task", "M": "message", "S": "statusUpdate", "A": "artifactUpdate", "?": ""}

// TestA25_StreamGrammar: what streams agents may send, and by which rule the last event
// of others is refused.
func TestA25_StreamGrammar(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stream          string
		strict, lenient error // of the last event; those before it may come
	}{
		{"M", nil, nil},
		{"T:SUBMITTED S:WORKING A A S:COMPLETED", nil, nil},
		{"T:COMPLETED", nil, nil},
		{"T:WORKING:t:c S:WORKING:t:c A::t S:FAILED::c T:FAILED:t:c", nil, nil},
		{"T:WORKING S:SUBMITTED S:UNSPECIFIED S:REJECTED", nil, nil},
		{"T:WORKING S:INPUT_REQUIRED S:WORKING S:AUTH_REQUIRED S:WORKING S:COMPLETED", nil, nil},
		{"T:SUBMITTED T:WORKING A T:WORKING S:CANCELED", nil, nil},
		{"T:WORKING ? A S:COMPLETED", nil, nil},
		{"? T:WORKING", nil, nil},

		{"S:WORKING", ErrFirst, nil},
		{"A", ErrFirst, nil},
		{"? A", ErrFirst, nil},
		{"M M", ErrSecondMessage, nil},
		{"M S:WORKING", ErrMixed, nil},
		{"M T:WORKING", ErrMixed, nil},
		{"M ?", nil, nil},
		{"T:WORKING M", ErrMixed, nil},
		{"T:WORKING:t M::t:c", ErrMixed, nil},
		{"T:COMPLETED M", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED A", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED ?", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED S:COMPLETED", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED T:COMPLETED T:COMPLETED", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED T", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED S:WORKING", ErrBackwards, ErrBackwards},
		{"T:WORKING S:COMPLETED S:FAILED", ErrBackwards, ErrBackwards},
		{"T:WORKING S:COMPLETED T:WORKING", ErrBackwards, ErrBackwards},
		{"T:WORKING S:COMPLETED T:COMPLETED T:FAILED", ErrBackwards, ErrBackwards},
		{"T:WORKING S:COMPLETED S:INPUT_REQUIRED", ErrBackwards, ErrBackwards},
		{"T:WORKING:t S:WORKING:u", ErrOtherTask, ErrOtherTask},
		{"T:WORKING:t M::u", ErrOtherTask, ErrOtherTask},
		{"M::t T:WORKING:u", ErrOtherTask, ErrOtherTask},
		{"T:WORKING A::t S:COMPLETED:u", ErrOtherTask, ErrOtherTask},
		{"T:COMPLETED:t T:COMPLETED:u", ErrOtherTask, ErrOtherTask},
		{"T:WORKING:t:c S:WORKING:t:d A::t:c S:COMPLETED:t:d", nil, nil},
		{"T:WORKING:t:c S:WORKING::d", ErrOtherContext, ErrOtherContext},
		{"T:WORKING:t:c S:WORKING:t:d A:::c", ErrOtherContext, ErrOtherContext},
		{"T:WORKING:t:c S:WORKING:u:d", ErrOtherTask, ErrOtherTask},
		{"T:WORKING:t:c ?::t:d", ErrOtherContext, ErrOtherContext},
		{"T:WORKING ?:::d A:::c", ErrOtherContext, ErrOtherContext},
		{"T:WORKING:t:c S:WORKING:t:d S:WORKING:t:e S:WORKING:t:f S:WORKING:t:g", ErrOtherContext, ErrOtherContext},
		{"T:INPUT_REQUIRED S:INPUT_REQUIRED S:WORKING S:AUTH_REQUIRED S:INPUT_REQUIRED", errTurns, errTurns},
		{"T:INPUT_REQUIRED T:INPUT_REQUIRED S:WORKING T:INPUT_REQUIRED S:INPUT_REQUIRED T:INPUT_REQUIRED", nil, nil},

		// What ends the streams of 0.x is the agent's word.
		{"T:WORKING S:WORKING:::final A", nil, ErrAfterEnd},
		{"T:WORKING S:COMPLETED A S:COMPLETED:::final", ErrAfterEnd, nil},
		{"T:WORKING T:COMPLETED A M S:COMPLETED:::final", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED:::final S:COMPLETED", ErrAfterEnd, nil},
		{"T:WORKING S:COMPLETED:::final T:COMPLETED A", ErrAfterEnd, ErrAfterEnd},
		{"S:SUBMITTED A S:COMPLETED S:COMPLETED:::final S:COMPLETED:::final", ErrFirst, nil},
		{"S:COMPLETED:::final S:COMPLETED:::final S:COMPLETED:::final", ErrFirst, ErrAfterEnd},
		{"S:COMPLETED A S:FAILED:::final", ErrFirst, ErrBackwards},
	} {
		for _, lenient := range []bool{false, true} {
			want := test.strict
			if lenient {
				want = test.lenient
			}
			g := Grammar{Lenient: lenient, Turns: 3}
			all := steps(test.stream)
			for i, s := range all {
				err := g.Next(s)
				if err != nil && !lenient && errors.Is(err, test.strict) {
					break // a stream that only 0.x may begin
				}
				if i < len(all)-1 && err != nil || i == len(all)-1 && !errors.Is(err, want) {
					t.Errorf("%s, lenient %v, event %d: %v, want %v", test.stream, lenient, i+1, err, want)
				}
			}
		}
	}
}

// TestA25_TurnsWithoutEnd: an agent that asks again and again is stopped, by default.
func TestA25_TurnsWithoutEnd(t *testing.T) {
	t.Parallel()
	g := Grammar{}
	for i, s := range steps("T:SUBMITTED" + strings.Repeat(" S:INPUT_REQUIRED S:WORKING", 101)) {
		want := error(nil)
		if i == 201 {
			want = errTurns
		}
		if err := g.Next(s); !errors.Is(err, want) {
			t.Fatalf("event %d: %v", i+1, err)
		}
	}
}

// TestAdmittedSteps: an event that breaks a rule and is passed on counts for what follows.
func TestAdmittedSteps(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stream      string
		lenient     bool
		want        []error // of each event
		over, rests bool
	}{
		{"T:WORKING S:COMPLETED S:WORKING A S:COMPLETED", false, []error{nil, nil, ErrBackwards, nil, nil}, true, true},
		{"T:WORKING S:COMPLETED S:WORKING", false, []error{nil, nil, ErrBackwards}, false, false},
		{"T:WORKING:t S:WORKING:u S:WORKING:t", false, []error{nil, ErrOtherTask, nil}, false, false},
		{"M M S:WORKING A M", false, []error{nil, ErrSecondMessage, ErrMixed, nil, ErrMixed}, false, false},
		{"S:WORKING A", false, []error{ErrFirst, nil}, false, false},
		{"T:COMPLETED A A T:COMPLETED", false, []error{nil, ErrAfterEnd, ErrAfterEnd, ErrAfterEnd}, true, true},
		{"T:COMPLETED A", true, []error{nil, nil}, false, true},
		{"S:COMPLETED A S:COMPLETED:::final A", true, []error{nil, nil, nil, ErrAfterEnd}, true, true},
		{"S:WORKING:::final", true, []error{nil}, false, true},
		{"S:INPUT_REQUIRED A", true, []error{nil, nil}, false, true},
	} {
		g := Grammar{Lenient: test.lenient}
		for i, s := range steps(test.stream) {
			err := g.Next(s)
			if !errors.Is(err, test.want[i]) {
				t.Errorf("%s, event %d: %v, want %v", test.stream, i+1, err, test.want[i])
			}
			if err != nil {
				g.Admit(s)
			}
		}
		if g.Over() != test.over || g.Rests() != test.rests {
			t.Errorf("%s: over %v, rests %v", test.stream, g.Over(), g.Rests())
		}
	}
}

func ExampleGrammar() {
	g := Grammar{}
	fmt.Println(g.Next(Step{Kind: "task", State: "TASK_STATE_COMPLETED", Task: "t"}), g.Over())
	fmt.Println(g.Next(Step{Kind: "statusUpdate", State: "TASK_STATE_WORKING", Task: "t"}))
	// Output:
	// <nil> true
	// task in another state after its end
}
