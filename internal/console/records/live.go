package records

import (
	"log/slog"
	"net/http"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/audit/index"
	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/viewer"
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
		Shows: "calls and events while the gateway records them, newest first; filters by caller, agent, skill, method and decision in the address; pause",
		Close: s.feed.close,
		Operations: []api.Operation{{
			Method: http.MethodGet, Path: "/api/v1/live", ID: "live", Tag: "audit", Role: api.Viewer,
			Summary: "Follow new audit records that match all parameters, as Server-Sent Events. open has the number after which the stream begins, " +
				"record has a record as written, gap says how many records a slow viewer missed, and end says why the stream ends",
			Params: slices.Concat(whichRecords[:len(whichRecords)-3], []api.Param{ // times are not for what is yet to come
				{Name: "type", Text: "only records of this type; default: intents, calls and events", Values: []string{"intent", "call", "event"}},
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
	shown := &viewer.Feed{Wake: v.wake, Take: func() ([]byte, bool) { return s.feed.take(nil, v) }, Admitted: s.admitted}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer s.feed.leave(v)
		shown.ServeHTTP(w, r)
	}), nil
}
