package http2

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
)

// mostQueued is how much of a connection waits to be written before those who write have to
// wait as well.
const mostQueued = 64 << 10

// mostReplies is how much of that may be answers to frames of the client's: ten thousand of
// them. Data does not count here. A client that is far behind with a stream, and pings for
// each event that it has read, causes fewer; one that reads nothing gets there.
const mostReplies = 256 << 10

// output is what a connection has to send. All of it is guarded by the connection's lock.
type output struct {
	frames  *[]byte    // whole ones; nil for none
	replies int        // bytes among them that frames of the client's have caused
	writing bool       // somebody writes
	written *sync.Cond // nobody does any more

	window  int64 // what the client takes of bodies, of all streams
	initial int64 // of one stream, at its beginning
	encoder *hpack.Encoder
	waiting []*stream // that have something to send and may not
}

// Write implements io.Writer for the encoder.
func (o *output) Write(p []byte) (int, error) {
	o.queue(p)
	return len(p), nil
}

// queue appends frames, which flush sends.
func (o *output) queue(frames []byte) {
	if o.frames == nil {
		o.frames = takeBuffer()
	}
	*o.frames = append(*o.frames, frames...)
}

// queued is how many bytes wait to be written.
func (o *output) queued() int {
	if o.frames == nil {
		return 0
	}
	return len(*o.frames)
}

// flush sends what is queued, and what others queue meanwhile, unless somebody does
// already. It is called with the lock, and gives it up for as long as a write takes.
//
// So answers that end while one write is under way go out together with the next, in one system
// call and one TLS record: the busier a connection is, the fewer writes it needs for each call.
// Nobody waits for it to have sent theirs; who fails to write ends the connection for all.
func (c *conn) flush() {
	if c.writing {
		return
	}
	c.writing = true
	for round := 0; c.queued() > 0 && c.err == nil; round++ {
		if round == mostRounds { // whoever writes has something else to do as well
			c.writing = false
			c.flushAside()
			c.written.Broadcast()
			return
		}
		frames := c.frames
		c.frames, c.replies = nil, 0
		limit := c.server.Write
		if c.phase == finishing {
			limit = min(limit, farewell)
		}
		c.mu.Unlock()
		_ = c.nc.SetWriteDeadline(time.Now().Add(limit)) // what fails here fails in the write
		_, err := c.nc.Write(*frames)
		giveBuffer(frames)
		c.mu.Lock()
		if err != nil {
			c.fail(errClosed)
		}
		c.wakeWriters()
	}
	c.writing = false
	c.written.Broadcast()
	if c.phase == finishing {
		_ = c.nc.SetReadDeadline(time.Now()) // for step to see that all is sent
	}
}

// mostRounds is how often one writes for others. It is a handler that has an answer of its own to
// end, and on a busy connection somebody always has something to send.
const mostRounds = 8

// flushAside is flush for who must not wait for the client, as the goroutine that reads must
// not: a client may read nothing for as long as it cannot write, and each would wait for the
// other. It is called with the lock, and keeps it.
func (c *conn) flushAside() {
	if c.writing || c.queued() == 0 || c.err != nil {
		return
	}
	go func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.flush()
	}()
}

// wakeWriters has those who wait look again, all of them: who can go on is known from the windows,
// and a window of the connection that has grown may be enough for several.
func (c *conn) wakeWriters() {
	for i, st := range c.waiting {
		st.wakeWriter()
		c.waiting[i] = nil
	}
	c.waiting = c.waiting[:0]
}

// queueHead queues the head of an answer, or with no status its trailers: the fields of h
// that have a place on the wire, and then more. The frame's head is written before its length is
// known and mended afterwards (frameHead), since the encoder appends to the same buffer. Heads
// have to be queued in the order in which they were encoded, for the client's table, which the
// lock sees to.
func (c *conn) queueHead(stream uint32, status int, h http.Header, more []hpack.HeaderField, end bool) {
	begin := c.queued()
	c.queue(appendFrame(nil, frameHeaders, 0, stream, 0))
	if status != 0 {
		c.field(":status", statusText(status))
	}
	for name, values := range h {
		if name, ok := sentName(name); ok {
			for _, value := range values {
				c.field(name, value)
			}
		}
	}
	for _, f := range more {
		c.field(f.Name, f.Value)
	}
	c.frameHead(begin, end)
}

// field encodes one field. What would not be one on the wire is not sent: a handler's mistake must
// not become a second field, or an error of the client's that ends all of the connection.
func (c *conn) field(name, value string) {
	if !validValue(value) {
		return
	}
	_ = c.encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) // to memory
}

// frameHead writes the length of a head that begins there, and divides one that is too long
// for a frame into CONTINUATION frames, with nothing between them. END_STREAM is on the first,
// END_HEADERS on the last (RFC 9113 §6.2, §6.10).
func (c *conn) frameHead(begin int, end bool) {
	flags := byte(0)
	if end {
		flags = flagEndStream
	}
	b := *c.frames
	n := len(b) - begin - headSize
	if n <= maxFrame {
		b[begin], b[begin+1], b[begin+2] = byte(n>>16), byte(n>>8), byte(n) //nolint:gosec // of 24 bits
		b[begin+4] = flags | flagEndHeaders
		return
	}
	stream := uint32(b[begin+5])<<24 | uint32(b[begin+6])<<16 | uint32(b[begin+7])<<8 | uint32(b[begin+8])
	block := append([]byte(nil), b[begin+headSize:]...)
	b = b[:begin]
	for kind := byte(frameHeaders); ; kind, flags = frameContinuation, 0 {
		piece := block[:min(len(block), maxFrame)]
		if block = block[len(piece):]; len(block) == 0 {
			flags |= flagEndHeaders
		}
		b = append(appendFrame(b, kind, flags, stream, len(piece)), piece...)
		if len(block) == 0 {
			break
		}
	}
	*c.frames = b
}

// statusText is a status as a field's value, of those that are usual without making it.
func statusText(status int) string {
	switch status {
	case http.StatusOK:
		return "200"
	case http.StatusAccepted:
		return "202"
	case http.StatusNoContent:
		return "204"
	}
	return strconv.Itoa(status)
}

// buffers are what frames are put together in, and what holds short bodies until their end. They are
// shared by all connections, most of which have nothing to send at any moment.
var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 4<<10)
	return &b
}}

// bufferMost is the size of the largest that is kept.
const bufferMost = 64 << 10

// takeBuffer is an empty one. Of a connection with nothing to send nothing is kept.
func takeBuffer() *[]byte {
	b, _ := buffers.Get().(*[]byte)
	*b = (*b)[:0]
	return b
}

// giveBuffer takes it back, unless it has grown so large that few would use it.
func giveBuffer(b *[]byte) {
	if b != nil && cap(*b) <= bufferMost {
		buffers.Put(b)
	}
}
