package http1

import (
	"context"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/netpoll"
)

// disconnectWatch ends the context of a request whose client disconnects while a handler works
// for it, as net/http does, and without net/http's goroutine for each request: it looks at the
// socket after a while, and then has package netpoll tell when something comes. Most requests are
// answered before: for those nothing is done but to set a timer and to stop it.
type disconnectWatch struct {
	mu     sync.Mutex
	timer  *time.Timer
	raw    syscall.RawConn
	body   *body              // of the request that is served; nil for none
	cancel context.CancelFunc // of its context
	watch  *netpoll.Watch     // of the socket
	turn   int                // of watch, to tell it from those before
}

const (
	// calm is how long nobody looks.
	calm = 50 * time.Millisecond
	// poll is how often it is looked where sockets cannot be watched.
	poll = time.Second
)

// begin watches over one request. The timer is made once for each connection and set anew.
func (v *disconnectWatch) begin(c *conn, b *body, cancel context.CancelFunc) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.body, v.cancel = b, cancel
	if v.timer != nil {
		v.timer.Reset(calm)
		return
	}
	v.raw = rawOf(c.nc)
	v.timer = time.AfterFunc(calm, v.look)
}

// end stops it. It may be called again.
func (v *disconnectWatch) end() {
	v.mu.Lock()
	// Stop may come too late: look then finds that there is no body, and does nothing.
	v.timer.Stop()
	watch := v.watch
	v.body, v.cancel, v.watch = nil, nil, nil
	v.mu.Unlock()
	if watch != nil {
		watch.Close()
	}
}

// look begins to watch, once the client has sent all that it has to send: until then who
// reads that finds out. The timer of the request before may still call it, so that it comes
// twice for one.
func (v *disconnectWatch) look() {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case v.body == nil || v.raw == nil || v.watch != nil:
		return
	case !v.body.ended():
		v.timer.Reset(calm)
		return
	}
	// A watch of an earlier request may still be about to call.
	v.turn++
	turn := v.turn
	v.watch = netpoll.Of(v.raw, func() { v.stirred(turn) })
	switch {
	case v.watch != nil:
		v.rest()
	case hungUp(v.raw):
		v.cancel()
	default:
		v.timer.Reset(poll)
	}
}

// stirred is called when something has come, or the client has gone.
func (v *disconnectWatch) stirred(turn int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watch != nil && v.turn == turn {
		v.rest()
	}
}

// rest waits for something new. What has come is the next request's, and stays where it is.
func (v *disconnectWatch) rest() {
	// Park is false where something may have come in between: look once more.
	for !v.watch.Park() {
		if v.watch.Ended() {
			v.cancel()
			return
		}
	}
}

// rawOf is the socket of a connection, nil if it has none.
func rawOf(nc net.Conn) syscall.RawConn {
	if has, ok := beneath(nc).(syscall.Conn); ok {
		if raw, err := has.SyscallConn(); err == nil {
			return raw
		}
	}
	return nil
}
