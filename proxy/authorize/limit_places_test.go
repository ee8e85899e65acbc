package authorize_test

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
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const onePlace = `each: [{name: one, concurrency: 1}]`

// onePlaceEach builds a world whose callers have one call at a time.
func onePlaceEach(t testing.TB, edit ...func(*proxytest.Setup)) *proxytest.Gateway {
	return proxytest.NewLimitedGateway(t, onePlace, edit...)
}

// TestPlacesAreHeld: a place is taken for as long as a call or its stream runs, whatever
// side it is on, and others go on.
func TestPlacesAreHeld(t *testing.T) {
	t.Parallel()
	for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
		w := onePlaceEach(t)
		for _, s := range proxytest.Sides {
			began, end := make(chan struct{}), make(chan struct{})
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				close(began)
				<-end
				proxytest.Fluent(rw, r)
			})
			done := make(chan proxytest.Reply, 1)
			go func() {
				done <- w.Speak("carol", w.Base, s, proxytest.Ask{Method: method, Task: proxytest.NewTaskID(s)})
			}()
			<-began
			what := fmt.Sprintf("%s over %s", method, s)
			w.Speak("carol", w.Base, s, proxytest.Ask{Method: method, Task: proxytest.NewTaskID(s)}).Refused(t, what, wire.RateLimited)
			w.Agent.Answers(proxytest.Fluent)
			w.Speak("dave", w.Base, s, proxytest.Ask{Method: method, Task: proxytest.NewTaskID(s)}).OK(t, what+" for another")
			close(end)
			(<-done).OK(t, what)
			free(w, "carol", what)
		}
	}
}

// TestPlacesAreGivenBack: whatever way a call ends, its place is there again.
func TestPlacesAreGivenBack(t *testing.T) {
	t.Parallel()
	ends := map[string]func(http.ResponseWriter, *proxytest.Request){
		"an answer":           proxytest.Fluent,
		"an error":            func(rw http.ResponseWriter, r *proxytest.Request) { r.Fail(rw, wire.Internal, "no") },
		"a status":            func(rw http.ResponseWriter, _ *proxytest.Request) { rw.WriteHeader(http.StatusBadGateway) },
		"an agent that dies":  func(http.ResponseWriter, *proxytest.Request) { panic(http.ErrAbortHandler) },
		"a page of HTML":      proxytest.RawAnswer("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi"),
		"what is no HTTP":     proxytest.RawAnswer("hello\r\n"),
		"an answer too short": proxytest.RawAnswer("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"),
		"a broken stream": func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(rw, proxytest.EventOf(r, proxytest.WorkingTask(0)))
			proxytest.Flush(rw)
			panic(http.ErrAbortHandler)
		},
		"a stream of nothing": func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Content-Type", "text/event-stream")
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := onePlaceEach(t)
			for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage, wire.GetTask} {
				w.Own("alice", "t", "c")
				free(w, "alice", "making a task")
				w.Agent.Answers(end)
				params := proxytest.Message("")
				if method == wire.GetTask {
					params = `{"id":"t"}`
				}
				w.Call("alice", method, params)
				free(w, "alice", method)
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
		edit   func(*proxytest.Setup)
		spoil  func(*proxytest.Gateway)
		params string
		status int
	}{
		"authorizer": {edit: func(s *proxytest.Setup) {
			s.Authorizers = pdp.Config{{Name: "pdp", Kind: "authzen", URL: secret.URL(service.URL)}}
		}, status: 403},
		"negotiate": {edit: func(s *proxytest.Setup) {
			s.Agent.Extensions.Require = []string{"urn:declared"}
			s.Extensions = ext.Registry{{URI: "urn:declared"}}
		}, status: 400},
		"record": {spoil: func(w *proxytest.Gateway) { proxytest.Must(w, w.Audit.Close()) }, status: 503},
		"dial":   {spoil: func(w *proxytest.Gateway) { w.Agent.Close() }, status: 503},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var edits []func(*proxytest.Setup)
			if tt.edit != nil {
				edits = append(edits, tt.edit)
			}
			w := onePlaceEach(t, edits...)
			if tt.spoil != nil {
				tt.spoil(w)
			}
			for range 3 {
				proxytest.Eventually(t, "place", func() bool {
					got := w.Call("alice", "SendMessage", proxytest.Message(""))
					if got.Status != 429 && got.Status != tt.status && !strings.Contains(got.Body, `"error"`) {
						t.Fatalf("%d %s", got.Status, got.Body)
					}
					return got.Status != 429
				})
			}
		})
	}
}

// TestPlaceOfPanic: a panic is contained, and what the call held is given back.
func TestPlaceOfPanic(t *testing.T) {
	t.Parallel()
	w := onePlaceEach(t, func(s *proxytest.Setup) { s.Store = panicky{s.Store} })
	got := w.Call("alice", "SendMessage", proxytest.Message(""))
	proxytest.WantStatus(t, "a panic", got, 500)
	w.Agent.Take()
	got = w.Call("alice", "SendMessage", proxytest.Message(""))
	proxytest.WantStatus(t, "after a panic", got, 500)
	if !strings.Contains(w.Logs.String(), "panicked") {
		t.Error("nothing has panicked")
	}
}

// panicky is a ledger that nothing can be written into.
type panicky struct{ state.Ledger }

func (panicky) Claim(context.Context, state.Record) (state.Record, error) { panic("claim") }

func (panicky) ClaimAll(context.Context, []state.Record) ([]state.Record, error) { panic("claim") }

// TestPlacesOfStreams: streams that are ended from outside, by a review or a drain, give
// their places back, as do those that nobody has a place for.
func TestPlacesOfStreams(t *testing.T) {
	t.Parallel()
	streams := new(openstreams.Streams)
	draining, drain := context.WithCancel(t.Context())
	w := onePlaceEach(t, func(s *proxytest.Setup) {
		s.Streams, s.Drain = streams, func(end func()) func() bool { return context.AfterFunc(draining, end) }
	})
	w.StreamUntil(make(chan struct{}))
	resp, in := w.OpenStream()
	proxytest.WantStatus(t, "while it is open", w.Call("alice", "SendMessage", proxytest.Message("")), 429)
	drain()
	_, _ = io.Copy(io.Discard, in)
	_ = resp.Body.Close()
	free(w, "alice", "a drain")
}

// TestPlacesAcrossReload: a stream keeps its place when the configuration is replaced,
// and gives it back to the limits of then.
func TestPlacesAcrossReload(t *testing.T) {
	t.Parallel()
	var counts state.Limits
	w := onePlaceEach(t, func(s *proxytest.Setup) { counts = s.Counts })
	end := make(chan struct{})
	w.StreamUntil(end)
	resp, in := w.OpenStream()
	next := w.Proxy.Options
	l, err := limits.New(proxytest.Read[limits.Config](t, onePlace), limits.Options{Agents: []string{"rec"}, Store: counts})
	proxytest.Must(t, err)
	t.Cleanup(l.Close)
	next.Limits = l
	w.Proxy, err = proxy.New(next)
	proxytest.Must(t, err)
	proxytest.WantStatus(t, "while it is open", w.Call("alice", "SendMessage", proxytest.Message("")), 429)
	close(end)
	_, _ = io.Copy(io.Discard, in)
	_ = resp.Body.Close()
	free(w, "alice", "a stream from before")
}
