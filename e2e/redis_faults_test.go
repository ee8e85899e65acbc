package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// away is a way in which a gateway may not reach its Redis.
type away struct {
	name string
	from func(ctx context.Context, c *cable)
}

func aways() []away {
	hold := func(do func(c *cable)) func(context.Context, *cable) {
		return func(ctx context.Context, c *cable) {
			do(c)
			<-ctx.Done()
			c.mend()
		}
	}
	return []away{
		{"slow", hold(func(c *cable) { c.spoil("latency", `{"latency":2000}`) })},
		{"reset", hold(func(c *cable) { c.spoil("reset_peer", `{"timeout":0}`) })},
		{"silent", hold(func(c *cable) { c.spoil("timeout", `{"timeout":0}`) })},
		{"cut", hold(func(c *cable) { c.cut() })},
		{"in pieces, slowly", hold(func(c *cable) { c.spoil("slicer", `{"average_size":2,"size_variation":1,"delay":300000}`) })},
	}
}

// TestR14_RedisThroughToxics spoils the connection to Redis while calls and streams run:
// what concerns tasks is refused with 503 and soon without waiting, limits are counted
// by the gateway itself, open streams go on, and all is well again within five seconds.
func TestR14_RedisThroughToxics(t *testing.T) {
	t.Parallel()
	c := newCable(t, startRedis(t).address)
	agent, other := newSample(t, "a"), newSample(t, "b")
	agent.events, agent.every = 60, 50*time.Millisecond
	sections := fmt.Sprintf(`state: {driver: redis, redis: {addresses: [%q]}}
policy:
  rules: [{name: all, effect: allow, agents: ["*"]}]
  limits: {each: [{name: few, agents: [b], key: [principal], rate: {units: 10, per: 1h}}]}`, c.address())
	p := serveFleet(t, "", sections, fmt.Sprintf(`{id: a, card: "http://%s/card"}`, agent.address()),
		fmt.Sprintf(`{id: b, card: "http://%s/card"}`, other.address()))
	a := p.caller("a")
	made, passed := 0, 0
	task := func(t *testing.T) string {
		t.Helper()
		eventually(t, "a task is made while all is well", 5*time.Second, func() bool {
			made++ // on a busy machine Redis may be too slow all the same
			answer := a.call("SendMessage", "t", fmt.Sprintf(`{"message":{"messageId":"t%d","role":"ROLE_USER","parts":[{"text":"task"}]}}`, made))
			if answer.status != http.StatusOK {
				t.Logf("no task: %+v", answer)
			}
			return answer.status == http.StatusOK
		})
		return fmt.Sprintf("a-t%d", made)
	}
	for _, w := range aways() {
		t.Run(w.name, func(t *testing.T) {
			goroutines := p.metric("go_goroutines")
			known := task(t)
			open := p.follow(t, a, w.name)
			ctx, back := context.WithCancel(t.Context())
			var bad sync.WaitGroup
			bad.Go(func() { w.from(ctx, c) })
			p.refusals(a, known, 300*time.Millisecond) // until it is noticed
			refused := p.refusals(a, known, 600*time.Millisecond)
			let := p.few()
			back()
			bad.Wait()

			took := eventually(t, "the owner gets the task", 5*time.Second, func() bool {
				return a.call("GetTask", "g", fmt.Sprintf(`{"id":%q}`, known)).status == http.StatusOK
			})
			t.Logf("%d calls refused, p50 %v, p99 %v, longest %v; statuses %v; under the limit %v; back after %v",
				len(refused.took), quantile(refused.took, .5), quantile(refused.took, .99), quantile(refused.took, 1), refused.codes, let.codes, took)
			passed += let.codes[http.StatusOK]
			if passed == 0 || passed > 10 || let.codes[http.StatusOK]+let.codes[http.StatusTooManyRequests] != 30 {
				t.Errorf("a limit of 10 in an hour answered 30 calls with %v", let.codes)
			}
			for _, f := range refused.failed[:min(3, len(refused.failed))] {
				t.Errorf("a call on a task: %s", f)
			}
			if len(refused.took) == 0 || quantile(refused.took, .99) > time.Second {
				t.Errorf("calls are refused after %v", quantile(refused.took, .99))
			}
			for _, f := range open {
				if err := f.whole(agent.events); err != nil {
					t.Error(err)
				}
			}
			eventually(t, "goroutines have ended", 5*time.Second, func() bool { return p.metric("go_goroutines") < goroutines+20 })
			task(t)
		})
	}
}

// follow opens streams of tasks that take a while.
func (p *place) follow(t *testing.T, c *caller, name string) (open []*feed) {
	t.Helper()
	for n := range 3 {
		tries := 0
		eventually(t, "a stream is opened while all is well", 20*time.Second, func() bool {
			tries++ // on a busy machine Redis may be too slow all the same
			f, err := c.stream(t.Context(), fmt.Sprintf("%s-%d-%d", name, n, tries))
			if err != nil {
				t.Log(err)
				return false
			}
			open = append(open, f)
			return true
		})
	}
	return open
}

// whole reads a stream to its end, which is to be that of a task with so many artifacts.
func (f *feed) whole(artifacts int) error {
	n, last := 0, ""
	for last = range f.events {
		n += strings.Count(last, `"artifactUpdate"`)
	}
	if f.err != nil || n != artifacts || !strings.Contains(last, "TASK_STATE_COMPLETED") {
		return fmt.Errorf("stream %s: %d of %d artifacts, at last %.300s, %w", f.id, n, artifacts, last, f.err)
	}
	return nil
}

// refusals calls for a task for a while; what is not refused with 503 has failed.
func (p *place) refusals(c *caller, task string, run time.Duration) *tally {
	y := &tally{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for end := time.Now().Add(run); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
				a := c.call("GetTask", "g", fmt.Sprintf(`{"id":%q}`, task))
				y.add(a, a.err == nil && a.status == http.StatusServiceUnavailable)
			}
		})
	}
	all.Wait()
	return y
}

// few asks an agent for its extended card, which is no task's business and of which a
// limit lets ten through. It counts the statuses.
func (p *place) few() *tally {
	y := &tally{}
	for range 30 {
		a := p.caller("b").call("GetExtendedAgentCard", "c", "{}")
		y.add(a, a.status == http.StatusOK)
	}
	return y
}
