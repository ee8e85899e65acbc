package session

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/sse"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// watchedEvent is an event on its way to a client, as those see it who watch the stream.
type watchedEvent struct {
	openstreams.Event

	content bool // somebody is to have the content, where it may be shown
	given   bool // the client was given something of it
}

// tell gives the client what it is to have of an entry, and shows it to those who watch the stream. All
// events of all bindings and versions come by here.
func (at *streamSession) tell(e stream.Entry, emit relay.Emit) error {
	watched, content := at.open.Watched()
	if !watched {
		return at.sessions.tellEvent(at.x, at.a, e, emit)
	}
	g := &watchedEvent{content: content}
	at.a.watched = g
	defer func() { at.a.watched = nil }()
	err := at.sessions.tellEvent(at.x, at.a, e, g.counting(emit))
	switch {
	case g.given:
		at.show(g)
	case g.Kind != "" && at.x.Upstream.Retell != nil:
		at.late = g // a translation may hold an event back until the agent's stream has ended
	}
	return err
}

// tail gives the client what was held back.
func (at *streamSession) tail(emit relay.Emit) error {
	g := at.late
	if g == nil {
		return at.a.tail(emit)
	}
	err := at.a.tail(g.counting(emit))
	if g.given {
		at.show(g)
	}
	return err
}

// show is called when the client has been given the event, not when the agent has sent it.
func (at *streamSession) show(g *watchedEvent) {
	g.Time = time.Now().UTC()
	at.open.Show(g.Event)
}

// counting notes what emit is given. One event of the agent's may be several of the client's, of which the last
// has the id.
func (g *watchedEvent) counting(emit relay.Emit) relay.Emit {
	return func(id, name string, data []byte) error {
		if err := emit(id, name, data); err != nil {
			return err
		}
		g.given = true
		g.Bytes += len(data)
		if id != "" && id != sse.Forget {
			g.ID = id
		}
		return nil
	}
}

// note takes down what an event is. out is the document as it is captured.
func (g *watchedEvent) note(x *exchange.Exchange, seen wire.Answer, out []byte) {
	g.Kind, g.State = kindOf(seen), seen.State
	if !g.content {
		return
	}
	var err error
	if g.Content, g.Cut, err = x.Captured.Show(out); err != nil {
		g.Content, g.Fault = "", err.Error() // which quotes nothing of the document
	}
}

// kindOf is what an event is, in one word.
func kindOf(seen wire.Answer) string {
	switch {
	case exchange.IsError(seen):
		return "error"
	case seen.Kind == "statusUpdate":
		return "status"
	case seen.Kind == "artifactUpdate":
		return "artifact"
	case seen.Kind == "task", seen.Kind == "message":
		return seen.Kind
	}
	return "other"
}
