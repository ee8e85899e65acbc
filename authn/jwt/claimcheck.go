package jwt

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// check judges the claims that decide whether a token is for us, now. It runs
// before the signature is looked at, because it is a hundred times cheaper and
// keeps tokens that are not for us from having the issuer asked for a key that they name.
// The order decides which fault is told of a token with several: what it is for comes before its
// age.
func (is *issuer) check(t *token, now time.Time) error {
	if err := is.checkIssuer(t.claims["iss"]); err != nil {
		return err
	}
	if err := is.checkKind(t); err != nil {
		return err
	}
	if err := is.checkAudience(t.claims["aud"]); err != nil {
		return err
	}
	return is.checkRest(t, now)
}

// checkRest judges what is no question of whom a token is for.
func (is *issuer) checkRest(t *token, now time.Time) error {
	if err := is.checkTimes(t.claims, now); err != nil {
		return err
	}
	return checkForm(t.claims)
}

// checkIssuer wants the very issuer whose keys are about to decide, letter by letter.
// Google's tokens that leave out the scheme are no exception: a name of which two
// spellings pass is two names to everybody who compares principals.
func (is *issuer) checkIssuer(iss any) error {
	if name, ok := iss.(string); !ok || name != is.cfg.Issuer {
		return refuse(faultIssuer, fmt.Errorf("iss is %.200q", name))
	}
	return nil
}

// checkKind refuses tokens that are no access tokens. An at+jwt says what it is;
// with a plain JWT the claims that only other tokens carry give them away: nonce
// and hashes of an ID token (OpenID Connect Core §2, §3.3.2.11), events of a logout
// or security event token (RFC 8417), the kinds that Keycloak and Cognito write.
// An ID token that passed for an access token would let every client of the issuer in: its aud is
// the client, but audiences of two services may be the same name.
func (is *issuer) checkKind(t *token) error {
	if _, ok := t.claims["events"]; ok {
		return refuse(faultIDToken, errors.New("claim events"))
	}
	if t.access {
		return nil
	}
	for _, use := range []struct{ claim, access string }{{"token_use", "access"}, {"typ", "bearer"}} {
		v, ok := t.claims[use.claim]
		if !ok {
			continue
		}
		if s, _ := v.(string); !strings.EqualFold(s, use.access) {
			return refuse(faultIDToken, fmt.Errorf("claim %s is %.40q", use.claim, s))
		}
		return nil // said outright; Keycloak before 24 repeats the nonce in access tokens
	}
	for _, name := range []string{"nonce", "at_hash", "c_hash", "s_hash"} {
		if _, ok := t.claims[name]; ok {
			return refuse(faultIDToken, fmt.Errorf("claim %s", name))
		}
	}
	return nil
}

// checkTimes judges exp (mandatory), nbf and iat against the wall clock.
func (is *issuer) checkTimes(claims map[string]any, now time.Time) error {
	exp, ok, err := numericDate(claims, "exp")
	switch skew := is.cfg.skew(); {
	case err != nil:
		return err
	case !ok:
		return refuse(faultClaims, errors.New("claim exp is missing"))
	// RFC 7519 §4.1.4 allows for some leeway.
	case !now.Before(exp.Add(skew)):
		return refuse(faultExpired, fmt.Errorf("claim exp is %s", exp.UTC().Format(time.RFC3339)))
	}
	return is.checkStart(claims, now)
}

// checkStart judges nbf and iat, and when the user is said to have authenticated: a time that
// has yet to come would be recent to every rule that asks how long ago it was, for years.
func (is *issuer) checkStart(claims map[string]any, now time.Time) error {
	for _, name := range []string{"nbf", "iat"} {
		at, ok, err := numericDate(claims, name)
		if err != nil {
			return err
		}
		if ok && at.After(now.Add(is.cfg.skew())) {
			return refuse(faultNotYet, fmt.Errorf("claim %s is %s", name, at.UTC().Format(time.RFC3339)))
		}
	}
	c := claimReader{claims: claims}
	if at := c.date(is.cfg.Claims.AuthTime, "auth_time"); at.After(now.Add(is.cfg.skew())) {
		return refuse(faultNotYet, fmt.Errorf("the user authenticated at %s", at.UTC().Format(time.RFC3339)))
	}
	return nil // what is no date is for principal to tell of
}

// numericDate reads seconds since 1970 (RFC 7519 §2). Fractions are cut off.
// The second result says whether the claim is there.
func numericDate(claims map[string]any, name string) (time.Time, bool, error) {
	v, ok := claims[name]
	if !ok {
		return time.Time{}, false, nil
	}
	at, ok := jws.NumericDate(v)
	if !ok {
		return time.Time{}, true, refuse(faultClaims, fmt.Errorf("claim %s is not a date", name))
	}
	return at, true, nil
}

// principal makes the caller out of verified claims, and reads what binds the token
// to its sender. How it was proved is for others to say.
func (is *issuer) principal(claims map[string]any) (*authn.Principal, confirmation, error) {
	bound, err := readConfirmation(claims)
	if err != nil {
		return nil, bound, err
	}
	if is.cfg.SenderConstrained && bound == (confirmation{}) {
		return nil, bound, refuse(faultUnbound, errors.New("no claim cnf (senderConstrained)"))
	}
	p := &authn.Principal{Issuer: is.cfg.Issuer, Claims: claims, Carrier: is.header, Proof: bound.proof()}
	p.Expires, _, _ = numericDate(claims, "exp") // checked before
	// The reader keeps its first error: the claims are read one after the other without a check
	// behind each.
	c, cfg := claimReader{claims: claims}, &is.cfg.Claims
	p.Subject = c.name(cfg.Subject, "sub")
	p.Client = c.name(cfg.Client, "azp", "client_id")
	p.Groups = c.list(false, cfg.Groups, "groups")
	p.Scopes = c.list(true, cfg.Scopes, "scope", "scp")
	p.ACR = c.name(cfg.ACR, "acr")
	p.AMR = c.list(false, cfg.AMR, "amr")
	p.AuthTime = c.date(cfg.AuthTime, "auth_time")
	p.Actors = c.actors(is.cfg.Issuer, is.depth)
	p.Tenant = is.cfg.Tenant
	if cfg.Tenant != "" {
		p.Tenant = c.name(cfg.Tenant)
	}
	switch {
	case c.err != nil:
		return nil, bound, refuse(faultClaims, c.err)
	case p.Subject == "":
		return nil, bound, refuse(faultClaims, errors.New("no subject"))
	case cfg.Tenant != "" && p.Tenant == "":
		return nil, bound, refuse(faultClaims, errors.New("no tenant"))
	case is.cfg.Tenant != "" && p.Tenant != is.cfg.Tenant:
		return nil, bound, refuse(faultClaims, fmt.Errorf("tenant %.40q is not the issuer's", p.Tenant))
	}
	p.Attest(nil)
	return p, bound, nil
}
