// Package http1 sends requests to agents over HTTP/1.1 connections that it keeps: a client with a
// connection pool.
//
// net/http gives each connection two goroutines and has every request handed to one and
// its answer back by the other, which costs more than all the gateway does with a small
// call. Here the caller's own goroutine writes the request, head and body at once, and
// reads the answer. A connection that waits for its next request is a descriptor and a
// few hundred bytes.
//
// What an agent answers is read as RFC 9112 writes it and no other way: there is one way
// to say where an answer ends, and a connection on which that is in doubt, or on which
// bytes come that no request asked for, has no further request (docs/threat-model.md
// L19). A request of which a byte was written is not written again, except a GET or HEAD
// that finds its connection closed, once.
//
// It owns connections, framing, and when both end. Everything that is not a plain request
// with a body of known length over HTTP/1.1 goes to net/http: HTTP/2 where TLS agrees on
// it, chunked requests, offers to upgrade. It knows nothing of A2A and nothing of how a
// connection is made; it may import nothing of ours.
//
// # The walk of one request
//
//	RoundTrip  usual(r)?           no: net/http's Transport (Options.Other)
//	  connect  an idle connection that is quiet, else Dial or DialTLS (h2 agreed: secondVersion)
//	  compose  "POST /rpc HTTP/1.1\r\nHost: …\r\n…\r\n\r\n{…}" in one piece of memory
//	  exchange one Write, then the head is read and parsed; the http.Response is handed out
//	  Read     the caller reads the body; its last byte gives the connection back (finish)
//
// A body of up to 32 KiB is written together with the head by the caller's goroutine. A longer
// one is written by a goroutine of its own (upload), since an agent may answer before it has read
// the request and read no more until its answer is taken: a single goroutine would wait for ever.
//
// # Who has a connection
//
//   - idle in the pool: the pool's. What ends it: a request takes it; sweepIdle, when it is old or
//     the agent has closed it.
//   - from exchange to the body's end: the answer's. What ends it: finish gives it back, discard
//     closes it.
//   - parked (Park): the answer's, with no goroutine. What ends it: bytes that come, Close, or the
//     end of the context.
//
// An answer's state (open, reading, ended) is one atomic word, as Close may be called while
// another goroutine is in Read. Whoever brings it to ended lets go of the connection, so that
// this happens once.
//
// # What is refused
//
// An answer is an error that wraps ErrFraming, and its connection is closed, where it has both
// Content-Length and Transfer-Encoding, two lengths, a transfer coding other than chunked alone,
// a line that ends with LF alone, folded lines, a name with a space before its colon, control
// characters in a value, a head of more than MaxResponseHeaderBytes, more than 256 fields, more
// than five interim answers, or trailers about the body's length. RFC 9112 §6.3 and §11 say why:
// what two recipients read differently is how a response is smuggled to the next caller.
package http1
