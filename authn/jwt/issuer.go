package jwt

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Issuer is one OpenID Connect provider or OAuth 2.0 authorization server
// (RFC 8414) that signs JWT access tokens (RFC 9068).
type Issuer struct {
	// Issuer is the issuer identifier, exactly as the iss claim spells it, including scheme, case
	// and trailing slash. The gateway requires https for the issuer and for everything that it
	// fetches from it. It takes an issuer written as http:// for a local or development one, which
	// may serve its keys over plain HTTP.
	Issuer string `yaml:"issuer" jsonschema:"required"`
	// Audiences are the names of this gateway as a resource (RFC 8707). The aud claim must contain
	// one of them. At least one is required. Otherwise the gateway would accept any token that the
	// issuer ever gave to anyone for anything.
	Audiences []string `yaml:"audiences"`
	// Algorithms are the JWS algorithms that the gateway accepts. Default: RS256, PS256, ES256 and
	// EdDSA. Also possible: RS384, RS512, PS384, PS512, ES384, ES512. Symmetric algorithms and
	// "none" cannot be configured.
	Algorithms []string `yaml:"algorithms,omitempty" jsonschema:"enum=RS256,enum=RS384,enum=RS512,enum=PS256,enum=PS384,enum=PS512,enum=ES256,enum=ES384,enum=ES512,enum=EdDSA"`
	// JWKS is the URL of the issuer's key set. Default: read from the issuer's discovery document
	// (OpenID Connect Discovery, then RFC 8414).
	JWKS secret.URL `yaml:"jwks,omitempty"`
	// Claims says which claims of a token make the principal.
	Claims Claims `yaml:"claims,omitempty"`
	// Header carries this issuer's tokens. In Authorization (the default), they are Bearer or DPoP
	// tokens. In a header of its own, the token stands alone or behind "Bearer " or "DPoP ".
	// Several issuers may share one header. The gateway refuses a token in another header than its
	// issuer's.
	Header string `yaml:"header,omitempty"`
	// Introspection has the gateway ask the issuer about tokens (RFC 7662): about opaque ones,
	// which it cannot read itself, and with always about all. At most one issuer per header may
	// have it.
	Introspection *Introspection `yaml:"introspection,omitempty"`
	// SenderConstrained refuses tokens of this issuer that are bound neither to a DPoP key nor to
	// a client certificate. Default: false; the gateway demands the proof for a bound token in any
	// case.
	SenderConstrained bool `yaml:"senderConstrained,omitempty"`
	// Tenant binds every principal of this issuer to one tenant. If claims.tenant is set as well,
	// the claim must have this value. Default: none.
	Tenant string `yaml:"tenant,omitempty"`
	// ClockSkew is how far the issuer's clock may be off when the gateway checks exp, nbf, iat and
	// authTime; with 0s not at all. Default and maximum: 60s.
	ClockSkew *quantity.Duration `yaml:"clockSkew,omitempty"`
}

// Claims maps token claims to the principal. The gateway looks a name up as it is first (so
// that names like https://example.com/groups work), then as a path with dots
// (realm_access.roles). It refuses a token with a claim in a shape that the claim cannot have,
// because groups that silently vanish would slip past a deny rule.
type Claims struct {
	// Subject is the claim that identifies the caller within the issuer; a non-empty string.
	// Default: sub. Choose only claims that the issuer never gives to a second person.
	Subject string `yaml:"subject,omitempty"`
	// Groups is the claim with the groups: a list of strings, or one string. Default: groups.
	Groups string `yaml:"groups,omitempty"`
	// Scopes is the claim with the scopes: a list of strings, or a string separated by spaces.
	// Default: scope, and scp where there is no scope.
	Scopes string `yaml:"scopes,omitempty"`
	// Client is the claim with the OAuth client that uses the token. Default: azp, and client_id
	// where there is no azp.
	Client string `yaml:"client,omitempty"`
	// ACR, AMR and AuthTime are the claims that say how and when the user authenticated (OpenID
	// Connect Core §2). Default: acr, amr and auth_time. AMR is a list of strings or one string.
	// AuthTime is in seconds since 1970, and not in the future.
	ACR      string `yaml:"acr,omitempty"`
	AMR      string `yaml:"amr,omitempty"`
	AuthTime string `yaml:"authTime,omitempty"`
	// Tenant is the claim that names the tenant. When set, the gateway refuses tokens without it.
	// Default: no tenant is read from tokens.
	Tenant string `yaml:"tenant,omitempty"`
}

// maxSkew bounds how long an expired or not yet valid token may pass.
// Clocks of servers are rarely a second apart; a minute is what most libraries allow.
const maxSkew = 60 * time.Second

// Validate reports what cannot work, naming the key.
// Values of JWKS and of addresses are not shown, as they may hold a credential.
func (is *Issuer) Validate() error {
	var errs []error
	u, err := address(secret.URL(is.Issuer), true)
	if err != nil {
		errs = append(errs, keypath.At(err, "issuer"))
	} else if u.RawQuery != "" || u.ForceQuery {
		errs = append(errs, keypath.At(fmt.Errorf("%q has a query", secret.URL(is.Issuer)), "issuer"))
	}
	if is.JWKS != "" {
		if _, err := address(is.JWKS, is.plaintext()); err != nil {
			errs = append(errs, keypath.At(err, "jwks"))
		}
	}
	if len(is.Audiences) == 0 || slices.Contains(is.Audiences, "") {
		errs = append(errs, keypath.At(errors.New("at least one, and none empty: "+
			"the names by which tokens are issued for this gateway"), "audiences"))
	}
	for i, a := range is.Algorithms {
		if !slices.Contains(authn.Signatures.Algorithms, a) {
			errs = append(errs, keypath.At(keypath.Point(fmt.Errorf("%q is not one of %s",
				a, strings.Join(authn.Signatures.Algorithms, ", ")), i), "algorithms"))
		}
	}
	if is.Header != "" {
		if err := credential.CheckHeader(is.Header, is.HeaderName(), credential.Authorization); err != nil {
			errs = append(errs, err)
		}
	}
	if d := is.skew(); d < 0 || d > maxSkew {
		errs = append(errs, keypath.At(fmt.Errorf("%s is not between 0 and %s", d, maxSkew), "clockSkew"))
	}
	if is.Introspection != nil {
		if err := is.Introspection.validate(is.plaintext()); err != nil {
			errs = append(errs, keypath.At(err, "introspection"))
		}
	}
	return errors.Join(errs...)
}

// plaintext reports whether the operator wrote the issuer as http://, which is
// the only way to have anything of it fetched without TLS.
func (is *Issuer) plaintext() bool { return strings.HasPrefix(is.Issuer, "http://") }

// HeaderName is the effective header name in canonical form.
func (is *Issuer) HeaderName() string {
	if is.Header == "" {
		return credential.Authorization
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
	if is.ClockSkew == nil {
		return maxSkew
	}
	return is.ClockSkew.Std()
}

// Security is how agent cards ask for tokens of issuers.
// A token in a header of its own cannot be said in OpenID Connect's scheme of a card: the header
// is named beside it.
func Security(issuers []Issuer) []authn.Security {
	list := make([]authn.Security, len(issuers))
	for i, is := range issuers {
		list[i] = authn.Security{Kind: authn.OpenIDConnect, Issuer: is.Issuer}
		if !strings.EqualFold(is.Header, credential.Authorization) {
			list[i].Header = is.Header
		}
	}
	return list
}
