package gateway_test

import (
	"encoding/base64"
	"math"
	"slices"
	"strings"
	"testing"
)

// allocationLimits are what may be allocated of the heap, by the gateway alone.
//
// A call's are what stands in its request and answer, its contexts and timers, headers for both sides, and
// its records; nothing of its body. Over gRPC both messages have a document each, in which they are read, and
// more than a third is the HTTP/2 client's toward the agent, which is net/http's. Toward an agent of JSON-RPC,
// messages are made of its documents by protojson, which is most of what an event takes there.
//
// Of calls with a file of 1 MiB the median counts, since a buffer that went to another processor's pool is made
// once more now and then: the body is copied nowhere, and has a buffer that others had before.
//
// An event of a stream is one that comes alone. Of a long stream, the oldest event that is kept goes with each
// that comes, and is put into the task as it is for those who join (stream.Follower); that ends where the
// task is larger than streams.buffer.snapshot, which is beyond. Of many at once, memory is made for several,
// and how many come at once is up to the processors. A stream is young for so few events that the buffers of
// its start, which are made anew after a collection, count among them: their bytes have room for twice as many.
var allocationLimits = map[string]costs{
	"http1":     join(eventAllocations, costs{"call: allocations": 42.2, "call: bytes": 9_600, "file: bytes": 12_200}),
	"http1-tls": join(eventAllocations, costs{"call: allocations": 43.5, "call: bytes": 9_700, "file: bytes": 13_500}),
	"http2":     join(eventAllocations, costs{"call: allocations": 44.5, "call: bytes": 9_700}),
	"grpc": {
		"call: allocations": 127.5, "call: bytes": 21_600,
		"event: allocations": 4.3, "event: bytes": 300,
		"event of a long stream: allocations": 22.6, "event of a long stream: bytes": 1_670,
		"event of many: allocations": 22.3, "event of many: bytes": 1_850,
		"event of many, beyond: allocations": 3.3, "event of many, beyond: bytes": 450,
	},
	"grpc-to-jsonrpc": {
		"call: allocations": 96, "call: bytes": 16_900,
		"event: allocations": 36, "event: bytes": 1_760,
		"event of a long stream: allocations": 58, "event of a long stream: bytes": 3_120,
		"event of many: allocations": 59.5, "event of many: bytes": 3_350,
		"event of many, beyond: allocations": 36, "event of many, beyond: bytes": 1_700,
	},
}

// eventAllocations are those of events that both sides get as server-sent events.
var eventAllocations = costs{
	"event: allocations": 0.25, "event: bytes": 320,
	"event of a long stream: allocations": 22.5, "event of a long stream: bytes": 1_660,
	"event of many: allocations": 24, "event of many: bytes": 1_860,
	"event of many, beyond: allocations": 0.16, "event of many, beyond: bytes": 290,
}

// TestCostsAllocations: what the gateway allocates for calls and events, one after the other.
func TestCostsAllocations(t *testing.T) {
	countCosts(t, allocationLimits, func(t *testing.T, b costBinding) costs {
		w, yaml := newCostWorld(t, b, newCostAgent(t, 0))
		p := startCosts(w, yaml)
		c := w.client(p.url)
		got := costs{}
		p.each(got, "call", 200, 1, func() { c.call() })
		if !b.h2 { // where a window is not large enough
			file := costFileParams()
			got["file: bytes"] = p.usual(15, func() { c.call(file) })
		}
		s := c.open()
		events := func(n int) func() {
			return func() {
				w.agent.next <- n
				for range n {
					s.event()
				}
			}
		}
		p.each(got, "event", 60, 1, events(1))
		times(5, events(costBlock))
		p.each(got, "event of a long stream", 200, 1, events(1))
		p.each(got, "event of many", 8, costBlock, events(costBlock))
		times(60, events(costBlock))
		p.each(got, "event of many, beyond", 8, costBlock, events(costBlock))
		return got
	})
}

// costBlock is how many events come at once, where many do.
const costBlock = 64

// costFileParams are those of a call with a file of 1 MiB, which is a third more in base64.
func costFileParams() string {
	content := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("0123456789abcdef", 1<<20/16)))
	return `{"message":{"messageId":"m","contextId":"c","role":"ROLE_USER","parts":[{"raw":"` + content + `","filename":"a.bin"}]}}`
}

// turns is how often each counts. The least counts: what goes on by itself, and what a pool of the other
// processor has not, only ever add to it.
const turns = 3

// each notes what is allocated each time that something is done, which is several of what, once pools have
// been filled.
func (p *costProcess) each(got costs, what string, n, several int, do func()) {
	p.t.Helper()
	times(n/2, do)
	done := float64(n * several)
	allocations, bytes := math.Inf(1), math.Inf(1)
	for range turns {
		before := p.ask("")
		times(n, do)
		after := p.ask("")
		allocations = min(allocations, float64(after.Allocations-before.Allocations)/done)
		bytes = min(bytes, float64(after.Bytes-before.Bytes)/done)
	}
	got[what+": allocations"], got[what+": bytes"] = allocations, bytes
}

// usual is how many bytes are allocated each time, in the median.
func (p *costProcess) usual(n int, do func()) float64 {
	p.t.Helper()
	times(n/3, do)
	all, before := make([]uint64, n), p.ask("")
	for i := range all {
		do()
		after := p.ask("")
		all[i], before = after.Bytes-before.Bytes, after
	}
	slices.Sort(all)
	return float64(all[n/2])
}

func times(n int, do func()) {
	for range n {
		do()
	}
}
