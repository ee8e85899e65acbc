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

// The reasons. Those up to whyAddress are of ErrRefused.
const (
	whyLength    Why = "the address is too long"
	whyMalformed Why = "the address is not written as a plain URL"
	whyScheme    Why = "the scheme is not allowed"
	whyUser      Why = "the address has user information"
	whyFragment  Why = "the address has a fragment"
	whyPort      Why = "the port is not allowed"
	whyHost      Why = "the host is not allowed"
	whyHeader    Why = "a header cannot be sent"
	whyAddress   Why = "the address is private or reserved"

	whyName        Why = "the name was not found"
	whyConnection  Why = "there was no connection"
	whyProxy       Why = "the HTTP proxy on the way cannot be used, or refuses"
	whyCertificate Why = "the certificate is not trusted"
	whyTLS         Why = "TLS was not agreed on"
	whyAnswer      Why = "the answer broke off, or was none of HTTP"
	whySlow        Why = "it took too long"
	whyCancelled   Why = "it was cancelled"
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
		return refused(host, whyAddress)
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return &Error{context.Canceled, host, whyCancelled}
	}
	if _, ok := errors.AsType[*unresolved](err); ok {
		return &Error{ErrUnreachable, host, whyName}
	}
	if slow, ok := errors.AsType[net.Error](err); ok && slow.Timeout() || ctx.Err() != nil {
		return &Error{ErrTimeout, host, whySlow}
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
			return whyProxy
		}
		return whyConnection
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return whyCertificate
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return whyCertificate
	}
	_, record := errors.AsType[tls.RecordHeaderError](err)
	_, alert := errors.AsType[tls.AlertError](err)
	if record || alert {
		return whyTLS
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		return whyConnection
	}
	return whyAnswer
}
