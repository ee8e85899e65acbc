package acme

import (
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Options are what a Keeper works with.
type Options struct {
	// Values of the state, sealed: there will be keys among them.
	Values state.Values
	// Host and Port are where the public listener has been opened, HTTPPort is that of
	// the one for http-01, or 0.
	Host           string
	Port, HTTPPort int
	// Provide is given all certificates there are whenever one has changed, in the order
	// of the configuration.
	Provide func([]tls.Certificate) error
	// Ordered, if set, is told what came of each order: the certificate, or an error.
	Ordered func(domain string, leaf *x509.Certificate, err error)
	// Proxy is the way to the CA, as http.Transport has it; nil is direct.
	Proxy func(*http.Request) (*url.URL, error)
	Log   *slog.Logger
}
