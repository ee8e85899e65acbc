package jwt

import (
	"bytes"
	"crypto"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// Keys that cannot be used are skipped, and those for something else; each is told of once, for
// as long as the set has it.
func TestUnusableKeysAreSkipped(t *testing.T) {
	t.Parallel()
	ec := mustJSON(t, authntest.JWK("ec", "ES256", authntest.EcKey()))
	odd := []string{
		`{"kty":"RSA","kid":"no numbers"}`, `{"kty":"RSA","kid":"weak","e":"AQAB","n":"` + authntest.Base64(make1024()) + `"}`,
		`{"kty":"oct","kid":"shared","k":"c2VjcmV0"}`, `{"kid":"a","kid":"b"}`, `7`, `{"kty":"RSA","use":"enc","kid":"ec","n":"AA","e":"AQAB"}`,
	}
	var log bytes.Buffer
	skipped := map[string]int{}
	i := authntest.Standard()
	i.Answer = say(`{"keys":[` + strings.Join(append(odd, ec), ",") + `],"extra":1}`)
	synctest.Test(t, func(t *testing.T) {
		c := openTokens(t, Config{OIDC: []Issuer{issuerConfig()}}, Options{
			Client: &http.Client{Transport: i}, Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Skipped: func(reason string) { skipped[reason]++ },
		})
		for range 3 {
			authntest.Want(t, "the one key for us", try(t, c, "ec", authntest.EcKey()), "ok")
			time.Sleep(10 * time.Minute) // beyond the age of a set
		}
		_, err := c.Authenticate(authntest.BearerOf(authntest.Sign(t, authntest.RsaKey(), M{"alg": "RS256", "kid": "weak"}, authntest.ClaimsOf(nil))))
		if authntest.FaultOf(err) != "unknown-key" || !strings.Contains(err.Error(), `cannot be used: key 1, kid "weak": an RSA key of 1024 bits`) {
			t.Error("a token by a key that is skipped:", err)
		}
		i.Set(func(i *authntest.IDP) {
			i.Answer = say(`{"keys":[{"kty":"RSA","kid":"another"},` + odd[0] + "," + ec + `]}`)
		})
		time.Sleep(10 * time.Minute) // beyond the age of a set
		authntest.Want(t, "another set", try(t, c, "ec", authntest.EcKey()), "ok")
		c.Close()
		synctest.Wait()
	})
	authntest.Want(t, "reasons", mustJSON(t, skipped), `{"malformed":4,"other":1,"secret":1,"weak":1}`)
	if n := strings.Count(log.String(), `level=WARN msg="issuer key skipped"`); n != 6 {
		t.Errorf("%d warnings:\n%s", n, log.String())
	}
	if n := strings.Count(log.String(), `level=INFO msg="issuer key skipped"`); n != 1 || strings.Contains(log.String(), "c2VjcmV0") {
		t.Errorf("%d notices:\n%s", n, log.String())
	}
}

// Of several keys of one kid, or of none, any may have signed; no more than a few are tried,
// and each with the algorithm that it is for.
func TestSeveralKeysOfOneKid(t *testing.T) {
	t.Parallel()
	second, ps := newECKey(t), authntest.JWK("a", "PS256", authntest.RsaKey())
	const most = jws.MaxSameID
	for name, test := range map[string]struct {
		keys []jose.JSONWebKey
		kid  any
		key  crypto.Signer
		alg  string
		want string
	}{
		"the same key twice":          {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), authntest.JWK("a", "", authntest.EcKey())}, "a", authntest.EcKey(), "ES256", "ok"},
		"the same, once for ES256":    {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), authntest.JWK("a", "ES256", authntest.EcKey())}, "a", authntest.EcKey(), "ES256", "ok"},
		"the second of two":           {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), authntest.JWK("a", "", second)}, "a", second, "ES256", "ok"},
		"the first of two":            {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), authntest.JWK("a", "", second)}, "a", authntest.EcKey(), "ES256", "ok"},
		"neither":                     {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), authntest.JWK("a", "", second)}, "a", newECKey(t), "ES256", "signature"},
		"two kinds":                   {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.RsaKey()), authntest.JWK("a", "", authntest.EcKey())}, "a", authntest.EcKey(), "ES256", "ok"},
		"not for this algorithm":      {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), ps}, "a", authntest.RsaKey(), "RS256", "algorithm"},
		"pinned to this algorithm":    {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), ps}, "a", authntest.RsaKey(), "PS256", "ok"},
		"the last that is taken":      {append(ecKeys(t, "a", most-1), authntest.JWK("a", "", authntest.EcKey())), "a", authntest.EcKey(), "ES256", "ok"},
		"one too many":                {append(ecKeys(t, "a", most), authntest.JWK("a", "", authntest.EcKey())), "a", authntest.EcKey(), "ES256", "signature"},
		"another kid":                 {[]jose.JSONWebKey{authntest.JWK("a", "", authntest.EcKey()), authntest.JWK("a", "", second)}, "b", authntest.EcKey(), "ES256", "unknown-key"},
		"no kid, two fit":             {[]jose.JSONWebKey{authntest.JWK("a", "", second), authntest.JWK("b", "", authntest.EcKey())}, nil, authntest.EcKey(), "ES256", "ok"},
		"no kid, keys without one":    {[]jose.JSONWebKey{authntest.JWK("", "", second), authntest.JWK("", "", authntest.EcKey())}, nil, authntest.EcKey(), "ES256", "ok"},
		"no kid, none of two":         {[]jose.JSONWebKey{authntest.JWK("a", "", second), authntest.JWK("b", "", authntest.EcKey())}, nil, newECKey(t), "ES256", "signature"},
		"no kid, more than are tried": {append(ecKeys(t, "", most), authntest.JWK("b", "", authntest.EcKey())), nil, authntest.EcKey(), "ES256", "unknown-key"},
		"a kid, a key without one":    {[]jose.JSONWebKey{authntest.JWK("", "", authntest.EcKey())}, "a", authntest.EcKey(), "ES256", "unknown-key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := authntest.NewIDP(authntest.TestIssuer, test.keys...)
			bubble(t, i, func(t *testing.T, c *authn.Chain) {
				head := M{"alg": test.alg}
				if test.kid != nil {
					head["kid"] = test.kid
				}
				_, err := c.Authenticate(authntest.BearerOf(authntest.Sign(t, test.key, head, authntest.ClaimsOf(nil))))
				authntest.Want(t, name, authntest.FaultOf(err), test.want)
				if n := i.Jwks.Load(); n > 2 {
					t.Errorf("%d fetches", n)
				}
			})
		})
	}
}

// ecKeys are keys of one kid that nobody signs with.
func ecKeys(t *testing.T, kid string, n int) (list []jose.JSONWebKey) {
	for range n {
		list = append(list, authntest.JWK(kid, "", newECKey(t)))
	}
	return list
}
