//go:build linux

package e2e

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// laborious are rules that take a processor a few milliseconds a call.
func laborious(n int) string {
	var b strings.Builder
	b.WriteString(`{name: all, effect: allow, agents: ["*"]}`)
	for i := range n {
		_, _ = fmt.Fprintf(&b, `, {name: no-%d, effect: deny, agents: ["*"], expr: "size(message.parts) > %d"}`, i, 100+i)
	}
	return b.String()
}

// spared skips a test of processors but where reliability is measured, and on a machine that
// has none to spare: it would measure what others do.
func spared(t *testing.T) {
	t.Helper()
	if _, long := soak(t, 0, 0); !long {
		t.Skip("measures processors: make soak does")
	}
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		t.Skip(err)
	}
	var load float64
	if _, err := fmt.Sscan(string(text), &load); err != nil {
		t.Fatal(err)
	}
	if most := 2 * float64(runtime.NumCPU()); load > most {
		t.Skipf("the machine has no processor to spare: load %.1f, at most %.0f", load, most)
	}
}

// slowly makes a few calls a second until it is told to stop, and tells how many came
// through.
func (c *caller) slowly(stop <-chan struct{}) (good, all int) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return good, all
		case <-tick.C:
			all++
			if c.send(fmt.Sprintf("modest-%d", all)).ok() {
				good++
			}
		}
	}
}

// TestR07_Processor asks five times as much of a gateway as its one processor can do. It goes
// on doing what it can; who asks for little gets it; health is answered meanwhile, an open
// stream goes on, and all is as before soon after.
func TestR07_Processor(t *testing.T) {
	spared(t)
	s := prepare(t, backend(t, 0), "  limits: {delay: 50ms}")
	text, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	const rules = 1500
	write(t, s.config, strings.Replace(string(text), `{name: all, effect: allow, agents: ["*"]}`, laborious(rules), 1))
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := startAt(t, "env", "GOMAXPROCS=1", "GOMEMLIMIT=400MiB", path, "serve", "-c", s.config)
	line := p.await(`"msg":"serving"`)
	url, status := part(line, "url"), part(line, "status_url")
	lasting := s.caller(url, "thief", true)
	lasting.client.Timeout = 0 // which would end a stream as well
	open, err := lasting.stream(t.Context(), "open")
	if err != nil {
		t.Fatal(err)
	}
	capacity, _ := s.capacity(url, 8)
	if stands := number(t, status, `a2a_gateway_overloaded`); stands != 0 {
		t.Errorf("%.0f rungs stand while it keeps up", stands)
	}

	s.flood(url, 5*capacity, 5*time.Second) // until it has settled
	// What is asserted is far from what is measured: others work on this machine.
	const enough = .4
	best := 0.0
	for round := 0; round < rounds && best < enough; round++ {
		best = max(best, s.toil(p, url, status, capacity))
	}
	if best < enough {
		t.Errorf("goodput at best %.0f %% of what it was", 100*best)
	}
	select {
	case _, ok := <-open.events:
		if !ok {
			t.Error("the stream that was open has ended")
		}
	default:
	}
	recovered := eventually(t, "nothing stands any more", 30*time.Second, func() bool {
		return number(t, status, "a2a_gateway_overloaded") == 0
	})
	after := s.caller(url, "owner", true)
	for n := range 10 {
		if a := after.send(fmt.Sprint("after-", n)); !a.ok() {
			t.Errorf("after the overload: %d %.200s %v", a.status, a.body, a.err)
		}
	}
	t.Logf("nothing was refused any more %v after the load had gone", recovered.Round(time.Millisecond))
	open.resp.Body.Close()
	if code := p.signal(os.Interrupt); code != 0 {
		t.Errorf("exit code: %d", code)
	}
}

// toil is a round of TestR07_Processor, and returns which part of what was done before it was
// done in it.
func (s *setting) toil(p *process, url, status string, capacity float64) (part float64) {
	t := s.t
	t.Helper()
	lasts, _ := soak(t, 8*time.Second, time.Minute)
	health, before := newCheckup(status), resident(t, p.cmd.Process.Pid)
	var modest sync.WaitGroup
	var got, asked int
	stop := make(chan struct{})
	modest.Go(func() { got, asked = s.caller(url, "thief", true).slowly(stop) })
	begun := time.Now()
	good, refused, wrong := s.flood(url, 5*capacity, lasts)
	took := time.Since(begun)
	close(stop)
	modest.Wait()
	health.end(t)
	goodput, now := float64(len(good))/took.Seconds(), resident(t, p.cmd.Process.Pid)
	t.Logf("capacity %.0f/s; at five times that for %v: goodput %.0f/s, p50 %v, p99 %v; %d refused, p50 %v, p99 %v; %d others; the modest one got %d of %d",
		capacity, took.Round(time.Millisecond), goodput, quantile(good, .5), quantile(good, .99),
		len(refused), quantile(refused, .5), quantile(refused, .99), len(wrong), got, asked)
	t.Logf("%d MiB resident, %d before; work waits %.0f ms; %.0f shed", now>>20, before>>20,
		1000*number(t, status, "a2a_gateway_queueing_delay_seconds"), number(t, status, "a2a_gateway_shed_total"))
	if quantile(good, .99) > 10*time.Second || len(refused) == 0 {
		t.Errorf("of those that were taken on, 99 %% were answered within %v; %d refused", quantile(good, .99), len(refused))
	}
	if got < asked/2 || asked == 0 {
		t.Errorf("who asks for little got %d of %d", got, asked)
	}
	if now > before+100<<20 {
		t.Errorf("%d MiB resident, %d before", now>>20, before>>20)
	}
	for i, a := range wrong {
		if i < 5 {
			t.Errorf("neither answered nor refused: %d after %v: %.300s %v", a.status, a.took, a.body, a.err)
		}
	}
	return goodput / capacity
}
