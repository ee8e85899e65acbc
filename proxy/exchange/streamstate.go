package exchange

import (
	"net/http"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// StreamState is the client's stream: its place, and who writes it (forward).
type StreamState struct {
	Slot  *openstreams.Slot // forward; the stream's, of those that may be open
	Away  server.Detached   // forward; the client's connection, once the exchange goes on without its handler
	Stays bool              // forward; it does not
	Fed   bool              // forward; events come from a feed, and their ids have been checked
}

// Open prepares the response to a stream. Between sides that speak alike its
// header goes out at once, as the agent's came in. Else it waits for the first
// event: an agent that streams nothing but an error still gets its caller a
// response that is one, and so does an agent that has not activated what it must.
//
// X-Accel-Buffering is nginx's: with it a proxy in front passes each event on as it comes.
func (x *Exchange) Open() error {
	if x.Writer.Wrote { // the stream goes on from another
		return nil
	}
	header := x.Writer.Header()
	header.Set("X-Accel-Buffering", "no") // nginx in front would hold events back
	x.Rec.Streamed = true
	x.Writer.Digest() // the events have none
	if x.Call.Binding == wire.GRPC {
		header.Set("Content-Type", mediatype.GRPC)
	} else {
		header.Set("Content-Type", mediatype.Events)
		x.Writer.Streaming = true
	}
	if x.Upstream.Retell != nil || x.Upstream.Binding != wire.GRPC && !x.Shadows() && x.lacks() != nil {
		return nil
	}
	x.Writer.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(x.Writer).Flush(); err != nil {
		return ending.ErrGone
	}
	x.Writer.Settle()
	return nil
}

// Finish ends a stream that went well. One without a single event has not even
// begun.
func (x *Exchange) Finish() {
	if !x.Writer.Wrote {
		x.Writer.WriteHeader(http.StatusOK)
	}
	if x.Call.Binding == wire.GRPC {
		failure.SetStatus(x.Writer.Header(), x.Call.Version, nil)
	}
}

// KeepPlace has the stream's place taken until the agent's stream is done with, too.
func (x *StreamState) KeepPlace(stop func()) func() {
	x.Slot.Share()
	return func() {
		x.Slot.Leave()
		stop()
	}
}

// InUse begins to note what an exchange uses.
func (x *Exchange) InUse() *openstreams.Uses {
	if x.Uses != nil {
		return x.Uses
	}
	u := openstreams.NewUses(x.Principal, x.Agent.ID, x.Skill)
	u.Shown(x.Aliases(), x.Call.TaskID, x.Call.ContextID)
	u.Shown(x.Aliases(), x.Record.ID, x.Record.Context)
	u.Shown(x.Aliases(), x.Learned.ID, x.Learned.ContextID)
	for step := range x.Stands {
		u.Stands(step)
	}
	x.Uses = u
	return u
}

// Telling emits an event under its name.
type Telling func(name string, data []byte) error

// Retell emits what an event of the agent's is to the caller.
func (x *Forwarding) Retell(doc []byte, emit Telling) error {
	err := x.Upstream.Retell.Event(doc, func(event []byte) error { return emit("", event) })
	if err != nil {
		return Retelling(err)
	}
	return nil
}

// Asking is the upstream call of the gateway's own, whose answer is for itself.
//
// It is made as HTTP+JSON whatever the caller speaks, so that the answer is the plain document and has
// no JSON-RPC id to be matched.
func (x *Exchange) Asking(c *wire.Call) (*UpstreamCall, error) {
	as := *c
	as.Binding = wire.HTTPJSON // the document alone, without an envelope
	l, err := x.Translated(c, nil, &as)
	if err != nil {
		return nil, err
	}
	l.Own = true
	return l, nil
}
