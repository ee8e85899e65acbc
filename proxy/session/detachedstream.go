package session

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/ending"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream/relay"
)

// errDetached is the error of an exchange that goes on without its handler, which has to
// return at once, and touch the exchange no more.
var errDetached = errors.New("the exchange goes on elsewhere")

// mayLeave reports whether the stream of an exchange can go on without its handler.
// The stream of an answer that the gateway itself has given ends where that was begun.
//
// A stream whose answer others wait for (Stays, of dedupe) keeps its handler.
func mayLeave(x *exchange.Exchange) bool {
	return x.Away == nil && !x.Stays && x.Question == nil
}

// detach has a stream that waits for its next event go on in a goroutine of its own, with an
// answer that is not the server's any more. What a request has gone through by then
// took a deep stack and several buffers, and streams wait for hours. It is false where
// that cannot be done.
func (se *Sessions) detach(x *exchange.Exchange, at *streamSession, closed func()) bool {
	taken, ok := server.Detach(x.Writer.ResponseWriter, x.Request)
	if !ok {
		return false
	}
	x.Depict() // while the route is known
	release := func() {}
	if se.Hold != nil {
		release = se.Hold()
	}
	x.Ctx = se.Telemetry.Under(taken.Context(), x.Ctx)
	x.Request.Body = http.NoBody // and nothing else of it: what looks at the task reads its header meanwhile
	x.Writer.ResponseWriter = taken
	x.Away = taken
	s := &detachedStream{streamSession: at, closed: func() { closed(); release() }}
	s.again = func() { se.proceed(s) }
	at.relay.Leave = nil
	go s.again()
	return true
}

// detachedStream is a stream whose handler has returned. While it waits it has no goroutine.
//
// Its functions are called by whichever goroutine has woken it, one after the other. again is
// made once, so that a wake-up allocates nothing.
type detachedStream struct {
	*streamSession

	relaying *relay.Relaying // nil before the first proceed
	again    func()          // proceed
	done     func()          // ends its being watched
	closed   func()          // gives back what it has held
}

// proceed does what there is to do for a stream, and is called again when there is more.
func (se *Sessions) proceed(s *detachedStream) {
	err, v := s.proceed()
	if !errors.Is(err, relay.ErrWaits) {
		se.finishDetached(s, err, v)
	}
}

// proceed contains panics; v is what one was about, nil for none.
//
// The goroutine belongs to nobody who recovers: a panic here would end the process with
// everybody's calls. It becomes the end of this stream, and is raised again in finishDetached,
// where the recorder deals with it.
func (s *detachedStream) proceed() (err error, v any) { //nolint:revive,staticcheck // the error is not what v is about
	defer func() {
		if v = recover(); v != nil {
			err = ending.ErrGone
		}
	}()
	if s.relaying == nil {
		s.begin()
	}
	return s.relaying.Go(s.again), nil
}

// begin takes up the relay where the handler left it.
func (s *detachedStream) begin() {
	var ctx context.Context
	ctx, s.done = s.watch(s.x.Away.Context())
	s.x.Fed = true
	s.relaying = s.relay.Begin(ctx, s.x.Writer, s.a)
}

// finish ends what begin has begun; err is what came of it.
func (s *detachedStream) finish(err error) error {
	if s.done != nil {
		defer s.done()
	}
	if s.relaying == nil {
		s.a.Close()
		return err
	}
	return s.took(s.relaying.End(err))
}

// finishDetached is what is left of an exchange whose handler has returned and whose stream has ended
// with err, or a panic, which was about v.
//
// The deferred calls run from the last to the first: the record is concluded, the response is
// ended or aborted, and what was held is given back. A panic that is http.ErrAbortHandler means
// to cut the response off.
func (se *Sessions) finishDetached(s *detachedStream, err error, v any) {
	x := s.x
	defer s.closed()
	defer func() {
		if recover() != nil { // the response is cut off on purpose
			x.Away.Abort()
			return
		}
		x.Away.End()
	}()
	defer func() { se.Conclude(x, recover()) }()
	err = se.withinTimeout(x, func(_ context.Context, late *time.Timer) error {
		late.Stop()
		err := s.finish(err)
		if v != nil {
			panic(v) //nolint:forbidigo // once more, where it is dealt with
		}
		return s.end(err)
	})
	if err != nil {
		se.Refuse(x, err)
	}
}
