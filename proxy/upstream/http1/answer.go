package http1

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"
)

// mostInterim is how many interim answers (1xx) may come before the answer.
const mostInterim = 5

// answer is one request on its connection, and the body of what the agent answers.
//
// It embeds http.Response and is its Body, so that a call costs one allocation for both. phase
// and left belong to whoever reads; state is shared.
type answer struct {
	http.Response

	pool   *Pool
	conn   *conn
	ctx    context.Context
	trace  *httptrace.ClientTrace
	stop   func() bool // keeps the end of ctx from ending the connection; nil where ctx has none
	upload *upload     // nil where the request was written at once
	heard  bool        // a byte of the answer has come
	closes bool        // the connection is not for another request

	phase phase
	left  int64 // of the body, or the chunk
	last  error // what Read returns from now on; nil while there is more
	state atomic.Int32

	values [5]string // of the header's fields, where there are no more
}

// What state says. The connection is the answer's until it has ended.
const (
	open int32 = iota
	reading
	ended
)

// exchange writes a request and reads the head of the answer to it.
//
// The error is the cause of the context's end where that has come, the error of the request's
// body where the body was at fault, and else what reading or writing came to. An answer without a
// body gives the connection back before it is returned.
func (a *answer) exchange(r *http.Request, m *message) (*http.Response, error) {
	if a.ctx.Done() != nil {
		a.stop = context.AfterFunc(a.ctx, a.conn.abort)
	}
	err := a.send(r, m)
	if err == nil || !errors.Is(err, ErrNotSent) {
		// An agent that did not take the whole request may have said why.
		if e := a.receive(r); err == nil || e == nil {
			err = e
		}
	}
	switch {
	case err != nil:
	case a.phase == none:
		a.state.Store(ended)
		a.finish()
		return &a.Response, nil
	default:
		return &a.Response, nil
	}
	a.state.Store(ended)
	a.discard()
	err = a.upload.instead(err)
	if cause := context.Cause(a.ctx); cause != nil {
		return nil, cause
	}
	return nil, err
}

// send writes a request, or begins to.
//
// Its error wraps ErrNotSent where no byte has left this process, which is what makes a
// repetition harmless whatever the method.
func (a *answer) send(r *http.Request, m *message) error {
	if m.long {
		m.handed = true
		a.upload = begin(a.conn, r, m.b)
		return nil
	}
	n, err := a.conn.Write(m.b)
	if a.trace != nil && a.trace.WroteRequest != nil {
		a.trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
	}
	if err == nil {
		return nil
	}
	a.closes = true
	if n == 0 && a.conn.secured == nil { // TLS does not say how much of a record was written
		return fmt.Errorf("%w: %w", ErrNotSent, err)
	}
	return fmt.Errorf("send the request: %w", err)
}

// mayRepeat reports whether a request may be sent once more, on a new connection, after
// it has failed on one that was idle: nothing of it was written, or it changes nothing
// and the agent closed the connection without saying a word.
//
// A GET with a body is not repeated, because the body has been read.
func (a *answer) mayRepeat(r *http.Request, err error) bool {
	switch {
	case !a.conn.used || a.ctx.Err() != nil || a.upload != nil || a.heard:
		return false
	case errors.Is(err, ErrNotSent):
		return true
	}
	return r.ContentLength == 0 && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// receive reads the head of the answer, after the interim ones. All of them together
// count against the size of one.
//
// 101 ends the loop like a final status, since no further head follows it. Callbacks of httptrace
// are called here as net/http calls them; the call's span takes its times from them.
func (a *answer) receive(r *http.Request) error {
	in, left := &a.conn.in, int(a.pool.Other.MaxResponseHeaderBytes)
	for interim := 0; ; interim++ {
		text, err := in.head(left)
		if a.heard = a.heard || err == nil || in.buffered() > 0; err != nil {
			return err
		}
		if interim == 0 && a.trace != nil && a.trace.GotFirstResponseByte != nil {
			a.trace.GotFirstResponseByte()
		}
		var h head
		var room []string
		if interim == 0 { // another's are a trace's to keep
			room = a.values[:]
		}
		switch err := h.parse(text, room); {
		case err != nil:
			return err
		case h.status >= 200 || h.status == http.StatusSwitchingProtocols:
			a.respond(r, &h)
			return nil
		case h.chunked || h.length > 0:
			return broken("an interim answer has a body")
		case interim == mostInterim:
			return broken("there are too many interim answers")
		}
		left -= len(text)
		if a.trace != nil && a.trace.Got1xxResponse != nil {
			if err := a.trace.Got1xxResponse(h.status, textproto.MIMEHeader(h.header)); err != nil {
				return err
			}
		}
	}
}

// chunkedAlone is what responses say of chunks.
var chunkedAlone = []string{"chunked"}

// respond makes the response and settles how its body is framed (RFC 9112 §6.3). An agent
// that switches to a protocol nobody has offered has said all it has to say.
//
// 304 and answers to HEAD may state the length of a body that does not come (RFC 9110 §8.6), so
// that their length is kept and nothing is read.
func (a *answer) respond(r *http.Request, h *head) {
	a.closes = a.closes || h.closes
	switch {
	case h.status == http.StatusSwitchingProtocols:
		h.length, a.closes = 0, true
	case r.Method == http.MethodHead, h.status == http.StatusNotModified:
	case h.status == http.StatusNoContent:
		a.closes = a.closes || h.chunked || h.length > 0 // what follows nobody knows
	case h.chunked:
		a.phase = chunkSize
	case h.length > 0:
		a.phase, a.left = sized, h.length
	case h.length < 0:
		a.phase, a.closes = rest, true
	}
	a.Response = http.Response{
		Status: h.text, StatusCode: h.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: h.minor,
		Header: h.header, Trailer: h.trailer, ContentLength: h.length, Close: a.closes,
		Body: a, Request: r, TLS: a.conn.tls,
	}
	if h.minor == 0 {
		a.Proto = "HTTP/1.0"
	}
	if h.chunked {
		a.TransferEncoding = chunkedAlone
	}
	if a.phase == none {
		a.Body = http.NoBody
		if r.Method != http.MethodHead {
			a.ContentLength = 0
		}
	}
}

// finish is done with a connection after the answer's end. It comes before the last bytes
// are handed out, and so before any request that is sent because of them. An end of ctx
// that could not be stopped may reach the connection any time from now.
//
// The connection is kept if the whole request was written, nothing but the answer has come, and
// the agent has not asked to close it.
func (a *answer) finish() {
	stopped := a.stop == nil || a.stop()
	a.conn.unwatch()
	if stopped && !a.closes && a.upload.finished() && a.conn.clean() {
		a.conn.in.drop()
		a.pool.keep(a.conn)
		return
	}
	a.discard()
}

// discard is done with a connection that has no further request. Nobody is reading.
//
// It closes the socket without reading what is left. An answer that nobody wants may be endless.
func (a *answer) discard() {
	if a.stop != nil {
		a.stop()
	}
	a.conn.close()
	a.conn.in.drop()
}
