package http1

import (
	"crypto/tls"
	"net/http"
	"slices"
)

// hand leaves a connection on which HTTP/2 was agreed to Other.
//
// From then on requests to that origin go to net/http, until it answers in HTTP/1.1.
func (p *Pool) hand(at origin, c *tls.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.at(at)
	h.http2, h.handed = true, append(h.handed, c)
}

// take gives Other a connection that it would dial otherwise.
//
// It compares addresses, as net/http's dial function is told host:port and no more.
func (p *Pool) take(to string) *tls.Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	for at, h := range p.hosts {
		if n := len(h.handed); n > 0 && at.scheme == "https" && address(at) == to {
			c := h.handed[n-1]
			h.handed = slices.Delete(h.handed, n-1, n)
			return c
		}
	}
	return nil
}

// secondVersion has net/http send a request to an origin that speaks HTTP/2. Where it
// had a connection of its own already, those that wait for it are not needed. An origin
// that has gone back to HTTP/1.1 comes back here with the next request.
//
// More than one connection can be waiting where several first requests came at once.
func (p *Pool) secondVersion(r *http.Request, at origin) (*http.Response, error) {
	resp, err := p.Other.RoundTrip(r)
	p.mu.Lock()
	h := p.at(at)
	spare := h.handed
	h.handed = nil
	if err == nil {
		h.http2 = resp.ProtoMajor == 2
	}
	p.mu.Unlock()
	for _, c := range spare {
		_ = c.Close() // nobody has written to it
	}
	return resp, err
}
