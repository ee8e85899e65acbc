package authn

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is the authn section of the configuration: which credentials the
// gateway accepts. Schemes are alternatives, and a request carries exactly one
// credential, unless combinations say which belong together.
type Config struct {
	// OIDC lists the issuers whose JWT access tokens are accepted in
	// `Authorization: Bearer`. A token is checked against the one issuer that
	// its iss claim names, and refused when that issuer is not listed.
	OIDC []Issuer `yaml:"oidc,omitempty"`
	// APIKeys accepts the gateway's own keys, made with `a2a-gateway keys create`.
	// Absent means that no API key is accepted.
	APIKeys *APIKeys `yaml:"apiKeys,omitempty"`
	// MTLS accepts the certificates that clients show in the TLS handshake
	// (server.tls.clientAuth) as identities. Absent means that no certificate is one;
	// tokens may be bound to certificates all the same (RFC 8705).
	MTLS *MTLS `yaml:"mtls,omitempty"`
	// Combinations lists which credentials must come together, as alternatives: a
	// request has to match one of them whole. Default: exactly one credential of any
	// scheme above.
	Combinations []Combination `yaml:"combinations,omitempty"`
	// DPoP says how proofs of possession (RFC 9449) are judged. Proofs are always
	// checked where a token asks for one; this section only sets bounds.
	DPoP DPoP `yaml:"dpop,omitempty"`
	// Actors bounds delegation (RFC 8693 act claims).
	Actors Actors `yaml:"actors,omitempty"`
	// Failures bounds how often one client address may present credentials that are
	// turned down.
	Failures Failures `yaml:"failures,omitempty"`
	// Anonymous lets callers without any credential in, as the principal
	// "anonymous". It must be written out when neither oidc nor apiKeys is
	// configured. Beside them, a credential that is presented is still checked, and
	// a bad one refused rather than downgraded to anonymous; without them there is
	// nothing to check it with, and it is ignored.
	Anonymous bool `yaml:"anonymous,omitempty"`
}

// Issuer is one OpenID Connect provider or OAuth 2.0 authorization server
// (RFC 8414) that signs JWT access tokens (RFC 9068).
type Issuer struct {
	// Issuer is the issuer identifier, exactly as the iss claim spells it: scheme,
	// case and trailing slash included. https is required for the issuer and for
	// everything fetched from it; an issuer written as http:// is trusted to be a
	// local or development one and may serve its keys over plain HTTP.
	Issuer string `yaml:"issuer"`
	// Audiences are the names of this gateway as a resource (RFC 8707). The aud
	// claim must contain one of them. At least one is required: without it any
	// token that the issuer ever gave to anyone for anything would be accepted.
	Audiences []string `yaml:"audiences"`
	// Algorithms are the accepted JWS algorithms. Default: RS256, PS256, ES256 and
	// EdDSA. Also possible: RS384, RS512, PS384, PS512, ES384, ES512. Symmetric
	// algorithms and "none" cannot be configured.
	Algorithms []string `yaml:"algorithms,omitempty"`
	// JWKS is the address of the issuer's key set. Default: read from the issuer's
	// discovery document (OpenID Connect Discovery, then RFC 8414).
	JWKS string `yaml:"jwks,omitempty"`
	// Claims says which claims make the principal.
	Claims Claims `yaml:"claims,omitempty"`
	// Header carries this issuer's tokens: Authorization (the default), as a Bearer or
	// DPoP token, or a header of its own, where the token stands alone or behind
	// "Bearer ". Several issuers may share one.
	Header string `yaml:"header,omitempty"`
	// Introspection asks the issuer about tokens (RFC 7662): about opaque ones, which
	// cannot be read here, and where it says so about all. At most one issuer per
	// header may have it.
	Introspection *Introspection `yaml:"introspection,omitempty"`
	// SenderConstrained refuses tokens of this issuer that are bound neither to a DPoP
	// key nor to a client certificate. Default: false; a token that is bound needs its
	// proof in any case.
	SenderConstrained bool `yaml:"senderConstrained,omitempty"`
	// Tenant binds every principal of this issuer to one tenant. When claims.tenant
	// is set as well, the claim must have this value. Default: none.
	Tenant string `yaml:"tenant,omitempty"`
	// ClockSkew is how far the issuer's clock may be off when exp, nbf and iat are
	// judged. Default and maximum: 60s.
	ClockSkew secret.Duration `yaml:"clockSkew,omitempty"`
}

// Claims maps token claims to the principal. A name is looked up as it is first
// (so that names like https://example.com/groups work) and as a path with dots
// next (realm_access.roles). A claim that is present in a shape it cannot have is
// a refusal: groups that silently vanish would slip past a deny rule.
type Claims struct {
	// Subject names the caller within the issuer; a non-empty string. Default: sub.
	// Choose only claims that the issuer never gives to a second person.
	Subject string `yaml:"subject,omitempty"`
	// Groups is a list of strings, or one string. Default: groups.
	Groups string `yaml:"groups,omitempty"`
	// Scopes is a list of strings, or a string separated by spaces. Default: scope,
	// and scp where there is no scope.
	Scopes string `yaml:"scopes,omitempty"`
	// Client is the OAuth client that uses the token. Default: azp, and client_id
	// where there is no azp.
	Client string `yaml:"client,omitempty"`
	// ACR, AMR and AuthTime say how and when the user authenticated (OpenID Connect
	// Core §2). Default: acr, amr and auth_time. AMR is a list of strings or one string,
	// AuthTime seconds since 1970.
	ACR      string `yaml:"acr,omitempty"`
	AMR      string `yaml:"amr,omitempty"`
	AuthTime string `yaml:"authTime,omitempty"`
	// Tenant is the claim that names the tenant. When set, tokens without it are
	// refused. Default: no tenant is read from tokens.
	Tenant string `yaml:"tenant,omitempty"`
}

// APIKeys says where API keys are kept and how they are presented.
type APIKeys struct {
	// File is the YAML file with the hashes of the keys. Changes are picked up
	// without a restart; a missing file is an empty one, with a warning.
	File string `yaml:"file"`
	// Header is the request header that carries a key. Default: X-API-Key.
	Header string `yaml:"header,omitempty"`
	// Bearer also accepts a key as `Authorization: Bearer a2a_…`, for clients that
	// can only send bearer tokens. Default: false.
	Bearer bool `yaml:"bearer,omitempty"`
}

// maxSkew bounds how long an expired or not yet valid token may pass.
const maxSkew = 60 * time.Second

// defaultHeader carries API keys unless the configuration names another one.
const defaultHeader = "X-Api-Key"

// Validate reports everything that is wrong with the configuration, offline.
func (c *Config) Validate() error {
	var errs []error
	if len(c.OIDC) == 0 && c.APIKeys == nil && !c.Anonymous {
		errs = append(errs, errors.New("authn: nobody could call: configure oidc or apiKeys, "+
			"or write `anonymous: true` to let everybody in"))
	}
	seen := make(map[string]bool, len(c.OIDC))
	for i := range c.OIDC {
		is := &c.OIDC[i]
		if seen[is.Issuer] {
			errs = append(errs, fmt.Errorf("authn.oidc[%d]: issuer %q is listed twice", i, is.Issuer))
		}
		seen[is.Issuer] = true
		if err := is.validate(); err != nil {
			errs = append(errs, fmt.Errorf("authn.oidc[%d]: %w", i, err))
		}
	}
	if c.APIKeys != nil {
		if err := c.APIKeys.validate(); err != nil {
			errs = append(errs, fmt.Errorf("authn.apiKeys: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (is *Issuer) validate() error {
	var errs []error
	u, err := address(is.Issuer, true)
	if err != nil {
		errs = append(errs, fmt.Errorf("issuer: %w", err))
	} else if u.RawQuery != "" || u.ForceQuery {
		errs = append(errs, fmt.Errorf("issuer: %q has a query", is.Issuer))
	}
	if is.JWKS != "" {
		if _, err := address(is.JWKS, is.plaintext()); err != nil {
			errs = append(errs, fmt.Errorf("jwks: %w", err))
		}
	}
	if len(is.Audiences) == 0 || slices.Contains(is.Audiences, "") {
		errs = append(errs, errors.New("audiences: at least one, and none empty: "+
			"the names by which tokens are issued for this gateway"))
	}
	for _, a := range is.Algorithms {
		if !slices.Contains(algorithms(), a) {
			errs = append(errs, fmt.Errorf("algorithms: %q is not one of %s",
				a, strings.Join(algorithms(), ", ")))
		}
	}
	if d := is.ClockSkew.Std(); d < 0 || d > maxSkew {
		errs = append(errs, fmt.Errorf("clockSkew: %s is not between 0 and %s", d, maxSkew))
	}
	return errors.Join(errs...)
}

// plaintext reports whether the operator wrote the issuer as http://, which is
// the only way to have anything of it fetched without TLS.
func (is *Issuer) plaintext() bool { return strings.HasPrefix(is.Issuer, "http://") }

// header is the effective header name in canonical form.
func (is *Issuer) header() string {
	if is.Header == "" {
		return authorization
	}
	return textproto.CanonicalMIMEHeaderKey(is.Header)
}

// algs is the effective allow-list.
func (is *Issuer) algs() []string {
	if len(is.Algorithms) > 0 {
		return is.Algorithms
	}
	return []string{"RS256", "PS256", "ES256", "EdDSA"}
}

// skew is the effective clock tolerance.
func (is *Issuer) skew() time.Duration {
	if is.ClockSkew == 0 {
		return maxSkew
	}
	return is.ClockSkew.Std()
}

func (k *APIKeys) validate() error {
	var errs []error
	if k.File == "" {
		errs = append(errs, errors.New("file: missing"))
	}
	// Underscores and dots are refused by the strict header screen in front of the
	// gateway, so a header spelled with them could never arrive.
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if strings.Trim(strings.ToLower(k.Header), allowed) != "" {
		errs = append(errs, fmt.Errorf("header: %q is not made of letters, digits and hyphens", k.Header))
	}
	if slices.Contains(reservedHeaders(), k.header()) {
		errs = append(errs, fmt.Errorf("header: %q has a meaning of its own", k.Header))
	}
	return errors.Join(errs...)
}

// header is the effective header name in canonical form.
func (k *APIKeys) header() string {
	if k.Header == "" {
		return defaultHeader
	}
	return textproto.CanonicalMIMEHeaderKey(k.Header)
}

// reservedHeaders cannot carry API keys: HTTP or A2A gives them a meaning, and
// stripping them as credentials would break the call.
func reservedHeaders() []string {
	return []string{"Authorization", "Proxy-Authorization", "Cookie", "Host", "Content-Type",
		"Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Accept", "Te",
		"Upgrade", "Expect", "Forwarded", "Traceparent", "Tracestate",
		http.CanonicalHeaderKey("A2A-Version"), http.CanonicalHeaderKey("A2A-Extensions"),
		http.CanonicalHeaderKey("X-A2A-Extensions")}
}

// address parses an absolute URL without userinfo and fragment, https unless
// plaintext is allowed.
func address(raw string, plaintext bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, fmt.Errorf("parse address: %w", err)
	case u.Scheme != "https" && (u.Scheme != "http" || !plaintext):
		return nil, fmt.Errorf("%q must be an https:// address", u.Redacted())
	case u.Host == "" || u.Opaque != "":
		return nil, fmt.Errorf("%q has no host", u.Redacted())
	case u.User != nil:
		return nil, fmt.Errorf("%q carries credentials", u.Redacted())
	case u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return nil, fmt.Errorf("%q has a fragment", u.Redacted())
	}
	return u, nil
}
