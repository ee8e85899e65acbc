package proxy

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// errAway is the error of an exchange that goes on without its handler, which has to
// return at once, and touch the exchange no more.
var errAway = errors.New("the exchange goes on elsewhere")

// mayLeave reports whether the stream of an exchange can go on without its handler. Over
// HTTP/2 there is nothing to be had from it: the connection is that of other calls too.
// The stream of an answer that the gateway itself has given ends where that was begun.
func (x *exchange) mayLeave() bool {
	return x.r.ProtoMajor == 1 && x.away == nil && !x.stays && x.question == nil
}

// leave has a stream that waits for its next event go on in a goroutine of its own, on a
// connection that is not net/http's any more. What a request has gone through by then
// took a deep stack and several buffers, and streams wait for hours. It is false where
// that cannot be done.
func (p *Proxy) leave(x *exchange, at *attendance, closed func()) bool {
	taken, ok := server.Take(x.w.ResponseWriter, x.r)
	if !ok {
		return false
	}
	x.depict() // while the route is known
	release := func() {}
	if p.Hold != nil {
		release = p.Hold()
	}
	x.ctx = p.Telemetry.Under(taken.Context(), x.ctx)
	x.r = x.r.WithContext(taken.Context())
	x.r.Body = http.NoBody
	x.w.ResponseWriter = taken
	x.away = taken
	go func() {
		defer release()
		defer closed()
		p.stay(x, at)
	}()
	return true
}

// stay is what is left of an exchange whose handler has returned.
func (p *Proxy) stay(x *exchange, at *attendance) {
	defer func() {
		if recover() != nil { // the response is cut off on purpose
			x.away.Abort()
			return
		}
		x.away.End()
	}()
	defer func() { p.conclude(x, recover()) }()
	err := p.within(x, func(_ context.Context, late *time.Timer) error {
		late.Stop()
		at.relay.Leave = nil
		return at.end(at.run(x.r.Context()))
	})
	if err != nil {
		p.refuse(x, err)
	}
}
