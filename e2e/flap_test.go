package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// faults are the ways in which a cable turns bad, one after the other.
var faults = []func(c *cable){
	func(c *cable) { c.cut() },
	func(c *cable) { c.spoil("reset_peer", `{"timeout":0}`) },
	func(c *cable) { c.spoil("latency", `{"latency":150,"jitter":100}`) },
	func(c *cable) { c.spoil("timeout", `{"timeout":100}`) },
	func(c *cable) { c.spoil("limit_data", `{"bytes":400}`) }, // in the middle of an event
	func(c *cable) { c.spoil("slicer", `{"average_size":7,"size_variation":3,"delay":100}`) },
}

// flap makes the cable bad and good by turns, until the context ends.
func (c *cable) flap(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	defer c.mend()
	for n := 0; ; n++ {
		faults[n%len(faults)](c)
		for range 2 {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			c.mend()
		}
	}
}

// tally is what came of calls to one agent.
type tally struct {
	mu     sync.Mutex
	took   []time.Duration // of those that went well
	failed []string
	codes  map[int]int // statuses; 0 where there was none
}

func (y *tally) add(a answer, ok bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.codes == nil {
		y.codes = map[int]int{}
	}
	y.codes[a.status]++
	if ok {
		y.took = append(y.took, a.took)
	} else {
		y.failed = append(y.failed, fmt.Sprintf("%d %.200s %v", a.status, a.body, a.err))
	}
}

// steady calls every agent, one call at a time each, for as long.
func (p *place) steady(round string, agents []*sample, run time.Duration) []*tally {
	tallies := make([]*tally, len(agents))
	end := time.Now().Add(run)
	var all sync.WaitGroup
	for n, s := range agents {
		tallies[n] = &tally{}
		all.Go(func() {
			for k, c := 0, p.caller(s.name); time.Now().Before(end); k++ {
				id := fmt.Sprintf("%s-%d-%d", round, n, k)
				a := c.send(id)
				tallies[n].add(a, a.got(s.name, id))
				time.Sleep(2 * time.Millisecond)
			}
		})
	}
	all.Wait()
	return tallies
}

// TestR15_Flapping: of ten agents one is reached over a cable that turns bad five times
// in two seconds, each time in another way. The calls to the others all succeed, as fast
// as before; the breaker opens and closes again; nothing is sent twice.
func TestR15_Flapping(t *testing.T) {
	run, _ := soak(t, 5*time.Second)
	agents := make([]*sample, 10)
	entries := make([]string, len(agents))
	var bad *cable
	for n := range agents {
		agents[n] = newSample(t, fmt.Sprintf("a%d", n))
		address := agents[n].address()
		if n == 0 {
			bad = newCable(t, address)
			address = bad.address()
		}
		entries[n] = fmt.Sprintf(`{id: a%d, card: "http://%s/card", load: {breaker: {for: 200ms}}}`, n, address)
	}
	p := serveFleet(t, "", "", entries...)
	p.steady("warm", agents, 500*time.Millisecond)
	before := others(p.steady("before", agents, 1500*time.Millisecond))

	ctx, stop := context.WithCancel(t.Context())
	var flapping sync.WaitGroup
	flapping.Go(func() { bad.flap(ctx, 200*time.Millisecond) })
	var opened atomic.Int64
	flapping.Go(func() {
		for state := 0.0; ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
			now := p.metric(`a2a_gateway_circuit_state{agent="a0"}`)
			if now != 0 && state == 0 {
				opened.Add(1)
			}
			state = now
		}
	})
	flapping.Go(func() { p.listen(ctx, agents[0]) })
	tallies := p.steady("during", agents, run)
	stop()
	flapping.Wait()

	during := others(tallies)
	was, is := quantile(before.took, .99), quantile(during.took, .99)
	t.Logf("others: %d calls before with p99 %v, %d during with p99 %v; the flapping one: %d well, statuses %v, breaker opened %d times",
		len(before.took), was, len(during.took), is, len(tallies[0].took), tallies[0].codes, opened.Load())
	for _, f := range append(before.failed, during.failed...) {
		t.Errorf("call to an agent that is well: %s", f)
	}
	if is > 3*was+50*time.Millisecond {
		t.Errorf("p99 of the others is %v, was %v", is, was)
	}
	if len(tallies[0].took) == 0 || len(tallies[0].failed) == 0 || opened.Load() == 0 {
		t.Errorf("the flapping agent: %d calls went well, %d failed, breaker opened %d times",
			len(tallies[0].took), len(tallies[0].failed), opened.Load())
	}
	n := 0
	took := eventually(t, "calls to the agent that flapped go well", 5*time.Second, func() bool {
		n++
		id := fmt.Sprintf("after-%d", n)
		return p.caller("a0").send(id).got("a0", id)
	})
	eventually(t, "its breaker is closed", time.Second, func() bool { return p.metric(`a2a_gateway_circuit_state{agent="a0"}`) == 0 })
	t.Logf("calls to it went well again after %v", took)
	for _, s := range agents {
		if twice := s.doubled(); len(twice) != 0 {
			t.Errorf("%s was sent messages twice: %v", s.name, twice)
		}
	}
}

// others is all but the first.
func others(tallies []*tally) *tally {
	all := &tally{}
	for _, y := range tallies[1:] {
		all.took = append(all.took, y.took...)
		all.failed = append(all.failed, y.failed...)
	}
	return all
}

// listen streams tasks of an agent that may go away in the middle of an event.
func (p *place) listen(ctx context.Context, s *sample) {
	c := p.caller(s.name)
	for k := 0; ctx.Err() == nil; k++ {
		if f, err := c.stream(ctx, fmt.Sprintf("stream-%d", k)); err == nil {
			for range f.events { //nolint:revive // until it ends
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}
