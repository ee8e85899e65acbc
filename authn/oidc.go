package authn

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// issuer is one configured issuer. A chain whose configuration of it is unchanged
// takes it over, and with it the tokens verified so far.
type issuer struct {
	cfg    Issuer
	keys   *keySet
	asked  *introspector // nil: nobody is asked about its tokens
	oidc   *oidc.Config
	depth  int    // of actors in tokens, at most
	header string // that its tokens come in, canonical
}

func newIssuer(cfg Issuer, keys *keySet, depth int, o *Options) *issuer {
	is := &issuer{cfg: cfg, keys: keys, depth: depth, header: cfg.header(), oidc: &oidc.Config{
		SupportedSigningAlgs: cfg.algs(),
		SkipClientIDCheck:    true, // several audiences: checkAudience
		SkipExpiryCheck:      true, // five minutes of grace for nbf: checkTimes
		Now:                  o.Now,
	}}
	if cfg.Introspection != nil {
		is.asked = newIntrospector(keys.ctx, &is.cfg, o)
	}
	return is
}

// sameKeys and same say what a reload may keep.
func (is *issuer) sameKeys(cfg *Issuer) bool {
	return is.cfg.Issuer == cfg.Issuer && is.cfg.JWKS == cfg.JWKS
}
func (is *issuer) same(cfg *Issuer, depth int) bool {
	return is.depth == depth && reflect.DeepEqual(is.cfg, *cfg)
}

// verify runs the checks of one issuer, cheap ones first.
func (is *issuer) verify(
	ctx context.Context, t *token, now time.Time,
) (*Principal, confirmation, error) {
	if !slices.Contains(is.oidc.SupportedSigningAlgs, t.alg) {
		return nil, confirmation{}, refuse(faultAlgorithm, fmt.Errorf("alg %s is not configured", t.alg))
	}
	if err := is.check(t, now); err != nil {
		return nil, confirmation{}, err
	}
	a := &attempt{token: t, keys: is.keys}
	if _, err := oidc.NewVerifier(is.cfg.Issuer, a, is.oidc).Verify(ctx, t.raw); err != nil {
		if a.err != nil {
			return nil, confirmation{}, a.err
		}
		return nil, confirmation{}, refuse(faultClaims, err)
	}
	p, bound, err := is.principal(t.claims)
	if err != nil {
		return nil, confirmation{}, err
	}
	p.Method, p.KeyID = methodOIDC, t.kid
	p.origin = &origin{issuer: is, key: a.key, alg: t.alg, access: t.access}
	return p, bound, nil
}

// attempt is the oidc.KeySet of one verification. The verifier reduces errors to
// text; the attempt keeps the error itself, because "no" and "cannot say now" are
// different answers.
type attempt struct {
	token *token
	keys  *keySet
	key   *publicKey // that verified it
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
	a.key = key
	return nil
}
