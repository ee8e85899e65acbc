package trials

import (
	"context"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

const (
	eventStream = "text/event-stream"
	// beat is how often a viewer gets a sign of life, and is asked for its credential anew. It
	// is shorter than writeTimeout: over HTTP/2 a deadline that passes ends the answer, even
	// where nothing is being written.
	beat = 15 * time.Second
	// writeTimeout is for each event. The server's own deadline is for an answer as a whole.
	writeTimeout = 30 * time.Second
)

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
	out := &events{w, http.NewResponseController(w)}
	// A stream outlives the deadline for reading a request, which would otherwise end the
	// connection in the middle.
	_ = out.control.SetReadDeadline(time.Time{}) // nothing more is to be read
	w.Header().Set("Content-Type", eventStream)
	if out.write(sse.AppendComment(nil, "")) != nil {
		return
	}
	ctx, cancel := context.WithCancel(r.Context())
	happened := make(chan Event)
	tell := func(e Event) {
		select {
		case happened <- e:
		case <-ctx.Done():
		}
	}
	var sending sync.WaitGroup
	sending.Go(func() {
		t := ready.Send(ctx, Bounds{s.StreamTimeout, "admin.try.streamTimeout", s.Answer}, tell)
		tell(Event{"trial", t})
	})
	defer sending.Wait()
	defer cancel()
	s.show(out, r, happened)
}

// show writes events until the last one, or until somebody has enough.
func (s *screen) show(out *events, r *http.Request, happened <-chan Event) {
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for over := false; !over; {
		var text []byte
		select {
		case <-r.Context().Done():
			return
		case <-s.open.Done():
			text, over = event(Event{"end", ended{api.Busy.Name, "the gateway ends"}}), true
		case <-alive.C:
			if text = sse.AppendComment(nil, ""); !s.Admitted(r) {
				text, over = event(Event{"end", ended{"UNAUTHENTICATED", "your session is over, or your token"}}), true
			}
		case e := <-happened:
			text, over = event(e), e.Name == "trial"
		}
		if out.write(text) != nil {
			return
		}
	}
}

// ended says why a viewer gets no more of a call.
type ended struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// event is one of the stream.
func event(e Event) []byte {
	text, _ := json.Marshal(e.Data) // texts and numbers: there is nothing that cannot be written
	return sse.Append(nil, sse.Event{Name: e.Name, Data: text})
}

// events is a response that has the time of an answer for each part of it.
type events struct {
	to      http.ResponseWriter
	control *http.ResponseController
}

// write has a part of the stream on its way at once. It fails once the viewer has taken
// nothing for writeTimeout.
func (e *events) write(text []byte) error {
	if err := e.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	if _, err := e.to.Write(text); err != nil {
		return err
	}
	return e.control.Flush()
}
