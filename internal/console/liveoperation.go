package console

import (
	"net/http"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

const (
	// livePace is how long a viewer has nothing after it had something: no eye needs more,
	// and it bounds what a busy gateway sends to a viewer by what waits for one.
	livePace = 200 * time.Millisecond
	// liveBeat is how often a viewer gets a sign of life, and is asked for its credential anew.
	liveBeat = 15 * time.Second
)

// liveOperation shows records as they are made.
var liveOperation = operation{
	method: http.MethodGet, path: "/api/v1/live", id: "live", tag: "audit", role: Viewer,
	summary: "Audit records that are all of what is asked for, as they are made: server-sent events. open says after which number it begins, " +
		"record is one as it was written, gap says how many were dropped for a viewer who is too slow, and end why there is no more",
	params: slices.Concat(whichRecords[:8], []param{
		{name: "type", text: "of this type; intents, calls and events unless set", values: []string{"intent", "call", "event"}},
	}),
	media: "text/event-stream", errors: []string{codeBusy}, answer: (*Console).live,
}

// wants tells whether a viewer wants a record. Where no type is asked for, calls that have
// begun are shown as well.
func wants(q index.Query) func(*index.Head) bool {
	match := q.Filter()
	if q.Type != "" {
		return match
	}
	q.Type = "intent"
	begun := q.Filter()
	return func(h *index.Head) bool { return match(h) || begun(h) }
}

func (s *Console) live(c *call) (any, error) {
	q, err := c.wanted()
	if err != nil {
		return nil, err
	}
	v, err := s.liveFeed.join(wants(q))
	if err != nil {
		return nil, err
	}
	return reply{handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.liveFeed.leave(v)
		s.watch(w, r, v)
	})}, nil
}

// watch writes what there is for a viewer, until somebody has enough.
func (s *Console) watch(w http.ResponseWriter, r *http.Request, v *viewer) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // nothing more is to be read
	w.Header().Set("Content-Type", "text/event-stream")
	out := &patient{w, control}
	beat := time.NewTicker(liveBeat)
	defer beat.Stop()
	for over := false; !over; {
		var text []byte
		select {
		case <-r.Context().Done():
			return
		case <-beat.C:
			text, over = s.still(r)
		case <-v.wake:
			text, over = s.liveFeed.take(nil, v)
		}
		if len(text) == 0 {
			continue
		}
		if _, err := out.Write(text); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
		case <-time.After(livePace):
		}
	}
}

// still is a sign of life, or the end for whoever may look no more: a session was left, a
// token has expired.
func (s *Console) still(r *http.Request) (text []byte, over bool) {
	who, err := s.identify(r)
	if err == nil && who.role.may(Viewer) {
		return sse.AppendComment(nil, ""), false
	}
	return ending(&ended{codeUnauthenticated, "your session is over, or your token"}), true
}
