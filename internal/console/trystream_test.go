package console

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/trials"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/sse/ssetest"
)

// try begins a call that is shown as it goes on. What is not a stream is the error.
func (w *world) try(change func(*http.Request)) (*spectator, error) {
	w.t.Helper()
	ctx, cancel := context.WithCancel(w.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.console.URL()+"/api/v1/try", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	send(req, bodies["try"])
	req.Header.Set("Authorization", "Bearer "+tokenOf(api.Operator))
	req.Header.Set("Accept", "application/json;q=.5, text/event-stream")
	if change != nil {
		change(req)
	}
	resp, err := ssetest.Watch(w.t, &http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		w.t.Fatal(err)
	}
	s := &spectator{t: w.t, events: sse.NewReader(resp.Body, 8<<20), leave: func() { cancel(); _ = resp.Body.Close() }}
	w.t.Cleanup(s.leave)
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != "text/event-stream" {
		body, _ := io.ReadAll(resp.Body)
		return nil, errors.New(got + " " + string(body))
	}
	return s, nil
}

// step has calls go on as the test says.
func (t *tries) step() {
	t.steps, t.ended = make(chan trials.Event), make(chan error, 1)
}

// TestTryStream: whoever asks for events has each when it happens, and the whole at the end,
// within a time of its own.
func TestTryStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	w.tries.step()
	s, err := w.try(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		data any
		want string
	}{
		{trials.Sent{Sent: "POST /", Command: "curl"}, `sent  {"sent":"POST /","command":"curl"}`},
		{trials.Head{Status: 200, Request: "r-1", Active: []string{}}, `head  {"status":200,"request":"r-1","active":[]}`},
		{trials.Piece{At: 1.5, Text: "data: {}\n\n"}, `piece  {"at":1.5,"text":"data: {}\n\n"}`},
		{trials.Piece{At: 2.5, Text: "x"}, `piece  {"at":2.5,"text":"x"}`},
	} {
		name, _, _ := strings.Cut(tt.want, " ")
		w.tries.steps <- trials.Event{Name: name, Data: tt.data}
		if got := s.next(); got != tt.want { // while the call goes on
			t.Errorf("%s, want %s", got, tt.want)
		}
	}
	close(w.tries.steps)
	if got := s.next(); !strings.HasPrefix(got, "trial  {") || !strings.Contains(got, `"ended":"complete"`) {
		t.Error(got)
	}
	if e, err := s.events.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %+v, %v", e, err)
	}
	if want := (trials.Bounds{Time: usualWatch, TimeKey: "admin.try.streamTimeout", Answer: usualShown}); w.tries.bounds != want {
		t.Errorf("%+v", w.tries.bounds)
	}
	events := w.recorded()
	if len(events) != 1 || events[0]["event"] != "call.tried" || events[0]["agent"] != "a-1" || events[0]["who"] != "the-operator" {
		t.Errorf("recorded %v", events)
	}
}

// TestTryStreamIsCancelled: who goes away ends the call, and makes room for the next one.
func TestTryStreamIsCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { everyRole(c); c.Try.Calls = 1 })
	w.tries.step()
	s, err := w.try(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.tries.steps <- trials.Event{Name: "sent", Data: trials.Sent{Sent: "POST /"}}
	s.next()
	if _, err := w.try(nil); err == nil || !strings.Contains(err.Error(), "admin.try.calls") || !strings.HasPrefix(err.Error(), "application/problem+json") {
		t.Errorf("one more: %v", err)
	}
	s.leave()
	if err := <-w.tries.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	var next *spectator
	for next == nil { // the place is given back a moment later
		next, _ = w.try(nil)
	}
	w.console.Close()
	if got := next.next(); got != `end  {"code":"BUSY","detail":"the gateway ends"}` {
		t.Error(got)
	}
	if err := <-w.tries.ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestTryStreamIsRefused: what is refused is an answer with a status, and no stream; the call
// is not made.
func TestTryStreamIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	for want, change := range map[string]func(*http.Request){
		"FORBIDDEN":       func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tokenOf(api.Viewer)) },
		"UNAUTHENTICATED": func(r *http.Request) { r.Header.Del("Authorization") },
		"CROSS_ORIGIN":    func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"CONTENT_TYPE":    func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"INVALID_CALL":    func(r *http.Request) { send(r, `{"agent":"a b"}`) },
	} {
		if _, err := w.try(change); err == nil || !strings.HasPrefix(err.Error(), "application/problem+json") || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	if w.tries.asked != nil {
		t.Error("a call was made")
	}
	w.tries.err = trials.AttemptInvalid{Member: "version", Err: errors.New("want 1.0")}
	if _, err := w.try(nil); err == nil || !strings.Contains(err.Error(), "version: want 1.0") {
		t.Error(err)
	}
	w.tries.err = nil
	for _, accept := range []string{"", "*/*", "application/json", "text/event-stream;q=0"} {
		_, err := w.try(func(r *http.Request) { r.Header.Set("Accept", accept) })
		if err == nil || !strings.HasPrefix(err.Error(), "application/json") {
			t.Errorf("Accept: %s: %v", accept, err)
		}
	}
}
