package session_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/audit/redact"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// seen waits until so many events have come to a watcher, or the stream has ended.
func seen(t *testing.T, w *openstreams.Watcher, n int) (events []openstreams.Event, end string) {
	t.Helper()
	late := time.After(time.Minute)
	for len(events) < n || n == 0 {
		select {
		case <-w.Wake():
		case <-late:
			t.Fatalf("%d events after a minute: %+v", len(events), events)
		}
		_, more, over := w.Take()
		if events = append(events, more...); over != "" {
			return events, over
		}
	}
	return events, ""
}

// TestWatched: who watches a stream sees what its client is given, with the time, kind, state, id and size
// of each event, and why it ended. Content is there where a rule captures it, redacted as it is captured,
// and for those alone who are to have it.
func TestWatched(t *testing.T) {
	t.Parallel()
	for _, capture := range []string{"both", "request"} {
		var list openstreams.Streams
		w := proxytest.NewGateway(t, proxytest.WithStreams(), func(s *proxytest.Setup) {
			s.Streams = &list
			s.Content = audit.Content{Rules: []audit.ContentRule{
				{Capture: capture, Label: "internal", Redact: redact.Config{Paths: []redact.Place{{Path: "$..contextId", Action: "mask"}}}},
			}}
		})
		k := w.StartWorker()
		l := w.Listen("alice", "SendStreamingMessage", proxytest.Message(""))
		l.Hears("task submitted ")
		open := list.List()
		if len(open) != 1 || open[0].Captured != (capture == "both") {
			t.Fatalf("%+v", open)
		}
		plain, reader := list.Follow(open[0].ID, 1<<20, false), list.Follow(open[0].ID, 1<<20, true)
		k.Say("mail bob@example.com")
		l.Hears("+mail bob@example.com")
		id := l.Last
		k.Become("COMPLETED")
		l.Hears("completed", "")
		got, end := seen(t, reader, 0)
		if len(got) != 2 || end != "agent finished" || got[0].Kind != "artifact" || got[0].ID != id || got[0].Bytes == 0 || got[0].Time.IsZero() ||
			got[1].Kind != "status" || got[1].State != "TASK_STATE_COMPLETED" {
			t.Fatalf("%s: %+v, ended %q", capture, got, end)
		}
		shown := strings.Contains(got[0].Content, "mail [email]") && strings.Contains(got[1].Content, `"contextId":"[masked]"`)
		if shown != (capture == "both") || capture != "both" && got[0].Content != "" || strings.Contains(got[0].Content, "bob@") {
			t.Errorf("%s: %s", capture, got[0].Content)
		}
		if got, _ = seen(t, plain, 0); len(got) != 2 || got[0].Content != "" {
			t.Errorf("%s: who is to have no content has %+v", capture, got)
		}
	}
}

// TestWatchedBindings: events of all bindings and versions are shown, as their clients are given them, also
// those that a translation holds back until the agent's stream has ended.
func TestWatchedBindings(t *testing.T) {
	t.Parallel()
	for _, agent := range proxytest.Sides {
		for _, as := range proxytest.Sides {
			if as == proxytest.RPC01 { // whose clients name the tasks
				continue
			}
			t.Run(agent.String()+"/"+as.String(), func(t *testing.T) {
				t.Parallel()
				var list openstreams.Streams
				w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithStreams(), func(s *proxytest.Setup) {
					s.Streams = &list
					s.Content = audit.Content{Rules: []audit.ContentRule{{Capture: "response", Label: "internal"}}}
				})
				watchers := make(chan *openstreams.Watcher, 1)
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					first := proxytest.TaskIn(agent, "t", "c", "working", "")
					switch {
					case agent == proxytest.RPC01: // whose streams have no task
						first = proxytest.StatusIn(agent, "t", "c", "working", "")
					case agent.Version == wire.V10 || agent.Binding != wire.JSONRPC:
						first = `{"task":` + first + `}`
					}
					if agent.Binding != wire.GRPC {
						rw.Header().Set("Content-Type", "text/event-stream")
					} else {
						rw.Header().Set("Content-Type", "application/grpc")
						defer rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
					}
					r.Event(rw, first)
					var open []openstreams.Status
					for late := time.Now().Add(time.Minute); len(open) == 0 || open[0].Events == 0; {
						if time.Now().After(late) {
							t.Errorf("after a minute there are %+v", open)
							watchers <- nil
							return
						}
						time.Sleep(time.Millisecond)
						open = list.List()
					}
					var one *openstreams.Watcher
					for one == nil { // a stream is in no list while it leaves its handler
						one = list.Follow(open[0].ID, 1<<20, true)
					}
					watchers <- one
					r.Event(rw, proxytest.StatusIn(agent, "t", "c", "completed", ""))
				})
				got := w.Speak("alice", w.Base, as, proxytest.Ask{Method: wire.SendStreamingMessage})
				if got.OK(t, "stream"); t.Failed() {
					return
				}
				one := <-watchers
				if one == nil {
					return
				}
				events, end := seen(t, one, 0)
				if len(events) != 1 || events[0].Kind != "status" || events[0].State != "TASK_STATE_COMPLETED" || events[0].Bytes == 0 || end != "agent finished" {
					t.Fatalf("%+v, ended %q", events, end)
				}
				if !strings.Contains(strings.ToLower(events[0].Content), "completed") {
					t.Errorf("the content is %s", events[0].Content)
				}
			})
		}
	}
}
