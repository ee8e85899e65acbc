package proxy

import (
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// prefix is what is in front of the gateway's paths, where it has a part of a host only.
type prefix struct {
	public string // for clients: the path of publicURL, without a slash at its end
	here   string // for requests as they come, as server.basePath has it; "" for either
}

func (f prefix) none() bool { return f.public == "" && (f.here == "" || f.here == "/") }

// inside finds the path of the gateway's own that a request is for. The request that it gives
// has the path that the client asked for, as proofs and records have it, whatever something
// in front has made of it. It is false for a path that nothing in front of this gateway makes.
func (f prefix) inside(r *http.Request, to *routes) (*http.Request, string, bool) {
	path := written(r)
	if rest, ok := below(path, exchange.MetadataPath+f.public); ok && f.public != "" {
		return r, exchange.MetadataPath + rest, true // which is before the path of what it is about (RFC 9728 §3.1)
	}
	if isGRPC(mediaType(r.Header)) && to.isRPC(r.Method, path) {
		return r, path, true // there is no place for a prefix
	}
	own, ok := f.cut(path, r.Method, to)
	if !ok {
		return r, path, false
	}
	return asked(r, f.public+own), own, true
}

// cut takes off what requests begin with here.
func (f prefix) cut(path, verb string, to *routes) (string, bool) {
	switch f.here {
	case "/":
		return path, true
	case "":
		rest, ok := below(path, f.public)
		if !ok {
			return path, true
		}
		if h, _ := to.find(verb, slashed(rest)); h == nil || path == exchange.SharedPath {
			if h, _ := to.find(verb, path); h != nil {
				return path, true // the prefix has been taken off, and a path of the gateway's begins alike
			}
		}
		return slashed(rest), true
	}
	rest, ok := below(path, f.here)
	return slashed(rest), ok
}

// below is what follows of a path behind the segments of another.
func below(path, base string) (string, bool) {
	rest, ok := strings.CutPrefix(path, base)
	return rest, ok && (rest == "" || rest[0] == '/')
}

func slashed(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// asked is the request with the path that its client asked for.
func asked(r *http.Request, path string) *http.Request {
	if path == r.URL.Path || r.URL.RawPath != "" { // which is refused
		return r
	}
	as, u := *r, *r.URL
	u.Path = path
	as.URL = &u
	return &as
}

// strayed refuses what does not begin as requests to this gateway do.
func (fe *frontend) strayed(x *exchange.Exchange) error {
	if _, err := fe.screen(x); err != nil {
		return err
	}
	return wire.Errorf(wire.MethodNotFound, "no such path: here they begin with %s (server.basePath)", fe.prefix.here)
}

// noPath refuses what is at no path, and says so where what is in front has left on what it is to
// take off.
func (f prefix) noPath(x *exchange.Exchange) error {
	if _, twice := below(x.Request.URL.Path, f.public+f.public); twice && f.here == "/" && f.public != "" {
		return wire.Errorf(wire.MethodNotFound, "no such path: here they begin with / (server.basePath), without %s in front", f.public)
	}
	return wire.Errorf(wire.MethodNotFound, "no such path")
}
