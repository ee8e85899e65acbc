package server

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"strconv"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Validate tells what is wrong with the section, all of it, each with the key
// and what to write instead. It reads no files and expects Defaults to have run.
func (c *Config) Validate() error {
	return errors.Join(
		c.validatePublicURL(),
		c.validateBasePath(),
		keypath.At(validateAddress(c.Address), "server", "address"),
		c.validateStatus(),
		c.validateHosts(),
		c.validateTLS(),
		c.validateProxies(),
		c.CORS.Validate(),
		c.MCP.Validate(),
		notNegative(c.Limits, "server", "limits"),
		notNegative(c.Timeouts, "server", "timeouts"),
		c.Limits.validateMemory(),
		c.Timeouts.validateDrain(),
		c.validateID(),
	)
}

// validatePublicURL also decides on plaintext: it is spoken only by who wrote
// http:// into the file, so that a forgotten tls section cannot expose anyone.
func (c *Config) validatePublicURL() error {
	u, err := publicURL(c.PublicURL)
	switch {
	case c.PublicURL == "" && c.TLS != nil:
		return keypath.At(errors.New(`is required, write the URL that clients use, `+
			`such as "https://gateway.example.com"`), "server", "publicURL")
	case c.PublicURL == "":
		return keypath.At(errors.New(`is required; write "https://…" and a server.tls section, `+
			`or "http://localhost:8080" to serve plaintext`), "server", "publicURL")
	case err != nil:
		return keypath.At(err, "server", "publicURL")
	case c.TLS == nil && u.Scheme == "https" && !c.Plaintext:
		return keypath.At(errors.New(`is https:// but there is no server.tls section; `+
			`write "tls: {certificates: [{cert: FILE, key: FILE}]}", or an http:// URL to serve plaintext, `+
			`or "plaintext: true" where something in front terminates TLS`), "server", "publicURL")
	case c.TLS != nil && c.Plaintext:
		return keypath.At(errors.New(`is true but there is a server.tls section; remove one of them`), "server", "plaintext")
	case c.TLS != nil && u.Scheme == "http":
		return keypath.At(errors.New(`is http:// but there is a server.tls section; `+
			`write an https:// URL, or remove the section to serve plaintext`), "server", "publicURL")
	}
	return nil
}

// validateBasePath takes a path in the one spelling that requests may have.
func (c *Config) validateBasePath() error {
	if c.BasePath == "" || c.BasePath == "/" || plainPath(c.BasePath) {
		return nil
	}
	return keypath.At(fmt.Errorf(`%q must be "/", or begin with a slash, not end with one, and be made of `+
		`letters, digits, and the characters - . _ ~`, c.BasePath), "server", "basePath")
}

// plainPath reports whether a path has segments that are neither empty nor dots, of characters
// that nobody writes in another way.
func plainPath(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		if strings.Trim(segment, ".") == "" || strings.Trim(segment, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~") != "" {
			return false
		}
	}
	return true
}

// publicURL reads a URL of scheme and host, and a path without the slash at its end.
func publicURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil {
		return nil, fmt.Errorf("%q is not a URL", secret.URL(s))
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "https" && u.Scheme != "http" {
		return nil, fmt.Errorf("%q must start with https:// or http://", secret.URL(s))
	}
	if u.User != nil {
		return nil, errors.New("must not hold a user name or password")
	}
	if _, ok := hostname.Canonical(u.Host); !ok {
		return nil, fmt.Errorf("%q names no valid host", secret.URL(s))
	}
	if u.RawQuery != "" || u.ForceQuery || strings.Contains(s, "#") {
		return nil, fmt.Errorf("%q must be scheme, host and path only, without query or fragment", secret.URL(s))
	}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path != "" && !plainPath(path) {
		return nil, fmt.Errorf("%q has a path that can be written in several ways: it must be made of letters, digits, and the characters - . _ ~", secret.URL(s))
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}, nil
}

// validateStatus lets the status listener be switched off.
func (c *Config) validateStatus() error {
	if c.StatusAddress == "off" {
		return nil
	}
	return keypath.At(validateAddress(c.StatusAddress), "server", "statusAddress")
}

func validateAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf(`%q is not host:port, write for instance ":8080" or "127.0.0.1:8080"`, address)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("%q has no port between 0 and 65535", address)
	}
	if host != "" && !strings.Contains(host, ":") {
		if _, ok := hostname.Canonical(host); !ok {
			return fmt.Errorf("%q names no valid host", address)
		}
	}
	return nil
}

func (c *Config) validateHosts() error {
	var all []error
	for i, host := range c.Hosts {
		if _, ok := hostname.Canonical(host); !ok {
			all = append(all, keypath.At(fmt.Errorf(`%q is not a host or host:port, write it without a scheme or path`, host), "server", "hosts", i))
		}
	}
	for i, host := range c.StatusHosts {
		if _, ok := hostname.Canonical(host); !ok {
			all = append(all, keypath.At(fmt.Errorf(`%q is not a host or host:port, write it without a scheme or path`, host), "server", "statusHosts", i))
		}
	}
	return errors.Join(all...)
}

func (c *Config) validateTLS() error {
	if c.TLS == nil {
		return nil
	}
	var all []error
	if c.H2C != nil && *c.H2C {
		all = append(all, keypath.At(errors.New("is plaintext HTTP/2 and cannot be on with server.tls, remove it"), "server", "h2c"))
	}
	if v := c.TLS.MinVersion; v != "" && v != "1.2" && v != "1.3" {
		all = append(all, keypath.At(fmt.Errorf(`is %q, want "1.3" or "1.2"`, v), "server", "tls", "minVersion"))
	}
	if len(c.TLS.Certificates) == 0 && c.TLS.ACME == nil {
		all = append(all, keypath.At(errors.New("is empty, write at least one {cert: FILE, key: FILE}, "+
			"or have certificates made by server.tls.acme"), "server", "tls", "certificates"))
	}
	for i, pair := range c.TLS.Certificates {
		if pair.Cert == "" || pair.Key == "" {
			all = append(all, keypath.At(errors.New("needs both cert and key"), "server", "tls", "certificates", i))
		}
	}
	return errors.Join(append(all, c.TLS.validateClients(), c.TLS.ACME.validate())...)
}

// validateProxies refuses to trust everyone by accident (docs/threat-model.md L04): the
// two networks that do so, in any spelling, need the flag.
func (c *Config) validateProxies() error {
	var all []error
	for i, p := range c.TrustedProxies {
		key := keypath.Of("server", "trustedProxies", i)
		switch {
		case !p.IsValid():
			all = append(all, keypath.At(errors.New("is not a network, write for instance 10.0.0.0/8"), key))
		case p.Addr().Is4In6():
			all = append(all, keypath.At(fmt.Errorf("%s is an IPv4 network in IPv6 form, write it as IPv4", p), key))
		case p.Bits() == 0 && !c.TrustAnyProxy:
			all = append(all, keypath.At(fmt.Errorf("%s trusts every client to name its own address; "+
				"write the proxies' networks, or set server.trustAnyProxy: true", p), key))
		case p != p.Masked():
			all = append(all, keypath.At(fmt.Errorf("%s has bits behind its prefix, write %s", p, p.Masked()), key))
		}
	}
	return errors.Join(all...)
}

// validateDrain leaves time for what Shutdown waits for.
func (t Timeouts) validateDrain() error {
	if t.LameDuck > t.Drain/2 {
		return keypath.At(fmt.Errorf("%s is more than half of server.timeouts.drain, %s, of which it is a part", t.LameDuck, t.Drain), "server", "timeouts", "lameDuck")
	}
	return nil
}

// validateID keeps the name fit for a header field and a log line.
func (c *Config) validateID() error {
	for _, r := range c.ID {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune(`,"()`, r) {
			return keypath.At(fmt.Errorf("%q must be printable ASCII without spaces, commas, quotes and parentheses", c.ID), "server", "id")
		}
	}
	return nil
}

// notNegative checks a section whose fields are all numbers.
func notNegative(section any, steps ...any) error {
	var all []error
	v := reflect.ValueOf(section)
	for i := range v.NumField() {
		if v.Field(i).Int() < 0 {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			all = append(all, keypath.At(errors.New("must not be negative"), keypath.Of(steps...), name))
		}
	}
	return errors.Join(all...)
}

// validateMemory holds the rungs of memory to their order.
func (l *Limits) validateMemory() error {
	if l.Memory > 0 && l.SoftMemory > l.Memory {
		return keypath.At(fmt.Errorf("%s is more than server.limits.memory (%s), beyond which everything is refused", l.SoftMemory, l.Memory), "server", "limits", "softMemory")
	}
	return nil
}

// Loopback tells whether Address is reachable from this machine only.
func (c *Config) Loopback() bool {
	host, _, err := net.SplitHostPort(c.Address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
