package exchange

import (
	"bytes"
	"net/http"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// Response remembers what was sent, and gives every write a deadline: the
// server has none that an answer of any size and a stream of hours could live
// with. Because each response sets its own, one that a stream has left behind on
// a kept-alive connection does no harm to the next.
type Response struct {
	http.ResponseWriter
	Limit     time.Duration // for one write; 0 for none
	Wrote     bool
	Streaming bool
	Ended     bool // the end of the answer is settled: trailers are set
	Failed    bool // a write did: of what was given to it something may be on its way still
	Status    int
	Bytes     int64
	Summer    *audit.Summer // of what is written; nil for a stream, and where records have no digests
	Copy      *bytes.Buffer // takes what is written, unless nil
	Readers   *Readers      // pages that may read what is written; nil where that is nobody's question
}

// WriteHeader implements http.ResponseWriter.
func (w *Response) WriteHeader(status int) {
	if !w.Wrote {
		w.Wrote, w.Status = true, status
		if w.Readers != nil {
			w.Readers.CORS.Answer(w.Header(), w.Readers.Origin, w.Readers.more)
		}
	}
	w.ArmDeadline()
	w.ResponseWriter.WriteHeader(status)
}

// ArmDeadline starts the time that the next write may take.
func (w *Response) ArmDeadline() {
	if w.Limit > 0 {
		// Not every ResponseWriter has deadlines; the write itself then decides.
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Now().Add(w.Limit))
	}
}

// Settle ends the time of a write that is done. On HTTP/2 a deadline that passes
// resets the stream, whether or not anyone is writing.
func (w *Response) Settle() {
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
}

// piece is what a client must take within one limit.
const piece = 64 << 10

// Write implements http.ResponseWriter. Each piece of a long answer has the write timeout for itself.
func (w *Response) Write(b []byte) (int, error) {
	n, err := w.give(b)
	w.Failed = w.Failed || err != nil
	return n, err
}

// give is Write, in pieces that each have their time.
func (w *Response) give(b []byte) (int, error) {
	if !w.Wrote {
		w.WriteHeader(http.StatusOK)
	}
	if w.Copy != nil {
		_, _ = w.Copy.Write(b) // it cannot fail
	}
	w.Summer.Add(b)
	written := 0
	for len(b) > piece && !w.Streaming {
		n, err := w.ResponseWriter.Write(b[:piece]) //nolint:gosec // the body is for agents, not for browsers: nosniff
		written, w.Bytes = written+n, w.Bytes+int64(n)
		if err != nil {
			return written, err
		}
		b = b[piece:]
		w.ArmDeadline()
	}
	n, err := w.ResponseWriter.Write(b) //nolint:gosec // the body is for agents, not for browsers: nosniff
	w.Bytes += int64(n)
	return written + n, err
}

// Digest is that of the body; none for a stream, and for what was not sent as a whole.
func (w *Response) Digest() telemetry.Digest {
	digest := w.Summer.Digest()
	if w.Summer = nil; w.Failed {
		return telemetry.Digest{}
	}
	return digest
}

// WriteLast sends the last bytes of a stream. Its error has no reader left.
func (w *Response) WriteLast(b []byte) {
	w.ArmDeadline()
	if _, err := w.Write(b); err == nil {
		_ = http.NewResponseController(w.ResponseWriter).Flush()
	}
}

// Unwrap lets http.ResponseController reach deadlines and Flush.
func (w *Response) Unwrap() http.ResponseWriter { return w.ResponseWriter }
