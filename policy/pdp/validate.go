package pdp

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// Bounds of a Config.
const (
	nameLength     = 64
	defaultTimeout = 500 * time.Millisecond
	// Calls wait for the answer, and streams for their first event.
	longestTimeout = 10 * time.Second
	// A permission that is taken back ends no later than this.
	longestCache = time.Minute
)

// Validate reports what New would refuse, apart from agents and methods. It reads no
// files.
func (c Config) Validate() error {
	var errs []error
	taken := map[string]bool{}
	for i := range c {
		a := &c[i]
		errs = append(errs, keypath.At(a.validate(), "policy", "authorizers", i))
		if taken[a.Name] {
			errs = append(errs, keypath.At(fmt.Errorf("another authorizer is called %q too", a.Name), "policy", "authorizers", i, "name"))
		}
		taken[a.Name] = true
	}
	return errors.Join(errs...)
}

// validate reports all that is wrong with one authorizer, each by the path below it.
func (a *Authorizer) validate() error {
	errs := []error{a.checkLists(), a.checkURL(), a.checkTLS()}
	wrong := func(key, format string, args ...any) {
		errs = append(errs, keypath.At(fmt.Errorf(format, args...), key))
	}
	if err := nameable(a.Name); err != nil {
		wrong("name", "%w", err)
	}
	if !oneOf(a.OnFailure, "", failDeny, failAllow) {
		wrong("onFailure", "%q is neither %q nor %q", a.OnFailure, failDeny, failAllow)
	}
	if !oneOf(a.Mode, "", modeEnforce, modeShadow) {
		wrong("mode", "%q is neither %q nor %q", a.Mode, modeEnforce, modeShadow)
	}
	if a.Timeout.Std() > longestTimeout {
		wrong("timeout", "%s is more than %s, and calls wait for it", a.Timeout, longestTimeout)
	}
	if a.Cache.Std() > longestCache {
		wrong("cache", "%s is more than %s; what was allowed would stay so for too long", a.Cache, "1m")
	}
	if !tokenLike(a.Token.Reveal()) {
		wrong("token", "holds characters that cannot stand in a header")
	}
	return errors.Join(errs...)
}

// oneOf reports whether a word is one of those that are known.
func oneOf(s string, known ...string) bool { return slices.Contains(known, s) }

// nameable reports what is wrong with a name that becomes a label of metrics.
func nameable(name string) error {
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("-_.", r)
	}
	switch {
	case name == "":
		return errors.New("missing; say what records shall call it")
	case len(name) > nameLength:
		return fmt.Errorf("longer than %d bytes", nameLength)
	case strings.ContainsFunc(name, other):
		return fmt.Errorf("%q has characters other than letters, digits and - _ . in it", name)
	}
	return nil
}

// tokenLike reports whether s can follow "Bearer " in a header.
func tokenLike(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// checkLists reports conditions that can never hold, and claims that name nothing.
func (a *Authorizer) checkLists() error {
	var errs []error
	for _, l := range []struct {
		key   string
		items []string
	}{{"agents", a.Agents}, {"skills", a.Skills}, {"methods", a.Methods}, {"claims", a.Claims}} {
		switch {
		case l.items != nil && len(l.items) == 0:
			errs = append(errs, keypath.At(errors.New("empty; leave it out, or say which"), l.key))
		case slices.Contains(l.items, ""):
			errs = append(errs, keypath.At(errors.New("holds an empty entry"), l.key))
		}
	}
	return errors.Join(errs...)
}

// schemes are those of the URLs of a kind: with TLS, and without.
func schemes(kind string) (secure, plain string) {
	switch kind {
	case kindAuthZEN:
		return "https", "http"
	case kindExtAuthz:
		return "grpcs", "grpc"
	}
	return "", ""
}

// checkURL reports what is wrong with kind and url. Errors do not quote the URL, which
// may hold a password in the wrong place.
func (a *Authorizer) checkURL() error {
	secure, plain := schemes(a.Kind)
	if secure == "" {
		return keypath.At(fmt.Errorf("%q is neither %q nor %q", a.Kind, kindAuthZEN, kindExtAuthz), "kind")
	}
	if a.Kind == kindExtAuthz {
		if err := feature.Need(feature.ExtAuthz); err != nil {
			return keypath.At(err, "kind")
		}
	}
	wrong := func(format string, args ...any) error { return keypath.At(fmt.Errorf(format, args...), "url") }
	u, err := a.URL.Parse()
	switch {
	case a.URL == "":
		return wrong("missing; say where the service is")
	case err != nil || u.Hostname() == "" || !oneOf(u.Scheme, secure, plain):
		return wrong("not an absolute %s or %s URL, as %s needs it", secure, plain, a.Kind)
	case u.User != nil:
		return wrong("must not hold a user name or password; token is for credentials")
	case strings.ContainsAny(a.URL.Reveal(), "?#"):
		return wrong("must have neither query nor fragment")
	case u.Scheme == plain && !loopback(u.Hostname()):
		return wrong("%s is for services on this machine (localhost, 127.0.0.1, ::1); use %s, "+
			"as whoever is on the way could allow anything", plain, secure)
	case a.Kind == kindExtAuthz && u.Port() == "":
		return wrong("the port is missing: %s://host:port", u.Scheme)
	case a.Kind == kindExtAuthz && u.Path != "" && u.Path != "/":
		return wrong("must have no path")
	}
	return nil
}

// loopback reports whether a host is this machine whatever the network does.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// hostPort is what to connect to.
func hostPort(u *url.URL) string { return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443")) }

// checkTLS reports keys that do not go together. The files are read by New.
func (a *Authorizer) checkTLS() error {
	_, plain := schemes(a.Kind)
	switch {
	case (a.TLS.Certificate == "") != (a.TLS.Key == ""):
		return keypath.At(keypath.Point(errors.New("certificate and key go together"), "certificate"), "tls")
	case a.TLS != TLS{} && plain != "" && strings.HasPrefix(a.URL.Reveal(), plain+":"):
		return keypath.At(fmt.Errorf("the url has the scheme %s, which is without", plain), "tls")
	}
	return nil
}
