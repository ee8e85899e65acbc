// Package http1 serves HTTP/1.1 and HTTP/1.0 on connections that package strict reads: it
// makes an http.Request of each head, has a handler answer it, and writes the answer.
//
// It takes the place of net/http's server for these versions, which costs as much as
// everything else that a call takes on its way to the agent: it parses again what was read
// strictly already, copies the answer's header to write it, and has a goroutine wait for
// each client to hang up. To handlers it is the same: ResponseWriter, Request, contexts
// that end with the client, and http.ResponseController mean what they mean there, but
// for hijacking, of which Leave is the part that is needed.
//
// # One connection
//
// The goroutine that calls Serve goes around in conn.serve:
//
//	head     waits for CR LF CR LF; whoever speaks HTTP/2 is given away here
//	parse    makes the http.Request: request line, fields, target, length of the body
//	handle   runs the handler; body reads from the connection, response writes to it
//	finish   sends what is held, the last chunk, trailers
//	drained  reads what the handler has left of the body, and goes on with the next head
//
// Nothing is read ahead by another goroutine: a client that disconnects while a handler works
// is found by disconnectWatch, which asks the kernel and reads nothing.
//
// # States
//
//	idle       no byte of a request has come   Shutdown closes it
//	busy       a head has begun                Shutdown waits for its answer
//	closed     was idle, and is closed now
//	lingering  answered, the client still sends; it is read and thrown away
//	leaving    the same, cut to half a second by a shutdown
//
// It owns a connection from its first byte to its last: timeouts of heads (slowloris) and of idle
// connections, bodies, 100-continue, framing of answers, what stays open and what closes.
// It does not own what is read (strict), TLS, limits on connections, what a request means,
// or HTTP/2, whose connections it gives away as soon as it has seen their preface.
//
// It may import internal/server/strict and internal/netpoll.
package http1
