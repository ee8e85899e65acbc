package jwt

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// otherAudience is for the holder of a genuine token, to whom it gives away nothing: everybody
// can read who a token is for, and that the gateway is somebody else. Who the gateway is does not
// stand in it.
const otherAudience = "the token is not meant for this audience: ask its issuer for one that is"

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

// isAudience tells the refusal of checkAudience from others.
func isAudience(err error) bool {
	r, ok := err.(*authn.Refused) //nolint:errorlint // made one call away, never wrapped
	return ok && r.Fault == faultAudience
}

// ofAudience is the refusal of a token that failed a check with err, and marked when only its
// audience is wrong with it. For the sake of a token that is not for us nobody is asked: neither
// for a key that is not known, nor whether the token is still good.
func (is *issuer) ofAudience(ctx context.Context, t *token, now time.Time, err error) error {
	unasked := is.cfg.Introspection != nil && is.cfg.Introspection.Always
	if !isAudience(err) || unasked || is.checkRest(t, now) != nil {
		return err
	}
	_, unsigned := is.signature(t, func(alg jws.Algorithm) ([]*jws.Key, error) { return is.keys.known(ctx, t.kid, alg) })
	if unsigned != nil {
		return err
	}
	_, bound, wrong := is.principal(t.claims)
	return audienceAlone(err, wrong, bound)
}

// audienceAlone marks the refusal of a token for its audience if nothing else is wrong with it.
// One that is bound to its sender is not marked: that it is theirs is not proved.
func audienceAlone(err, otherwise error, bound confirmation) error {
	if refused, ok := err.(*authn.Refused); ok && otherwise == nil && bound == (confirmation{}) { //nolint:errorlint // made by checkAudience, never wrapped
		refused.AudienceAlone = true
	}
	return err
}
