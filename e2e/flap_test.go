package e2e

import (
	"context"
	"fmt"
	"net/http"
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

// phase is what came of all calls that began while the one agent was well, or while it
// flapped.
type phase struct {
	others, flapping tally
	lasted, spent    time.Duration // spent is the processor time of the gateway
}

// load offers calls at a steady rate, whether or not those before were answered: so many
// a second to the first of the agents, and so many to all others together. Each counts
// for the phase in which it begins.
type load struct {
	p      *place
	agents []*sample
	now    atomic.Pointer[phase] // nil in between
	calls  atomic.Int64
}

// What is offered. Two processors are enough for several times as much, so that calls
// wait for each other's answers as little as may be.
const (
	toOthers = 150.0
	toOne    = 50.0
)

// offer makes calls until the context ends. The caller has connections of its own.
func (l *load) offer(ctx context.Context, rate float64, agents []*sample, which func(*phase) *tally) {
	transport := &http.Transport{MaxIdleConnsPerHost: 1000}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: 25 * time.Second}
	begun := time.Now()
	var calls sync.WaitGroup
	defer calls.Wait()
	for n := 0; ; n++ {
		select {
		case <-time.After(time.Until(begun.Add(time.Duration(float64(n) / rate * float64(time.Second))))):
		case <-ctx.Done():
			return
		}
		calls.Go(func() {
			s, now := agents[n%len(agents)], l.now.Load()
			c := l.p.caller(s.name)
			c.client = client
			id := fmt.Sprintf("%s-%d", s.name, l.calls.Add(1))
			a := c.send(id)
			if now != nil {
				which(now).add(a, a.got(s.name, id))
			}
		})
	}
}

// during has calls count for a phase of its own while something happens.
func (l *load) during(happens func()) *phase {
	now := &phase{}
	begun, spent := time.Now(), l.p.spent()
	l.now.Store(now)
	happens()
	l.now.Store(nil)
	now.lasted, now.spent = time.Since(begun), l.p.spent()-spent
	return now
}

// phases are those of one kind.
type phases []*phase

// together is one phase of all.
func (hs phases) together() *phase {
	all := &phase{flapping: tally{codes: map[int]int{}}}
	for _, h := range hs {
		all.others.took = append(all.others.took, h.others.took...)
		all.others.failed = append(all.others.failed, h.others.failed...)
		all.flapping.took = append(all.flapping.took, h.flapping.took...)
		all.flapping.failed = append(all.flapping.failed, h.flapping.failed...)
		for code, n := range h.flapping.codes {
			all.flapping.codes[code] += n
		}
		all.lasted, all.spent = all.lasted+h.lasted, all.spent+h.spent
	}
	return all
}

// typical is how long the q-th part of a phase's calls to the others took at most, in the
// phase in the middle. What else is at work on the machine disturbs some phases only.
func (hs phases) typical(q float64) time.Duration {
	each := make([]time.Duration, len(hs))
	for n, h := range hs {
		each[n] = quantile(h.others.took, q)
	}
	return quantile(each, .5)
}

// String is for the log.
func (h *phase) String() string {
	return fmt.Sprintf("%d calls to the others with p50 %v, p99 %v, longest %v; %d to the one that went well, statuses %v; the gateway took %.1f %% of a core",
		len(h.others.took), quantile(h.others.took, .5), quantile(h.others.took, .99), quantile(h.others.took, 1),
		len(h.flapping.took), h.flapping.codes, 100*float64(h.spent)/float64(h.lasted))
}

// fleetOfTen is ten agents behind a gateway, the first over a cable.
func fleetOfTen(t *testing.T) (p *place, agents []*sample, bad *cable) {
	t.Helper()
	var entries []string
	for n := range 10 {
		s := newSample(t, fmt.Sprintf("a%d", n))
		address := s.address()
		if n == 0 {
			bad = newCable(t, address)
			address = bad.address()
		}
		agents = append(agents, s)
		entries = append(entries, fmt.Sprintf(`{id: a%d, card: "http://%s/card", load: {breaker: {for: 200ms}}}`, n, address))
	}
	return serveFleet(t, "", "", entries...), agents, bad
}

// TestR15_Flapping: of ten agents one is reached over a cable that turns bad five times
// in two seconds, each time in another way, and is well again by turns. The calls to the
// others all succeed, as fast as while it is well; the breaker opens and closes again;
// nothing is sent twice.
func TestR15_Flapping(t *testing.T) {
	run, _ := soak(t, 16*time.Second, 5*time.Minute)
	const each = 2 * time.Second
	p, agents, bad := fleetOfTen(t)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	l := &load{p: p, agents: agents}
	all.Go(func() { l.offer(ctx, toOthers, agents[1:], func(h *phase) *tally { return &h.others }) })
	all.Go(func() { l.offer(ctx, toOne, agents[:1], func(h *phase) *tally { return &h.flapping }) })
	all.Go(func() { p.listen(ctx, agents[0]) })
	var opened atomic.Int64
	all.Go(func() { p.openings(ctx, "a0", &opened) })
	time.Sleep(time.Second) // until connections are there

	var wells, flaps phases
	for begun := time.Now(); time.Since(begun) < run; {
		wells = append(wells, l.during(func() { time.Sleep(each) }))
		flapping, end := context.WithTimeout(ctx, each)
		flaps = append(flaps, l.during(func() { bad.flap(flapping, 200*time.Millisecond) }))
		end()
		p.recovers(t, agents[0])
	}
	stop()
	all.Wait()

	before, during := wells.together(), flaps.together()
	t.Logf("while it was well: %v", before)
	t.Logf("while it flapped:  %v; its breaker opened %d times", during, opened.Load())
	for _, f := range append(before.others.failed, during.others.failed...) {
		t.Errorf("call to an agent that is well: %s", f)
	}
	for q, most := range map[float64]float64{.5: 1.5, .9: 3, .99: 3} {
		was, is := wells.typical(q), flaps.typical(q)
		ratio := float64(is) / float64(was)
		t.Logf("the others' p%.0f in a typical phase: %v while it was well, %v while it flapped: %.2f times as much", 100*q, was, is, ratio)
		if ratio > most && is-was > 20*time.Millisecond { // others may be at work on the machine
			t.Errorf("p%.0f of the others is %v, was %v", 100*q, is, was)
		}
	}
	if one := &during.flapping; len(one.took) == 0 || len(one.failed) == 0 || opened.Load() == 0 {
		t.Errorf("the flapping agent: %d calls went well, %d failed, breaker opened %d times", len(one.took), len(one.failed), opened.Load())
	}
	for _, s := range agents {
		if twice := s.doubled(); len(twice) != 0 {
			t.Errorf("%s was sent messages twice: %v", s.name, twice)
		}
	}
}

// openings counts how often the agent's breaker opens.
func (p *place) openings(ctx context.Context, agent string, opened *atomic.Int64) {
	series := fmt.Sprintf("a2a_gateway_circuit_state{agent=%q}", agent)
	for state := 0.0; ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		now := p.metric(series)
		if now != 0 && state == 0 {
			opened.Add(1)
		}
		state = now
	}
}

// recovers waits until calls to an agent that flapped go well again.
func (p *place) recovers(t *testing.T, s *sample) {
	t.Helper()
	n := 0
	eventually(t, "calls to the agent that flapped go well", 5*time.Second, func() bool {
		n++
		id := fmt.Sprintf("%s-after-%d-%d", s.name, time.Now().UnixNano(), n)
		return p.caller(s.name).send(id).got(s.name, id)
	})
	eventually(t, "its breaker is closed", time.Second, func() bool {
		return p.metric(fmt.Sprintf("a2a_gateway_circuit_state{agent=%q}", s.name)) == 0
	})
	time.Sleep(300 * time.Millisecond) // for the calls that it held up
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
