package records

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/sse"
)

const (
	// livePace is how long a viewer has nothing after it had something: no eye needs more,
	// and it bounds what a busy gateway sends to a viewer by what waits for one.
	livePace = 200 * time.Millisecond
	// liveBeat is how often a viewer gets a sign of life, and is asked for its credential anew.
	liveBeat = 15 * time.Second
)

// live shows records as they are made. admitted is asked at each sign of life.
type live struct {
	feed     feed
	admitted func(*http.Request) bool
}

// LiveScreen shows records as they are made, to so many viewers at a time with so much that
// waits for each of them. admitted says whether a viewer may still look.
func LiveScreen(log Records, viewers, buffer int, l *slog.Logger, admitted func(*http.Request) bool) api.Screen {
	s := &live{feed{records: log, most: viewers, buffer: buffer, log: l}, admitted}
	return api.Screen{
		Title: "Live", Page: "/live", Link: true,
		Shows: "calls and events as they are recorded, the newest first; by caller, agent, skill, method, decision, in the address; pause",
		Close: s.feed.close,
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/live", ID: "live", Tag: "audit", Role: api.Viewer,
			Summary: "Audit records that are all of what is asked for, as they are made: server-sent events. open says after which number it begins, " +
				"record is one as it was written, gap says how many were dropped for a viewer who is too slow, and end why there is no more",
			Params: slices.Concat(whichRecords[:8], []api.Param{
				{Name: "type", Text: "of this type; intents, calls and events unless set", Values: []string{"intent", "call", "event"}},
			}),
			Media: "text/event-stream", Errors: []api.Code{api.Busy}, Answer: s.live,
		}},
	}
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

// live joins the feed before it answers, so that a viewer who is one too many gets a 503
// and not a stream that ends at once.
func (s *live) live(c *api.Call) (any, error) {
	q, err := wanted(c)
	if err != nil {
		return nil, err
	}
	v, err := s.feed.join(wants(q))
	if err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.feed.leave(v)
		s.watch(w, r, v)
	}), nil
}

// watch writes what there is for a viewer, until somebody has enough. It ends when the
// browser goes, when the feed dismisses the viewer, or when what was shown as a credential
// is no longer good.
func (s *live) watch(w http.ResponseWriter, r *http.Request, v *viewer) {
	control := http.NewResponseController(w)
	// A stream outlives the deadline for reading a request, which would otherwise end the
	// connection in the middle.
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
			text, over = s.feed.take(nil, v)
		}
		// What was pending was taken with the poke before.
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
// token has expired. The sign of life is a comment of server-sent events (a line that
// begins with a colon), which browsers ignore and proxies count as traffic.
func (s *live) still(r *http.Request) (text []byte, over bool) {
	if s.admitted(r) {
		return sse.AppendComment(nil, ""), false
	}
	return ending(&ended{unauthenticated, "your session is over, or your token"}), true
}
