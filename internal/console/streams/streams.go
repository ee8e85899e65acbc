package streams

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
)

// Streams are the event streams that are open at this gateway.
type Streams interface {
	// Open has all of them, in any order.
	Open() []OpenStream
	// End ends the one of an id, whose client is told to subscribe again; false where there
	// is none.
	End(id string) bool
	// Follow has somebody watch the one of an id, from now on, with so many bytes that wait for them, and
	// with the content of its events where that is captured; nil where there is none.
	Follow(id string, room int, content bool) Watcher
}

// noStream: none of that id is open.
var noStream = api.Code{Name: "NO_SUCH_STREAM", Status: http.StatusNotFound}

// OpenStream is one of them.
type OpenStream struct {
	ID      string    `json:"id" doc:"of the request that it answers: request_id in records"`
	Caller  string    `json:"caller"`
	Issuer  string    `json:"issuer" doc:"of the caller"`
	Agent   string    `json:"agent"`
	Skill   string    `json:"skill,omitzero"`
	Method  string    `json:"method"`
	Task    string    `json:"task,omitzero" doc:"absent while none was named"`
	Binding string    `json:"binding"`
	Version string    `json:"version"`
	Address string    `json:"address,omitzero" doc:"of the client"`
	Began   time.Time `json:"began"`
	Events  int64     `json:"events" doc:"that the client was given"`
	// Captured says that a rule of telemetry.audit.content captures the answer.
	Captured bool `json:"captured" doc:"a rule of telemetry.audit.content captures its events"`
}

// OpenStreams is the answer of GET /api/v1/streams.
type OpenStreams struct {
	Open    int          `json:"open" doc:"how many there are, whatever was asked for"`
	Found   int          `json:"found" doc:"how many of them are all of what was asked for"`
	Streams []OpenStream `json:"streams"`
	Next    string       `json:"next,omitzero" doc:"cursor of the next page; absent at the end"`
}

// screen lists them, ends them, and has them watched.
type screen struct {
	open  Streams
	watch watch
}

// Screen is that of the event streams that are open, which may be watched within bounds.
func Screen(open Streams, bounds Watching) api.Screen {
	s := &screen{open: open, watch: watch{Watching: bounds, over: make(chan struct{})}}
	return api.Screen{
		Title: "Streams", Page: "/streams", Link: true,
		Shows: "the event streams that are open at this gateway: whose, of which agent and task, since when, how many events; by caller, agent and task; watch one, event by event, with content where that is captured and `admin.content` shows it; end one",
		Close: s.watch.close,
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/streams", ID: "list-streams", Tag: "streams", Role: api.Viewer,
				Summary: "The event streams that are open at this gateway and are all of what is asked for, the oldest first",
				Params: []api.Param{{Name: "caller", Text: "whose they are; in this and the other texts a * stands for any run of characters"}, {Name: "agent", Text: "whose agent's they are"},
					{Name: "task", Text: "which task they are about"}}, Pages: true,
				Out: reflect.TypeFor[OpenStreams](), Answer: s.listStreams,
			},
			{
				Method: http.MethodDelete, Path: "/api/v1/streams/{id}", ID: "end-stream", Tag: "streams", Role: api.Operator, Writes: true,
				Summary: "End one: its client is told to subscribe again, and its task goes on",
				Out:     reflect.TypeFor[api.Changed](), Errors: []api.Code{noStream}, Answer: s.endStream,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/streams/{id}/events", ID: "watch-stream", Tag: "streams", Role: api.Operator,
				Summary: "Watch one, from now on: server-sent events. open says which it is and whether content is shown, event is one as its client was given it, " +
					"gap says how many were dropped for a viewer who is too slow, and end why there is no more. Who watches is on record before it begins",
				Media: "text/event-stream", Errors: []api.Code{noStream, api.Unrecorded, api.Busy}, Answer: s.watchStream,
			},
		},
	}
}

func (s *screen) listStreams(c *api.Call) (any, error) {
	after, limit, err := c.Page()
	if err != nil {
		return nil, err
	}
	all := s.open.Open()
	answer := &OpenStreams{Open: len(all), Streams: []OpenStream{}}
	all = slices.DeleteFunc(all, func(st OpenStream) bool {
		return !wants(c, "caller", st.Caller) || !wants(c, "agent", st.Agent) || !wants(c, "task", st.Task)
	})
	answer.Found = len(all)
	slices.SortFunc(all, func(a, b OpenStream) int { return strings.Compare(a.place(), b.place()) })
	if after != "" {
		i, _ := slices.BinarySearchFunc(all, after, func(st OpenStream, at string) int { return cmp.Or(strings.Compare(st.place(), at), -1) })
		all = all[i:]
	}
	if len(all) > limit {
		all = all[:limit]
		answer.Next = c.Cursor(all[limit-1].place())
	}
	answer.Streams = append(answer.Streams, all...)
	return answer, nil
}

// place is where a stream stands among others: by when it began.
func (st *OpenStream) place() string {
	return st.Began.UTC().Format("2006-01-02T15:04:05.000000000") + " " + st.ID
}

// wants reports whether a value is what a parameter asks for, if it does. A star stands for any run of
// characters, as in the search of records.
func wants(c *api.Call, name, value string) bool {
	want := c.Query.Get(name)
	if strings.Contains(want, "*") {
		glob := pattern.NewGlob(want)
		return glob.Match(value)
	}
	return !c.Query.Has(name) || want == value
}

func (s *screen) endStream(c *api.Call) (any, error) {
	id := c.PathValue("id")
	missing := noStream.Refuse("no such stream is open at this gateway")
	return api.Changed{ID: id, State: "ended"}, c.Change("stream.ended", map[string]string{"id": id}, missing, func(context.Context) (bool, error) {
		return s.open.End(id), nil
	})
}
