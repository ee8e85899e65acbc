package http2

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2/hpack"
)

// conn is one connection. Its lock guards what handlers and the goroutine that reads have in
// common: the streams, their windows and bodies, and the frames that wait to be sent. It is
// held for steps that take microseconds, and given up around every system call. One lock for
// all of a connection is simpler than one for each stream, and costs nothing as long as few
// of its calls are at the same step at once.
type conn struct {
	server *Server
	nc     net.Conn
	ctx    context.Context // over those of its requests
	cancel context.CancelFunc
	begin  http.Request // what all requests say of the connection

	in   input // of the goroutine that reads, as the next
	head head

	mu      sync.Mutex // guards what follows, and the streams
	streams map[uint32]*stream
	last    uint32 // the highest stream that the client has opened
	recent  recent
	running int       // handlers, those of streams that were reset included
	idle    time.Time // since when there are no streams
	receive int64     // what the client may still send, of all streams
	taken   uint32    // of what it sent, what it has not been told may come again
	phase   phase
	err     error // why nothing is sent or read any more

	output
}

// phase is how far the end of a connection is.
type phase uint8

const (
	serving   phase = iota
	leaving         // GOAWAY without a last stream is out, and a ping that finds what is under way
	refusing        // GOAWAY with the last stream is out
	finishing       // all is sent, and the client has a moment to read it
)

// farewell is how long a client may take to acknowledge that the connection ends, and how
// long it is listened to after everything was sent: a connection that is closed while bytes
// come in is reset, and takes along what the client has not read.
const farewell = time.Second

// leavePing is the ping after the first GOAWAY.
var leavePing = [8]byte{'g', 'o', ' ', 'a', 'w', 'a', 'y', '.'}

// newConn is a connection of which nothing has been read. The longest string that its decoder
// takes is larger than the limit of a head, so that a value that is too long is answered 431
// as many values are, and the connection goes on.
func newConn(s *Server, nc net.Conn, state *tls.ConnectionState) *conn {
	c := &conn{
		server: s, nc: nc, begin: http.Request{
			RemoteAddr: nc.RemoteAddr().String(), TLS: state, Proto: "HTTP/2.0", ProtoMajor: 2,
		},
		streams: make(map[uint32]*stream), idle: time.Now(), receive: connWindow,
	}
	c.in.begin(nc)
	c.head.decoder = hpack.NewDecoder(tableSize, c.head.emit)
	c.head.most = s.Head + headOverhead
	c.head.decoder.SetMaxStringLength(4 * c.head.most)
	c.window, c.initial = defaultWindow, defaultWindow
	c.written = sync.NewCond(&c.mu)
	c.encoder = hpack.NewEncoder(&c.output)
	return c
}

// serve reads until there is nothing more to read. It is the only goroutine that reads; handlers
// find out by their streams what has become of the connection.
func (c *conn) serve() {
	defer c.in.free()
	err := c.greet()
	for err == nil {
		err = c.step()
	}
	c.end(err)
}

// greet reads the client's preface, which ends with SETTINGS, and answers with the server's. All of
// it has to come within the time for a head, so that a connection costs who opens it something.
// Who speaks something else is told nothing: he could not read it.
func (c *conn) greet() error {
	_ = c.nc.SetReadDeadline(time.Now().Add(c.server.Header)) // else the read fails
	for c.in.have() < len(preface) {
		if err := c.in.fill(len(preface)); err != nil {
			return err
		}
	}
	if string(c.in.bytes()[:len(preface)]) != preface {
		c.server.count("preface")
		return errClosed
	}
	c.in.take(len(preface))
	c.mu.Lock()
	c.queue(c.server.appendPreface(nil))
	c.mu.Unlock()
	// Its SETTINGS have to be there before anything is answered: the first head that is sent goes
	// by the table and the windows that they name. An acknowledgement is none (RFC 9113 §3.4).
	for {
		f, size, ok := parseFrame(c.in.bytes())
		switch {
		case c.in.have() >= headSize && f.kind != frameSettings, ok && f.has(flagAck):
			return &connError{codeProtocol, "first_frame"}
		case size > headSize+maxFrame:
			return &connError{codeFrameSize, "frame_size"}
		case ok:
			c.in.take(size)
			return c.settings(&f)
		}
		if err := c.in.fill(size); err != nil {
			return err
		}
	}
}

// step takes one frame, or reads if there is none. Frames are looked at where they were read to;
// the payload is good until the next read, and only bodies and heads are copied out of it.
//
// Before it reads, and with that maybe waits, it sends what frames of the client's have caused,
// all of what came in one read together.
func (c *conn) step() error {
	f, size, ok := parseFrame(c.in.bytes())
	switch {
	case size > headSize+maxFrame:
		return &connError{codeFrameSize, "frame_size"}
	case ok:
		c.in.take(size)
		return c.broken(c.frame(&f))
	}
	c.mu.Lock()
	c.flushAside()
	late := c.late()
	if late.IsZero() {
		c.mu.Unlock()
		return c.drain()
	}
	_ = c.nc.SetReadDeadline(late) // with the lock: finish sets one too
	c.mu.Unlock()
	err := c.in.fill(size)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return c.silent()
	}
	return err
}

// frame does what a frame asks for. A head is one unit: between HEADERS and the CONTINUATION
// that ends it nothing else may come, of no stream (RFC 9113 §6.10), because the decoder's
// table must see all heads in one order.
func (c *conn) frame(f *frame) error {
	if c.head.open && (f.kind != frameContinuation || f.stream != c.head.stream) {
		return &connError{codeProtocol, "head_interrupted"}
	}
	switch f.kind {
	case frameData:
		return c.data(f)
	case frameHeaders:
		return c.headers(f)
	case framePriority:
		return c.priority(f)
	case frameReset:
		return c.reset(f)
	case frameSettings:
		return c.settings(f)
	case framePushPromise:
		return &connError{codeProtocol, "push_promise"}
	case framePing:
		return c.ping(f)
	case frameGoAway:
		return c.goAway(f)
	case frameWindowUpdate:
		return c.windowUpdate(f)
	case frameContinuation:
		return c.continuation(f)
	}
	return nil // of a type to come (RFC 9113 §4.1)
}

// broken resets the stream that an error is about, and leaves errors of the connection. A stream
// that was never opened is remembered as reset too: what the client has sent for it meanwhile is
// on its way, and would be an error of its own.
func (c *conn) broken(err error) error {
	var of *streamError
	if err == nil || !errors.As(err, &of) {
		return err
	}
	c.server.count(of.name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if st := c.streams[of.stream]; st != nil {
		st.close(of, true)
	} else {
		c.recent.add(of.stream, true)
	}
	return c.reply(appendReset(nil, of.stream, of.code))
}

// late is the read deadline: the time of a head that has begun, the idle time of a connection
// without streams, and otherwise the time after which a client that sends nothing is pinged. A
// client that is behind a NAT which has forgotten the connection is found so, in the middle of a
// stream on which only the server has something to say. It is until when the client has to have
// sent something; zero where nothing more is expected of it.
func (c *conn) late() time.Time {
	switch {
	case c.phase == finishing && c.err == nil && (c.writing || c.queued() > 0):
		return time.Now().Add(farewell)
	case c.phase == finishing || c.err != nil:
		return time.Time{}
	case c.head.open:
		return c.head.since.Add(c.server.Header)
	case len(c.streams) == 0:
		return c.idle.Add(c.server.Idle)
	case c.in.asked:
		return c.in.last.Add(c.server.Ping + c.server.Pong)
	}
	return c.in.last.Add(c.server.Ping)
}

// silent is for a client that has sent nothing until late. What that means is asked again with the
// lock, because handlers may have ended the last stream, and begun the idle time, since the read
// began. A head that stays open is the client's to answer for; an idle connection is closed with
// NO_ERROR, which no client counts as a failure; and one that answers no ping is taken for gone,
// and is told nothing.
func (c *conn) silent() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch late := c.late(); {
	case late.IsZero(), now.Before(late): // streams have begun or ended since
	case c.head.open:
		return &connError{codeCalm, "head_timeout"}
	case len(c.streams) == 0:
		return &connError{codeNo, ""}
	case c.in.asked:
		return errClosed
	default:
		c.in.asked = true
		c.queue(appendPing(nil, 0, make([]byte, 8)))
		c.flushAside()
	}
	return nil
}

// end tells the client why, where there is something to tell, and closes the connection. GOAWAY
// names the last stream that was served, so that the client knows which calls it may repeat
// elsewhere (RFC 9113 §6.8); the others it cannot repeat without having an effect twice.
func (c *conn) end(err error) {
	c.mu.Lock()
	var broken *connError
	if errors.As(err, &broken) && c.err == nil {
		if broken.code != codeNo {
			c.server.count(broken.name)
		}
		c.phase = finishing
		c.queue(appendGoAway(nil, c.last, broken.code))
		for _, st := range c.streams {
			st.close(errClosed, true)
		}
		c.mu.Unlock()
		_ = c.drain()
		c.mu.Lock()
	}
	c.fail(errClosed)
	c.mu.Unlock()
}

// drain closes the connection toward the client once all is sent, and reads on for a moment,
// without looking at what comes. Only half of it is closed for that moment (see farewell).
func (c *conn) drain() error {
	_ = c.nc.SetWriteDeadline(time.Now().Add(farewell))
	c.mu.Lock()
	for c.err == nil && (c.writing || c.queued() > 0) {
		if c.writing {
			c.written.Wait()
		} else {
			c.flush()
		}
	}
	c.mu.Unlock()
	if half, ok := c.nc.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_ = c.nc.SetReadDeadline(time.Now().Add(farewell))
	for {
		c.in.take(c.in.have())
		if err := c.in.fill(headSize); err != nil {
			return errClosed
		}
	}
}

// fail ends everything at once: who writes or waits gets the error, who reads a body too, and
// contexts of requests end. TLS is not asked for its last word, for which a client that reads
// nothing could make it wait. It is called with the lock.
func (c *conn) fail(err error) {
	if c.err == nil {
		c.err = err
		_ = beneath(c.nc).Close()
		c.cancel()
	}
	for _, st := range c.streams {
		st.close(err, false)
	}
}

// leave begins the end: GOAWAY that names no last stream yet, since requests may be under
// way, and a ping behind it. Once that has come back, no request is under way that the
// client could have sent before it knew. It is called without the lock, or by who has one
// of another connection.
func (c *conn) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.beginLeave()
}

// beginLeave is leave for who has the lock: a handler whose answer says Connection: close,
// which is how the gateway lets go of clients while it retires.
func (c *conn) beginLeave() {
	if c.phase != serving || c.err != nil {
		return
	}
	c.phase = leaving
	c.queue(appendPing(appendGoAway(nil, mostWindow, codeNo), 0, leavePing[:]))
	time.AfterFunc(farewell, c.refuse)
	c.flushAside() // nobody waits for a client that does not read
}

// refuse names the last stream that is served, once the ping of beginLeave has come back or a
// moment has passed. Requests that come after it are for the client to send elsewhere; it
// knows by the number.
func (c *conn) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase != leaving || c.err != nil {
		return
	}
	c.phase = refusing
	c.queue(appendGoAway(nil, c.last, codeNo))
	c.finish()
	c.flushAside()
}

// finish ends a connection that is refusing once its last stream has ended. The goroutine that
// reads does the rest: a deadline that has passed has it look at the phase.
func (c *conn) finish() {
	if c.phase == refusing && len(c.streams) == 0 {
		c.phase = finishing
		_ = c.nc.SetReadDeadline(time.Now()) // for step to see it
	}
}

// beneath is the connection without what reads or ciphers it: TLS would have a last word to
// those who do not listen.
func beneath(nc net.Conn) net.Conn {
	for {
		over, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = over.NetConn()
	}
}
