package proxy

import (
	"bytes"
	"net/http"
	"time"
)

// response remembers what was sent, and gives every write a deadline: the
// server has none that an answer of any size and a stream of hours could live
// with. Because each response sets its own, one that a stream has left behind on
// a kept-alive connection does no harm to the next.
type response struct {
	http.ResponseWriter
	limit     time.Duration // for one write; 0 for none
	wrote     bool
	streaming bool
	ended     bool // the end of the answer is settled: trailers are set
	status    int
	bytes     int64
	failed    bool          // a write did: of what was given to it something may be on its way still
	copy      *bytes.Buffer // takes what is written, unless nil
	readers   *readers      // pages that may read what is written; nil where that is nobody's question
}

func (w *response) WriteHeader(status int) {
	if !w.wrote {
		w.wrote, w.status = true, status
		if w.readers != nil {
			w.readers.Answer(w.Header(), w.readers.origin, w.readers.more)
		}
	}
	w.arm()
	w.ResponseWriter.WriteHeader(status)
}

// arm starts the time that the next write may take.
func (w *response) arm() {
	if w.limit > 0 {
		// Not every ResponseWriter has deadlines; the write itself then decides.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.limit))
	}
}

// disarm ends the time of a write that is done. On HTTP/2 a deadline that passes
// resets the stream, whether or not anyone is writing.
func (w *response) disarm() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
}

// piece is what a client must take within one limit.
const piece = 64 << 10

func (w *response) Write(b []byte) (int, error) {
	n, err := w.give(b)
	w.failed = w.failed || err != nil
	return n, err
}

// give is Write, in pieces that each have their time.
func (w *response) give(b []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.copy != nil {
		_, _ = w.copy.Write(b) // it cannot fail
	}
	written := 0
	for len(b) > piece && !w.streaming {
		n, err := w.ResponseWriter.Write(b[:piece]) //nolint:gosec // the body is for agents, not for browsers: nosniff
		written, w.bytes = written+n, w.bytes+int64(n)
		if err != nil {
			return written, err
		}
		b = b[piece:]
		w.arm()
	}
	n, err := w.ResponseWriter.Write(b) //nolint:gosec // the body is for agents, not for browsers: nosniff
	w.bytes += int64(n)
	return written + n, err
}

// write sends the last bytes of a stream. Its error has no reader left.
func (w *response) write(b []byte) {
	w.arm()
	if _, err := w.Write(b); err == nil {
		_ = http.NewResponseController(w.ResponseWriter).Flush()
	}
}

// Unwrap lets http.ResponseController reach deadlines and Flush.
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
