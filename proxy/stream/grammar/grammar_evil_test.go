package grammar

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// evilStep is anything that an agent can send, of few words so that it often fits.
func evilStep(t *rapid.T) Step {
	return Step{
		Kind: rapid.SampledFrom([]string{"task", "statusUpdate", "statusUpdate", "artifactUpdate", "message", ""}).Draw(t, "kind"),
		State: rapid.SampledFrom([]string{
			"", "TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED",
		}).Draw(t, "state"),
		Task:    rapid.SampledFrom([]string{"", "t", "t", "t", "u"}).Draw(t, "task"),
		Context: rapid.SampledFrom([]string{"", "c", "c", "c", "d"}).Draw(t, "context"),
		Final:   rapid.IntRange(0, 5).Draw(t, "final") == 0,
	}
}

// broken lists the rules that a whole stream breaks, each said of the stream and not of
// its steps.
func broken(stream []Step, lenient bool, turns int) (rules []error) {
	breaks := func(rule error, does bool) {
		if does {
			rules = append(rules, rule)
		}
	}
	tasks := map[string]bool{}
	stream = slices.Clone(stream)
	for i := range stream {
		if s := &stream[i]; s.Kind == "" || s.Kind == "message" {
			s.State, s.Final = "", false
		}
	}
	known := slices.DeleteFunc(slices.Clone(stream), func(s Step) bool { return s.Kind == "" })
	turnsTaken, messages, end := 0, 0, -1
	task, context, moves, strays := "", "", 0, false
	state := ""
	for i, s := range stream {
		if s.Task != "" {
			tasks[s.Task] = true
		}
		if s.Context != "" {
			if context != "" && s.Context != context {
				moves++
				strays = strays || s.Kind == "" || s.Task == "" || s.Task != task || moves > turns
			}
			context = s.Context
		}
		if task == "" {
			task = s.Task
		}
		if s.Kind == "message" {
			messages++
		}
		if strings.HasSuffix(s.State, "_REQUIRED") && (s.Kind != "task" || s.State != state) {
			turnsTaken++
		}
		breaks(ErrBackwards, settled(state) && s.State != "" && s.State != state)
		if s.State != "" {
			state = s.State
		}
		if end < 0 && (!lenient && settled(s.State) || lenient && s.Final) {
			end = i
		}
	}
	breaks(ErrOtherTask, len(tasks) > 1)
	breaks(ErrOtherContext, strays)
	breaks(ErrSecondMessage, !lenient && messages > 1)
	breaks(ErrMixed, !lenient && messages > 0 && len(known) > messages)
	breaks(errTurns, turnsTaken > turns)
	breaks(ErrFirst, !lenient && len(known) > 0 && known[0].Kind != "task" && known[0].Kind != "message")
	if end >= 0 && end < len(stream)-1 {
		rules = append(rules, brokenAfter(stream[:end+1], stream[end+1:], lenient)...)
	}
	return rules
}

// brokenAfter lists the rules that what stands behind the end breaks.
func brokenAfter(before, after []Step, lenient bool) (rules []error) {
	state := ""
	for _, s := range before {
		if s.State != "" {
			state = s.State
		}
	}
	s := after[0]
	again := s.State == state && (s.Kind == "task" || lenient && s.Kind == "statusUpdate")
	if len(after) > 1 || !again {
		rules = append(rules, ErrAfterEnd)
	}
	return rules
}

// TestA25_EvilAgent: whatever an agent sends, an event passes exactly if the stream
// with it breaks no rule, and otherwise the error names a rule that it breaks.
func TestA25_EvilAgent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := Grammar{Lenient: rapid.Bool().Draw(t, "lenient"), Turns: 3}
		var passed []Step
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			s := evilStep(t)
			before := g
			err := g.Next(s)
			rules := broken(append(slices.Clone(passed), s), g.Lenient, g.Turns)
			switch {
			case err == nil && len(rules) > 0:
				t.Fatalf("%v passes after %v but breaks %v", s, passed, rules)
			case err != nil && !slices.Contains(rules, err):
				t.Fatalf("%v after %v is refused by %v but breaks %v", s, passed, err, rules)
			case err != nil && before != g:
				t.Fatalf("a refused event changed %v to %v", before, g)
			case err == nil:
				passed = append(passed, s)
			}
		}
	})
}

// legal draws a stream that a good agent sends, to its end.
func legal(t *rapid.T, lenient bool) []Step {
	at := func(kind, state string) Step { return Step{Kind: kind, State: state, Task: "t", Context: "c"} }
	if rapid.IntRange(0, 9).Draw(t, "shape") == 0 {
		return []Step{{Kind: "message", Context: "c"}}
	}
	stream := []Step{at("task", "TASK_STATE_SUBMITTED")}
	for range rapid.IntRange(0, 10).Draw(t, "updates") {
		stream = append(stream, rapid.SampledFrom([]Step{
			at("statusUpdate", "TASK_STATE_WORKING"), at("artifactUpdate", ""), at("statusUpdate", "TASK_STATE_INPUT_REQUIRED"), at("task", "TASK_STATE_WORKING"),
		}).Draw(t, "update"))
	}
	state := rapid.SampledFrom([]string{"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"}).Draw(t, "end")
	end := at("statusUpdate", state)
	end.Final = lenient
	stream = append(stream, end)
	if rapid.Bool().Draw(t, "again") {
		stream = append(stream, at("task", state))
	}
	return stream
}

// TestA25_SmuggledTurns: a legal stream passes whole and has ended then; with one event
// slipped in that belongs to another conversation, or behind its end, it does not.
func TestA25_SmuggledTurns(t *testing.T) {
	t.Parallel()
	others := []Step{
		{Kind: "statusUpdate", State: "TASK_STATE_WORKING", Task: "u", Context: "c"},
		{Kind: "artifactUpdate", Context: "d"},
		{Kind: "message", Task: "u", Context: "c"},
		{Kind: "task", State: "TASK_STATE_WORKING", Task: "u", Context: "d"},
	}
	late := []Step{
		{Kind: "message", Task: "t", Context: "c"},
		{Kind: "artifactUpdate", Task: "t", Context: "c"},
		{Kind: "statusUpdate", State: "TASK_STATE_WORKING"},
	}
	rapid.Check(t, func(t *rapid.T) {
		lenient := rapid.Bool().Draw(t, "lenient")
		stream := legal(t, lenient)
		g := Grammar{Lenient: lenient}
		for i, s := range stream {
			if g.Over() != (i > 0 && settled(stream[i-1].State)) {
				t.Fatalf("over %v before event %d of %v", g.Over(), i+1, stream)
			}
			if err := g.Next(s); err != nil {
				t.Fatalf("event %d of %v: %v", i+1, stream, err)
			}
		}
		if stream[0].Kind == "message" {
			return
		}
		if !g.Over() {
			t.Fatalf("%v has not ended", stream)
		}
		for _, s := range slices.Concat(others, late) {
			if err := g.Next(s); err == nil {
				t.Fatalf("%v passes behind %v", s, stream)
			}
		}
		at := rapid.IntRange(1, len(stream)-1).Draw(t, "at")
		evil := slices.Insert(slices.Clone(stream), at, rapid.SampledFrom(others).Draw(t, "smuggled"))
		g = Grammar{Lenient: lenient}
		for _, s := range evil {
			if g.Next(s) != nil {
				return
			}
		}
		t.Fatalf("%v passes", evil)
	})
}
