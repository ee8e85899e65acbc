package tunnel

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config names an HTTP proxy, and what the gateway reaches without it.
type Config struct {
	// Proxy is the URL of the HTTP proxy, http:// or https://, with user and password before the
	// host if the proxy requires them. The gateway uses CONNECT, for http:// destinations as well.
	// "none" is no proxy. The gateway never reads environment variables such as HTTPS_PROXY.
	Proxy secret.URL `yaml:"proxy"`

	// NoProxy lists what the gateway reaches without the proxy: "example.com" with all names below
	// it, ".example.com" or "*.example.com" for only those below it, an IP address, or a network
	// such as 10.0.0.0/8. Names and addresses may have a ":port". The gateway always reaches
	// localhost and loopback addresses directly.
	NoProxy []string `yaml:"noProxy"`

	// CA is a PEM file of roots that verify the certificate of an https:// proxy, instead of the
	// system's.
	CA string `yaml:"ca" file:"read"`
}

// None as a Config's Proxy is no proxy.
const None = "none"

// IsZero reports whether nothing is said.
func (c Config) IsZero() bool { return c.Proxy == "" && len(c.NoProxy) == 0 && c.CA == "" }

// off reports whether there is no proxy.
func (c Config) off() bool { return c.Proxy == "" || c.Proxy == None }

// Validate reports what cannot work, naming the key. It opens no file.
func (c Config) Validate() error {
	if c.off() {
		switch {
		case len(c.NoProxy) > 0:
			return keypath.At(errors.New("there is no proxy"), "noProxy")
		case c.CA != "":
			return keypath.At(errors.New("there is no proxy"), "ca")
		}
		return nil
	}
	var errs []error
	if u, err := c.url(); err != nil {
		errs = append(errs, keypath.At(err, "proxy"))
	} else if c.CA != "" && u.Scheme != "https" {
		errs = append(errs, keypath.At(errors.New("the proxy is not https://"), "ca"))
	}
	for i, entry := range c.NoProxy {
		if err := validEntry(entry); err != nil {
			errs = append(errs, keypath.At(err, "noProxy", i))
		}
	}
	return errors.Join(errs...)
}

// CheckFiles reports a file that New would refuse.
func (c Config) CheckFiles() error {
	_, err := New(c)
	return err
}

// url is the proxy's address.
func (c Config) url() (*url.URL, error) {
	u, err := c.Proxy.Parse()
	switch {
	case err != nil:
		return nil, err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is neither http:// nor https://, nor none", c.Proxy)
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q names no host", c.Proxy)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%q has more than scheme, user, host and port", c.Proxy)
	case u.User != nil && strings.Contains(u.User.Username(), ":"):
		return nil, fmt.Errorf("the user of %q has a colon in its name, which Basic authentication has no place for", c.Proxy)
	}
	return u, nil
}

// validEntry refuses what httpproxy passes over, or what means more there than it says.
func validEntry(entry string) error {
	host := entry
	switch {
	case entry == "*":
		return errors.New(`"*" is everything: leave the proxy out`)
	case strings.Contains(entry, "://"):
		return fmt.Errorf("%q is a URL: name the host alone", secret.URL(entry))
	case strings.Contains(entry, "/"):
		if _, err := netip.ParsePrefix(entry); err != nil {
			return fmt.Errorf("%q is no network as in 10.0.0.0/8", entry)
		}
		return nil
	}
	if h, port, err := net.SplitHostPort(entry); err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%q: %q is no port", entry, port)
		}
		host = h
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		return nil
	}
	name := strings.TrimPrefix(strings.TrimPrefix(host, "*."), ".")
	if name == "" || strings.Trim(name, "-._") == "" || strings.ContainsAny(name, " \t,;*@:[]%?#\"'\\") || strings.HasPrefix(name, ".") {
		return fmt.Errorf("%q is no host, .suffix, address or network", entry)
	}
	return nil
}

// readRoots is nil for those of the system.
func readRoots(path string) (*x509.CertPool, error) {
	if path == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(path) //nolint:gosec // the operator's path
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificates in %s", path)
	}
	return roots, nil
}
