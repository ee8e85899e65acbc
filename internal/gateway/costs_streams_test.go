package gateway_test

import (
	"testing"
	"time"
)

const (
	// idleStreams are open at the same time, so many that what else there is makes no difference.
	idleStreams = 300
	// sharedStreams are on one connection of HTTP/2.
	sharedStreams = 100
)

// streamLimits are what one stream may have of the gateway's heap and stacks while nothing happens, and how
// many goroutines.
//
// The bytes are the exchange with the record that is written at its end, contexts, headers and requests of
// both sides, the feed with its first event, and what stands for the connections; docs/performance.md says
// how many each. TLS has its keys, and what it read last. Over HTTP/2 the client's connection is shared. A stream from an
// agent of gRPC has two goroutines with their stacks: net/http's HTTP/2 client and who reads it can only wait in a
// read. Every other stream has none; a connection of HTTP/2 has one for all its streams, and what is left
// of the limit is for what comes and goes by itself.
var streamLimits = map[string]costs{
	"http1":           {"bytes": 21_000, "goroutines": 0.01},
	"http1-tls":       {"bytes": 27_600, "goroutines": 0.01},
	"http2":           {"bytes": 18_800, "goroutines": 0.02},
	"grpc":            {"bytes": 31_400, "goroutines": 2.03},
	"grpc-to-jsonrpc": {"bytes": 19_800, "goroutines": 0.02},
}

// TestCostsIdleStreams: what a stream holds that waits for its next event.
func TestCostsIdleStreams(t *testing.T) {
	countCosts(t, streamLimits, func(t *testing.T, b costBinding) costs {
		w, yaml := newCostWorld(t, b, newCostAgent(t, 0))
		p := startCosts(w, yaml)
		w.client(p.url)
		w.idle(p.url, 20) // so that what is made once is there
		before := p.rested()
		w.idle(p.url, idleStreams)
		after := p.rested()
		return costs{
			"bytes":      float64(after.Live-before.Live) / idleStreams,
			"goroutines": float64(after.Goroutines-before.Goroutines) / idleStreams,
		}
	})
}

// idle opens n streams.
func (w *costWorld) idle(url string, n int) {
	w.t.Helper()
	var c *costClient
	for i := range n {
		if !w.binding.h2 || i%sharedStreams == 0 {
			c = w.dial(url)
		}
		c.open()
	}
}

// rested is the cost when nothing changes any more.
func (p *costProcess) rested() (now cost) {
	p.t.Helper()
	const same = 16 << 10 // bytes; something always ticks
	eventually(p.t, "the process rests", func() bool {
		before := now
		time.Sleep(20 * time.Millisecond)
		now = p.ask(costRest)
		return now.Goroutines == before.Goroutines && max(now.Live-before.Live, before.Live-now.Live) < same
	})
	return now
}
