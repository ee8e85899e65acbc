package trials

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/viewer"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

const eventStream = "text/event-stream"

// asksForEvents reports whether a call is to be shown as it goes on. Clients that ask for
// nothing in particular get the answer in JSON.
func asksForEvents(h http.Header) bool {
	for _, line := range h.Values("Accept") {
		for item := range strings.SplitSeq(line, ",") {
			if kind, params, err := mime.ParseMediaType(item); err == nil && kind == eventStream && params["q"] != "0" {
				return true
			}
		}
	}
	return false
}

// stream makes a call and writes what happens to it, as it happens. The call ends with its
// viewer: who closes the request cancels it, and so do a session or a token that is over and
// the end of the gateway.
func (s *screen) stream(w http.ResponseWriter, r *http.Request, ready Prepared) {
	ctx, cancel := context.WithCancel(r.Context())
	happened := &happenings{wake: make(chan struct{}, 1)}
	var sending sync.WaitGroup
	sending.Go(func() {
		t := ready.Send(ctx, Bounds{s.StreamTimeout, "admin.try.streamTimeout", s.Answer}, happened.add)
		happened.add(Event{lastEvent, t})
	})
	defer sending.Wait()
	defer cancel()
	shown := viewer.Feed{Wake: happened.wake, Take: happened.take, Closing: s.open.Done(), Admitted: s.Admitted}
	shown.ServeHTTP(w, r)
}

// lastEvent is the name of the event behind which there is no more.
const lastEvent = "trial"

// happenings are the events of a call that its viewer has not been told of. What an answer may have in all
// bounds them too: admin.try.answer.
type happenings struct {
	wake chan struct{}

	mu   sync.Mutex
	text []byte
	over bool
}

func (h *happenings) add(e Event) {
	text, _ := json.Marshal(e.Data) // texts and numbers: there is nothing that cannot be written
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = sse.Append(h.text, sse.Event{Name: e.Name, Data: text})
	h.over = e.Name == lastEvent
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *happenings) take() (text []byte, over bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	text, h.text = h.text, nil
	return text, h.over
}
