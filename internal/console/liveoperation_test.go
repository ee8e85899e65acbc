package console

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
)

// spectator is somebody who looks at live records.
type spectator struct {
	t      *testing.T
	events *sse.Reader
	leave  func()
}

// look begins to, with a token.
func (w *world) look(query, token string) *spectator {
	w.t.Helper()
	s := w.spectate("/api/v1/live"+query, token)
	if got := s.next(); got != `open  {"after":40}` {
		w.t.Fatal(got)
	}
	return s
}

// spectate begins to read what is shown at a path.
func (w *world) spectate(path, token string) *spectator {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", w.console.URL()+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := ssetest.Watch(w.t, &http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &spectator{t: w.t, events: sse.NewReader(resp.Body, 8<<20), leave: func() { cancel(); _ = resp.Body.Close() }}
	w.t.Cleanup(s.leave)
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		w.t.Fatal(resp.Status, got)
	}
	return s
}

// next is the next event, as its name, its id and its data.
func (s *spectator) next() string {
	s.t.Helper()
	for {
		e, err := s.events.Next()
		if err != nil {
			s.t.Fatal(err)
		}
		if !e.Comment {
			return fmt.Sprintf("%s %s %s", e.Name, e.ID, e.Data)
		}
	}
}

// make has a record made.
func (l *ledger) make(seq uint64, kind, members string) {
	text := fmt.Sprintf(`{"seq":%d,"v":1,"type":%q,"time":"2026-01-01T00:00:00Z"%s}`, seq, kind, members)
	l.feed <- found{entry: reader.Entry{Seq: seq, Line: []byte(text)}}
}

func shown(seq int, kind, members string) string {
	return fmt.Sprintf(`record %d {"seq":%d,"v":1,"type":%q,"time":"2026-01-01T00:00:00Z"%s}`, seq, seq, kind, members)
}

// TestLive: viewers see the records that they ask for as they are made, byte for byte,
// and what is not there any more is said. The files are read while somebody looks only.
func TestLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	w.ledger.feed = make(chan found)
	all, alice := w.look("", tokenOf(api.Viewer)), w.look("?caller=alice&type=call", tokenOf(api.Viewer))
	w.ledger.make(41, "intent", `,"principal":"alice","decision":"allow"`)
	w.ledger.make(42, "checkpoint", "")
	w.ledger.make(43, "call", `,"principal":"alice","decision":"allow"`)
	w.ledger.make(44, "event", `,"event":"card.changed","attrs":{"agent":"a"}`)
	w.ledger.feed <- found{err: &reader.LostError{From: 45, To: 47}}
	for _, want := range []string{
		shown(41, "intent", `,"principal":"alice","decision":"allow"`), shown(43, "call", `,"principal":"alice","decision":"allow"`),
		shown(44, "event", `,"event":"card.changed","attrs":{"agent":"a"}`),
	} {
		if got := all.next(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := all.next(); got != `gap  {"dropped":3}` {
		t.Error(got)
	}
	if got := alice.next(); got != shown(43, "call", `,"principal":"alice","decision":"allow"`) {
		t.Error(got)
	}
	all.leave()
	alice.leave()
	w.ledger.reads.Wait() // nobody reads for nobody
	again := w.look("", tokenOf(api.Viewer))
	w.ledger.make(48, "call", "")
	if got := again.next(); got != shown(48, "call", "") {
		t.Error(got)
	}
	w.ledger.feed <- found{err: errors.New("disk")}
	if got := again.next(); !strings.HasPrefix(got, `end  {"code":"INTERNAL",`) {
		t.Error(got)
	}
	if e, err := again.events.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %+v, %v", e, err)
	}
}

// TestLiveBounds: one more than may look at a time is told so.
func TestLiveBounds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Live = Live{Viewers: 1, Buffer: leastBuffer} })
	w.ledger.feed = make(chan found)
	first := w.look("", testToken)
	got := w.ask("GET", "/api/v1/live", nil)
	if got.status != http.StatusServiceUnavailable || !strings.Contains(got.body, "1 look at live records already (admin.live.viewers)") {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/live?since=2026-01-01T00:00:00Z", nil); got.status != http.StatusBadRequest {
		t.Error(got)
	}
	first.leave()
	w.ledger.reads.Wait()
}

// TestLiveEnds: whoever looks does not hold up the end of the gateway, nor may they look when
// their credential is worth nothing any more.
func TestLiveEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	w.ledger.feed = make(chan found)
	s := w.look("", tokenOf(api.Viewer))
	for token, want := range map[string]bool{tokenOf(api.Viewer): false, "canary-expired-token": true} {
		r := newRequest(t, "GET", "/api/v1/live")
		r.Header.Set("Authorization", "Bearer "+token)
		if over := !w.console.access.admitted(r); over != want {
			t.Errorf("%s: %v", token, over)
		}
	}
	w.console.Close()
	if got := s.next(); got != `end  {"code":"BUSY","detail":"the gateway ends"}` {
		t.Error(got)
	}
	r := newRequest(t, "GET", "/api/v1/live")
	op, err := find(w.console.operations, r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := op.Answer(&api.Call{Request: r, Operation: op}); err == nil {
		t.Error("somebody looks at a gateway that has ended")
	}
}
