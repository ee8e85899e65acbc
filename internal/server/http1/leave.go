package http1

import (
	"bytes"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/strict"
	"github.com/a2a-gateway/a2a-gateway/internal/server/wrapped"
)

// Leave gives the connection of an answer that has begun, and of whose body all that was
// written is out, to who goes on with it after the handler has returned. Nobody uses w any
// more, and the server forgets about the connection; ahead is what was read of it and
// belongs to the next request, to be unread before it is served again. It is not ok, and
// nothing has happened, where w is not of this package, its request has not been read to
// its end, or the answer says how long it is.
func Leave(w http.ResponseWriter) (nc *strict.Conn, ahead []byte, ok bool) {
	r, ours := wrapped.Find[*response](w)
	if !ours || r.gone || r.err != nil || !r.sent || r.length >= 0 || r.silent() || !r.x.body.ended() {
		return nil, nil, false
	}
	// What is held has not been flushed, and would never go out.
	if r.held != nil && len(*r.held) > 0 {
		return nil, nil, false
	}
	c := r.conn
	c.disconnectWatch.end()
	_ = c.nc.SetReadDeadline(time.Time{}) // what fails here fails for who has it next
	_ = c.nc.SetWriteDeadline(time.Time{})
	// The buffer goes back to the pool, so that what is in it is copied.
	if c.begin < c.end {
		ahead = bytes.Clone(c.buf[c.begin:c.end])
	}
	r.leave()
	return c.nc, ahead, true
}

// leave keeps nothing of the connection, nor of the request, of whose URL a stream may keep
// what is a part of the exchange: streams hold on to what they began with, for hours.
func (w *response) leave() {
	w.drop()
	w.x.body.forget()
	w.x.request = nil
	w.left, w.conn = true, nil
}
