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
