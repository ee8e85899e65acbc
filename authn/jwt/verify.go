package jwt

import (
	"context"
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// issuer is one configured issuer. A chain whose configuration of it is unchanged
// takes it over, and with it the tokens verified so far.
type issuer struct {
	cfg    Issuer
	keys   *keySet
	asked  *introspector // nil: nobody is asked about its tokens
	algs   []string      // that its tokens may be signed with
	depth  int           // of actors in tokens, at most
	header string        // that its tokens come in, canonical
}

// keys may be those of the issuer before a reload.
func newIssuer(cfg Issuer, keys *keySet, depth int, o *Options) *issuer {
	is := &issuer{cfg: cfg, keys: keys, depth: depth, header: cfg.HeaderName(), algs: cfg.algs()}
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
// The signature is the dearest of the checks, and everything before it is about claims that nobody
// has vouched for yet: none of them is believed until it holds.
func (is *issuer) verify(
	ctx context.Context, t *token, now time.Time, from func() netip.Addr,
) (*authn.Principal, confirmation, error) {
	if !slices.Contains(is.algs, t.alg) {
		return nil, confirmation{}, refuse(faultAlgorithm, fmt.Errorf("alg %s is not configured", t.alg))
	}
	if err := is.check(t, now); err != nil {
		return nil, confirmation{}, is.ofAudience(ctx, t, now, err)
	}
	key, err := is.signature(t, func(alg jws.Algorithm) ([]*jws.Key, error) { return is.keys.find(ctx, t.kid, alg, from) })
	if err != nil {
		return nil, confirmation{}, err
	}
	p, bound, err := is.principal(t.claims)
	if err != nil {
		return nil, confirmation{}, err
	}
	p.Method, p.KeyID = Method, t.kid
	p.Attest(&origin{issuer: is, key: key, alg: t.alg, access: t.access})
	return p, bound, nil
}

// signature has the keys found that a token may mean and verifies the signature with one of them,
// on the parts that precheck took apart: what was judged and what is verified are the same bytes.
func (is *issuer) signature(t *token, find func(jws.Algorithm) ([]*jws.Key, error)) (*jws.Key, error) {
	alg, ok := authn.Signatures.Lookup(t.alg)
	if !ok {
		return nil, refuse(faultAlgorithm, fmt.Errorf("alg %.20q", t.alg))
	}
	candidates, err := find(alg)
	if err != nil {
		return nil, err
	}
	// Mostly there is one; a token without a kid may have been signed with any key of the
	// algorithm.
	for _, key := range candidates {
		if err = alg.Verify(key.Public, []byte(t.signed), t.signature); err == nil {
			return key, nil
		}
	}
	return nil, refuse(faultSignature, err)
}
