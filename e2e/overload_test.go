//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// number is the value of a metric, all its series together.
func number(t *testing.T, status, name string) (sum float64) {
	t.Helper()
	resp, err := http.Get(status + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^`+name+`(?:\{.*\})? (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		v, _ := strconv.ParseFloat(m[1], 64)
		sum += v
	}
	return sum
}

// resident is how much memory a process has, in bytes.
func resident(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	if m == nil {
		t.Fatal("no VmRSS")
	}
	kB, _ := strconv.ParseInt(string(m[1]), 10, 64)
	return kB << 10
}

// hog holds as many connections as it gets, and takes new ones for those it loses.
type hog struct {
	stop chan struct{}
	done sync.WaitGroup
	lost atomic.Int64
}

func newHog(address string, n int) *hog {
	h := &hog{stop: make(chan struct{})}
	for range n {
		h.done.Go(func() {
			for {
				c, err := net.DialTimeout("tcp", address, time.Second)
				if err == nil {
					left := make(chan struct{})
					go func() {
						select {
						case <-h.stop:
							_ = c.SetReadDeadline(time.Now())
						case <-left:
						}
					}()
					_, _ = c.Read(make([]byte, 1))
					close(left)
					_ = c.Close()
					h.lost.Add(1)
				}
				select {
				case <-h.stop:
					return
				case <-time.After(200 * time.Millisecond):
				}
			}
		})
	}
	return h
}

// TestR16_Descriptors takes the descriptors of a gateway that has few. Others are
// answered, or turned away at once, and it does not spin meanwhile.
func TestR16_Descriptors(t *testing.T) {
	need(t, "bash")
	s := prepare(t, backend(t, time.Millisecond), "")
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := startAt(t, "bash", "-c", `ulimit -n 300; exec "$0" serve -c "$1"`, path, s.config)
	line := p.await(`"msg":"serving"`)
	url, status := part(line, "url"), part(line, "status_url")
	kept := s.caller(url, "owner", true)
	if a := kept.send("before"); !a.ok() {
		t.Fatalf("before: %+v", a)
	}
	h := newHog(strings.TrimPrefix(url, "http://"), 400)
	time.Sleep(time.Second)

	begun, before := time.Now(), p.spent()
	fresh := s.caller(url, "owner", false)
	fresh.client.Timeout = 3 * time.Second
	outcomes := map[string]int{}
	lasts, _ := soak(t, 2*time.Second, time.Minute)
	for time.Since(begun) < lasts {
		a := fresh.send("during")
		switch {
		case a.err == nil && a.status == http.StatusServiceUnavailable && a.retry != "":
			outcomes["503"]++
		case a.ok():
			outcomes["200"]++
		case a.err != nil && !os.IsTimeout(a.err):
			outcomes["turned away"]++
		default:
			t.Errorf("a call hung or was answered wrongly: %+v", a)
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(begun)
	share := float64(p.spent()-before) / float64(took)
	t.Logf("%v of hogging: new connections %v; kept from before: %v; %.0f %% of a core; %.0f turned away in all, %.0f descriptors open",
		took.Round(time.Millisecond), outcomes, kept.send("during").ok(), 100*share,
		number(t, status, "a2a_gateway_shed_total"), number(t, status, "process_open_fds"))
	if share > .5 {
		t.Errorf("%.0f %% of a core for connections that nobody uses", 100*share)
	}
	close(h.stop)
	left := time.Now()
	for !fresh.send("after").ok() {
		if time.Since(left) > 10*time.Second {
			t.Fatal("does not recover")
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("answers %v after the hog has left, which lost %d connections", time.Since(left), h.lost.Load())
	h.done.Wait()
	if code := p.signal(os.Interrupt); code != 0 {
		t.Errorf("exit code: %d", code)
	}
}

// checkup asks a gateway whether it is well, again and again, and for a card.
type checkup struct {
	stop chan struct{}
	done sync.WaitGroup
	took []time.Duration
	bad  []string
}

// newCheckup begins to ask. With too much to do a gateway is as ready as before.
func newCheckup(status string) *checkup {
	c := &checkup{stop: make(chan struct{})}
	client := &http.Client{Timeout: 10 * time.Second}
	c.done.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-c.stop:
				return
			case <-time.After(50 * time.Millisecond):
			}
			begun := time.Now()
			resp, err := client.Get(status + []string{"/readyz", "/livez"}[n%2])
			if err != nil {
				c.bad = append(c.bad, err.Error())
				continue
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			c.took = append(c.took, time.Since(begun))
			// A disk that others keep waiting is not what is looked at here.
			if resp.StatusCode != http.StatusOK && !strings.HasPrefix(string(text), "audit:") {
				c.bad = append(c.bad, resp.Status+" "+string(text))
			}
		}
	})
	return c
}

// end holds what was found to a second.
func (c *checkup) end(t *testing.T) {
	t.Helper()
	close(c.stop)
	c.done.Wait()
	t.Logf("%d checks of health, p50 %v, at most %v", len(c.took), quantile(c.took, .5), quantile(c.took, 1))
	if len(c.bad) > 0 || quantile(c.took, .99) > time.Second || len(c.took) == 0 {
		t.Errorf("health: %d of %d checks failed, %v; 99 %% within %v", len(c.bad), len(c.took), c.bad, quantile(c.took, .99))
	}
}

// capacity is how many calls a second so many callers get who wait for each answer, and how
// long nearly all of these take.
func (s *setting) capacity(url string, callers int) (perSecond float64, p99 time.Duration) {
	s.t.Helper()
	closed := &crowd{stop: make(chan struct{})}
	for range callers {
		s.drive(url, 1, true, closed)
	}
	begun := time.Now()
	time.Sleep(3 * time.Second)
	closed.halt(s.t)
	return float64(closed.count.Load()) / time.Since(begun).Seconds(), quantile(closed.took, .99)
}

// rounds is how often what is measured may be measured: others work on this machine, and
// what the gateway can do it can do once.
const rounds = 3

// TestR07_Overload asks five times as much of a gateway as it has room for: it goes on
// doing what it can, and tells the others at once. In the best round of three, what it does
// is 80 % of what it did before.
func TestR07_Overload(t *testing.T) {
	const delay, places = 20 * time.Millisecond, 8
	s := prepare(t, backend(t, delay), fmt.Sprintf("  limits: {requests: %d}", 2*places)) // of which one caller has half
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := startAt(t, "env", "GOMEMLIMIT=200MiB", path, "serve", "-c", s.config)
	line := p.await(`"msg":"serving"`)
	url, status := part(line, "url"), part(line, "status_url")

	best := 0.0
	for round := 0; round < rounds && best < .8; round++ {
		best = max(best, s.overload(p, url, status, places))
	}
	if best < .8 {
		t.Errorf("goodput at best %.0f %% of what it was", 100*best)
	}
	if a := s.caller(url, "owner", true).send("after"); !a.ok() {
		t.Errorf("after the overload: %+v", a)
	}
	if code := p.signal(os.Interrupt); code != 0 {
		t.Errorf("exit code: %d", code)
	}
}

// overload is a round of TestR07_Overload, and returns which part of what was done before it
// was done in it.
func (s *setting) overload(p *process, url, status string, places int) (part float64) {
	t := s.t
	t.Helper()
	capacity, unloaded := s.capacity(url, places)
	lasts, _ := soak(t, 8*time.Second, time.Minute)
	health, before := newCheckup(status), resident(t, p.cmd.Process.Pid)
	begun := time.Now()
	good, refused, wrong := s.flood(url, 5*capacity, lasts)
	health.end(t)
	took := time.Since(begun)
	memory, limit := number(t, status, "a2a_gateway_memory_used_bytes"), number(t, status, "a2a_gateway_memory_limit_bytes")
	t.Logf("capacity %.0f/s, p99 %v; at five times that for %v: goodput %.0f/s, p99 %v; %d refused, p50 %v, p99 %v; %d others",
		capacity, unloaded, took.Round(time.Millisecond), float64(len(good))/took.Seconds(), quantile(good, .99),
		len(refused), quantile(refused, .5), quantile(refused, .99), len(wrong))
	t.Logf("memory %.0f of %.0f MiB in use, %d MiB resident; %.0f calls shed", memory/(1<<20), limit/(1<<20),
		resident(t, p.cmd.Process.Pid)>>20, number(t, status, "a2a_gateway_shed_total"))
	if p99 := quantile(good, .99); p99 > 3*unloaded+2*time.Second {
		t.Errorf("of those that were taken on, 99 %% were answered within %v only", p99)
	}
	if now := resident(t, p.cmd.Process.Pid); now > before+100<<20 {
		t.Errorf("%d MiB resident, %d before", now>>20, before>>20)
	}
	if len(refused) == 0 {
		t.Error("nothing was refused")
	}
	for i, a := range wrong {
		if i < 5 {
			t.Errorf("neither answered nor refused: %d after %v: %.300s %v", a.status, a.took, a.body, a.err)
		}
	}
	if memory > limit || limit != 180<<20 {
		t.Errorf("%.0f bytes in use, the limit is %.0f", memory, limit)
	}
	return float64(len(good)) / took.Seconds() / capacity
}

// flood makes calls at a rate, whether or not those before have been answered, and tells
// how long those took that were served, those that were put off, and all others.
func (s *setting) flood(url string, rate float64, lasts time.Duration) (good, refused []time.Duration, wrong []answer) {
	c := s.caller(url, "owner", true)
	var mu sync.Mutex
	var calls sync.WaitGroup
	const most = 5000 // on their way at once: this process has to live as well
	places := make(chan struct{}, most)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	begun, sent := time.Now(), 0
	for now := range tick.C {
		if now.Sub(begun) > lasts {
			break
		}
		for ; float64(sent) < rate*now.Sub(begun).Seconds(); sent++ {
			id := "flood-" + strconv.Itoa(sent)
			select {
			case places <- struct{}{}:
			default:
				continue // one that was never sent
			}
			calls.Go(func() {
				defer func() { <-places }()
				a := c.send(id)
				mu.Lock()
				defer mu.Unlock()
				switch {
				case a.ok():
					good = append(good, a.took)
				case a.err == nil && a.retry != "" && (a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests):
					refused = append(refused, a.took)
				default:
					wrong = append(wrong, a)
				}
			})
		}
	}
	calls.Wait()
	return good, refused, wrong
}

// TestR07_PutOff has curl read the refusal of one call too many, and a card meanwhile.
func TestR07_PutOff(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	s := prepare(t, backend(t, 2*time.Second), "  limits: {requests: 1}")
	p := start(t, "serve", "-c", s.config)
	line := p.await(`"msg":"serving"`)
	url, status := part(line, "url")+"/agents/a", part(line, "status_url")
	first := make(chan answer, 1)
	go func() { first <- s.caller(part(line, "url"), "owner", true).send("first") }()
	eventually(t, "the first call is in flight", 10*time.Second, func() bool { // or it would be one too many
		return number(t, status, "a2a_gateway_requests_in_flight") == 1 || len(first) > 0
	})
	curl := func(args ...string) string {
		out, err := exec.Command("curl", append([]string{"-sS", "-i", "-H", "X-API-Key: " + s.keys["owner"]}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("curl: %v\n%s", err, out)
		}
		return string(out)
	}
	refused := ""
	for !strings.Contains(refused, "503") && len(first) == 0 {
		refused = curl("-H", "Content-Type: application/json", "-d", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`, url)
	}
	for _, mark := range []string{"HTTP/1.1 503", "Retry-After: 1", `"error"`, "server.limits.requests"} {
		if !strings.Contains(refused, mark) {
			t.Errorf("the refusal lacks %q:\n%s", mark, refused)
		}
	}
	if strings.Contains(refused, "Connection: close") {
		t.Errorf("the refusal closes its connection:\n%s", refused)
	}
	if card := curl(url + "/.well-known/agent-card.json"); !strings.Contains(card, "HTTP/1.1 200") {
		t.Errorf("a card meanwhile:\n%s", card)
	}
	if a := <-first; !a.ok() {
		t.Errorf("the first call: %+v", a)
	}
}
