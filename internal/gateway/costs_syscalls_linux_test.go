//go:build linux && (amd64 || arm64)

package gateway_test

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// systemCallLimits are what may be called, by what it is about: "client" and "agent" are the
// connections to them; "nothing" is of a read for which nothing has come yet, after which the runtime waits; "netpoll" is
// the epoll of internal/netpoll. What is in costLoose is logged and has no limit: it is no whole number.
var systemCallLimits = map[string]costs{
	"http1":     join(unaryCalls, peekedCalls, parkedCalls),
	"http1-tls": join(unaryCalls, peekedCalls, parkedCalls),
	"http2":     join(unaryCalls, peekedCalls, parkedCalls),
	// Toward an agent of gRPC net/http writes head and body, toward the client all is one write. Its
	// streams are read by a goroutine that waits in a read.
	"grpc": join(unaryCalls, costs{
		"call: write agent": 2, "call: write client": 1,
		"event: read agent": 1, "event: read agent, nothing": 1, "event: write client": 1,
	}),
	"grpc-to-jsonrpc": join(unaryCalls, peekedCalls, parkedCalls),
}

var (
	// unaryCalls are a call's: the request is read, and later that there is no other; the same of the answer, the
	// other way round. The audit log has the intent and the outcome.
	unaryCalls = costs{
		"call: read client": 1, "call: read client, nothing": 1, "call: write client": 1,
		"call: read agent": 1, "call: read agent, nothing": 1, "call: write agent": 1,
		"call: write audit": 2,
	}
	// peekedCalls are the look at a kept connection of HTTP/1.1 to the agent, which may have ended.
	peekedCalls = costs{"call: recvfrom agent, nothing": 1}
	// parkedCalls are an event's that wakes a stream without a goroutine: netpoll is asked once what has come.
	parkedCalls = costs{
		"event: epoll_pwait netpoll": 1,
		"event: read agent":          1, "event: write client": 1,
	}
)

// join is all of them; the last counts.
func join(all ...costs) costs {
	joined := costs{}
	for _, c := range all {
		maps.Copy(joined, c)
	}
	return joined
}

// TestCostsSystemCalls: which system calls the gateway makes for one call after the other, and for one
// event after the other.
func TestCostsSystemCalls(t *testing.T) {
	countCosts(t, systemCallLimits, func(t *testing.T, b costBinding) costs {
		w, yaml := newCostWorld(t, b, newCostAgent(t, 5*time.Millisecond))
		tracer := new(costTracer)
		p := beginCosts(w, yaml, func(cmd *exec.Cmd) error {
			err := tracer.start(cmd)
			if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.ENOSYS) {
				testenv.Missing(t, "processes may not be traced: %v", err)
			}
			return err
		}, tracer.end)
		tracer.listens(p.url)
		c := w.client(p.url)
		if why := tracer.blind(); why != 0 {
			testenv.Missing(t, "the kernel does not tell of system calls, as Linux 5.3 does: %v", why)
		}
		got := costs{}
		tracer.each(t, got, "call", func() { c.call() })
		s := c.open()
		tracer.each(t, got, "event", func() {
			w.agent.next <- 1
			s.event()
		})
		return got
	})
}

// costRounds is how many calls or events are looked at. Of each name the lower quartile counts: what a gateway
// does now and then is no part of it, and a busy machine only adds.
const costRounds = 15

// each does something several times, and notes what is called each time. Of what is counted loosely it
// logs the mean.
func (c *costTracer) each(t *testing.T, got costs, what string, do func()) {
	t.Helper()
	for range 3 { // what is made once
		do()
	}
	all, before := map[string][]int{}, c.settled()
	for i := range costRounds {
		do()
		after := c.settled()
		for name, n := range after {
			if all[name] == nil {
				all[name] = make([]int, costRounds)
			}
			all[name][i] = n - before[name]
		}
		before = after
	}
	var loose []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list := all[name]
		if costLoose[name] {
			sum := 0
			for _, n := range list {
				sum += n
			}
			loose = append(loose, fmt.Sprintf("%.1f %s", float64(sum)/costRounds, name))
			continue
		}
		slices.Sort(list)
		if n := list[costRounds/4]; n > 0 {
			got[what+": "+name] = float64(n)
		}
	}
	t.Logf("%s: by chance %s", what, strings.Join(loose, ", "))
}
