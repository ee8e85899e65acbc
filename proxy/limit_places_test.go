package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy/limits"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

const onePlace = `each: [{name: one, concurrency: 1}]`

// onePlaceEach builds a world whose callers have one call at a time.
func onePlaceEach(t testing.TB, edit ...func(*setup)) *world {
	return limited(t, onePlace, edit...)
}

// TestPlacesAreHeld: a place is taken for as long as a call or its stream runs, whatever
// side it is on, and others go on.
func TestPlacesAreHeld(t *testing.T) {
	t.Parallel()
	for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
		w := onePlaceEach(t)
		for _, s := range sides {
			began, end := make(chan struct{}), make(chan struct{})
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				close(began)
				<-end
				fluent(rw, r)
			})
			done := make(chan said, 1)
			go func() { done <- w.speak("carol", w.base, s, ask{method: method, task: taskFor(s)}) }()
			<-began
			what := fmt.Sprintf("%s over %s", method, s)
			w.speak("carol", w.base, s, ask{method: method, task: taskFor(s)}).refused(t, what, wire.RateLimited)
			w.agent.answers(fluent)
			w.speak("dave", w.base, s, ask{method: method, task: taskFor(s)}).ok(t, what+" for another")
			close(end)
			(<-done).ok(t, what)
			w.free("carol", what)
		}
	}
}

// TestPlacesAreGivenBack: whatever way a call ends, its place is there again.
func TestPlacesAreGivenBack(t *testing.T) {
	t.Parallel()
	ends := map[string]func(http.ResponseWriter, *record){
		"an answer":           fluent,
		"an error":            func(rw http.ResponseWriter, r *record) { r.fail(rw, wire.Internal, "no") },
		"a status":            func(rw http.ResponseWriter, _ *record) { rw.WriteHeader(http.StatusBadGateway) },
		"an agent that dies":  func(http.ResponseWriter, *record) { panic(http.ErrAbortHandler) },
		"a page of HTML":      rawAnswer("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"),
		"what is no HTTP":     rawAnswer("hello\r\n"),
		"an answer too short": rawAnswer("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"),
		"a broken stream": func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, eventOf(r, working(0)))
			flush(rw)
			panic(http.ErrAbortHandler)
		},
		"a stream of nothing": func(rw http.ResponseWriter, _ *record) { rw.Header().Set("Content-Type", "text/event-stream") },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := onePlaceEach(t)
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask} {
				w.own("alice", "t", "c")
				w.free("alice", "making a task")
				w.agent.answers(end)
				params := message("")
				if method == wire.GetTask {
					params = `{"id":"t"}`
				}
				w.call("alice", method, params)
				w.free("alice", method)
			}
		})
	}
}

// TestPlacesOfRefusedCalls: what refuses a call behind the limits gives the place back.
func TestPlacesOfRefusedCalls(t *testing.T) {
	t.Parallel()
	service := newDecider(t)
	service.decide(`{"decision":false}`, 200)
	tests := map[string]struct {
		edit   func(*setup)
		spoil  func(*world)
		params string
		status int
	}{
		"authorizer": {edit: func(s *setup) {
			s.authorizers = pdp.Config{{Name: "pdp", Kind: "authzen", URL: secret.URL(service.URL)}}
		}, status: 403},
		"negotiate": {edit: func(s *setup) {
			s.agent.Extensions.Require = []string{"urn:declared"}
			s.extensions = ext.Registry{{URI: "urn:declared"}}
		}, status: 400},
		"record": {spoil: func(w *world) { must(w, w.audit.Close()) }, status: 503},
		"dial":   {spoil: func(w *world) { w.agent.Close() }, status: 503},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var edits []func(*setup)
			if tt.edit != nil {
				edits = append(edits, tt.edit)
			}
			w := onePlaceEach(t, edits...)
			if tt.spoil != nil {
				tt.spoil(w)
			}
			for range 3 {
				eventually(t, "place", func() bool {
					got := w.call("alice", "SendMessage", message(""))
					if got.status != 429 && got.status != tt.status && !strings.Contains(got.body, `"error"`) {
						t.Fatalf("%d %s", got.status, got.body)
					}
					return got.status != 429
				})
			}
		})
	}
}

// TestPlaceOfPanic: a panic is contained, and what the call held is given back.
func TestPlaceOfPanic(t *testing.T) {
	t.Parallel()
	w := onePlaceEach(t, func(s *setup) { s.store = panicky{s.store} })
	got := w.call("alice", "SendMessage", message(""))
	wantStatus(t, "a panic", got, 500)
	w.agent.take()
	got = w.call("alice", "SendMessage", message(""))
	wantStatus(t, "after a panic", got, 500)
	if !strings.Contains(w.logs.String(), "panicked") {
		t.Error("nothing has panicked")
	}
}

// panicky is a ledger that nothing can be written into.
type panicky struct{ state.Ledger }

func (panicky) Claim(context.Context, state.Record) (state.Record, error)        { panic("claim") }
func (panicky) ClaimAll(context.Context, []state.Record) ([]state.Record, error) { panic("claim") }

// TestPlacesOfStreams: streams that are ended from outside, by a review or a drain, give
// their places back, as do those that nobody has a place for.
func TestPlacesOfStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	draining, drain := context.WithCancel(t.Context())
	w := onePlaceEach(t, func(s *setup) {
		s.streams, s.drain = streams, func(end func()) func() bool { return context.AfterFunc(draining, end) }
	})
	w.streamer(make(chan struct{}))
	resp, in := w.open()
	wantStatus(t, "while it is open", w.call("alice", "SendMessage", message("")), 429)
	drain()
	_, _ = io.Copy(io.Discard, in)
	_ = resp.Body.Close()
	w.free("alice", "a drain")
}

// TestPlacesAcrossReload: a stream keeps its place when the configuration is replaced,
// and gives it back to the limits of then.
func TestPlacesAcrossReload(t *testing.T) {
	t.Parallel()
	var counts state.Limits
	w := onePlaceEach(t, func(s *setup) { counts = s.counts })
	end := make(chan struct{})
	w.streamer(end)
	resp, in := w.open()
	next := w.proxy.Options
	l, err := limits.New(read[limits.Config](t, onePlace), limits.Options{Agents: []string{"rec"}, Store: counts})
	must(t, err)
	t.Cleanup(l.Close)
	next.Limits = l
	w.proxy, err = proxy.New(next)
	must(t, err)
	wantStatus(t, "while it is open", w.call("alice", "SendMessage", message("")), 429)
	close(end)
	_, _ = io.Copy(io.Discard, in)
	_ = resp.Body.Close()
	w.free("alice", "a stream from before")
}
