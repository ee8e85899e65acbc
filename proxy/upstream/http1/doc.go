// Package http1 sends requests to agents over HTTP/1.1 connections that it keeps.
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
package http1
