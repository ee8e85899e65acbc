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
		if _, err := io.ReadFull(resp.Body, make([]byte, 10)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestR06_SlowReaders has clients that stop reading beside as many that go on, on the same
// tasks and on tasks of their own. They are cut off, which the record says, the others
// notice nothing, and the memory of the gateway stays small.
func TestR06_SlowReaders(t *testing.T) {
	run, long := soak(t, 16*time.Second, 10*time.Minute)
	slow, tasks := 200, 10
	if long {
		slow = 500
	}
	s := newSample(t, "talker")
	s.every, s.grows = 150*time.Millisecond, true
	s.events = int(run / s.every)
	padding := strings.Repeat("x", 4<<10)
	s.text = func(n int) string { return fmt.Sprintf("%d@%d@%s ", n, time.Now().UnixNano(), padding) }
	p := serveFleet(t, "  timeouts: {write: 5s}", "streams: {buffer: {snapshot: 1MiB}}",
		fmt.Sprintf(`{id: talker, card: "http://%s/card"}`, s.address()))
	c := p.caller("talker")
	c.client.Timeout = 0
	idle := p.rss()
	var mu sync.Mutex
	var delays []time.Duration
	a := attend(t, s, func() *caller { return c }, tasks, slow/tasks-1, 0, func(chunk string) {
		said, err := strconv.ParseInt(strings.Split(chunk, "@")[1], 10, 64)
		if delay := time.Since(time.Unix(0, said)); err == nil {
			mu.Lock()
			delays = append(delays, delay)
			mu.Unlock()
		}
	})
	before := p.rss()
	stuck(t, c, slow/2, func(c *caller, i int) (*http.Response, error) {
		return c.do(t.Context(), "SubscribeToTask", "s", fmt.Sprintf(`{"id":"talker-m%d"}`, i%tasks))
	})
	stuck(t, c, slow-slow/2, func(c *caller, i int) (*http.Response, error) {
		if i < tasks {
			return c.do(t.Context(), "SendStreamingMessage", "s", fmt.Sprintf(message, fmt.Sprintf("s%d", i)))
		}
		return c.do(t.Context(), "SubscribeToTask", "s", fmt.Sprintf(`{"id":"talker-s%d"}`, i%tasks))
	})
	mu.Lock()
	delays = nil // until now tasks were shown as they were before
	mu.Unlock()
	most, data := 0, filepath.Join(filepath.Dir(p.config), "data")
	cut := func() int {
		most = max(most, p.rss())
		return recorded(t, data, `"client too slow"`)
	}
	took := eventually(t, "all slow clients are cut off", 30*time.Second, func() bool {
		time.Sleep(100 * time.Millisecond)
		return cut() == slow
	})
	if _, ends := a.ends(); ends != 0 {
		t.Errorf("%d streams of others ended early", ends)
	}
	p99 := quantile(delays, .99)
	t.Logf("RSS %d MiB idle, %d MiB with %d streams (%d KiB each), %d MiB at most with %d slow ones more (%d KiB each)",
		idle>>10, before>>10, slow, (before-idle)/slow, most>>10, slow, (most-before)/slow)
	t.Logf("slow clients cut off within %v; %d events to others, delay p50 %v, p99 %v, most %v",
		took, len(delays), quantile(delays, .5), p99, quantile(delays, 1))
	if p99 > 2*time.Second {
		t.Errorf("events came %v late to those who read", p99)
	}
	if most-before > 64*slow+64<<10 {
		t.Errorf("%d KiB for %d slow clients", most-before, slow)
	}
}
