package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// idle opens streams on which nothing happens, until the context ends. It says how many
// were not opened.
func idle(ctx context.Context, c *caller, n, from int) (failed int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	turns := make(chan struct{}, 32)
	for k := range n {
		turns <- struct{}{}
		all.Go(func() {
			defer func() { <-turns }()
			if _, err := c.stream(ctx, fmt.Sprintf("idle-%d", from+k)); err != nil {
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// TestR09_Streams opens as many streams as there may be, on which nothing happens: they
// take little memory, further ones are refused at once, and when one ends there is room
// for another.
func TestR09_Streams(t *testing.T) {
	// KiB of memory a stream. Among few streams, what the garbage collector has not come
	// to yet weighs more.
	n, most := 1000, 115.0
	if os.Getenv("E2E_SOAK") != "" {
		n, most = roomFor(t, 10000), 100
	}
	agent := newSample(t, "a")
	agent.every = time.Hour
	p := serveFleet(t, fmt.Sprintf("  limits: {streams: %d, connections: 40000, connectionsPerIP: 30000}", n), "streams: {perPrincipal: 0, linger: 0}",
		fmt.Sprintf(`{id: a, card: "http://%s/card", connections: 20000}`, agent.address()))
	c := p.caller("a")
	c.client = &http.Client{Transport: p.client.Transport} // for streams there is no timeout
	warm, cold := context.WithCancel(t.Context())
	idle(warm, c, 50, 0)
	cold()
	active := `a2a_gateway_streams_active{agent="a"}`
	eventually(t, "the first streams are closed", 10*time.Second, func() bool { return p.metric(active) == 0 })

	before, goroutines := p.rss(), p.metric("go_goroutines")
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	begun := time.Now()
	if failed := idle(ctx, c, n-1, 100); failed != 0 {
		t.Fatalf("%d of %d streams were not opened", failed, n)
	}
	one, close1 := context.WithCancel(ctx)
	if failed := idle(one, c, 1, 50); failed != 0 {
		t.Fatal("the last stream was not opened")
	}
	took := time.Since(begun)
	time.Sleep(time.Second)
	each := float64(p.rss()-before) / float64(n)
	t.Logf("%d streams in %v: %.1f KiB of memory and %.1f goroutines each, %d descriptors", n, took, each,
		(p.metric("go_goroutines")-goroutines)/float64(n), p.descriptors())
	if each > most {
		t.Errorf("%.1f KiB of memory a stream, at most %.0f", each, most)
	}
	for k := range 20 {
		a := c.call("SendStreamingMessage", "x", fmt.Sprintf(message, fmt.Sprintf("beyond-%d", k)))
		if a.status != http.StatusServiceUnavailable || a.retry == "" || a.took > 2*time.Second || !strings.Contains(a.body, "server.limits.streams") {
			t.Errorf("beyond the limit: %d after %v, Retry-After %q: %.300s %v", a.status, a.took, a.retry, a.body, a.err)
		}
	}
	if a := c.send("unary"); !a.got("a", "unary") {
		t.Errorf("a call without a stream: %d %.300s %v", a.status, a.body, a.err)
	}
	close1()
	eventually(t, "there is room for another stream", 5*time.Second, func() bool { return idle(ctx, c, 1, 60) == 0 })
	hangUp()
	freed := eventually(t, "no stream is open", 20*time.Second, func() bool { return p.metric(active) == 0 })
	t.Logf("all closed after %v", freed)
}
