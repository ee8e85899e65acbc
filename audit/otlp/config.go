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

// Config is telemetry.audit.sinks[].otlp.
type Config struct {
	// Endpoint is where the receiver is: https://collector.example:4318, or with http:// one
	// that needs no TLS. With HTTP, /v1/logs is what is posted to where there is no path; with
	// gRPC there is none.
	Endpoint secret.URL `yaml:"endpoint"`

	// Protocol is http/protobuf, the default, or grpc.
	Protocol string `yaml:"protocol" jsonschema:"enum=http/protobuf,enum=grpc"`

	// Headers go with every request, such as a credential. Default: none.
	Headers []Header `yaml:"headers"`

	// Compression of requests is gzip, the default, or none.
	Compression string `yaml:"compression" jsonschema:"enum=gzip,enum=none"`

	// MaxRequest bounds a request before it is compressed, from 64KiB to 64MiB. A record that
	// is longer goes by itself. Default 4MiB, which is what receivers take by gRPC.
	MaxRequest secret.Size `yaml:"maxRequest"`

	// GiveUp is how long a record is tried that the receiver rejects, it and no other, before
	// it is passed over: at least 1m. That is logged and counted. Default 0: for ever, and
	// what comes after it waits.
	GiveUp secret.Duration `yaml:"giveUp" zero:"kept"`

	// TLS says whom to trust and what to show. Default: the system's CAs, and nothing.
	TLS TLS `yaml:"tls"`
}

// Header is an entry of headers.
type Header struct {
	// Name is the header's, as Authorization.
	Name string `yaml:"name"`
	// Value is a secret, and so never sent where somebody on the way could read it.
	Value secret.Value `yaml:"value"`
}

// TLS is `tls:` of a sink. The files of the certificate are read again for each connection.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files that are shown.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName is the name in its certificate; default the host of endpoint.
	ServerName string `yaml:"serverName"`
}

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

// checkEndpoint does not show what is written there, which may have a password in it.
// A password in the URL would be logged by proxies and shown by process lists; headers are not.
func (c Config) checkEndpoint() error {
	u, err := c.Endpoint.Parse()
	switch {
	case c.Endpoint == "":
		return keypath.Point(errors.New("endpoint is missing"), "endpoint")
	case err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return keypath.At(errors.New("it is not an absolute http or https URL"), "endpoint")
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

// checkHeaders reports headers that could not be sent, or that would take the place of the gateway's own.
// A name is compared without case, as HTTP does (RFC 9110 section 5.1).
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

// ownHeader reports whether a header belongs to the connection, the body or gRPC.
// Names that end with -bin are binary metadata of gRPC, whose values would be decoded from base64.
func ownHeader(name string) bool {
	switch name {
	case "host", "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
		"accept", "accept-encoding", "expect", "user-agent":
		return true
	}
	return strings.HasPrefix(name, "content-") || strings.HasPrefix(name, "grpc-") || strings.HasSuffix(name, "-bin")
}
