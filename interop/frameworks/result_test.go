package frameworks_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// result is what came of a framework's agent or client.
type result struct {
	direct   []step
	notes    map[string]string // why something is not as it should be
	used     []string          // of their keys, those that explained something
	problems []string          // what no note explains
	same     int               // of the steps that were compared
	compared int
}

// through compares steps through the gateway with those directly.
func (r *result) through(how string, steps []step) {
	for _, want := range r.direct {
		r.compared++
		i := slices.IndexFunc(steps, func(s step) bool { return s.Name == want.Name })
		got := step{Name: want.Name, Said: "nothing"}
		if i >= 0 {
			got = steps[i]
		}
		if got.OK == want.OK && (got.Said == want.Said || !want.OK) {
			r.same++
			continue
		}
		if !r.explain(want.Name+" "+how) && !r.explain(how) {
			r.problems = append(r.problems, fmt.Sprintf("%s %s:\n%t %s\nand directly:\n%t %s", got.Name, how, got.OK, got.Said, want.OK, want.Said))
		}
	}
}

// explain tells whether there is a note for that.
func (r *result) explain(key string) bool {
	if _, ok := r.notes[key]; !ok {
		return false
	}
	r.used = append(r.used, key)
	return true
}

// report fails the test for what no note explains.
func (r *result) report(t *testing.T, what string) {
	t.Helper()
	for _, s := range r.direct {
		t.Logf("%s, directly: %s: %t %s", what, s.Name, s.OK, s.Said)
		if !s.OK && !r.explain(s.Name) {
			t.Errorf("%s, directly: %s does not work: %s", what, s.Name, s.Said)
		}
	}
	for _, p := range r.problems {
		t.Errorf("%s: %s", what, p)
	}
	for _, key := range slices.Sorted(maps.Keys(r.notes)) {
		if !slices.Contains(r.used, key) {
			t.Logf("%s: the note about %q explained nothing", what, key)
		}
	}
}
