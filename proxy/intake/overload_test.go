package intake_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/a2a-gateway/a2a-gateway/internal/overload"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// strained is a ladder on which a rung stands by which streams are refused.
func strained(t *testing.T, limits overload.Limits) *overload.Ladder {
	t.Helper()
	l, done, over := new(overload.Ladder), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		l.Watch(done, func() overload.Limits { return limits }, func(*overload.Reading) {})
	}()
	t.Cleanup(func() { close(done); <-over })
	for begun := time.Now(); l.Stream() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Since(begun) > proxytest.Patience {
			t.Skipf("nothing is measured here: %+v", l.Reading())
		}
	}
	return l
}

// TestR07_Shapes: who is refused for a rung learns which one in the words of version and
// binding, and the agent hears nothing; calls that need nothing of it go on.
func TestR07_Shapes(t *testing.T) {
	t.Parallel()
	for rung, limits := range map[overload.Rung]overload.Limits{
		overload.SoftMemory:  {Memory: 1 << 50, SoftMemory: 1},
		overload.Descriptors: {Memory: 1 << 50, Descriptors: 4},
	} {
		t.Run(string(rung), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.Sides...), func(s *proxytest.Setup) {
				s.Load, s.Bound = strained(t, limits), map[string]string{"tied": "rec"}
			})
			for _, side := range proxytest.Sides {
				got := w.Speak("tied", w.Base, side, proxytest.Ask{Method: wire.SendStreamingMessage, Task: proxytest.IDForV01(side, "t")})
				if got.Err == nil || got.Err.Kind != wire.Unavailable || !strings.Contains(got.Err.Message, "server.limits."+string(rung)) {
					t.Errorf("%s: %d %v %s", side, got.Status, got.Err, got.Body)
					continue
				}
				if side.Binding == wire.GRPC && got.Code != int(codes.Unavailable) {
					t.Errorf("%s: grpc-status %d", side, got.Code)
				}
				if side.Binding != wire.GRPC && (got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") != "1") {
					t.Errorf("%s: %d %v", side, got.Status, got.Header)
				}
			}
			w.Agent.Silent(t, "a stream while "+string(rung)+" stands")
			if got := w.Speak("alice", w.Base, proxytest.RPC10, proxytest.Ask{Method: wire.SendMessage}); got.Err != nil {
				t.Errorf("a call: %v", got.Err)
			}
			proxytest.WantStatus(t, "a card", w.Do("alice", "GET", "/.well-known/agent-card.json", ""), http.StatusOK)
		})
	}
}

// TestR08_LargeBodies: while memory is getting short a body that is large, or may turn out to
// be, is refused before it is read to its end, and small ones are taken in.
func TestR08_LargeBodies(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Load = strained(t, overload.Limits{Memory: 1 << 50, SoftMemory: 1})
		s.Server.Limits.LargeBody = 1024
	})
	for _, tt := range []struct {
		size    int
		unknown bool // as far as the head says
		want    int
	}{
		{10, false, http.StatusOK},
		{10, true, http.StatusOK},
		{2000, false, http.StatusServiceUnavailable},
		{2000, true, http.StatusServiceUnavailable},
	} {
		body := `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"` +
			strings.Repeat("x", tt.size) + `"}]}}}`
		r := w.Request("alice", "POST", "", body, "A2A-Version: 1.0")
		if tt.unknown {
			r.ContentLength, r.Body = -1, io.NopCloser(struct{ io.Reader }{strings.NewReader(body)})
		}
		resp, err := w.Client.Do(r)
		proxytest.Must(t, err)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != tt.want || tt.want != http.StatusOK && !strings.Contains(string(text), "server.limits.softMemory") {
			t.Errorf("%+v: %d %s", tt, resp.StatusCode, text)
		}
	}
	if seen := w.Agent.Take(); len(seen) != 2 {
		t.Errorf("the agent saw %d calls", len(seen))
	}
}

// TestR08_BodiesOfUnknownLength: a body whose length is not said may be as long as any
// other, and no longer.
func TestR08_BodiesOfUnknownLength(t *testing.T) {
	t.Parallel()
	const limit = 4 << 10
	for _, large := range []quantity.Size{1 << 10, 3 << 10, limit, 64 << 10} {
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Limits.Body, s.Server.Limits.LargeBody = limit, large })
		for size, want := range map[int]int{
			512: http.StatusOK, 2 << 10: http.StatusOK, limit: http.StatusOK,
			limit + 1: http.StatusRequestEntityTooLarge, 2 * limit: http.StatusRequestEntityTooLarge,
		} {
			empty := proxytest.RPCBody("SendMessage", strings.Replace(proxytest.Message(""), "hi", "", 1))
			body := proxytest.RPCBody("SendMessage", strings.Replace(proxytest.Message(""), "hi", strings.Repeat("x", size-len(empty)), 1))
			r := w.Request("alice", "POST", "", body, "A2A-Version: 1.0")
			r.ContentLength, r.Body = -1, io.NopCloser(struct{ io.Reader }{strings.NewReader(body)})
			resp, err := w.Client.Do(r)
			proxytest.Must(t, err)
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if len(body) != size || resp.StatusCode != want {
				t.Errorf("%d bytes where %d are large: %d %s", len(body), large, resp.StatusCode, text)
			}
		}
	}
}
