package http2

import (
	"io"
	"net/http"
	"os"
	"time"
)

// body is that of a request. What has come waits here until it is read; the window bounds
// how much that is.
type body struct {
	stream   *stream
	kept     []byte // from which the rest is read
	from     int
	receive  int64 // what the client may still send
	taken    int64 // of what it sent, what it has not been told may come again
	declared int64 // by Content-Length; -1 if it was not
	got      int64
	ended    bool  // END_STREAM, or a request that has no body
	err      error // why no more comes
	shut     bool  // the handler closed it, or has returned
	expects  bool  // 100 Continue
	wake     chan struct{}
	late     time.Time // when a read is
}

// add takes a piece that has come, at the end of what waits. A body that is longer than its
// Content-Length, or ends before it, is malformed (RFC 9113 §8.1.1): an agent behind the
// gateway would be told the one and sent the other.
func (b *body) add(p []byte, end bool) error {
	b.got += int64(len(p))
	if b.declared >= 0 && (b.got > b.declared || end && b.got != b.declared) {
		b.fail(errLength)
		return &streamError{b.stream.id, codeProtocol, "data_length"}
	}
	if b.shut { // nobody reads it
		b.stream.conn.giveBack(int64(len(p)))
	} else {
		if b.from > 0 && b.from == len(b.kept) {
			b.kept, b.from = b.kept[:0], 0
		}
		b.kept = append(b.kept, p...)
	}
	b.ended = b.ended || end
	b.wakeReader()
	return nil
}

// fail has reads fail once what has come is read. What is still there counts for the
// connection no more.
func (b *body) fail(err error) {
	if b.err == nil && !b.ended {
		b.err = err
	}
	b.wakeReader()
}

// wakeReader has who waits in await look again.
func (b *body) wakeReader() {
	if b.wake == nil {
		return
	}
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Read implements io.Reader. Who waits for 100 Continue gets it with the first. What has come is
// read even after the stream has failed; what is read is given back to the client's windows,
// which is what makes it send more: a handler that reads slowly slows down its own client alone.
func (b *body) Read(p []byte) (int, error) {
	c := b.stream.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case b.shut:
			return 0, http.ErrBodyReadAfterClose
		case len(p) == 0:
			return 0, nil
		case b.from < len(b.kept):
			n := copy(p, b.kept[b.from:])
			b.from += n
			c.giveBack(int64(n))
			b.giveBack(int64(n))
			c.flush()
			return n, nil
		case b.err != nil:
			return 0, b.err
		case b.ended:
			return 0, io.EOF
		case expired(b.late):
			return 0, os.ErrDeadlineExceeded
		}
		if !b.invite() {
			b.await()
		}
	}
}

// Close implements io.Closer. What is left is not wanted.
func (b *body) Close() error {
	c := b.stream.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	b.drop()
	return nil
}

// drop lets go of what nobody reads. It counts as read for the connection, whose window all streams
// share, and not for the stream: a body that nobody wants need not come.
func (b *body) drop() {
	if b.shut {
		return
	}
	b.shut = true
	b.stream.conn.giveBack(int64(len(b.kept) - b.from))
	b.kept, b.from = nil, 0
	b.wakeReader()
}

// giveBack lets the client send n more bytes of the body, if there is more of it, once that
// is worth a frame: at half of the window, so that the client need not stop before it has come.
func (b *body) giveBack(n int64) {
	if b.ended || b.err != nil {
		return
	}
	if b.taken += n; b.taken < streamWindow/2 {
		return
	}
	b.stream.conn.queue(appendWindowUpdate(nil, b.stream.id, uint32(b.taken))) //nolint:gosec // of a window
	b.receive += b.taken
	b.taken = 0
}

// invite answers a client's Expect: 100-continue, once, and where no answer has begun. It reports whether it
// did: sending gives up the lock, so what was seen before it may be over, as with a client that answers at once.
func (b *body) invite() bool {
	if !b.expects {
		return false
	}
	b.expects = false
	st := b.stream
	if st.response.out {
		return false
	}
	st.head(http.StatusContinue, nil, nil, false)
	st.conn.flush()
	return true
}

// await gives up the lock until something has changed, or it is too late. Without a deadline it waits
// for as long as the connection lives; whatever ends that, or the stream, wakes it (fail).
func (b *body) await() {
	c := b.stream.conn
	if b.wake == nil {
		b.wake = make(chan struct{}, 1)
	}
	if b.late.IsZero() {
		c.mu.Unlock()
		<-b.wake
		c.mu.Lock()
		return
	}
	timer := time.NewTimer(time.Until(b.late))
	c.mu.Unlock()
	select {
	case <-b.wake:
	case <-timer.C:
	}
	timer.Stop()
	c.mu.Lock()
}
