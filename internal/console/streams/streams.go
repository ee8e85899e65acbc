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
	ID      string    `json:"id" doc:"id of the request that the stream answers: request_id in records"`
	Caller  string    `json:"caller"`
	Issuer  string    `json:"issuer" doc:"issuer of the caller"`
	Agent   string    `json:"agent"`
	Skill   string    `json:"skill,omitzero"`
	Method  string    `json:"method"`
	Task    string    `json:"task,omitzero" doc:"id of the task; absent until the call or an event names one"`
	Binding string    `json:"binding"`
	Version string    `json:"version"`
	Address string    `json:"address,omitzero" doc:"address of the client"`
	Began   time.Time `json:"began"`
	Events  int64     `json:"events" doc:"events that the client received"`
	// Captured says that a rule of telemetry.audit.content captures the answer.
	Captured bool `json:"captured" doc:"a rule of telemetry.audit.content captures its events"`
}

// OpenStreams is the answer of GET /api/v1/streams.
type OpenStreams struct {
	Open    int          `json:"open" doc:"number of all open streams"`
	Found   int          `json:"found" doc:"number of open streams that match all parameters"`
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
		Shows: "the open event streams of this gateway, with caller, agent, task, start and number of events; filters by caller, agent and task; watch a stream event by event, with content if the gateway captures it and `admin.content` permits it; end a stream",
		Close: s.watch.close,
		Operations: []api.Operation{
			{
				Method: http.MethodGet, Path: "/api/v1/streams", ID: "list-streams", Tag: "streams", Role: api.Viewer,
				Summary: "List the open event streams of this gateway that match all parameters, oldest first",
				Params: []api.Param{{Name: "caller", Text: "subject of the caller; in this and the other texts, a * stands for any characters"}, {Name: "agent", Text: "id of the agent"},
					{Name: "task", Text: "id of the task"}}, Pages: true,
				Out: reflect.TypeFor[OpenStreams](), Answer: s.listStreams,
			},
			{
				Method: http.MethodDelete, Path: "/api/v1/streams/{id}", ID: "end-stream", Tag: "streams", Role: api.Operator, Writes: true,
				Summary: "End a stream: the gateway tells the client to subscribe again, and the task continues",
				Out:     reflect.TypeFor[api.Changed](), Errors: []api.Code{noStream}, Answer: s.endStream,
			},
			{
				Method: http.MethodGet, Path: "/api/v1/streams/{id}/events", ID: "watch-stream", Tag: "streams", Role: api.Operator,
				Summary: "Watch a stream from now on, as Server-Sent Events. open identifies the stream and says whether you see content, event has an event as the client received it, " +
					"gap says how many events a slow viewer missed, and end says why the watch ends. The gateway first records who watches",
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
