package credentials

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestTokenServerAwayForAnHour: twenty callers want a token every second. Nobody waits for
// a server that is known to be away, it is asked every half a minute, and at work again
// within that.
func TestTokenServerAwayForAnHour(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		back := time.Now().Add(time.Hour)
		var dials atomic.Int64
		s := newServers(func(string, string) {}, nil)
		defer s.close()
		s.http.Transport = strict{&http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			time.Sleep(100 * time.Millisecond)
			if time.Now().Before(back) {
				return nil, &net.OpError{Op: "dial", Err: errors.New("nobody is there")}
			}
			ours, theirs := net.Pipe()
			go grantOne(theirs)
			return ours, nil
		}}}
		c := s.client("http://issuer.test/token", "gateway", secret.New("s"))
		waited := 0
		round := func() (granted int64) {
			begun := time.Now()
			var well atomic.Int64
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					if g, err := c.ask(t.Context(), fmt.Sprint("caller", i), "exchange", url.Values{"grant_type": {"x"}}); err == nil && g.token == "t" {
						well.Add(1)
					}
				})
			}
			all.Wait()
			if time.Since(begun) > 0 {
				waited++
			}
			return well.Load()
		}
		for time.Now().Before(back) {
			if n := round(); n != 0 {
				t.Fatalf("%d tokens of nobody", n)
			}
			time.Sleep(time.Second)
		}
		// The first twenty, then after 1, 2, 4, 8, 16 and every 30 seconds one.
		if n := dials.Load(); n > 20+5+3600/30 || waited > 5+1+3600/30 {
			t.Errorf("asked %d times, in %d rounds", n, waited)
		}
		for round() != 20 {
			if time.Since(back) > 32*time.Second {
				t.Fatal("not asked again")
			}
			time.Sleep(time.Second)
		}
	})
}

// grantOne answers one request for a token.
func grantOne(c net.Conn) {
	if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: 42\r\n\r\n"+
			`{"access_token":"t","token_type":"Bearer"}`)
	}
	_ = c.Close()
}
