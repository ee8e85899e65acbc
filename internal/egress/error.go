package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// What an Error is.
var (
	// ErrRefused means that the target is not allowed, and that trying again is no use
	// while neither the rules nor its addresses change. Nothing was sent.
	ErrRefused = errors.New("the target is not allowed")
	// ErrUnreachable means that there was no answer.
	ErrUnreachable = errors.New("the target cannot be reached")
	// ErrTimeout means that there was no answer in time.
	ErrTimeout = errors.New("the target did not answer in time")
)

// Why is the reason of an Error, one of a closed set, fit for records and for those who
// named the target.
type Why string

// The reasons. Those up to WhyAddress are of ErrRefused.
const (
	WhyLength    Why = "the address is too long"
	WhyMalformed Why = "the address is not written as a plain URL"
	WhyScheme    Why = "the scheme is not allowed"
	WhyUser      Why = "the address has user information"
	WhyFragment  Why = "the address has a fragment"
	WhyPort      Why = "the port is not allowed"
	WhyHost      Why = "the host is not allowed"
	WhyHeader    Why = "a header cannot be sent"
	WhyAddress   Why = "the address is private or reserved"

	WhyName        Why = "the name was not found"
	WhyConnection  Why = "there was no connection"
	WhyProxy       Why = "the HTTP proxy on the way cannot be used, or refuses"
	WhyCertificate Why = "the certificate is not trusted"
	WhyTLS         Why = "TLS was not agreed on"
	WhyAnswer      Why = "the answer broke off, or was none of HTTP"
	WhySlow        Why = "it took too long"
	WhyCancelled   Why = "it was cancelled"
)

// Error says what went wrong, of Check and Send. What the system or the target said is
// not in it: that may hold the whole address, or what the target likes us to log.
type Error struct {
	Kind error  // ErrRefused, ErrUnreachable, ErrTimeout, or the context's error
	Host string // "" where it could not be read
	Why  Why
}

// Error is "HOST: reason".
func (e *Error) Error() string {
	if e.Host == "" {
		return string(e.Why)
	}
	return e.Host + ": " + string(e.Why)
}

// Unwrap returns the Kind.
func (e *Error) Unwrap() error { return e.Kind }

// refused is an error about a target that is not allowed.
func refused(host string, why Why) *Error { return &Error{ErrRefused, host, why} }

// errAddress is what stops a connection to an address that is not allowed.
var errAddress = errors.New("address not allowed")

// unresolved is an error of DNS.
type unresolved struct{ err error }

// Error and Unwrap are those of what DNS said.
func (u *unresolved) Error() string { return u.err.Error() }
func (u *unresolved) Unwrap() error { return u.err }

// explain puts an error of net/http into the closed set.
func (c *Client) explain(ctx context.Context, host string, err error) *Error {
	if errors.Is(err, errAddress) {
		return refused(host, WhyAddress)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{context.Canceled, host, WhyCancelled}
	}
	if _, ok := errors.AsType[*unresolved](err); ok {
		return &Error{ErrUnreachable, host, WhyName}
	}
	if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() || ctx.Err() != nil {
		return &Error{ErrTimeout, host, WhySlow}
	}
	return &Error{ErrUnreachable, host, broke(err)}
}

// proxied is an error of a Proxy.
type proxied interface {
	error
	// Own reports whether it says something of the proxy alone.
	Own() bool
}

// broke says what kind of connection there was not.
func broke(err error) Why {
	if through, ok := errors.AsType[proxied](err); ok {
		if through.Own() {
			return WhyProxy
		}
		return WhyConnection
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return WhyCertificate
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return WhyCertificate
	}
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	if record || alert {
		return WhyTLS
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return WhyConnection
	}
	return WhyAnswer
}
