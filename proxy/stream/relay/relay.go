// Package relay writes the entries of a feed to one client, as Server-Sent Events (WHATWG HTML
// §9.2) or as messages of gRPC: in order, flushed as they come, with a heartbeat while nothing
// happens, and with a deadline for each write.
//
// It asks Entries for the next entry, a See function for what the client is to have of it, and a
// Framing for the bytes. It knows nothing of agents and of A2A. Run does all of it in the
// caller's goroutine; Begin, Go and End do the same in steps, for a stream that waits without a
// goroutine.
//
//	id: kA3…f9.2\n
//	data: {"jsonrpc":"2.0",…}\n
//	\n
//	: keep-alive\n\n            after Limits.Heartbeat of silence
//
// How a stream ends is one of the errors of package ending, or what Entries, See, Lead or Tail
// returned. A failed write comes before any other cause, since it is what the client has noticed.
package relay

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
)

// ErrLeft is what Run returns where Leave had it return.
var ErrLeft = errors.New("the stream goes on elsewhere")

// Emit passes one event on to the client. A framing without ids or names drops them;
// an id of "" is none. data may be reused once Emit has returned; its error is for See to
// return.
type Emit func(id, name string, data []byte) error

// See emits what the client is to have of an entry: usually the event itself under its
// own name, or none, or several, which are written together. An error ends the stream;
// what was emitted before it is still sent. The entry is valid until See returns.
type See func(entry stream.Entry, emit Emit) error

// Entries gives a client's events one after the other: a Cursor, or what wraps one to
// open other sources. It is io.EOF where the stream ended well; other errors are the
// stream's end as it is recorded. What it gives is valid until the next call of Next.
// Close may be called while Next waits, and ends it.
type Entries interface {
	Next(ctx context.Context) (stream.Entry, error)
	Close()
}

// Stats is what a relay says of itself for the record.
type Stats struct {
	Events int64         // events written to the client
	Bytes  int64         // bytes of those events as written
	First  time.Duration // from the start of Run to the first event; 0 when there was none
}

// Relay is one client's stream.
type Relay struct {
	Limits stream.Limits
	See    See
	// Drain has a function run when the gateway shuts down, in a goroutine of its own and
	// at once where it does already, unless stop comes first: context.AfterFunc of some
	// context. A stream that waits then costs no goroutine. Nil is for never.
	Drain func(end func()) (stop func() bool)

	// Stop ends the context that Run is given. A stream that waits then has one context less. Nil has Run
	// make one that it can end.
	Stop context.CancelCauseFunc

	// More reports whether another entry is there that See has passed on in no time. What
	// was emitted is then written together with it: a write costs more than an event. Nil
	// has each entry's events written at once.
	More func() bool

	// Leave is asked before Run waits for an entry. Where it says so, Run returns ErrLeft
	// instead: all that there was has been written, from is not closed, and another Run can
	// go on with it. Nil is for never.
	Leave func() bool

	// To is the client's framing. Nil is EventFrames.
	To Framing
	// Lead emits events of the gateway's own, before the first entry is asked for. An
	// error of it ends the stream. Nil emits none.
	Lead func(Emit) error
	// Tail emits events of the gateway's own behind the last entry, once the entries have
	// ended well. An error of it is what Run returns. Nil emits none.
	Tail func(Emit) error
}

// Run passes what from gives on to w until that, the client or a limit ends it. It
// returns nil when the stream ended well; otherwise an error that wraps one of those
// above or what from, See or Lead returned. Nothing is written before the first event
// or heartbeat: as long as w's header is not out, which w knows, an error can still
// become a response of its own. from is closed in any case but one, so that the agent
// learns that nobody listens.
func (r Relay) Run(client context.Context, w http.ResponseWriter, from Entries) (Stats, error) {
	g := r.Begin(client, w, from)
	ended := false
	defer func() {
		if !ended { // a panic
			_, _ = g.End(ending.ErrGone)
		}
	}()
	err := g.copy()
	ended = true
	return g.End(err)
}

// Begin begins what Run does as a whole, for Go to do and End to end it.
func (r Relay) Begin(client context.Context, w http.ResponseWriter, from Entries) *Relaying {
	g := &Relaying{Relay: r, client: client, ctx: client, from: from}
	if g.Stop == nil {
		g.ctx, g.Stop = context.WithCancelCause(client)
	}
	// Not everything that is read from knows contexts: whatever ends the stream early
	// closes it, and the cause tells which it was.
	g.unhook = context.AfterFunc(g.ctx, from.Close)
	if r.Drain != nil {
		g.stay = r.Drain(func() { g.Stop(ending.ErrDraining) })
	}
	g.out = newWriter(w, r.To, r.Limits, g.Stop)
	g.emit = g.out.emit // once: it would be an allocation per event
	return g
}

// Relaying is a Relay that has begun. It is used by one goroutine at a time.
//
// ctx ends with the client, with a failed heartbeat, or when the gateway drains; its cause says
// which. The end of ctx closes from, so that a Next that waits returns.
type Relaying struct {
	Relay

	client context.Context
	ctx    context.Context
	unhook func() bool // of from.Close from the end of ctx
	stay   func() bool // of the end from Drain; may be nil
	out    *writer
	emit   Emit
	from   Entries
}

// ErrWaits is what Go returns where it is to be called again.
var ErrWaits = errors.New("the stream waits for its next event")

// waiting is implemented by Entries that can be waited for without a goroutine: again is
// called in one as soon as Next would not wait, unless Await is false.
type waiting interface{ Await(again func()) bool }

// Go passes on what there is. Where there is nothing more, it returns ErrWaits and again is
// called, in a goroutine of its own and maybe before Go has returned, as soon as there is,
// or something has ended the stream; nobody may touch the Relaying until then. Any other
// error, or nil, is what End is to be given.
func (g *Relaying) Go(again func()) error {
	w, ok := g.from.(waiting)
	if !ok {
		return g.copy()
	}
	for {
		if g.ctx.Err() == nil && w.Await(again) {
			return ErrWaits
		}
		if over, err := g.next(); over {
			return err
		}
	}
}

// End ends what Begin has begun. It returns what Run does.
//
// Where the stream goes on elsewhere, from stays open, unless something has ended it in that
// moment.
func (g *Relaying) End(err error) (Stats, error) {
	left := false
	defer g.Stop(nil)
	defer func() {
		if !left {
			g.unhook()
			g.from.Close()
		}
	}()
	if g.stay != nil {
		defer g.stay()
	}
	defer g.out.stop()
	if errors.Is(err, ErrLeft) {
		if left = g.unhook(); left {
			return g.out.stats, ErrLeft
		}
		err = endOf(g.ctx, g.out, err) // something has ended it meanwhile
	}
	if errors.Is(err, ending.ErrBroken) {
		// A client who hangs up cancels ctx and the request to the agent, in no
		// order: the agent's body may break before ctx knows why.
		err = endOf(g.client, g.out, err)
	}
	return g.out.stats, err
}

// copy passes everything on.
func (g *Relaying) copy() error {
	if g.Lead != nil {
		if err := pass(g.ctx, g.out, g.Lead(g.emit)); err != nil {
			return err
		}
	}
	for {
		if g.Leave != nil && g.Leave() {
			return pass(g.ctx, g.out, ErrLeft)
		}
		if over, err := g.next(); over {
			return err
		}
	}
}

// next passes the next entry on, and those that are there as well.
//
// next returns over with the error for End, or nil where the stream has ended well. While More
// says that another entry is there, nothing is written.
func (g *Relaying) next() (over bool, err error) {
	for {
		entry, err := g.from.Next(g.ctx)
		if err != nil {
			if err = endOf(g.ctx, g.out, err); err == nil && g.Tail != nil {
				err = g.Tail(g.emit)
			}
			return true, pass(g.ctx, g.out, err)
		}
		if err = g.See(entry, g.emit); err == nil && g.More != nil && g.More() {
			continue
		}
		err = pass(g.ctx, g.out, err)
		return err != nil, err
	}
}

// pass sends what was emitted; err is what the function that emitted it came to.
func pass(ctx context.Context, out *writer, err error) error {
	if failed := out.flush(); failed != nil {
		return endOf(ctx, out, failed)
	}
	return err
}

// endOf names why reading or writing stopped. A failed write comes first, because
// net/http cancels the request's context on one of its own; then a cause set on
// the context, of which the read error is only the echo.
func endOf(ctx context.Context, out *writer, err error) error {
	if failed := out.failed(); failed != nil {
		return failed
	}
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, context.Canceled):
		return ending.ErrGone
	case cause != nil:
		return cause
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}
