package http1

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/httpfield"
)

// response is the http.ResponseWriter of one exchange. The head is put together when the
// handler writes it, and goes out with the first of the body that does: with the whole of
// it, where that is not long, and then says how long it is.
type response struct {
	conn   *conn
	x      *exchange
	cancel context.CancelFunc // of the request's context, once the client cannot have the answer
	header http.Header
	status int   // 0 until the head is written
	length int64 // of the body, as the handler has said; -1 if it has not
	bytes  int64 // of the body, so far

	head    *[]byte // lines of it, until it goes out
	held    *[]byte // of the body, what has not gone out
	sent    bool    // the head is out
	chunked bool
	closes  bool // the connection ends with the answer
	typed   bool // there is a Content-Type, or need not be
	gone    bool // it is over, or somebody else writes the rest
	left    bool // and that
	limited bool // the handler has set how long writes may take
	err     error
}

// begin ties an answer to its connection and its request. The length is not known yet.
func (w *response) begin(c *conn, x *exchange, cancel context.CancelFunc) {
	w.conn, w.x, w.cancel, w.length = c, x, cancel, -1
	w.header = make(http.Header, 8)
	w.closes = ends(x.request)
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. What is set in the header afterwards is not
// sent, but for trailers with http.TrailerPrefix.
func (w *response) WriteHeader(status int) {
	switch {
	// Only the first one counts, as with net/http.
	case w.gone || w.status != 0:
		return
	case status >= 100 && status < 200:
		w.inform(status)
		return
	}
	w.status = status
	w.head = takeBuffer()
	*w.head = w.appendHead(*w.head)
}

// inform sends an answer before the answer.
func (w *response) inform(status int) {
	// 101 would end HTTP on the connection, and HTTP/1.0 has no interim answers (RFC 9110 §15.2).
	if w.err != nil || status == http.StatusSwitchingProtocols || w.x.request.ProtoMinor == 0 {
		return
	}
	b := takeBuffer()
	defer giveBuffer(b)
	*b = append(appendFields(appendStatus(*b, 1, status), w.header), "\r\n"...)
	w.write(*b)
}

// silent reports whether the answer has no body.
func (w *response) silent() bool {
	return w.x.request.Method == http.MethodHead || !httpfield.HasBody(w.status)
}

// heldMost is how much of a body waits for its end.
const heldMost = 8 << 10

// Write implements http.ResponseWriter.
func (w *response) Write(p []byte) (int, error) {
	if w.gone {
		return 0, http.ErrHijacked
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case !httpfield.HasBody(w.status):
		return 0, http.ErrBodyNotAllowed
	}
	// What does not go out counts too: that of HEAD says how long the answer to GET is.
	w.bytes += int64(len(p))
	// More than was said would be read as the next answer.
	if w.length >= 0 && w.bytes > w.length {
		return 0, http.ErrContentLength
	}
	w.sniff(p)
	switch {
	case w.x.request.Method == http.MethodHead:
		return len(p), nil
	case w.err != nil:
		return 0, w.err
	}
	if w.held == nil {
		w.held = takeBuffer()
	}
	// A short body waits, so that head and body go out in one write and with a Content-Length.
	if len(*w.held)+len(p) > heldMost {
		w.flush(p)
	} else {
		*w.held = append(*w.held, p...)
	}
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (w *response) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// FlushError is for http.ResponseController.
func (w *response) FlushError() error {
	if w.gone {
		return http.ErrHijacked
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.flush(nil)
	return w.err
}

// Flush implements http.Flusher.
func (w *response) Flush() { _ = w.FlushError() }

// SetReadDeadline is for http.ResponseController.
func (w *response) SetReadDeadline(t time.Time) error {
	if w.gone {
		return http.ErrHijacked
	}
	return w.conn.nc.SetReadDeadline(t)
}

// SetWriteDeadline is for http.ResponseController.
func (w *response) SetWriteDeadline(t time.Time) error {
	if w.gone {
		return http.ErrHijacked
	}
	w.limited = !t.IsZero()
	return w.conn.nc.SetWriteDeadline(t)
}

// EnableFullDuplex is for http.ResponseController. It always is.
func (w *response) EnableFullDuplex() error { return nil }

// together is up to how much more of a body is written in one with what goes before it.
const together = 16 << 10

// flush sends what is held, and then p.
func (w *response) flush(p []byte) {
	if w.err != nil || w.gone {
		return
	}
	// Head, size of the chunk, what is held and p: one write, one packet where they fit.
	out := w.open(false)
	defer giveBuffer(out)
	n := w.appendHeld(out, len(p))
	// Copying a large p costs more than a second write.
	if len(p) > together {
		w.write(*out)
		w.write(p)
		*out, p = (*out)[:0], nil
	}
	*out = append(*out, p...)
	if w.chunked && n > 0 {
		*out = append(*out, "\r\n"...)
	}
	w.write(*out)
}

// appendHeld appends what is held, with the size of its chunk, in which so much more will
// be, and says what that is.
func (w *response) appendHeld(out *[]byte, more int) (n int) {
	// A chunk is its size in hexadecimal, CR LF, data, CR LF (RFC 9112 §7.1).
	if n = more; w.held != nil {
		n += len(*w.held)
	}
	if w.chunked && n > 0 {
		*out = append(strconv.AppendInt(*out, int64(n), 16), "\r\n"...)
	}
	if w.held != nil {
		*out = append(*out, *w.held...)
		*w.held = (*w.held)[:0]
	}
	return n
}

// open is what goes out first: the head, unless that has. The body is whole where all of it
// is held.
func (w *response) open(whole bool) *[]byte {
	if w.sent {
		return takeBuffer()
	}
	out := w.head
	w.head, w.sent = nil, true
	*out = w.endHead(*out, whole)
	return out
}

// write sends p. Once that has failed nothing more is, and nobody waits for the answer.
func (w *response) write(p []byte) {
	if w.err != nil || len(p) == 0 {
		return
	}
	if !w.limited {
		w.conn.limit()
	}
	if _, w.err = w.conn.nc.Write(p); w.err != nil {
		// The client is gone: what the handler still does for it is for nothing.
		w.closes = true
		w.cancel()
	}
}

// finish ends the answer. Where the handler has not written as much as it said, the client
// notices by the connection's end.
func (w *response) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.err == nil {
		w.end()
	}
	// Fewer bytes than Content-Length said: only a closed connection tells the client so.
	if w.length >= 0 && w.bytes != w.length && !w.silent() {
		w.closes = true
	}
	w.drop()
}

// end sends what is left, and that nothing more comes.
func (w *response) end() {
	out := w.open(true)
	defer giveBuffer(out)
	n := w.appendHeld(out, 0)
	if w.chunked && n > 0 {
		*out = append(*out, "\r\n"...)
	}
	if w.chunked {
		// The last chunk has size 0; trailers stand between it and the empty line (RFC 9112 §7.1.2).
		*out = append(appendTrailers(append(*out, "0\r\n"...), w.header), "\r\n"...)
	}
	w.write(*out)
}

// drop gives back what was never sent, and ends the use of w by who was left behind.
func (w *response) drop() {
	w.gone = true
	giveBuffer(w.head)
	giveBuffer(w.held)
	w.head, w.held = nil, nil
}
