package tunnel

import (
	"errors"
	"fmt"
	"net/http"
)

// Error is why there is no connection through the proxy. Its text has the proxy's host and
// port, but nothing of its credentials, and nothing that the proxy itself has written.
type Error struct {
	Proxy  string // host:port
	Target string // host:port
	Status int    // of the proxy's answer; 0 where there was none
	Err    error  // nil where there was one
	stage  stage
}

// stage is where it went wrong.
type stage uint8

const (
	atProxy stage = iota + 1 // at the proxy, or on the way to it
	silent                   // behind it, maybe: it did not answer in time
)

// failed is an error without an answer of the proxy's.
func (s *server) failed(target string, at stage, err error) *Error {
	return &Error{Proxy: s.address, Target: target, Err: err, stage: at}
}

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Status == http.StatusProxyAuthRequired:
		return fmt.Sprintf("the proxy %s refuses to connect to %s: 407, it wants a user and password, or others, in its URL",
			e.Proxy, e.Target)
	case e.Status != 0 && e.Own():
		return fmt.Sprintf("the proxy %s refuses to connect to %s: %d %s", e.Proxy, e.Target, e.Status, http.StatusText(e.Status))
	case e.Status != 0:
		return fmt.Sprintf("the proxy %s does not reach %s: %d %s", e.Proxy, e.Target, e.Status, http.StatusText(e.Status))
	case e.stage == silent:
		return fmt.Sprintf("the proxy %s did not connect to %s in time", e.Proxy, e.Target)
	}
	return fmt.Sprintf("the proxy %s cannot be used: %v", e.Proxy, e.Err)
}

// Unwrap returns what happened.
func (e *Error) Unwrap() error { return e.Err }

// Timeout reports whether it took too long, as that of a net.Error does.
func (e *Error) Timeout() bool {
	return e.stage == silent || e.Status == http.StatusGatewayTimeout || isTimeout(e.Err)
}

// Temporary is there for net.Error.
func (e *Error) Temporary() bool { return false }

// Own reports whether it says something of the proxy alone: it cannot be reached, or refuses.
// 500, 502, 503 and 504 are what proxies answer when the other end cannot be reached, and where
// that does not answer they are silent.
func (e *Error) Own() bool {
	switch e.Status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return e.stage != silent
}

// Blames reports whether err is about the proxy alone.
func Blames(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Own()
}
