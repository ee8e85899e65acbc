package http1

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/netpoll"
)

// TestLookTwice: where processors are busy, the timer of one request looks during the next
// one's time, whose own timer then finds the socket watched. A second watch would be in the
// place of the first, which nobody could end any more.
func TestLookTwice(t *testing.T) {
	t.Parallel()
	var s *Server
	s, addr := start(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		watches := map[*netpoll.Watch]bool{}
		for c := range s.conns { // there is no other, and this one is busy
			for range 3 {
				c.disconnectWatch.look()
				c.disconnectWatch.mu.Lock()
				watches[c.disconnectWatch.watch] = true
				c.disconnectWatch.mu.Unlock()
			}
		}
		_, _ = fmt.Fprint(w, len(watches))
	}), func(x *Server) { s = x })
	for range 2 {
		resp, body := get(t, addr)
		if resp != http.StatusOK || body != "1" {
			t.Errorf("%d, %s watches", resp, body)
		}
	}
}

func get(t *testing.T, addr string) (status int, body string) {
	t.Helper()
	resp, err := http.Get("http://" + addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}
