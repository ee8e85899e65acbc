package e2e

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestR05_OtherReplica has clients come back at another gateway on the same Redis, which
// follows the one that reads the agent, and goes on in its place when that one is killed.
// Nothing is lost, told twice or out of turn.
func TestR05_OtherReplica(t *testing.T) {
	t.Parallel()
	state := fmt.Sprintf("state: {driver: redis, redis: {addresses: [%q], timeout: 2s}}\nkeys: {dir: %q}",
		startRedis(t).address, filepath.Join(t.TempDir(), "keys"))
	s := newStory(t, 20*time.Second)
	s.every, s.events = 20*time.Millisecond, 1000
	agent := fmt.Sprintf(`{id: story, card: "http://%s/card"}`, s.address())
	one := serveFleet(t, "  id: one", state, agent)
	other := serveFleet(t, "  id: other", state, agent)
	callers := [2]*caller{one.caller("story"), other.caller("story")}
	for _, c := range callers {
		c.client.Timeout = 0
	}
	var moved atomic.Bool // whoever comes back does so at the other
	a := attend(t, s, func() *caller {
		if moved.Load() {
			return callers[1]
		}
		return callers[0]
	}, 3, 2, 3, nil)
	time.Sleep(time.Second)
	moved.Store(true)
	time.Sleep(2 * time.Second)
	asked := s.calls.Load()
	if followed := recorded(t, filepath.Join(filepath.Dir(other.config), "data"), `"resumed":true`); followed == 0 {
		t.Error("nobody has come back at the other gateway")
	}
	if asked > 10 {
		t.Errorf("the agent was asked %d times for three streams", asked)
	}
	begun := time.Now()
	one.signal(syscall.SIGKILL)
	eventually(t, "the other gateway asks the agent", 20*time.Second, func() bool { return s.calls.Load() > asked })
	took := time.Since(begun)
	gaps, _ := a.ends()
	other.signal(syscall.SIGTERM)
	data := filepath.Join(filepath.Dir(other.config), "data")
	if n := recorded(t, data, `"gap":true`); n > gaps {
		t.Errorf("%d gaps are on record, and %d were shown", n, gaps)
	}
	for _, task := range a.missed() {
		if recorded(t, data, `"gap":true`, fmt.Sprintf(`"task_id":%q`, task)) == 0 {
			t.Errorf("no gap of %s is on record", task)
		}
	}
	t.Logf("the other gateway took over after %v", took)
}
