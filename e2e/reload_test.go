package e2e

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// TestR01_Reload reads good, bad and unchanged configurations again and again while calls
// and streams go on: none of them fails, and the agent sees every call once.
func TestR01_Reload(t *testing.T) {
	t.Parallel()
	run, long := soak(t, 8*time.Second, 10*time.Minute)
	streams := 100
	if long {
		streams = 1000
	}
	a := newSample(t, "a")
	a.events, a.every = int(run/time.Second)+30, time.Second
	p := serveFleet(t, "", "", fmt.Sprintf(`{id: a, card: "http://%s/card"}`, a.address()))
	ctx, stop := context.WithTimeout(t.Context(), run)
	defer stop()
	open := make([]*feed, streams)
	for i := range open {
		var err error
		if open[i], err = p.caller("a").stream(t.Context(), fmt.Sprintf("stream-%d", i)); err != nil {
			t.Fatal(err)
		}
	}
	var calls, failed atomic.Int64
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			c := p.caller("a")
			for n := 0; ctx.Err() == nil; n++ {
				id := fmt.Sprintf("call-%d-%d", i, n)
				if answer := c.send(id); calls.Add(1) > 0 && !answer.got("a", id) && failed.Add(1) < 5 {
					t.Errorf("%v", answer)
				}
			}
		})
	}
	good, bad := p.reloads(ctx)
	all.Wait()
	broken := 0
	for _, f := range open {
		select {
		case _, goesOn := <-f.events:
			if !goesOn {
				broken++
			}
		case <-time.After(10 * time.Second):
			broken++
		}
		_ = f.resp.Body.Close()
	}
	t.Logf("%d good and %d bad reloads: %d of %d calls failed, %d of %d streams broke",
		good, bad, failed.Load(), calls.Load(), broken, streams)
	if broken != 0 || good < 3 || bad < 1 {
		t.Errorf("%d streams broke", broken)
	}
	if twice := a.doubled(); len(twice) != 0 {
		t.Errorf("the agent was sent messages twice: %v", twice[:min(5, len(twice))])
	}
}

// reloads has the gateway read configurations until ctx ends: one that adds a rule, the
// same once more, and one that is no configuration. It waits for each to count.
func (p *place) reloads(ctx context.Context) (good, bad int) {
	p.t.Helper()
	text, err := os.ReadFile(p.config)
	if err != nil {
		p.t.Fatal(err)
	}
	total := func() float64 {
		return max(0, p.metric(`a2a_gateway_config_reloads_total{result="ok"}`)) +
			max(0, p.metric(`a2a_gateway_config_reloads_total{result="error"}`))
	}
	for n := 0; ctx.Err() == nil; n++ {
		next, ok := fmt.Appendf(bytes.Clone(text), "extensions: [{uri: \"urn:example:%d\", kind: data}]\n", n), true
		switch n % 3 {
		case 1:
			next = text
		case 2:
			next, ok = []byte(strings.Replace(string(text), "agents:", "agentz:", 1)), false
		}
		before := total()
		if err := os.WriteFile(p.config, next, 0o600); err != nil {
			p.t.Fatal(err)
		}
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			p.t.Fatal(err)
		}
		for wait := time.Now(); total() == before && time.Since(wait) < 10*time.Second; {
			time.Sleep(20 * time.Millisecond)
		}
		if total() == before {
			p.t.Errorf("reload %d never counted", n)
		}
		if ok {
			good++
		} else {
			bad++
		}
	}
	return good, bad
}
