package http2

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http2/hpack"

	"github.com/a2a-gateway/a2a-gateway/internal/server/httpfield"
)

// response is the http.ResponseWriter of one stream. Its head goes out with the first of the
// body that does: with the whole of it, where that is not long, and then says how long it is.
// It belongs to the handler's goroutine, but for what the connection's lock guards.
type response struct {
	stream *stream
	header http.Header
	status int     // 0 until the head is written
	length int64   // of the body, as the handler has said; -1 if it has not
	bytes  int64   // of the body, so far
	held   *[]byte // of the body, what has not gone out
	kind   string  // Content-Type by the body, where the handler named none

	out  bool // the head is; guarded by the lock
	over bool // the handler has returned; likewise
}

// Header implements http.ResponseWriter.
func (w *response) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. What is set in the header afterwards is not
// sent, but for trailers. The head is kept until there is something to send with it; a second
// status is none, as net/http has it.
func (w *response) WriteHeader(status int) {
	switch {
	case w.status != 0:
		return
	case status >= 100 && status < 200:
		w.inform(status)
		return
	}
	w.status = status
	if w.held == nil {
		w.held = takeBuffer()
	}
	if v := w.header["Content-Length"]; len(v) > 0 {
		if n, err := strconv.ParseInt(v[0], 10, 64); err == nil && n >= 0 {
			w.length = n
		}
	}
}

// inform sends an answer before the answer, at once: who waits for it has nothing else to do. 101
// is not sent, since there is nothing that HTTP/2 could switch to (RFC 9113 §8.6).
func (w *response) inform(status int) {
	if status == http.StatusSwitchingProtocols {
		return
	}
	c := w.stream.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if !w.over && !w.out {
		w.stream.head(status, w.header, nil, false)
		c.flush()
	}
}

// silent reports whether the answer has no body, whatever the handler writes.
func (w *response) silent() bool {
	return w.method() == http.MethodHead || !httpfield.HasBody(w.status)
}

// method is the request's; "" for one that was not read.
func (w *response) method() string {
	if w.stream.request == nil {
		return ""
	}
	return w.stream.request.Method
}

// heldMost is how much of a body waits for its end, so that it can be sent with the head and
// END_STREAM in one write, and the head can say how long it is. Nearly all answers of agents
// are shorter.
const heldMost = 8 << 10

// Write implements http.ResponseWriter. What is short is held until the handler flushes or
// returns; after a flush everything goes out as it comes.
//
// More than the Content-Length that the handler has set is an error and not sent: the client would
// have to treat all of the answer as malformed (RFC 9113 §8.1.1).
func (w *response) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	switch {
	case len(p) == 0:
		return 0, nil
	case !httpfield.HasBody(w.status):
		return 0, http.ErrBodyNotAllowed
	}
	w.bytes += int64(len(p))
	if w.length >= 0 && w.bytes > w.length {
		return 0, http.ErrContentLength
	}
	w.sniff(p)
	if w.method() == http.MethodHead {
		return len(p), nil
	}
	if w.held != nil && len(*w.held)+len(p) <= heldMost {
		*w.held = append(*w.held, p...)
		return len(p), nil
	}
	if err := w.send(p, false); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (w *response) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// sniff finds out what the body is, where the handler has not said it, by its first piece, as
// net/http does. "-" says that it was looked at and nothing is to be said.
func (w *response) sniff(p []byte) {
	if w.kind != "" || w.out {
		return
	}
	w.kind = "-"
	if w.header["Content-Encoding"] == nil {
		if _, said := w.header["Content-Type"]; !said {
			w.kind = http.DetectContentType(p)
		}
	}
}

// FlushError is for http.ResponseController.
func (w *response) FlushError() error {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.send(nil, false)
}

// Flush implements http.Flusher.
func (w *response) Flush() { _ = w.FlushError() }

// SetReadDeadline is for http.ResponseController. It is of this stream's body alone; the
// connection's own deadline is for who reads frames.
func (w *response) SetReadDeadline(t time.Time) error {
	c := w.stream.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.over {
		return http.ErrHijacked
	}
	w.stream.body.late = t
	w.stream.body.wakeReader()
	return nil
}

// SetWriteDeadline is for http.ResponseController. It bounds how long a write waits for the
// client to take more of this stream.
func (w *response) SetWriteDeadline(t time.Time) error {
	c := w.stream.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.over {
		return http.ErrHijacked
	}
	w.stream.late = t
	w.stream.wakeWriter()
	return nil
}

// EnableFullDuplex is for http.ResponseController. It always is.
func (w *response) EnableFullDuplex() error { return nil }

// send sends the head, unless that is out, what is held, and then p.
//
// END_STREAM is on the last thing that is sent: on the head where there is no body, on trailers
// where there are some, otherwise on the last frame of the body. A frame for it alone would be one
// more to write and to read for each call. All is queued before the one flush at the end, so that
// an answer that was held until then is one write.
func (w *response) send(p []byte, end bool) error {
	st := w.stream
	c := st.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case w.over:
		return http.ErrHijacked
	case st.err != nil:
		w.drop()
		return st.err
	}
	trailers := end && w.hasTrailers()
	held := 0
	if w.held != nil {
		held = len(*w.held)
	}
	bare := end && !trailers && held+len(p) == 0 // END_STREAM is on the head
	if !w.out {
		w.out = true
		w.queueHead(end, bare)
		if bare {
			st.endSent()
		}
	} else if bare {
		err := st.write(nil, true)
		c.flush()
		return w.finishWrite(err)
	}
	last := end && !trailers
	if held > 0 {
		if err := st.write(*w.held, last && len(p) == 0); err != nil {
			return w.finishWrite(err)
		}
		*w.held = (*w.held)[:0]
	}
	if len(p) > 0 {
		if err := st.write(p, last); err != nil {
			return w.finishWrite(err)
		}
	}
	if trailers {
		w.queueTrailers()
	}
	c.flush()
	return w.finishWrite(nil)
}

// finishWrite gives the buffer back that nothing is held in any more.
func (w *response) finishWrite(err error) error {
	w.drop()
	return err
}

// drop gives back the buffer of what is held. Answers that go on piece by piece, as streams do,
// hold nothing from then on.
func (w *response) drop() {
	giveBuffer(w.held)
	w.held = nil
}

// queueHead queues the head, and says how long a body is that is sent with it: a client can then
// give it the memory that it needs at once. Nothing is said of an answer to HEAD that the handler
// wrote nothing for, since that is not the length that GET has.
func (w *response) queueHead(whole, end bool) {
	var room [3]hpack.HeaderField
	more := room[:0]
	if w.kind != "" && w.kind != "-" {
		more = append(more, hpack.HeaderField{Name: "content-type", Value: w.kind})
	}
	if w.header["Date"] == nil { // which who has set it may not want at all
		more = append(more, hpack.HeaderField{Name: "date", Value: httpfield.Date()})
	}
	if whole && w.length < 0 && (!w.silent() || w.bytes > 0) && !w.hasTrailers() {
		more = append(more, hpack.HeaderField{Name: "content-length", Value: strconv.FormatInt(w.bytes, 10)})
	}
	st := w.stream
	st.head(w.status, w.header, more, end)
	if httpfield.HasToken(w.header["Connection"], "close") {
		st.conn.beginLeave()
	}
}

// hasTrailers reports whether the header has fields that follow the body.
func (w *response) hasTrailers() bool {
	if w.header["Trailer"] != nil {
		return true
	}
	for name := range w.header {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			return true
		}
	}
	return false
}

// queueTrailers ends the stream with them: those with the prefix, and those that the header
// has announced. They have to come last, which gRPC's status relies on, and carry END_STREAM.
func (w *response) queueTrailers() {
	trailers := http.Header{}
	for name, values := range w.header {
		if name, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			trailers[textproto.CanonicalMIMEHeaderKey(name)] = values
		}
	}
	for _, line := range w.header["Trailer"] {
		for name := range strings.SplitSeq(line, ",") {
			name = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))
			if values := w.header[name]; values != nil {
				trailers[name] = values
			}
		}
	}
	st := w.stream
	st.head(0, trailers, nil, true)
	st.endSent()
}

// finish ends the answer. Where the handler has not written as much as it said, the client
// notices by a reset, which is what stream.end makes of an answer without END_STREAM: a short
// answer that ended well would be taken for a whole one.
func (w *response) finish() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.length >= 0 && w.bytes != w.length && !w.silent() {
		_ = w.send(nil, false)
		return
	}
	_ = w.send(nil, true)
}
