package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// growth makes a workload one of the gateway alone, at several sizes of something. Each
// size is a gateway of its own, and all of them run at once: rounds go round-robin over
// the sizes, so that ratios to the smallest are within a round.
type growth struct {
	of    string // what there is so much of, in the plural
	sizes []int
	// most is the largest size that can be reached here; nil for any.
	most func() int
	// settle fills in what makes a gateway that large, and returns what is called there.
	settle func(st *stage, n int, s *gatewaySettings) (crowd, error)
	// round does the work once; nil for calls in turn.
	round func(*grown) (figures, error)
}

// crowd is who calls a gateway of one size. Each shot is made once before any round.
type crowd struct {
	each   []shot // called in turn
	single []shot // the same, but one call over and over; nil where that is not measured
}

// grown is a lane of one size.
type grown struct {
	lane
	n     int
	crowd crowd
	start figures // what was measured before the rounds
	// opened says that streams have been open.
	opened bool
}

// growthColumns follow CPU in the tables of growing things.
var growthColumns = []column{
	{key: "first", title: "first call CPU µs"},
	{key: "up", title: "serves after s", decimals: 1},
	{key: "ready", title: "ready after s", decimals: 1},
	{key: "rest", title: "CPU ms/s at rest", decimals: 1},
	rssColumn,
	{key: "rss", title: "KiB each", decimals: 2, beside: apiece},
}

// fewest is how many first calls tell what one takes, in steps of 10 ms.
const fewest = 1000

// subjectsOf are the names under which sizes are recorded.
func (g *growth) subjects() []string {
	var names []string
	for _, n := range g.sizes {
		names = append(names, strconv.Itoa(n))
	}
	return names
}

// upTo are the sizes that are not larger than one, or 0 for all.
func (g *growth) upTo(largest int) []int {
	return slices.DeleteFunc(slices.Clone(g.sizes), func(n int) bool { return largest > 0 && n > largest })
}

// reachable are the sizes that were asked for and can be reached here; it is said which of
// them cannot.
func (st *stage) reachable(w workload) []int {
	asked := w.growth.upTo(st.options.largest)
	if w.growth.most == nil {
		return asked
	}
	sizes := w.growth.upTo(max(1, min(w.growth.most(), asked[len(asked)-1])))
	for _, n := range asked[len(sizes):] {
		name, reason := fmt.Sprintf("%s %d", w.name, n), fmt.Sprintf("it needs more open files than the %d that one process may have here", descriptors())
		st.leftOut[name] = reason
		st.say("%s is left out: %s", name, reason)
	}
	return sizes
}

// grow measures one workload at all its sizes.
func (st *stage) grow(w workload, rec *record) error {
	if st.options.subjects != nil && !slices.Contains(st.options.subjects, gateway.name) {
		return nil
	}
	if err := st.only(nil); err != nil {
		return err
	}
	var all []*grown
	defer func() {
		for _, g := range all {
			g.running.stop()
		}
	}()
	for _, n := range st.reachable(w) {
		g, err := st.settle(w, n)
		if err != nil {
			return fmt.Errorf("%d %s: %w", n, w.growth.of, err)
		}
		all = append(all, g)
	}
	if err := st.atRest(all); err != nil {
		return err
	}
	round := w.growth.round
	if round == nil {
		round = (*grown).calls
	}
	for range min(st.options.rounds, w.rounds) {
		for _, g := range all {
			if err := g.alone(all); err != nil {
				return err
			}
			f, err := round(g)
			if err != nil {
				return fmt.Errorf("%d %s: %w", g.n, w.growth.of, err)
			}
			rec.add(w.name, strconv.Itoa(g.n), f)
		}
	}
	return nil
}

// alone lets one size run, and stops the others.
func (g *grown) alone(all []*grown) error {
	for _, other := range all {
		if other == g {
			continue
		}
		if err := other.running.pause(); err != nil {
			return err
		}
	}
	return g.awake(g.running)
}

// settle starts a gateway of one size, and makes every call once: what is there for the
// first time, such as a connection or a token, is measured apart.
func (st *stage) settle(w workload, n int) (*grown, error) {
	s := gatewaySettings{audit: "durability: write", state: "driver: memory", rules: usualRules(99)}
	c, err := w.growth.settle(st, n, &s)
	if err != nil {
		return nil, err
	}
	r, err := st.serve(s)
	if err != nil {
		return nil, err
	}
	st.versions[gateway.name] = r.version
	g := &grown{n: n, crowd: c, start: figures{"up": time.Since(r.began).Seconds()}}
	if err := st.ready(r, time.Second/2); err != nil {
		r.stop()
		return nil, err
	}
	g.start["ready"] = time.Since(r.began).Seconds()
	g.lane = lane{stage: st, workload: w, subject: gateway, running: r}
	client := g.shooter(st.options.connections, c.each)
	defer client.close()
	m, err := g.meter()
	if err != nil {
		return nil, err
	}
	if err := client.lap(st.ctx); err != nil {
		return nil, err
	}
	f, err := m.stop(len(c.each))
	if err == nil && len(c.each) >= fewest {
		g.start["first"] = f["cpu"]
	}
	return g, err
}

// atRest is what gateways take while nobody calls.
func (st *stage) atRest(all []*grown) error {
	meters := make([]*meter, len(all))
	wait(st.ctx, time.Second) // what calls have begun ends
	for i, g := range all {
		var err error
		if meters[i], err = g.meter(); err != nil {
			return err
		}
	}
	rest := 2 * st.options.time
	wait(st.ctx, rest)
	for i, g := range all {
		f, err := meters[i].stop(1)
		if err != nil {
			return err
		}
		g.start["rest"] = f["cpu"] / 1000 / rest.Seconds()
	}
	return st.ctx.Err()
}

// calls calls everybody in turn, and one alone where that is something else.
func (g *grown) calls() (figures, error) {
	client := g.shooter(g.options.connections, g.crowd.each)
	if err := client.lap(g.ctx); err != nil {
		client.close()
		return nil, err
	}
	f, err := g.observed(client, strconv.Itoa(g.n))
	if err != nil {
		return nil, err
	}
	if g.crowd.single != nil {
		one, err := g.observed(g.shooter(g.options.connections, g.crowd.single), strconv.Itoa(g.n)+"-single")
		if err != nil {
			return nil, err
		}
		f["single"] = one["cpu"]
	}
	for key, v := range g.start {
		f[key] = v
	}
	return f, nil
}

// observed measures calls, and takes profiles of that where they are wanted.
func (g *grown) observed(c *client, name string) (figures, error) {
	profiled := g.profile(g.options.profiles, name)
	f, err := g.closed(c)
	return f, errors.Join(err, profiled())
}

// lap makes every call once.
func (c *client) lap(ctx context.Context) error {
	var next atomic.Int64
	_, err := c.each(ctx, func(ctx context.Context) ([]time.Duration, error) {
		for {
			i := int(next.Add(1) - 1)
			if i >= len(c.shots) {
				return []time.Duration{0}, nil
			}
			if err := c.shoot(ctx, c.shots[i]); err != nil {
				return nil, err
			}
		}
	})
	return err
}

// ready waits until the gateway knows all its agents. It asks again after each pause, since a
// question costs the gateway something for each of them.
func (st *stage) ready(r *running, pause time.Duration) error {
	ctx, cancel := context.WithTimeout(st.ctx, growthTimeout)
	defer cancel()
	client := &http.Client{Timeout: growthTimeout}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.status+"/readyz?verbose", nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		said, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if missing := bytes.Count(said, []byte(": failed: ")); missing == 0 {
			return nil
		} else if ctx.Err() != nil {
			return fmt.Errorf("not ready after %s: %d failed: %.300s", growthTimeout, missing, said)
		}
		wait(ctx, pause)
	}
}

// growthTimeout is how long the largest gateway may take until it is ready.
const growthTimeout = 2 * time.Minute

// callers makes the shots of n callers, each in a context of its own.
func (l *lane) callers(n int, credential func(i int) (name, value string, err error)) ([]shot, error) {
	shots := make([]shot, n)
	var mu sync.Mutex
	var failed error
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < n; i += 4 {
				header := l.header()
				header.Del("Authorization")
				name, value, err := credential(i)
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
				header.Set(name, value)
				shots[i] = shot{gateway.path, header, l.contextCall(i)}
			}
		})
	}
	wg.Wait()
	return shots, failed
}
