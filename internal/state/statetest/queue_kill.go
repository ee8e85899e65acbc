package statetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// busy is how many push, and how many take, in a WorkOn.
const busy = 4

// WorkOn pushes numbered items and takes them, of all that there are, until the store
// fails, and returns how. It says what it was told: "pushed" and "finishing", each with
// the line and the number of an item, the latter before the item is done. Lines begin
// with a name that no other call has used.
func WorkOn(q state.Queue, name string, say func(string)) error {
	failed := make(chan error, 2*busy)
	var all sync.WaitGroup
	for w := range busy {
		all.Go(func() { failed <- pushNumbers(q, fmt.Sprintf("%s-%d", name, w), say) })
		all.Go(func() { failed <- finishNumbers(q, fmt.Sprintf("%s-%d", name, w), say) })
	}
	all.Wait()
	return <-failed
}

func pushNumbers(q state.Queue, line string, say func(string)) error {
	for n := 0; ; n++ {
		it := state.Item{ID: fmt.Sprint(line, "/", n), Line: line, Pushed: time.Now(), Due: time.Now()}
		if _, err := q.Push(context.Background(), "q", it, 0); err != nil {
			return err
		}
		say(fmt.Sprintln("pushed", line, n))
	}
}

// finishNumbers does items much slower than they are pushed, so that many wait.
func finishNumbers(q state.Queue, holder string, say func(string)) error {
	for {
		list, err := q.Take(context.Background(), "q", holder, time.Now(), 1, 20*time.Millisecond)
		if err != nil {
			return err
		}
		for _, it := range list {
			say(fmt.Sprintln("finishing", it.Line, strings.TrimPrefix(it.ID, it.Line+"/")))
			if err := q.Done(context.Background(), "q", holder, it.ID); err != nil && !errors.Is(err, state.ErrTaken) {
				return err
			}
		}
	}
}

// Told is what calls of WorkOn have said, over all the deaths of a store.
type Told struct {
	pushed    map[string]int // by line: how many
	finishing map[string]int // by line: how many were done, or the last was to be
}

// Note takes a line of what was said; others than those are ignored.
func (d *Told) Note(said string) {
	var (
		what, line string
		n          int
	)
	if _, err := fmt.Sscan(said, &what, &line, &n); err != nil {
		return
	}
	if d.pushed == nil {
		d.pushed, d.finishing = map[string]int{}, map[string]int{}
	}
	switch what {
	case "pushed":
		d.pushed[line] = max(d.pushed[line], n+1)
	case "finishing":
		d.finishing[line] = max(d.finishing[line], n+1)
	}
}

// Verify empties the queue: of every line it must hold all from the last one that was to
// be finished, or the one behind, to the last that was pushed, in order.
func (d *Told) Verify(t *testing.T, q state.Queue) {
	t.Helper()
	next, pushed, left := map[string]int{}, 0, 0
	now := time.Now().Add(time.Hour)
	for list := take(t, q, "verify", now, 100); len(list) > 0; list = take(t, q, "verify", now, 100) {
		for _, it := range list {
			var n int
			if _, err := fmt.Sscan(strings.TrimPrefix(it.ID, it.Line+"/"), &n); err != nil {
				t.Fatal(err)
			}
			switch want, begun := next[it.Line]; {
			case begun && n != want:
				t.Errorf("line %s goes on with %d, not with %d", it.Line, n, want)
			case !begun && n != d.finishing[it.Line] && n != d.finishing[it.Line]-1:
				t.Errorf("line %s begins with %d after %d that were done", it.Line, n, d.finishing[it.Line])
			}
			next[it.Line] = n + 1
			left++
			settled(t, q.Done(t.Context(), "q", "verify", it.ID), nil)
		}
	}
	for line, n := range d.pushed {
		pushed += n
		if end := max(next[line], d.finishing[line]); end < n {
			t.Errorf("line %s ends before %d, but %d were pushed", line, end, n)
		}
	}
	depth(t, q, now, state.Depth{})
	t.Logf("%d items were pushed in %d lines, %d were left", pushed, len(d.pushed), left)
	if pushed == 0 || left == 0 || left == pushed {
		t.Error("the test shows nothing: some must be done, and some left")
	}
}
