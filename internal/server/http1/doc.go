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
// It owns a connection from its first byte to its last: timeouts of heads and of idle
// connections, bodies, 100-continue, framing of answers, what stays open and what closes.
// It does not own what is read (strict), TLS, limits on connections, what a request means,
// or HTTP/2, whose connections it gives away as soon as it has seen their preface.
//
// It may import internal/server/strict and internal/netpoll.
package http1
