//go:build linux

package e2e

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// stuck opens streams whose clients stop reading: their sockets hold next to nothing, and
// so does what the gateway's kernel keeps for them.
func stuck(t *testing.T, base *caller, n int, open func(c *caller, i int) (*http.Response, error)) {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, conn syscall.RawConn) (err error) {
		failed := conn.Control(func(fd uintptr) {
			if err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096); err == nil {
				err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 536)
			}
		})
		if failed != nil {
			return failed
		}
		return err
	}}
	transport := &http.Transport{DialContext: dialer.DialContext, ReadBufferSize: 512}
	t.Cleanup(transport.CloseIdleConnections)
	c := &caller{url: base.url, client: &http.Client{Transport: transport}}
	for i := range n {
		resp, err := open(c, i)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("stream %d of %d: %s", i, n, resp.Status)
		}
		if _, err := io.ReadFull(resp.Body, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
	}
}

// delays are how late events came, collected over one while after another.
type delays struct {
	mu  sync.Mutex
	all []time.Duration
}

// add takes a chunk that says when it was said.
func (d *delays) add(chunk string) {
	said, err := strconv.ParseInt(strings.Split(chunk, "@")[1], 10, 64)
	late := time.Since(time.Unix(0, said))
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.all = append(d.all, late)
	}
}

// take gives what there is since it was called last.
func (d *delays) take() []time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.all
	d.all = nil
	return all
}

// TestR06_SlowReaders has clients that stop reading beside as many that go on, on the same
// tasks and on tasks of their own. They are cut off, which the record says, the others
// notice nothing, and the memory of the gateway stays small.
func TestR06_SlowReaders(t *testing.T) {
	const least = 24 * time.Second // for all that is to happen while tasks go on
	run, long := soak(t, least, 10*time.Minute)
	run = max(run, least)
	slow, tasks := 400, 10
	if long {
		slow = 1000
	}
	s := newSample(t, "talker")
	s.every, s.grows = 150*time.Millisecond, true
	s.events = int(run / s.every)
	padding := strings.Repeat("x", 4<<10)
	s.text = func(n int) string { return fmt.Sprintf("%d@%d@%s ", n, time.Now().UnixNano(), padding) }
	p := serveFleet(t, "  timeouts: {write: 5s}", "streams: {perPrincipal: 0, buffer: {snapshot: 1MiB, total: 256MiB}}",
		fmt.Sprintf(`{id: talker, card: "http://%s/card"}`, s.address()))
	c := p.caller("talker")
	c.client.Timeout = 0
	idle := p.rss()
	var late delays
	a := attend(t, s, func() *caller { return c }, tasks, 200/tasks-1, 0, late.add)
	time.Sleep(time.Second)
	late.take() // until now tasks were shown as they were before
	time.Sleep(5 * time.Second)
	alone := late.take()
	const buffered = "a2a_gateway_stream_buffer_bytes"
	kept, live, before := p.metric(buffered), p.live(), p.rss()
	stuck(t, c, slow/2, func(c *caller, i int) (*http.Response, error) {
		return c.do(t.Context(), "SubscribeToTask", "s", fmt.Sprintf(`{"id":"talker-m%d"}`, i%tasks))
	})
	stuck(t, c, slow-slow/2, func(c *caller, i int) (*http.Response, error) {
		if i < tasks {
			return c.do(t.Context(), "SendStreamingMessage", "s", fmt.Sprintf(message, fmt.Sprintf("s%d", i)))
		}
		return c.do(t.Context(), "SubscribeToTask", "s", fmt.Sprintf(`{"id":"talker-s%d"}`, i%tasks))
	})
	time.Sleep(2 * time.Second)
	most := p.rss()
	shown := int(p.metric(buffered)-kept) >> 10 / slow // tasks as they were when they came
	live = (p.live() - live) / slow
	late.take()
	data := filepath.Join(filepath.Dir(p.config), "data")
	took := 2*time.Second + eventually(t, "all slow clients are cut off", 30*time.Second, func() bool {
		time.Sleep(500 * time.Millisecond)
		most = max(most, p.rss())
		return recorded(t, data, `"client too slow"`) == slow
	})
	with := late.take()
	if _, ends := a.ends(); ends != 0 {
		t.Errorf("%d streams of others ended early", ends)
	}
	t.Logf("a slow client keeps %d KiB beside the %d KiB of its task that it does not read; RSS %d MiB idle, %d MiB with 200 streams, %d MiB at most with %d slow ones more",
		live-shown, shown, idle>>10, before>>10, most>>10, slow)
	t.Logf("slow clients cut off within %v", took)
	t.Logf("delay of events: p50 %v, p99 %v of %d before; p50 %v, p99 %v, most %v of %d beside slow clients",
		quantile(alone, .5), quantile(alone, .99), len(alone), quantile(with, .5), quantile(with, .99), quantile(with, 1), len(with))
	if p99 := quantile(with, .99); p99 > 2*time.Second {
		t.Errorf("events came %v late to those who read", p99)
	}
	if live-shown > 96 { // 60 or so, and what the tasks grow by while it is measured
		t.Errorf("%d KiB are kept for each slow client", live-shown)
	}
	if most-before > (64+shown)*slow+64<<10 {
		t.Errorf("%d KiB for %d slow clients", most-before, slow)
	}
}
