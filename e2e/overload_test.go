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

// TestR07_Overload asks five times as much of a gateway as it has room for: it goes on
// doing what it can, and tells the others at once.
func TestR07_Overload(t *testing.T) {
	const delay, places = 20 * time.Millisecond, 8
	s := prepare(t, backend(t, delay), fmt.Sprintf("  limits: {requests: %d}", places))
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := startAt(t, "env", "GOMEMLIMIT=200MiB", path, "serve", "-c", s.config)
	line := p.await(`"msg":"serving"`)
	url, status := part(line, "url"), part(line, "status_url")

	closed := &crowd{stop: make(chan struct{})}
	for range places {
		s.drive(url, 1, true, closed)
	}
	begun := time.Now()
	time.Sleep(3 * time.Second)
	closed.halt(t)
	capacity := float64(closed.count.Load()) / time.Since(begun).Seconds()
	unloaded := quantile(closed.took, .99)

	lasts, _ := soak(t, 8*time.Second, time.Minute)
	begun = time.Now()
	good, refused, wrong := s.flood(url, 5*capacity, lasts)
	took := time.Since(begun)
	memory, limit := number(t, status, "a2a_gateway_memory_used_bytes"), number(t, status, "a2a_gateway_memory_limit_bytes")
	t.Logf("capacity %.0f/s, p99 %v; at five times that for %v: goodput %.0f/s, p99 %v; %d refused, p50 %v, p99 %v; %d others",
		capacity, unloaded, took.Round(time.Millisecond), float64(len(good))/took.Seconds(), quantile(good, .99),
		len(refused), quantile(refused, .5), quantile(refused, .99), len(wrong))
	t.Logf("memory %.0f of %.0f MiB in use, %d MiB resident; %.0f calls shed", memory/(1<<20), limit/(1<<20),
		resident(t, p.cmd.Process.Pid)>>20, number(t, status, "a2a_gateway_shed_total"))
	if goodput := float64(len(good)) / took.Seconds(); goodput < capacity/2 {
		t.Errorf("goodput %.0f/s, less than half of what it was", goodput)
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
	if a := s.caller(url, "owner", true).send("after"); !a.ok() {
		t.Errorf("after the overload: %+v", a)
	}
	if code := p.signal(os.Interrupt); code != 0 {
		t.Errorf("exit code: %d", code)
	}
}

// flood makes calls at a rate, whether or not those before have been answered, and tells
// how long those took that were served, those that were put off, and all others.
func (s *setting) flood(url string, rate float64, lasts time.Duration) (good, refused []time.Duration, wrong []answer) {
	c := s.caller(url, "owner", true)
	var mu sync.Mutex
	var calls sync.WaitGroup
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	begun, sent := time.Now(), 0
	for now := range tick.C {
		if now.Sub(begun) > lasts {
			break
		}
		for ; float64(sent) < rate*now.Sub(begun).Seconds(); sent++ {
			id := "flood-" + strconv.Itoa(sent)
			calls.Go(func() {
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
	url := part(p.await(`"msg":"serving"`), "url") + "/agents/a"
	first := make(chan answer, 1)
	go func() { first <- s.caller(strings.TrimSuffix(url, "/agents/a"), "owner", true).send("first") }()
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
