package http2

import (
	"time"

	"golang.org/x/net/http2/hpack"
)

// head is a block of fields that comes in, in one HEADERS frame and any number of
// CONTINUATION frames behind it, with nothing between them.
type head struct {
	decoder *hpack.Decoder // the connection's: what one head defines, the next may refer to
	most    int            // bytes that all may have, 32 more each (RFC 9113 §10.5.1)

	open      bool // more is to come
	stream    uint32
	endStream bool
	self      bool // it depends on itself (RFC 7540 §5.3.1)
	since     time.Time
	encoded   int // bytes of it
	size      int // of what it says
	fields    []hpack.HeaderField
}

// emit is called by the decoder for each field. Beyond the limit it is told to make no more
// strings of what it reads, and reads on for the sake of its table.
func (h *head) emit(f hpack.HeaderField) {
	if h.size += int(f.Size()); h.size > h.most {
		h.decoder.SetEmitEnabled(false)
		return
	}
	h.fields = append(h.fields, f)
}

// tooLarge reports whether the head is beyond the limit, for 431: an answer that says what is wrong,
// where a reset would have the client try again.
func (h *head) tooLarge() bool { return h.size > h.most }

// add decodes a piece. It is decoded even where nobody will read it, since the tables of
// both sides have to agree; and it may not be much larger than what may come of it.
func (h *head) add(piece []byte, last bool) error {
	if h.encoded += len(piece); h.encoded > 2*h.most {
		return &connError{codeCalm, "head_size"}
	}
	if _, err := h.decoder.Write(piece); err != nil {
		return &connError{codeCompression, "head_compression"}
	}
	h.open = !last
	if last && h.decoder.Close() != nil {
		return &connError{codeCompression, "head_compression_end"}
	}
	return nil
}

// headers begins a head: padding and the priority that older clients send are taken off, and
// what is left is the first piece, in most cases all of it.
func (c *conn) headers(f *frame) error {
	switch {
	case f.stream == 0:
		return &connError{codeProtocol, "headers_stream"}
	case !f.unpad():
		return &connError{codeProtocol, "headers_padding"}
	}
	self := false
	if f.has(flagPriority) {
		if len(f.payload) < 5 {
			return &connError{codeFrameSize, "headers_priority_size"}
		}
		self = f.number() == f.stream
		f.payload = f.payload[5:]
	}
	h := &c.head
	h.self = self
	clear(h.fields) // which hold what the last head said
	h.stream, h.endStream, h.encoded, h.size, h.fields = f.stream, f.has(flagEndStream), 0, 0, h.fields[:0]
	if !f.has(flagEndHeaders) {
		h.since = time.Now()
	}
	h.decoder.SetEmitEnabled(true)
	if err := h.add(f.payload, f.has(flagEndHeaders)); err != nil {
		return err
	}
	if h.open {
		return nil
	}
	return c.headEnd()
}

// continuation goes on with a head. How many may come is bounded by the bytes that all of them
// may have, and where they have none by package flood.
func (c *conn) continuation(f *frame) error {
	if !c.head.open {
		return &connError{codeProtocol, "continuation"}
	}
	if err := c.head.add(f.payload, f.has(flagEndHeaders)); err != nil || c.head.open {
		return err
	}
	return c.headEnd()
}

// headEnd is what a head has begun with all of it there: a request, or the end of one. Streams of
// clients are odd and go up (RFC 9113 §5.1.1), so that one that is lower than the last has been;
// the number counts even where the request is refused, as the client has used it up.
func (c *conn) headEnd() error {
	h := &c.head
	c.mu.Lock()
	st := c.streams[h.stream]
	last, phase := c.last, c.phase
	if st == nil && h.stream%2 == 1 && h.stream > c.last {
		c.last = h.stream
	}
	c.mu.Unlock()
	switch {
	case st != nil:
		return c.trailers(st)
	case h.stream%2 == 0:
		return &connError{codeProtocol, "headers_even"}
	case h.stream <= last:
		return c.stale(h.stream)
	case phase == refusing: // the client has been told that this is not served
		c.mu.Lock()
		c.recent.add(h.stream, true)
		c.mu.Unlock()
		return nil
	}
	return c.open()
}

// stale is about a head for a stream that has been. Trailers of a request that was reset here may
// have been under way; on any other stream both sides differ on what is open.
func (c *conn) stale(stream uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch ours, closed := c.recent.has(stream); {
	case closed && ours: // it was under way
		return nil
	case closed:
		return &connError{codeStreamClosed, "headers_closed"}
	}
	return &connError{codeProtocol, "headers_order"}
}

// trailers end a body. What they say is not passed on, as with HTTP/1.1 (package strict).
func (c *conn) trailers(st *stream) error {
	h := &c.head
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case st.body.ended:
		return &streamError{h.stream, codeStreamClosed, "trailers_after_end"}
	case !h.endStream:
		return &streamError{h.stream, codeProtocol, "trailers_without_end"}
	}
	for _, f := range h.fields {
		if f.IsPseudo() || !validName(f.Name) {
			return &streamError{h.stream, codeProtocol, "trailers_field"}
		}
	}
	if err := st.body.add(nil, true); err != nil {
		return err
	}
	st.settle()
	return nil
}

// open begins a stream with the request that its head makes. REFUSED_STREAM promises that nothing
// has been done, so that a client may repeat the call (RFC 9113 §8.7). Handlers are bounded beside
// streams, at twice as many: else who opens streams and resets them at once (CVE-2023-44487)
// would have as many handlers run as it can open.
func (c *conn) open() error {
	h := &c.head
	if h.self {
		return &streamError{h.stream, codeProtocol, "headers_self"}
	}
	st := newStream(c, h.stream)
	if st.body.ended = h.endStream; !h.tooLarge() {
		if err := st.parse(h); err != nil {
			st.cancel()
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch most := int(c.server.Streams); {
	case c.err != nil:
		st.cancel()
		return c.err
	case len(c.streams) >= most, c.running >= 2*most: // a handler may outlive its stream
		st.cancel()
		return &streamError{h.stream, codeRefusedStream, "streams_many"}
	}
	st.window = c.initial
	c.streams[h.stream] = st
	c.running++
	c.server.workers.run(st)
	return nil
}
