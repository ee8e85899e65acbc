//go:build !minimal

package otlp

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

const (
	protocolHTTP = "http/protobuf"
	protocolGRPC = "grpc"

	compressGzip = "gzip"
	compressNone = "none"

	defaultMaxRequest = 4 << 20
	leastMaxRequest   = 64 << 10
	mostMaxRequest    = 64 << 20
	leastGiveUp       = time.Minute
)

// These are the values that hold where the configuration says nothing. A Config is checked before
// anything else is asked of it.
func (c Config) protocol() string { return cmp.Or(c.Protocol, protocolHTTP) }
func (c Config) gzip() bool       { return c.Compression != compressNone }
func (c Config) maxRequest() int  { return int(cmp.Or(c.MaxRequest, defaultMaxRequest)) }
func (c Config) url() *url.URL    { u, _ := c.Endpoint.Parse(); return u } // it was found good

// loopback reports whether a host is this machine, which headers reach without TLS and unseen.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// Check reports every value that New would refuse, but for files.
func (c Config) Check() error {
	errs := []error{c.checkEndpoint()}
	if p := c.protocol(); p != protocolHTTP && p != protocolGRPC {
		errs = append(errs, keypath.At(fmt.Errorf("%q is neither %s nor %s", p, protocolHTTP, protocolGRPC), "protocol"))
	}
	switch c.Compression {
	case "", compressGzip, compressNone:
	default:
		errs = append(errs, keypath.At(fmt.Errorf("%q is neither %s nor %s", c.Compression, compressGzip, compressNone), "compression"))
	}
	if n := c.maxRequest(); n < leastMaxRequest || n > mostMaxRequest {
		errs = append(errs, keypath.At(fmt.Errorf("%v is not between 64KiB and 64MiB", c.MaxRequest), "maxRequest"))
	}
	if d := c.GiveUp; d != 0 && d.Std() < leastGiveUp {
		errs = append(errs, keypath.At(fmt.Errorf("%v is less than 1m", d), "giveUp"))
	}
	if (c.TLS.Certificate == "") != (c.TLS.Key == "") {
		errs = append(errs, keypath.At(keypath.Point(errors.New("certificate and key go together"), "certificate"), "tls"))
	}
	return errors.Join(append(errs, c.checkHeaders()...)...)
}

// checkEndpoint does not show what is written there, which may have a password in it. Headers, which
// are for credentials, go over http:// to this machine only; and a URL of gRPC has nothing that
// could be mistaken for a path that is not used.
func (c Config) checkEndpoint() error {
	u, err := c.Endpoint.Parse()
	switch {
	case c.Endpoint == "":
		return keypath.Point(errors.New("endpoint is missing"), "endpoint")
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return keypath.At(secret.NotAbsolute(err), "endpoint")
	case u.User != nil || u.Fragment != "" || u.RawQuery != "":
		return keypath.At(errors.New("it must have no user, query or fragment; headers are for credentials"), "endpoint")
	case c.protocol() == protocolGRPC && u.Port() == "":
		return keypath.At(fmt.Errorf("the port is missing: %s://host:4317", u.Scheme), "endpoint")
	case c.protocol() == protocolGRPC && u.Path != "" && u.Path != "/":
		return keypath.At(errors.New("gRPC has no path"), "endpoint")
	case u.Scheme == "http" && c.TLS != TLS{}:
		return keypath.At(errors.New("the endpoint is http://, which is without"), "tls")
	case u.Scheme == "http" && len(c.Headers) > 0 && !loopback(u.Hostname()):
		return keypath.At(errors.New("they are sent by https, or to this machine only"), "headers")
	}
	return nil
}

// checkHeaders reports headers that could not be sent, or that would take the place of the gateway's
// own. Their values are never part of an error.
func (c Config) checkHeaders() (errs []error) {
	seen := make(map[string]bool, len(c.Headers))
	for i, h := range c.Headers {
		name := strings.ToLower(h.Name)
		switch {
		case !httpguts.ValidHeaderFieldName(h.Name):
			errs = append(errs, keypath.At(fmt.Errorf("%q is no header name", h.Name), "headers", i, "name"))
		case ownHeader(name):
			errs = append(errs, keypath.At(fmt.Errorf("%s is set by the gateway", h.Name), "headers", i, "name"))
		case seen[name]:
			errs = append(errs, keypath.At(fmt.Errorf("%s is given twice", h.Name), "headers", i, "name"))
		}
		seen[name] = true
		if h.Value.IsZero() || !httpguts.ValidHeaderFieldValue(h.Value.Reveal()) {
			errs = append(errs, keypath.At(errors.New("empty, or has control characters"), "headers", i, "value"))
		}
	}
	return errs
}

// ownHeader reports whether a header belongs to the connection, the body or gRPC: those that the
// client sets itself, and whose value in the configuration would contradict what is sent. Names that
// end in -bin are encoded by gRPC, so that a value would arrive as something else.
func ownHeader(name string) bool {
	switch name {
	case "host", "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
		"accept", "accept-encoding", "expect", "user-agent":
		return true
	}
	return strings.HasPrefix(name, "content-") || strings.HasPrefix(name, "grpc-") || strings.HasSuffix(name, "-bin")
}
