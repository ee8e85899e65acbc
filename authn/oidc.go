package authn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// bearer accepts JWT access tokens of several issuers.
type bearer struct {
	issuers map[string]*issuer // by issuer identifier
	cache   *cache
	now     func() time.Time
	observe func(provider, result string)
}

// issuer is one configured issuer. A chain whose configuration of it is unchanged
// takes it over, and with it the tokens verified so far.
type issuer struct {
	cfg  Issuer
	keys *keySet
	oidc *oidc.Config
}

func newIssuer(cfg Issuer, keys *keySet, now func() time.Time) *issuer {
	return &issuer{cfg: cfg, keys: keys, oidc: &oidc.Config{
		SupportedSigningAlgs: cfg.algs(),
		SkipClientIDCheck:    true, // several audiences: checkAudience
		SkipExpiryCheck:      true, // five minutes of grace for nbf: checkTimes
		Now:                  now,
	}}
}

// sameKeys and same say what a reload may keep.
func (is *issuer) sameKeys(cfg *Issuer) bool {
	return is.cfg.Issuer == cfg.Issuer && is.cfg.JWKS == cfg.JWKS
}
func (is *issuer) same(cfg *Issuer) bool { return reflect.DeepEqual(is.cfg, *cfg) }

// authenticate verifies the bearer token of a request that has one.
func (b *bearer) authenticate(r *http.Request) (*Principal, error) {
	raw, ok := bearerToken(r)
	if !ok {
		return nil, ErrNoCredentials
	}
	now := b.now()
	id := digest(raw)
	if p := b.cached(id, now); p != nil {
		b.observe(p.Issuer, resultOK)
		return p, nil
	}
	provider, p, err := b.verify(r.Context(), id, raw)
	b.observe(provider, outcome(err))
	return p, err
}

// cached finds a token that was verified a moment ago. What has changed since makes
// it unverified again: the issuer's configuration, or a key that the issuer withdrew.
func (b *bearer) cached(id [32]byte, now time.Time) *Principal {
	e, ok := b.cache.find(id, now)
	if !ok || b.issuers[e.principal.Issuer] != e.issuer || e.lost != e.issuer.keys.lost.Load() {
		return nil
	}
	e.issuer.keys.touch()
	return e.principal
}

// verify checks a token in full. provider names the configured issuer, or is a
// fixed word: it becomes a metric label, and callers must not be able to make one.
func (b *bearer) verify(
	ctx context.Context, id [32]byte, raw string,
) (provider string, _ *Principal, _ error) {
	t, err := precheck(raw)
	if err != nil {
		return providerUnknown, nil, err
	}
	// The unverified iss only chooses among configured issuers; the verifier of the
	// chosen one then demands that very iss under its own keys.
	name, _ := t.claims["iss"].(string)
	is := b.issuers[name]
	if is == nil {
		return providerUnknown, nil, refuse(faultIssuer, fmt.Errorf("iss is %.200q", name))
	}
	now := b.now()
	lost := is.keys.lost.Load() // before the key is chosen, lest a withdrawal be missed
	p, err := is.verify(ctx, t, now)
	if err != nil {
		return name, nil, err
	}
	until := is.keys.bound(now.Add(maxRemembered), now)
	b.cache.add(id, entry{principal: p, issuer: is, lost: lost, until: earlier(until, p.Expires)}, now)
	return name, p, nil
}

// verify runs the checks of one issuer, cheap ones first.
func (is *issuer) verify(ctx context.Context, t *token, now time.Time) (*Principal, error) {
	if !slices.Contains(is.oidc.SupportedSigningAlgs, t.alg) {
		return nil, refuse(faultAlgorithm, fmt.Errorf("alg %s is not configured", t.alg))
	}
	if err := is.check(t, now); err != nil {
		return nil, err
	}
	a := &attempt{token: t, keys: is.keys}
	if _, err := oidc.NewVerifier(is.cfg.Issuer, a, is.oidc).Verify(ctx, t.raw); err != nil {
		if a.err != nil {
			return nil, a.err
		}
		return nil, refuse(faultClaims, err)
	}
	return is.principal(t)
}

// attempt is the oidc.KeySet of one verification. The verifier reduces errors to
// text; the attempt keeps the error itself, because "no" and "cannot say now" are
// different answers.
type attempt struct {
	token *token
	keys  *keySet
	err   error
}

// VerifySignature implements oidc.KeySet on the parts that precheck took apart.
func (a *attempt) VerifySignature(ctx context.Context, raw string) ([]byte, error) {
	a.err = a.verify(ctx, raw)
	return a.token.payload, a.err
}

func (a *attempt) verify(ctx context.Context, raw string) error {
	alg, ok := lookupAlgorithm(a.token.alg)
	if !ok || raw != a.token.raw {
		return refuse(faultSignature, errors.New("another token than the one prechecked"))
	}
	key, err := a.keys.find(ctx, a.token.kid, alg)
	if err != nil {
		return err
	}
	if err := alg.verify(key.key, []byte(a.token.signed), a.token.signature); err != nil {
		return refuse(faultSignature, err)
	}
	return nil
}

// bearerToken is the token of an Authorization header of that scheme, whose name is
// case-insensitive (RFC 9110 §11.1, RFC 6750 §2.1).
func bearerToken(r *http.Request) (string, bool) {
	const name = "bearer"
	v := r.Header.Get("Authorization")
	if len(v) < len(name) || !strings.EqualFold(v[:len(name)], name) {
		return "", false
	}
	rest := v[len(name):]
	token := strings.TrimLeft(rest, " ")
	return token, rest == "" || len(token) < len(rest)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
