package credentials

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Validate reports what cannot work of the credentials of one agent, at the key credentials. No two
// of them may be shown in the same header on the same occasion.
func Validate(configured []Credential) error {
	shown := map[string]bool{}
	for i, cred := range configured {
		if err := cred.validate(); err != nil {
			return keypath.At(err, "credentials", i)
		}
		on := cred.On
		if on == "" {
			on = always
		}
		occasion := cred.header() + " " + on
		if shown[occasion] {
			return keypath.At(fmt.Errorf("another credential is shown in %s on the same occasion (%s)", cred.header(), on), "credentials", i, "header")
		}
		shown[occasion] = true
	}
	return nil
}

// wrong is an error at a key below the one that is being validated: its name, or a path.
func wrong(key any, format string, args ...any) error {
	return keypath.At(fmt.Errorf(format, args...), key)
}

// kind is the key that says where the credential comes from; "" when none or several do.
func (c Credential) kind() string {
	kind := ""
	for _, k := range []struct {
		name string
		set  bool
	}{
		{"value", !c.Value.IsZero()},
		{"oauth2", c.OAuth2 != nil},
		{"exchange", c.Exchange != nil},
		{"assertion", c.Assertion != nil},
		{"passthrough", c.Passthrough},
	} {
		if k.set && kind != "" {
			return ""
		}
		if k.set {
			kind = k.name
		}
	}
	return kind
}

// validate reports the first thing wrong, at its key.
func (c Credential) validate() error {
	kind := c.kind()
	if kind == "" {
		return errors.New("exactly one of value, oauth2, exchange, assertion and passthrough must be set")
	}
	token := c.OAuth2 != nil || c.Exchange != nil || c.Assertion != nil
	switch {
	case !httpguts.ValidHeaderFieldName(c.header()):
		return wrong("header", "%q is not the name of a header", c.Header)
	case slices.Contains(reserved, c.header()):
		return wrong("header", "%s means something else to HTTP, A2A or the gateway", c.header())
	case c.On != "" && c.On != always && c.On != onAuthRequired:
		return wrong("on", "%q is neither %s nor %s", c.On, always, onAuthRequired)
	case c.Prefix != nil && !token:
		return wrong("prefix", "goes with oauth2, exchange and assertion only")
	case c.Prefix != nil && !printable(*c.Prefix):
		return wrong("prefix", "holds other characters than the printable ones of ASCII")
	case c.Audience != "" && !c.Passthrough:
		return wrong("audience", "goes with passthrough only")
	case !httpguts.ValidHeaderFieldValue(c.Value.Reveal()):
		return wrong("value", "holds characters that cannot stand in a header")
	case c.OAuth2 != nil:
		return keypath.At(c.OAuth2.validate(), kind)
	case c.Exchange != nil:
		return keypath.At(c.Exchange.validate(), kind)
	case c.Assertion != nil:
		return keypath.At(c.Assertion.validate(), kind)
	}
	return nil
}

// validate reports the first thing wrong, at its key.
func (o *OAuth2) validate() error {
	if o.TokenURL == "" || o.ClientID == "" {
		return errors.New("tokenURL and clientID are required")
	}
	if err := endpointURL(o.TokenURL); err != nil {
		return wrong("tokenURL", "%w", err)
	}
	return scopeList(o.Scopes, "scopes")
}

// validate reports the first thing wrong, at its key: what the other grant has, and types that
// are no URIs (RFC 8693 §3).
func (x *Exchange) validate() error {
	bearer := x.Grant == grantBearer
	switch {
	case x.TokenURL == "" || x.ClientID == "":
		return errors.New("tokenURL and clientID are required")
	case !oneOf(x.Grant, "", grantExchange, grantBearer):
		return wrong("grant", "%q is neither %s nor %s", x.Grant, grantExchange, grantBearer)
	case !oneOf(x.Subject, "", subjectToken, subjectClient, subjectAssertion):
		return wrong("subject", "%q is none of %s, %s and %s", x.Subject, subjectToken, subjectClient, subjectAssertion)
	case !oneOf(x.Actor, "", actorNone, actorClient, actorAssertion):
		return wrong("actor", "%q is none of %s, %s and %s", x.Actor, actorNone, actorClient, actorAssertion)
	case bearer && !oneOf(x.Actor, "", actorNone):
		return wrong("actor", "the grant %s has none", grantBearer)
	case bearer && x.SubjectType != "":
		return wrong("subjectType", "the grant %s has none", grantBearer)
	case bearer && x.RequestedType != "":
		return wrong("requestedType", "the grant %s has none", grantBearer)
	case x.RequestedType == typeRefresh:
		return wrong("requestedType", "a refresh token is not for agents")
	case x.SubjectType != "" && !strings.Contains(x.SubjectType, ":"):
		return wrong("subjectType", "%q is not a URI", x.SubjectType)
	case x.RequestedType != "" && !strings.Contains(x.RequestedType, ":"):
		return wrong("requestedType", "%q is not a URI", x.RequestedType)
	case slices.Contains(x.Audience, ""):
		return wrong("audience", "holds an empty entry")
	}
	if err := endpointURL(x.TokenURL); err != nil {
		return wrong("tokenURL", "%w", err)
	}
	for i, r := range x.Resource {
		// RFC 8693 §2.1: an absolute URI, without fragment.
		if u, err := url.Parse(r); err != nil || !u.IsAbs() || strings.Contains(r, "#") {
			return wrong(keypath.Of("resource", i), "not an absolute URI without fragment")
		}
	}
	return mapped(x.Identity, x.Permissions)
}

// validate reports the first thing wrong, at its key. A lifetime beyond five minutes would
// outlive the call by far.
func (a *Assertion) validate() error {
	if l := a.Lifetime.Std(); l != 0 && (l < time.Second || l > maxLifetime) {
		return wrong("lifetime", "want 1s to %s", "5m")
	}
	return mapped(a.Identity, a.Permissions)
}

// mapped validates both mappings of a credential.
func mapped(i *Identity, p *Permissions) error {
	if i != nil {
		if slices.Contains(i.Issuers, "") {
			return wrong(keypath.Of("identity", "issuers"), "holds an empty entry")
		}
		for value, subject := range i.Subjects {
			if value == "" || subject == "" {
				return wrong(keypath.Of("identity", "subjects"), "holds an empty entry")
			}
		}
	}
	if p == nil {
		return nil
	}
	if len(p.Scopes)+len(p.Groups)+len(p.Always) == 0 {
		return wrong("permissions", "gives nobody a scope: leave it out, or say one")
	}
	for _, m := range []struct {
		key    string
		scopes map[string][]string
	}{{"scopes", p.Scopes}, {"groups", p.Groups}} {
		for _, name := range sortedKeys(m.scopes) {
			if err := scopeList(m.scopes[name], "permissions", m.key, name); err != nil {
				return err
			}
		}
	}
	return scopeList(p.Always, "permissions", "always")
}

// scopeList reports an entry that is no scope-token (RFC 6749 §3.3).
func scopeList(scopes []string, key ...any) error {
	for i, s := range scopes {
		if s == "" || !printable(s) || strings.ContainsAny(s, ` "\`) {
			return keypath.At(keypath.Point(fmt.Errorf("%q is not a scope", s), i), key...)
		}
	}
	return nil
}

// endpointURL reports what is wrong with the address of a token endpoint. The error does
// not hold it: it may have a password in the wrong place.
func endpointURL(text secret.URL) error {
	u, err := text.Parse()
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return secret.NotAbsolute(err)
	case u.User != nil:
		return errors.New("must not hold a user name or password")
	case u.Fragment != "":
		return errors.New("must not have a fragment")
	}
	_, err = http.NewRequest(http.MethodPost, text.Reveal(), nil)
	return text.Hide(err)
}

func oneOf(s string, known ...string) bool { return slices.Contains(known, s) }

// printable reports whether s has nothing but the visible characters of ASCII and blanks.
func printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// reserved are headers that no credential can take: they frame the request, say what it
// is, or, with Via, keep calls from going in circles.
var reserved = []string{
	"Accept", "Accept-Encoding", "A2a-Extensions", "A2a-Version", "Connection", "Content-Encoding", "Content-Length",
	"Content-Type", "Expect", "Host", "Keep-Alive", "Te", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding",
	"Upgrade", "Via", "X-A2a-Extensions", "X-Request-Id",
}
