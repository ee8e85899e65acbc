// Package cors says to browsers which web pages may call, and read the answers (Fetch, CORS protocol).
//
// It owns the server.cors section of the configuration, how origins are written and compared, and the
// fields of an answer to a page. It does not own which requests are preflights, nor which verbs and
// fields a page may send: whoever has routes and credentials says so.
package cors

import (
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/hostname"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the server.cors section: which web pages may call, and read the answers.
//
// The gateway uses no library for CORS: rs/cors and jub0bs/cors take the names of a preflight
// only in the order that browsers send. None can overrule the CORS fields that an agent or an
// earlier answer has set.
type Config struct {
	// Origins of the pages, as browsers send them, such as https://app.example.com or
	// http://127.0.0.1:5173. https://*.example.com matches all names with one label before
	// .example.com. "*" matches any page, and excludes credentials. Default: none, and no answer has
	// a CORS header.
	Origins []string `yaml:"origins,omitempty"`

	// Further request headers that pages may send, in addition to those of A2A clients and those
	// that carry the credentials of authn. Default: none.
	Headers []string `yaml:"headers,omitempty"`

	// Lets the browser add the client certificate that it has for the gateway. Keys and tokens that
	// a page sends do not need it. Default: false.
	Credentials bool `yaml:"credentials,omitempty"`

	// How long a browser may cache the answer to a preflight. Default: 10m.
	MaxAge quantity.Duration `yaml:"maxAge,omitempty"`
}

// anyOrigin stands for all pages.
const anyOrigin = "*"

// label stands for one label at the beginning of an origin's host.
const label = "*."

// prefix is what the names of the fields of CORS begin with.
const prefix = "Access-Control-"

// Defaults fills in what is not set.
func (c *Config) Defaults() {
	if c.MaxAge == 0 {
		c.MaxAge = quantity.Duration(10 * time.Minute)
	}
}

// Validate names each key that is wrong (keypath.Error), below server.cors. A nil Config is right.
func (c *Config) Validate() error {
	if c == nil {
		return nil
	}
	var all []error
	if len(c.Origins) == 0 {
		all = append(all, keypath.At(errors.New("is empty, write the origins of the pages that may call, or remove server.cors"), "server", "cors", "origins"))
	}
	for i, o := range c.Origins {
		if err := c.validateOrigin(o); err != nil {
			all = append(all, keypath.At(err, "server", "cors", "origins", i))
		}
	}
	for i, name := range c.Headers {
		if !httpguts.ValidHeaderFieldName(name) || name == anyOrigin {
			all = append(all, keypath.At(fmt.Errorf("%q is not the name of a header; write each, there is no \"*\" for Authorization", name), "server", "cors", "headers", i))
		}
	}
	return errors.Join(all...)
}

// validateOrigin takes an origin in the one spelling that browsers send (RFC 6454 §6.2):
// what they never send would silently let nobody in.
func (c *Config) validateOrigin(o string) error {
	switch {
	case o == anyOrigin && c.Credentials:
		return errors.New(`"*" cannot be together with server.cors.credentials: any page would call with what the browser has; write the origins`)
	case o == anyOrigin:
		return nil
	case o == "null":
		return errors.New(`"null" is every sandboxed page and every file; write the page's own origin, or "*"`)
	}
	u, err := url.Parse(o)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is not an origin, write for instance https://app.example.com", secret.URL(o))
	}
	host, port, wild := u.Hostname(), u.Port(), false
	if host, wild = strings.CutPrefix(host, label); wild && !strings.Contains(host, ".") {
		return fmt.Errorf("%q: after the asterisk write a domain of yours, such as https://*.example.com", o)
	}
	if want, ok := canonicalOrigin(u.Scheme, host, port, wild); !ok || want != o {
		return fmt.Errorf("%q is not an origin as browsers send it: scheme and host in lower case, the port where it is not the scheme's, no slash at the end, "+
			"and an asterisk for the first label alone", secret.URL(o))
	}
	return nil
}

// canonicalOrigin is how browsers write an origin. It is false for what is none.
func canonicalOrigin(scheme, host, port string, wild bool) (string, bool) {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	host, ok := hostname.CanonicalName(host)
	if !ok {
		return "", false
	}
	if endsInNumber(host) {
		if a, err := netip.ParseAddr(host); wild || err != nil || !a.Is4() {
			return "", false
		}
	}
	if wild {
		host = label + host
	}
	n, err := strconv.ParseUint(port, 10, 16)
	switch {
	case port == "", scheme == "https" && n == 443, scheme == "http" && n == 80:
		return scheme + "://" + host, true
	case err != nil || n == 0:
		return "", false
	}
	return scheme + "://" + host + ":" + strconv.FormatUint(n, 10), true
}

// endsInNumber reports a host that browsers take for an IPv4 address, and write as one of four
// numbers (URL Standard, ends-in-a-number checker).
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	digits, hex := strings.CutPrefix(last, "0x")
	if hex {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// Allows reports whether the page that a request comes from may read its answer.
func (c *Config) Allows(origin []string) bool {
	return len(origin) == 1 && slices.ContainsFunc(c.Origins, func(o string) bool { return o == anyOrigin || matchesOrigin(o, origin[0]) })
}

// matchesOrigin compares byte by byte, as browsers do (Fetch, CORS check). An asterisk is one
// label of a name, whole and not empty.
func matchesOrigin(pattern, origin string) bool {
	before, after, wild := strings.Cut(pattern, "://*")
	if !wild {
		return pattern == origin
	}
	host, ok := strings.CutPrefix(origin, before+"://")
	if !ok {
		return false
	}
	first, ok := strings.CutSuffix(host, after)
	return ok && first != "" && strings.Trim(first, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// exposed are the fields of answers that pages may read, beside those that they always may.
const exposed = "A2A-Extensions, X-A2A-Extensions, Allow, DPoP-Nonce, ETag, Link, Location, RateLimit, RateLimit-Policy, " +
	"Retry-After, WWW-Authenticate, X-Request-Id"

// Answer says in the header of an answer whether the page that asked may read it. It has the
// last word: what an agent says to pages is about its own address. more are names of fields to
// be read beside those of the gateway.
func (c *Config) Answer(h http.Header, origin, more []string) {
	for name := range h {
		if strings.HasPrefix(name, prefix) {
			delete(h, name)
		}
	}
	vary(h, "Origin")
	if !c.Allows(origin) {
		return
	}
	c.allow(h, origin[0])
	h["Access-Control-Expose-Headers"] = []string{strings.Join(append([]string{exposed}, more...), ", ")}
}

// allow lets one page in.
func (c *Config) allow(h http.Header, origin string) {
	if slices.Contains(c.Origins, anyOrigin) {
		origin = anyOrigin
	}
	h["Access-Control-Allow-Origin"] = []string{origin}
	if c.Credentials {
		h["Access-Control-Allow-Credentials"] = []string{"true"}
	}
}

// Preflight says to a browser what its page may send: these verbs, and these fields.
func (c *Config) Preflight(h http.Header, origin []string, verbs, fields string) {
	for _, name := range []string{"Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"} {
		vary(h, name)
	}
	if !c.Allows(origin) {
		return
	}
	c.allow(h, origin[0])
	h["Access-Control-Allow-Methods"] = []string{verbs}
	h["Access-Control-Allow-Headers"] = []string{fields}
	h["Access-Control-Max-Age"] = []string{strconv.FormatInt(int64(c.MaxAge.Std().Seconds()), 10)}
}

// vary adds the name of a field by which answers differ.
func vary(h http.Header, name string) {
	for _, line := range h["Vary"] {
		for known := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(known), name) {
				return
			}
		}
	}
	// Not appended in place: lines may be those of an answer that is kept.
	h["Vary"] = append(slices.Clip(slices.Clone(h["Vary"])), name)
}
