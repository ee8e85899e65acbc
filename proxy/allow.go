package proxy

import "net/http"

// allowed are the verbs that some path of the listener has.
const allowed = "DELETE, GET, HEAD, OPTIONS, POST"

// serveOptions answers "OPTIONS *", by which clients and proxies find out whether a server
// is there and which verbs it has, without asking for anything (RFC 9110 §9.3.7). It is the
// same for everybody.
func (p *Proxy) serveOptions(x *exchange) error {
	if _, err := p.screen(x); err != nil {
		return err
	}
	guard(x.w.Header())
	x.w.Header().Set("Allow", allowed)
	x.w.WriteHeader(http.StatusNoContent)
	return nil
}
