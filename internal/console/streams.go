package console

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Streams are the event streams that are open at this gateway.
type Streams interface {
	// Open has all of them, in any order.
	Open() []OpenStream
	// End ends the one of an id, whose client is told to subscribe again; false where there
	// is none.
	End(id string) bool
}

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
}

// OpenStreams is the answer of GET /api/v1/streams.
type OpenStreams struct {
	Open    int          `json:"open" doc:"how many there are, whatever was asked for"`
	Found   int          `json:"found" doc:"how many of them are all of what was asked for"`
	Streams []OpenStream `json:"streams"`
	Next    string       `json:"next,omitzero" doc:"cursor of the next page; absent at the end"`
}

// streamOperations are those about streams.
var streamOperations = []operation{
	{
		method: http.MethodGet, path: "/api/v1/streams", id: "list-streams", tag: "streams", role: Viewer,
		summary: "The event streams that are open at this gateway and are all of what is asked for, the oldest first",
		params: pages(param{name: "caller", text: "whose they are"}, param{name: "agent", text: "whose agent's they are"},
			param{name: "task", text: "which task they are about"}),
		out: reflect.TypeFor[OpenStreams](), answer: (*Console).listStreams,
	},
	{
		method: http.MethodDelete, path: "/api/v1/streams/{id}", id: "end-stream", tag: "streams", role: Operator, writes: true,
		summary: "End one: its client is told to subscribe again, and its task goes on",
		out:     reflect.TypeFor[Changed](), errors: []string{codeNoStream}, answer: (*Console).endStream,
	},
}

func (s *Console) listStreams(c *call) (any, error) {
	after, limit, err := c.page()
	if err != nil {
		return nil, err
	}
	all := s.Streams.Open()
	answer := &OpenStreams{Open: len(all), Streams: []OpenStream{}}
	all = slices.DeleteFunc(all, func(st OpenStream) bool {
		return !c.wants("caller", st.Caller) || !c.wants("agent", st.Agent) || !c.wants("task", st.Task)
	})
	answer.Found = len(all)
	slices.SortFunc(all, func(a, b OpenStream) int { return strings.Compare(a.place(), b.place()) })
	if after != "" {
		i, _ := slices.BinarySearchFunc(all, after, func(st OpenStream, at string) int { return cmp.Or(strings.Compare(st.place(), at), -1) })
		all = all[i:]
	}
	if len(all) > limit {
		all = all[:limit]
		answer.Next = cursor(all[limit-1].place())
	}
	answer.Streams = append(answer.Streams, all...)
	return answer, nil
}

// place is where a stream stands among others: by when it began.
func (st *OpenStream) place() string {
	return st.Began.UTC().Format("2006-01-02T15:04:05.000000000") + " " + st.ID
}

// wants reports whether a value is what a parameter asks for, if it does.
func (c *call) wants(name, value string) bool {
	return !c.query.Has(name) || c.query.Get(name) == value
}

func (s *Console) endStream(c *call) (any, error) {
	id := c.PathValue("id")
	missing := refuse(codeNoStream, "no such stream is open at this gateway")
	return Changed{id, "ended"}, s.change(c, "stream.ended", map[string]string{"id": id}, missing, func(context.Context) (bool, error) {
		return s.Streams.End(id), nil
	})
}
