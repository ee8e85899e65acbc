package limits_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
)

// Over any order of calls, ends and pauses: never more than the burst and what came back,
// never more of a quota, never more calls or tasks at once than there are places, and a
// call that is refused leaves all as it was.
func TestNeverMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		const concurrency, open = 3, 4
		units, burst := rapid.Int64Range(1, 5).Draw(rt, "units"), rapid.Int64Range(1, 8).Draw(rt, "burst")
		quota := rapid.Int64Range(1, 30).Draw(rt, "quota")
		steps := rapid.SliceOfN(rapid.IntRange(0, 9), 1, 80).Draw(rt, "steps")
		synctest.Test(t, func(t *testing.T) {
			store := memory(t)
			l := limiter(t, limits.Options{Store: store}, fmt.Sprintf(
				"{name: a, rate: {units: %d, per: 10s, burst: %d}, quota: {units: %d, per: day}}", units, burst, quota),
				fmt.Sprintf("{name: b, concurrency: %d, openTasks: %d}", concurrency, open))
			k, begin := &calls{t: t}, time.Now()
			var running []*limits.Pass
			var tasks []string
			var admitted int64
			for i, s := range steps {
				switch {
				case s < 5:
					p, by := admit(t, l, k.send())
					if by != "" {
						continue
					}
					admitted++
					running = append(running, p)
					if s < 2 {
						tasks = append(tasks, fmt.Sprint("t", i))
						p.Task(t.Context(), tasks[len(tasks)-1], true)
					}
				case s < 7:
					time.Sleep(time.Duration(s) * time.Second)
				case s == 7 && len(running) > 0:
					running[0].Release(t.Context())
					running[0].Release(t.Context())
					running = running[1:]
				case s == 8 && len(tasks) > 0:
					p, by := admit(t, l, k.on("alice", wire.GetTask, tasks[0]))
					if by != "" {
						continue
					}
					admitted++
					p.Task(t.Context(), tasks[0], false)
					p.Release(t.Context())
					tasks = tasks[1:]
				}
				most := burst + units*int64(time.Since(begin))/int64(10*time.Second)
				if admitted > min(most, quota) || len(running) > concurrency || len(tasks) > open {
					rt.Errorf("step %d of %v: %d calls, %d at once, %d tasks", i, steps, admitted, len(running), len(tasks))
				}
			}
			for _, p := range running {
				p.Release(t.Context())
			}
			time.Sleep(15 * time.Second) // what calls that were refused looked at is forgotten
			synctest.Wait()
			if left := store.Counted(); left > 2+min(len(tasks), 1)+len(tasks) {
				rt.Errorf("%d buckets and places are left with %d tasks open", left, len(tasks))
			}
		})
	})
}

// Callers at once, from two gateways: as many are admitted as there is room for.
func TestRace(t *testing.T) {
	t.Parallel()
	store := memory(t)
	lines := []string{"{name: a, rate: {units: 40, per: 24h}, openTasks: 1000}", "{name: b, concurrency: 5}", "{name: c, mode: shadow, quota: {units: 7}}"}
	both := []*limits.Limiter{limiter(t, limits.Options{Store: store}, lines...), limiter(t, limits.Options{Store: store}, lines...)}
	var admitted, shadowed, running, most atomic.Int64
	var wg sync.WaitGroup
	for caller := range 8 {
		k := &calls{t: t, n: caller * 1000}
		wg.Go(func() {
			for i := range 50 {
				p, err := both[caller%2].Admit(t.Context(), k.send())
				if err != nil {
					continue
				}
				now := running.Add(1)
				for was := most.Load(); now > was && !most.CompareAndSwap(was, now); was = most.Load() {
				}
				admitted.Add(1)
				shadowed.Add(int64(len(p.Shadow)))
				id := fmt.Sprint(caller, i)
				p.Task(t.Context(), id, true)
				wg.Go(func() { p.Task(t.Context(), id, false) })
				running.Add(-1)
				p.Release(t.Context())
			}
		})
	}
	wg.Wait()
	if n := admitted.Load(); n > 40 || n < 5 || most.Load() > 5 || shadowed.Load() != n-7 {
		t.Errorf("%d admitted of 40, %d at once of 5, %d beyond what is watched", n, most.Load(), shadowed.Load())
	}
}
