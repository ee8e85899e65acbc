package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const newTask = `{"message":{"messageId":%q,"role":"ROLE_USER","parts":[{"text":"task"}]}}`

// traffic is callers who make tasks and read them again, and one who is after the tasks of
// the others. While something is broken on purpose calls may fail, but never with a wrong
// answer; otherwise none may.
type traffic struct {
	mu     sync.Mutex
	era    int    // odd while something is broken
	broken string // what
	tasks  []string
	calls  int
	tries  int            // the thief's
	failed map[string]int // calls while something was broken, by that and their status
	wrong  []string       // those that may not fail
	took   []time.Duration
	done   sync.WaitGroup
	stop   context.CancelFunc
}

// moves starts the traffic, each caller with a connection of its own.
func (g *group) moves(callers int) *traffic {
	ctx, stop := context.WithCancel(g.t.Context())
	y := &traffic{stop: stop, failed: map[string]int{}}
	g.t.Cleanup(func() {
		stop()
		y.done.Wait()
	})
	for n := range callers {
		owner, thief := g.through("owner", "a", n%2 == 0), g.through("thief", "a", n%2 == 0)
		y.done.Go(func() {
			var mine []string
			for k := 0; ctx.Err() == nil; k++ {
				mine = y.round(owner, thief, fmt.Sprintf("t%d-%d", n, k), mine)
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	return y
}

// round makes a task, reads one of those before, and tries to steal it.
func (y *traffic) round(owner, thief *caller, id string, mine []string) []string {
	made := y.judge("make a task", func() answer { return owner.call("SendMessage", id, fmt.Sprintf(newTask, id)) }, `"a-`+id+`"`)
	if made {
		mine = append(mine[max(0, len(mine)-50):], "a-"+id)
		y.mu.Lock()
		y.tasks = append(y.tasks, "a-"+id)
		y.mu.Unlock()
	}
	if len(mine) == 0 {
		return mine
	}
	params := fmt.Sprintf(`{"id":%q}`, mine[len(mine)/2])
	y.judge("the owner's task", func() answer { return owner.call("GetTask", id, params) }, `"result"`)
	y.judge("somebody else's task", func() answer { return thief.call("GetTask", id, params) }, "-32001")
	return mine
}

// judge makes a call and looks at what came of it.
func (y *traffic) judge(what string, call func() answer, want string) bool {
	y.mu.Lock()
	era := y.era
	y.mu.Unlock()
	a := call()
	y.mu.Lock()
	defer y.mu.Unlock()
	y.calls++
	if strings.HasPrefix(what, "somebody") {
		y.tries++
	}
	broken := era%2 != 0 || era != y.era
	// The agent had it when the state went away, so that nobody is told to repeat it.
	unknown := broken && what == "make a task" && strings.Contains(a.body, `"OUTCOME_UNKNOWN"`)
	if a.err == nil && a.status == http.StatusOK && !unknown {
		if !strings.Contains(a.body, want) {
			y.wrong = append(y.wrong, fmt.Sprintf("%s: %.300s", what, a.body))
			return false
		}
		y.took = append(y.took, a.took)
		return true
	}
	if away := []int{0, http.StatusBadGateway, http.StatusServiceUnavailable}; !broken || !unknown && !slices.Contains(away, a.status) {
		y.wrong = append(y.wrong, fmt.Sprintf("%s %s: %d %.200s %v", time.Now().Format("05.000"), what, a.status, a.body, a.err))
		return false
	}
	y.failed[fmt.Sprintf("%s: %d", y.broken, a.status)]++
	return false
}

// breaks says that something is about to be broken.
func (y *traffic) breaks(what string) { y.turns(1, what) }

// mended says that calls do not go there any more, or that it is well again.
func (y *traffic) mended() { y.turns(0, "") }

func (y *traffic) turns(odd int, what string) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if what != "" {
		y.broken = what
	}
	if y.era++; y.era%2 != odd {
		panic("eras alternate")
	}
}

// newest is a task that was acknowledged.
func (y *traffic) newest() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.tasks[len(y.tasks)-1]
}

// goesOn waits until tasks have been made since.
func (y *traffic) goesOn(t *testing.T) {
	t.Helper()
	made := func() int {
		y.mu.Lock()
		defer y.mu.Unlock()
		return len(y.tasks)
	}
	before := made()
	eventually(t, "tasks are made", time.Minute, func() bool { return made() >= before+20 })
}

// ends stops all, and reports what was wrong.
func (y *traffic) ends(t *testing.T) {
	t.Helper()
	y.stop()
	y.done.Wait()
	t.Logf("%d calls, %d of them a thief's; %d tasks acknowledged; p50 %v, p99 %v, longest %v; failed while %v",
		y.calls, y.tries, len(y.tasks), quantile(y.took, .5), quantile(y.took, .99), quantile(y.took, 1), y.failed)
	for _, w := range y.wrong[:min(10, len(y.wrong))] {
		t.Error(w)
	}
	if len(y.wrong) > 0 {
		t.Errorf("%d wrong in all", len(y.wrong))
	}
}
