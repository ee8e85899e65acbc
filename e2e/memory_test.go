package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestR08_Memory mixes what is meant to use memory up, against a gateway that may have
// 400 MiB for itself and 512 in all: large bodies, bodies that never end, streams that
// nobody reads, heads without end. The gateway lives, and calls in between are answered:
// with what they asked for, or that it is too much now.
func TestR08_Memory(t *testing.T) {
	const limit = 512 << 10 // KiB
	t.Setenv("GOMEMLIMIT", "400MiB")
	run, _ := soak(t, 6*time.Second, 10*time.Minute)
	a := newSample(t, "a")
	a.events, a.every = 100, 10*time.Millisecond
	a.text = func(int) string { return strings.Repeat("x", 32<<10) }
	p := serveFleet(t, "", "", fmt.Sprintf(`{id: a, card: "http://%s/card"}`, a.address()))
	ctx, stop := context.WithTimeout(t.Context(), run)
	defer stop()
	address := strings.TrimPrefix(p.base, "http://")
	large := fmt.Sprintf(`{"messageId":"m","role":"ROLE_USER","parts":[{"text":%q}]}`, strings.Repeat("y", 3<<20))
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				p.caller("a").call("SendMessage", fmt.Sprintf("large-%d-%d", i, n), `{"message":`+large+`}`)
			}
		})
	}
	for _, head := range []string{
		"POST /agents/a HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n" +
			strings.Repeat("z", 100<<10),
		"GET / HTTP/1.1\r\nHost: " + address + "\r\nX-A: " + strings.Repeat("h", 12<<10),
		"POST /agents/a HTTP/1.1\r\nHost: " + address + "\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nContent-Length: 150\r\n\r\n" +
			fmt.Sprintf("%-150s", `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"q","role":"ROLE_USER","parts":[{"text":"q"}]}}}`),
	} {
		all.Go(func() { hold(ctx, address, head, 100) })
	}
	var good, busy, wrong atomic.Int64
	peak := 0
	for n := 0; ctx.Err() == nil; n++ {
		id := fmt.Sprintf("good-%d", n)
		switch answer := p.caller("a").send(id); {
		case answer.got("a", id):
			good.Add(1)
		case answer.status == http.StatusServiceUnavailable:
			busy.Add(1)
		default:
			wrong.Add(1)
			t.Logf("%v", answer)
		}
		peak = max(peak, p.rss())
		time.Sleep(20 * time.Millisecond)
	}
	all.Wait()
	t.Logf("%d calls answered, %d told to come back, %d wrong; at most %d MiB resident", good.Load(), busy.Load(), wrong.Load(), peak>>10)
	if wrong.Load() > 0 || good.Load() == 0 || peak > limit {
		t.Errorf("%d wrong answers, %d MiB", wrong.Load(), peak>>10)
	}
	eventually(t, "the gateway answers as before", 10*time.Second, func() bool {
		return p.caller("a").send("after").got("a", "after")
	})
}

// hold keeps n connections open that have sent head and read nothing, anew when they are
// closed.
func hold(ctx context.Context, address, head string, n int) {
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
				if err != nil {
					continue
				}
				_ = c.SetDeadline(time.Now().Add(5 * time.Second))
				_, _ = c.Write([]byte(head))
				select {
				case <-ctx.Done():
				case <-time.After(4 * time.Second):
				}
				_ = c.Close()
			}
		})
	}
	all.Wait()
}
