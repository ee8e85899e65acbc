package console

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

// Config is the `admin:` section.
type Config struct {
	// Address of the admin listener, host:port; "off" for none. Default: "127.0.0.1:9901", or
	// "127.0.0.1:0" (any free port) if the status listener has any free port or is off. The file
	// admin.address below server.dataDir then names the port.
	Address string `yaml:"address"`
	// Token that requests send as bearer token, of at least 16 characters, as ${NAME} or {file:
	// PATH}. Default: one that the gateway makes and keeps in admin.token below server.dataDir,
	// which only its own user may read.
	Token secret.Value `yaml:"token"`
	// Tokens of other people and programs, each with a role. Default: none.
	Tokens []Token `yaml:"tokens"`
	// OIDC lets in people and programs that an identity provider authenticates. Default: nobody.
	OIDC *OIDC `yaml:"oidc"`
	// PublicURL is the URL under which browsers reach this listener, scheme and host. Its host need
	// not be in hosts. Default: what a request names.
	PublicURL string `yaml:"publicURL"`
	// Dashboards is the http or https URL of dashboards with more of the gateway's metrics, such as
	// Grafana's. The console links to it. Default: none.
	Dashboards string `yaml:"dashboards"`
	// Failures limits wrong credentials and failed sign-ins by address.
	Failures Failures `yaml:"failures"`
	// Live limits the viewers of live audit records and streams.
	Live Live `yaml:"live"`
	// Content shows operators the captured content of calls (telemetry.audit.content), redacted. Of
	// a stream that they watch, it shows what a rule captures. The audit log records who saw it.
	// Default false: the admin listener never shows content.
	Content bool `yaml:"content"`
	// Try limits test calls that operators make here.
	Try Try `yaml:"try"`
	// Map limits what the map of callers and agents counts.
	Map Map `yaml:"map"`
	// Replay limits tests of draft rules on recorded calls.
	Replay Replay `yaml:"replay"`
	// Hosts that requests may name, as host or host:port, in addition to that of the address and, on
	// the bound port, localhost, 127.0.0.1 and [::1]. The gateway answers others with 421, to stop
	// DNS rebinding. Default: none.
	Hosts []string `yaml:"hosts"`
	// ReadOnly refuses all requests that would change something; default false.
	ReadOnly bool `yaml:"readOnly"`
	// Body is the largest request body, for instance of an agent to register; default 256KiB.
	Body quantity.Size `yaml:"body"`
	// TLS on this listener; the gateway watches its files. Default: none.
	TLS *TLS `yaml:"tls"`
	// Plaintext permits an address that other machines reach without TLS. Anybody who listens on the
	// network can then steal the token. Default false.
	Plaintext bool `yaml:"plaintext"`
}

// Token is one of admin.tokens. The configuration has its digest, and no file has the token
// itself.
type Token struct {
	// Name of the token's owner, in audit records; 1 to 64 letters, digits, -, _ and .
	Name string `yaml:"name" jsonschema:"required"`
	// Role is viewer, operator or admin.
	Role api.Role `yaml:"role" jsonschema:"required,enum=viewer,enum=operator,enum=admin"`
	// Digest is sha256: and the SHA-256 of the token in hexadecimal. The token has to be random,
	// because anybody who sees the digest finds a guessable token by trying.
	Digest string `yaml:"digest"`
	// Expires is when the gateway stops accepting the token. Default: never.
	Expires time.Time `yaml:"expires"`
}

// Validate reports what is wrong with the token by itself, naming the key.
func (t *Token) Validate() error {
	_, err := t.sum()
	switch {
	case err != nil:
		return err
	case !api.ValidID(t.Name):
		return keypath.At(errors.New("want letters, digits and any of -, _ and ., 1 to 64 of them"), "name")
	case t.Name == adminToken:
		return keypath.At(fmt.Errorf("%q is taken", t.Name), "name")
	case !t.Role.Known():
		return keypath.At(fmt.Errorf("%q is not viewer, operator or admin", t.Role), "role")
	}
	return nil
}

// sum is the digest as bytes. An error names the key digest, and never quotes the value:
// somebody may have written a token where its digest belongs.
func (t *Token) sum() (sum [sha256.Size]byte, err error) {
	text, ok := strings.CutPrefix(t.Digest, "sha256:")
	if !ok || len(text) != hex.EncodedLen(len(sum)) {
		return sum, keypath.At(errors.New("want sha256: and 64 hexadecimal digits"), "digest")
	}
	if _, err := hex.Decode(sum[:], []byte(text)); err != nil {
		return sum, keypath.At(errors.New("want sha256: and 64 hexadecimal digits"), "digest")
	}
	return sum, nil
}

// HasToken reports whether somebody may come with a token of a name at a time.
func (c *Config) HasToken(name string, now time.Time) bool {
	return c.Names(now, func(of string) bool { return of == name }) != nil
}

// Names are those of the tokens with which somebody may come at a time, as far as they match.
func (c *Config) Names(now time.Time, match func(name string) bool) (names []string) {
	if match(adminToken) {
		names = append(names, adminToken)
	}
	for i := range c.Tokens {
		if t := &c.Tokens[i]; (t.Expires.IsZero() || now.Before(t.Expires)) && match(t.Name) {
			names = append(names, t.Name)
		}
	}
	return names
}

// validateTokens checks each token, and that names and digests are there once: two names
// for one token would make records say the wrong one.
func (c Config) validateTokens() error {
	var errs []error
	names, sums := map[string]bool{}, map[[sha256.Size]byte]bool{}
	for i := range c.Tokens {
		t := &c.Tokens[i]
		err := t.Validate()
		sum, _ := t.sum() // Validate has seen it
		switch {
		case err != nil:
		case names[t.Name]:
			err = keypath.At(fmt.Errorf("%q is taken", t.Name), "name")
		case sums[sum]:
			err = keypath.At(errors.New("another token has it"), "digest")
		}
		if err != nil {
			errs = append(errs, keypath.At(err, "tokens", i))
		}
		names[t.Name], sums[sum] = true, true
	}
	return errors.Join(errs...)
}

// TLS is admin.tls. Its keys mean what they mean in server.tls.
type TLS struct {
	// Certificates with their keys.
	Certificates []server.Certificate `yaml:"certificates"`
	// ClientCA are PEM files with the CAs that verify client certificates.
	ClientCA []string `yaml:"clientCA" file:"read"`
	// ClientAuth says whether the gateway asks clients for a certificate: off (the default) or
	// require. Clients then need one in addition to their credential.
	ClientAuth string `yaml:"clientAuth" jsonschema:"enum=off,enum=request,enum=optional,enum=require"`
	// MinVersion is "1.3", the default, or "1.2".
	MinVersion string `yaml:"minVersion" jsonschema:"enum=1.3,enum=1.2"`
}

// listener is the section as the public listener has it, whose code loads certificates.
func (t *TLS) listener() server.TLS {
	return server.TLS{Certificates: t.Certificates, ClientCA: t.ClientCA, ClientAuth: t.ClientAuth, MinVersion: t.MinVersion}
}

// validate reports what is wrong without reading any file; nil, for no TLS, is right.
func (t *TLS) validate() error {
	if t == nil {
		return nil
	}
	l := t.listener()
	return l.Check()
}

// CheckFiles reports the first file that Open would refuse.
func (c Config) CheckFiles() error {
	if c.Off() || c.TLS == nil {
		return nil
	}
	l := c.TLS.listener()
	return l.CheckFiles()
}

// The admin listener is on 9901 beside the status listener on 9902, and on loopback unless
// somebody writes another address: whoever reaches it may try tokens.
const (
	off            = "off"
	usualAddress   = "127.0.0.1:9901"
	freeAddress    = "127.0.0.1:0"
	shortestToken  = 16
	longestToken   = 512
	loopbackByName = "localhost"
	usualBody      = 256 << 10
)

// Defaults fills in the address. A gateway that takes any free port for its status, or
// has no status listener, is one of several on its machine: the usual port is not its own.
func (c *Config) Defaults(statusAddress string) {
	if c.Body == 0 {
		c.Body = usualBody
	}
	c.Failures.defaults()
	c.Live.defaults()
	c.Try.defaults()
	c.Map.defaults()
	c.Replay.defaults()
	if c.OIDC != nil && c.OIDC.Login != nil {
		c.OIDC.Login.Defaults()
	}
	if c.Address != "" {
		return
	}
	c.Address = usualAddress
	if _, port, err := net.SplitHostPort(statusAddress); port == "0" || err != nil {
		c.Address = freeAddress
	}
}

// Off reports whether there is no admin listener.
func (c Config) Off() bool { return c.Address == off }

// Validate reports what cannot work, naming the key. It expects Defaults to have run.
func (c Config) Validate() error {
	var errs []error
	if !c.Off() {
		errs = append(errs, c.validateAddress())
	}
	if c.Body < 0 {
		errs = append(errs, keypath.At(errors.New("want more than 0"), "body"))
	}
	for i, h := range c.Hosts {
		if _, ok := hostname.Canonical(h); !ok {
			errs = append(errs, keypath.At(fmt.Errorf("%q is not a host or host:port", h), "hosts", i))
		}
	}
	return errors.Join(append(errs, validateToken(c.Token), c.validateTokens(), c.Failures.validate(), c.Live.validate(), c.Try.validate(), c.Map.validate(), c.Replay.validate(), c.OIDC.validate(), c.TLS.validate(), c.validateURL(), c.validateDashboards())...)
}

// validateURL takes an origin alone: the pages and the API are at fixed paths below it, and
// a path in front of them would need a proxy that takes it off.
func (c Config) validateURL() error {
	u, err := url.Parse(c.PublicURL)
	if c.PublicURL == "" {
		return nil
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.Fragment != "" || canonical(u.Host) == "" {
		return keypath.At(errors.New("must be http:// or https://, a host, and nothing else"), "publicURL")
	}
	return nil
}

// validateDashboards takes a URL that a browser can follow: a page links to it, for whoever may
// look. A password in it would be shown to all of them.
func (c Config) validateDashboards() error {
	if c.Dashboards == "" {
		return nil
	}
	u, err := url.Parse(c.Dashboards)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return keypath.At(errors.New("must be a URL of http or https, with a host and without a user"), "dashboards")
	}
	return nil
}

// validateAddress refuses an address that other machines reach without TLS, unless
// plaintext says that this is meant: tokens would pass the network readable.
func (c Config) validateAddress() error {
	host, port, err := net.SplitHostPort(c.Address)
	if err != nil {
		return keypath.At(fmt.Errorf(`%q is neither host:port, such as "127.0.0.1:9901", nor "off"`, c.Address), "address")
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return keypath.At(fmt.Errorf("%q has no port between 0 and 65535", c.Address), "address")
	}
	if host == loopbackByName {
		return nil
	}
	addr, err := netip.ParseAddr(host)
	if host != "" && err != nil {
		return keypath.At(fmt.Errorf("the host of %q is neither an IP address nor localhost", c.Address), "address")
	}
	if !addr.Unmap().IsLoopback() && !c.Plaintext && c.TLS == nil {
		return keypath.At(fmt.Errorf(`other machines reach %q, and nothing is encrypted; write a loopback address, `+
			`a tls section, or "plaintext: true" beside it to permit that`, c.Address), "address")
	}
	return nil
}

// validateToken says nothing of what the token is. An error has its length and no character
// of it: errors of the configuration are logged, and shown by CI jobs that check it.
func validateToken(token secret.Value) error {
	text := token.Reveal()
	switch {
	case text == "":
		return nil
	case len(text) < shortestToken || len(text) > longestToken:
		return keypath.At(fmt.Errorf("has %d characters, and must have %d to %d", len(text), shortestToken, longestToken), "token")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		return keypath.At(errors.New("must be printable ASCII without spaces"), "token")
	}
	return nil
}

// scheme is that of the listener's URL.
func (c *Config) scheme() string {
	if c.TLS != nil {
		return "https"
	}
	return "http"
}

// hosts are those that requests may name, in canonical form. They are those by which a
// browser on this machine reaches the listener, the address of the configuration, and what
// was permitted beside them. Without this check, a page of any site could have its own name
// resolve to 127.0.0.1 and read answers as its own (DNS rebinding).
func (c Config) hosts(bound *net.TCPAddr) map[string]bool {
	port := strconv.Itoa(bound.Port)
	all := make(map[string]bool)
	for _, name := range []string{loopbackByName, "127.0.0.1", "::1"} {
		all[canonical(net.JoinHostPort(name, port))] = true
	}
	if host, _, err := net.SplitHostPort(c.Address); err == nil && host != "" && !bound.IP.IsUnspecified() {
		all[canonical(net.JoinHostPort(host, port))] = true
	}
	if u, err := url.Parse(c.PublicURL); err == nil {
		all[canonical(u.Host)] = true
	}
	for _, h := range c.Hosts {
		all[canonical(h)] = true
		if !strings.Contains(strings.TrimPrefix(h, "["), ":") {
			all[canonical(h+":"+port)] = true
		}
	}
	delete(all, "")
	return all
}

// canonical is a host in lower case with its default port taken off; "" for what is none.
func canonical(host string) string {
	c, _ := hostname.Canonical(host)
	return c
}
