package authn

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

// maxSubject bounds the names that end up in records and logs (OpenID Connect Core
// §2 allows 255 for sub).
const maxSubject = 255

// check judges the claims that decide whether a token is for us, now. It runs
// before the signature is looked at, because it is a hundred times cheaper and
// keeps tokens that are not for us from reaching the issuer's key set.
func (is *issuer) check(t *token, now time.Time) error {
	if err := is.checkKind(t); err != nil {
		return err
	}
	if err := is.checkAudience(t.claims["aud"]); err != nil {
		return err
	}
	return is.checkTimes(t.claims, now)
}

// checkKind refuses tokens that are no access tokens. An at+jwt says what it is;
// with a plain JWT the claims that only other tokens carry give them away: nonce
// and hashes of an ID token (OpenID Connect Core §2, §3.3.2.11), events of a logout
// or security event token (RFC 8417), the kinds that Keycloak and Cognito write.
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

// checkAudience wants one of our names in aud, a string or a list of strings
// (RFC 7519 §4.1.3), letter by letter.
func (is *issuer) checkAudience(aud any) error {
	names, err := stringList(aud)
	if err != nil {
		return refuse(faultAudience, fmt.Errorf("claim aud: %w", err))
	}
	if !slices.ContainsFunc(names, func(n string) bool { return slices.Contains(is.cfg.Audiences, n) }) {
		return refuse(faultAudience, fmt.Errorf("claim aud is %.200q", names))
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
	case !now.Before(exp.Add(skew)):
		return refuse(faultExpired, fmt.Errorf("claim exp is %s", exp.UTC().Format(time.RFC3339)))
	}
	return is.checkStart(claims, now)
}

// checkStart judges nbf and iat.
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
	return nil
}

// numericDate reads seconds since 1970 (RFC 7519 §2). Fractions are cut off.
func numericDate(claims map[string]any, name string) (time.Time, bool, error) {
	v, ok := claims[name]
	if !ok {
		return time.Time{}, false, nil
	}
	const year9999 = 253402300799
	f, isNumber := v.(float64)
	if !isNumber || math.IsNaN(f) || f < 0 || f > year9999 {
		return time.Time{}, true, refuse(faultClaims, fmt.Errorf("claim %s is not a date", name))
	}
	return time.Unix(int64(f), 0), true, nil
}

// principal makes the caller out of verified claims, and reads what binds the token
// to its sender. How it was proved is for others to say.
func (is *issuer) principal(claims map[string]any) (*Principal, confirmation, error) {
	bound, err := readConfirmation(claims)
	if err != nil {
		return nil, bound, err
	}
	if is.cfg.SenderConstrained && bound == (confirmation{}) {
		return nil, bound, refuse(faultUnbound, errors.New("no claim cnf (senderConstrained)"))
	}
	p := &Principal{Issuer: is.cfg.Issuer, Claims: claims, Carrier: is.cfg.header(), Proof: bound.proof()}
	p.Expires, _, _ = numericDate(claims, "exp") // checked before
	c, cfg := claimReader{claims: claims}, &is.cfg.Claims
	p.Subject = c.name(cfg.Subject, "sub")
	p.Client = c.name(cfg.Client, "azp", "client_id")
	p.Groups = c.list(false, cfg.Groups, "groups")
	p.Scopes = c.list(true, cfg.Scopes, "scope", "scp")
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
	p.key = p.identity()
	return p, bound, nil
}

// claimReader reads mapped claims and keeps the first error.
type claimReader struct {
	claims map[string]any
	err    error
}

// names are the claims to look at: the configured one, or else the defaults.
func names(configured string, defaults []string) []string {
	if configured != "" {
		return []string{configured}
	}
	return defaults
}

// pick finds the first claim of the list that is present.
func (c *claimReader) pick(paths []string) (string, any) {
	for _, path := range paths {
		if v, ok := lookup(c.claims, path); ok && v != nil {
			return path, v
		}
	}
	return "", nil
}

// name reads a claim that names something: a string of printable characters.
func (c *claimReader) name(configured string, defaults ...string) string {
	path, v := c.pick(names(configured, defaults))
	if v == nil {
		return ""
	}
	s, ok := v.(string)
	bad := strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
	if (!ok || bad || len(s) > maxSubject) && c.err == nil {
		c.err = fmt.Errorf("claim %s is not a name", path)
	}
	return s
}

// list reads a claim that holds several names. A string is one name, or with
// spaced one per word (RFC 6749 §3.3).
func (c *claimReader) list(spaced bool, configured string, defaults ...string) []string {
	paths := names(configured, defaults)
	path, v := c.pick(paths)
	if v == nil {
		// Claims that do not fit a token are left out and only pointed to (OpenID
		// Connect Core §5.6.2; Entra does it with more than 200 groups). Going on
		// without them would slip past rules that deny by group.
		away, _ := c.claims["_claim_names"].(map[string]any)
		for _, name := range paths {
			if _, ok := away[name]; ok && c.err == nil {
				c.err = fmt.Errorf("claim %s is not in the token", name)
			}
		}
		return nil
	}
	if s, ok := v.(string); ok && spaced {
		return distinct(strings.Fields(s))
	}
	list, err := stringList(v)
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("claim %s: %w", path, err)
	}
	return distinct(list)
}

// lookup finds a claim by its whole name, or as a path whose dots go down into
// objects. Each prefix is tried, since names may contain dots themselves.
func lookup(claims map[string]any, path string) (any, bool) {
	if v, ok := claims[path]; ok {
		return v, true
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if inner, ok := claims[path[:i]].(map[string]any); ok {
			if v, ok := lookup(inner, path[i+1:]); ok {
				return v, true
			}
		}
	}
	return nil, false
}

// stringList reads a string or a list of nothing but strings.
func stringList(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case []any:
		names := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, errors.New("list with something else than strings")
			}
			names = append(names, s)
		}
		return names, nil
	}
	return nil, errors.New("neither a string nor a list of strings")
}

// distinct drops empty names and repetitions, keeping the order.
func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
