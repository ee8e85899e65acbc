package http1

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// upload is a long request on its way, while its answer is waited for: an agent may
// answer before it has read all of it, and read nothing more until that is taken.
type upload struct {
	done chan struct{} // closed when the rest is set
	err  error         // why not all of it was written
	body bool          // err is the body's
}

var blocks = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// begin writes a request, head first, in a goroutine that closes the body.
//
// The block comes from a pool, since a body of several megabytes would otherwise cost a buffer of
// its own for each call that sends one. A body that is shorter than announced closes the
// connection: the agent must not answer half a request.
func begin(c *conn, r *http.Request, head []byte) *upload {
	u := &upload{done: make(chan struct{})}
	go func() {
		defer close(u.done)
		defer func() { _ = r.Body.Close() }() // it has been read, or will not be
		block, _ := blocks.Get().(*[64 << 10]byte)
		defer blocks.Put(block)
		if u.write(c, r, append(block[:0], head...), block[:]); u.body {
			c.close() // the answer would be to half a request
		}
	}()
	return u
}

// whole is a body that stands in memory.
type whole interface {
	io.WriterTo
	Len() int
}

// write fills blocks from the body and writes them. The first has begun with the head. What
// follows it of a body in memory is written from where it is.
func (u *upload) write(c *conn, r *http.Request, begun, block []byte) {
	left := r.ContentLength
	if cap(begun) > len(block) { // a giant of a head
		if _, u.err = c.Write(begun); u.err != nil {
			return
		}
		begun = nil
	}
	for at := len(begun); left > 0; at = 0 {
		n, err := io.ReadFull(r.Body, block[at:min(int64(len(block)), int64(at)+left)])
		if err != nil {
			u.err, u.body = fmt.Errorf("%w: %w", errBody, err), true
			return
		}
		if left -= int64(n); left == 0 {
			if u.err = atEnd(r.Body); u.err != nil {
				u.body = true
				return
			}
		}
		if _, u.err = c.Write(block[:at+n]); u.err != nil {
			return
		}
		if rest, ok := r.Body.(whole); ok && left > 0 && int64(rest.Len()) == left {
			_, u.err = rest.WriteTo(c)
			return
		}
	}
}

// instead is why there is no answer: the body, where that is the cause.
//
// It waits for the writing goroutine, which the closing of the connection has ended or will end
// at once.
func (u *upload) instead(err error) error {
	if u == nil {
		return err
	}
	<-u.done // the connection is closed; nobody touches the request after RoundTrip
	if u.body {
		return u.err
	}
	return err
}

// unread is how long an agent that has answered may take to read the rest of a request
// that it has nearly read.
const unread = 50 * time.Millisecond

// finished reports whether the whole request was written.
//
// It waits a little, since an agent that has answered has usually read nearly all: the last bytes
// are on their way.
func (u *upload) finished() bool {
	if u == nil {
		return true
	}
	t := time.NewTimer(unread)
	defer t.Stop()
	select {
	case <-u.done:
		return u.err == nil
	case <-t.C:
		return false
	}
}
