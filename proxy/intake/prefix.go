package intake

import (
	"net/http"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// Prefix is what is in front of the gateway's paths, where it has a part of a host only.
type Prefix struct {
	Public string // for clients: the path of publicURL, without a slash at its end
	Here   string // for requests as they come, as server.basePath has it; "" for either
}

// None reports whether paths have no prefix, neither here nor in public.
func (f Prefix) None() bool { return f.Public == "" && (f.Here == "" || f.Here == "/") }

// Inside finds the path of the gateway's own that a request is for. The request that it gives
// has the path that the client asked for, as proofs and records have it, whatever something
// in front has made of it. It is false for a path that nothing in front of this gateway makes.
func (f Prefix) Inside(r *http.Request, to *Routes) (*http.Request, string, bool) {
	path := Written(r)
	if rest, ok := below(path, exchange.MetadataPath+f.Public); ok && f.Public != "" {
		return r, exchange.MetadataPath + rest, true // which is before the path of what it is about (RFC 9728 §3.1)
	}
	if IsGRPC(MediaType(r.Header)) && to.isRPC(r.Method, path) {
		return r, path, true // there is no place for a prefix
	}
	own, ok := f.cut(path, r.Method, to)
	if !ok {
		return r, path, false
	}
	return asked(r, f.Public+own), own, true
}

// cut takes off what requests begin with here.
//
// Three set-ups exist: whatever is in front passes the public path on (Here is ""), takes it off
// (Here is "/"), or puts another in its place. In the first both spellings are taken, since
// requests may come past what is in front.
func (f Prefix) cut(path, verb string, to *Routes) (string, bool) {
	switch f.Here {
	case "/":
		return path, true
	case "":
		rest, ok := below(path, f.Public)
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
	rest, ok := below(path, f.Here)
	return slashed(rest), ok
}

// below is what follows of a path behind the segments of another.
func below(path, base string) (string, bool) {
	rest, ok := strings.CutPrefix(path, base)
	return rest, ok && (rest == "" || rest[0] == '/')
}

// slashed is a path that is never empty.
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

// Strayed refuses what does not begin as requests to this gateway do.
func (fe *Frontend) Strayed(x *exchange.Exchange) error {
	if _, err := fe.Screen(x); err != nil {
		return err
	}
	return wire.Errorf(wire.MethodNotFound, "no such path: here they begin with %s (server.basePath)", fe.Prefix.Here)
}

// noPath refuses what is at no path, and says so where what is in front has left on what it is to
// take off.
func (f Prefix) noPath(x *exchange.Exchange) error {
	if _, twice := below(x.Request.URL.Path, f.Public+f.Public); twice && f.Here == "/" && f.Public != "" {
		return wire.Errorf(wire.MethodNotFound, "no such path: here they begin with / (server.basePath), without %s in front", f.Public)
	}
	return wire.Errorf(wire.MethodNotFound, "no such path")
}
