package http2

import (
	"time"
)

// data takes a piece of a body. All of the frame counts for the windows, padding included
// (RFC 9113 §6.1).
//
// The connection's window is charged before anything is known of the stream, since the client
// has charged its own count too: what is not passed to a handler, for whatever reason, has to be
// given back here. More than that window ends the connection, because the two counts have parted
// for good; more than a stream's window ends that stream.
func (c *conn) data(f *frame) error {
	size := int64(len(f.payload))
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case f.stream == 0:
		return &connError{codeProtocol, "data_stream"}
	case size > c.receive:
		return &connError{codeFlowControl, "data_connection_window"}
	case !f.unpad():
		return &connError{codeProtocol, "data_padding"}
	}
	c.receive -= size
	st := c.streams[f.stream]
	if st == nil {
		c.giveBack(size)
		return c.absent(f.stream, "data")
	}
	b := &st.body
	switch {
	case b.ended:
		c.giveBack(size)
		return &streamError{f.stream, codeStreamClosed, "data_after_end"}
	case size > b.receive:
		c.giveBack(size)
		return &streamError{f.stream, codeFlowControl, "data_stream_window"}
	}
	b.receive -= size
	if err := b.add(f.payload, f.has(flagEndStream)); err != nil {
		c.giveBack(size)
		return err
	}
	// No handler reads padding, so that nobody else would give it back.
	if padding := size - int64(len(f.payload)); padding > 0 {
		c.giveBack(padding)
		b.giveBack(padding)
	}
	if f.has(flagEndStream) {
		st.settle()
	}
	return nil
}

// absent is about a frame for a stream that is not open: what was reset here may have been
// under way, what the client has ended is closed, and what it has never opened is idle
// (RFC 9113 §5.1).
//
// The three are told apart since only the first is nobody's fault. An idle stream is an error of
// the connection: both sides do not agree any more on which streams there are.
func (c *conn) absent(stream uint32, name string) error {
	switch ours, closed := c.recent.has(stream); {
	case stream > c.last || stream%2 == 0:
		return &connError{codeProtocol, name + "_idle"}
	case closed && ours:
		return nil
	}
	return &streamError{stream, codeStreamClosed, name + "_closed"}
}

// priority is checked and not heeded (RFC 9113 §5.3.2). Which call goes first is for the client's
// windows to say, and a tree of dependencies, as RFC 7540 had it, is memory that a client orders
// without asking for anything. What is wrong with the frame is an error all the same (§6.3).
func (c *conn) priority(f *frame) error {
	switch {
	case f.stream == 0:
		return &connError{codeProtocol, "priority_stream"}
	case len(f.payload) != 5:
		return &streamError{f.stream, codeFrameSize, "priority_size"}
	case f.number() == f.stream:
		return &streamError{f.stream, codeProtocol, "priority_self"}
	}
	return nil
}

// reset ends a stream that the client does not want any more. The handler's context ends with it;
// the handler goes on counting as one that runs until it returns, so that a client that opens and
// resets streams does not get more of them to run at once than it may have (conn.open).
//
// A wrong size is an error of the connection here, where that of PRIORITY is one of the stream
// (RFC 9113 §6.4, §6.3).
func (c *conn) reset(f *frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch st := c.streams[f.stream]; {
	case f.stream == 0:
		return &connError{codeProtocol, "reset_stream"}
	case len(f.payload) != 4:
		return &connError{codeFrameSize, "reset_size"}
	case st != nil:
		st.close(errReset, false)
	case f.stream > c.last || f.stream%2 == 0:
		return &connError{codeProtocol, "reset_idle"}
	default: // what comes for it now was not under way when it was reset here
		c.recent.known(f.stream)
	}
	return nil
}

// ping answers a ping, before anything else that waits, or takes the answer to one. The answer
// to that of leave says that the client has seen GOAWAY.
func (c *conn) ping(f *frame) error {
	switch {
	case f.stream != 0:
		return &connError{codeProtocol, "ping_stream"}
	case len(f.payload) != 8:
		return &connError{codeFrameSize, "ping_size"}
	case f.has(flagAck):
		if [8]byte(f.payload) == leavePing {
			c.refuse()
		}
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reply(appendPing(nil, flagAck, f.payload))
}

// goAway is a client's that opens no more streams. Those that it has opened are served. The last
// stream that it names would be one of the server's, which opens none, so that nobody reads it;
// nor the text behind it, which is for people.
func (c *conn) goAway(f *frame) error {
	switch {
	case f.stream != 0:
		return &connError{codeProtocol, "goaway_stream"}
	case len(f.payload) < 8:
		return &connError{codeFrameSize, "goaway_size"}
	}
	return nil
}

// windowUpdate lets more of an answer pass: of one, or of all that wait. A window that grows
// beyond 2^31-1 is an error of its stream or, for the connection's, of that. For a stream that
// has ended meanwhile it is nothing, since clients send it for what they have read last.
func (c *conn) windowUpdate(f *frame) error {
	if len(f.payload) != 4 {
		return &connError{codeFrameSize, "window_update_size"}
	}
	n := int64(f.number())
	c.mu.Lock()
	defer c.mu.Unlock()
	if f.stream == 0 {
		switch {
		case n == 0:
			return &connError{codeProtocol, "window_update_zero"}
		case c.window+n > mostWindow:
			return &connError{codeFlowControl, "window_update_overflow"}
		}
		c.window += n
		c.wakeWriters()
		return nil
	}
	// A zero is looked for before an absent stream is forgiven: it has no meaning on any.
	switch st := c.streams[f.stream]; {
	case st == nil && (f.stream > c.last || f.stream%2 == 0):
		return &connError{codeProtocol, "window_update_idle"}
	case n == 0:
		return &streamError{f.stream, codeProtocol, "window_update_zero"}
	case st == nil: // it has ended meanwhile
	case st.window+n > mostWindow:
		return &streamError{f.stream, codeFlowControl, "window_update_overflow"}
	default:
		st.window += n
		st.wakeWriter()
	}
	return nil
}

// giveBack lets the client send n more bytes, of any stream, once that is worth a frame: small
// bodies cause one for every 256 KiB of them together. Every byte that comes is given back
// once, when it is read or when it turns out that nobody will; a byte that is forgotten
// narrows the window for as long as the connection lasts, until the client can send nothing.
func (c *conn) giveBack(n int64) {
	if c.taken += uint32(n); c.taken < connWindow/4 { //nolint:gosec // of a window
		return
	}
	c.queue(appendWindowUpdate(nil, 0, c.taken))
	c.receive += int64(c.taken)
	c.taken = 0
}

// reply queues what a frame of the client's has caused. Who sends such frames and does not
// read the answers is told to calm down.
func (c *conn) reply(frames []byte) error {
	if c.replies += len(frames); c.replies > mostReplies {
		return &connError{codeCalm, "replies_unread"}
	}
	c.queue(frames)
	return nil
}

// recent are the last sixteen streams that have ended; a client has seldom more under way that it
// does not know the end of. They are kept that have ended not long ago, to tell a frame that was
// under way from one that should not have been sent.
type recent struct {
	ids  [16]uint32
	ours [16]bool // reset here
	next int
}

func (r *recent) add(stream uint32, ours bool) {
	r.ids[r.next], r.ours[r.next] = stream, ours
	r.next = (r.next + 1) % len(r.ids)
}

// known is for a stream that the client has reset too.
func (r *recent) known(stream uint32) {
	for i := range r.ids {
		if r.ids[i] == stream {
			r.ours[i] = false
		}
	}
}

func (r *recent) has(stream uint32) (ours, found bool) {
	for i := range r.ids {
		if r.ids[i] == stream {
			ours, found = ours || r.ours[i], true
		}
	}
	return ours, found
}

// expired reports whether a time has come; the zero time never does, as it stands for no deadline
// in all of this package.
func expired(t time.Time) bool { return !t.IsZero() && !time.Now().Before(t) }
