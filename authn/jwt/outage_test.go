package jwt

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func TestL27_IssuerDownAfterStart(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Cache = "max-age=60"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "up", try(t, c, "ec", authntest.EcKey()), "ok")
		i.Set(func(i *authntest.IDP) { i.Down = true })
		before := i.Jwks.Load()
		const hours = 3
		for range hours * 60 {
			time.Sleep(time.Minute)
			start := time.Now()
			authntest.Want(t, "known key", try(t, c, "ec", authntest.EcKey()), "ok")
			authntest.Want(t, "unknown key", try(t, c, rand.Text(), authntest.EcKey()), "unknown-key")
			if d := time.Since(start); d > 50*time.Millisecond {
				t.Fatalf("callers waited %v for an issuer that is down", d)
			}
		}
		if n := i.Jwks.Load() - before; n > 2*2*60*hours {
			t.Errorf("%d attempts in %d hours", n, hours)
		}
		i.Set(func(i *authntest.IDP) { i.Down = false })
		time.Sleep(2 * minInterval)
		authntest.Want(t, "back up", try(t, c, "ec", authntest.EcKey()), "ok")
		synctest.Wait() // by the keys that are known, while they are asked for again

		// Known keys end a day after their age.
		i.Set(func(i *authntest.IDP) { i.Down = true })
		time.Sleep(staleFor - time.Minute)
		authntest.Want(t, "down for most of a day", try(t, c, "ec", authntest.EcKey()), "ok")
		time.Sleep(3 * time.Minute)
		authntest.Want(t, "down for more than a day", try(t, c, "ec", authntest.EcKey()), "unavailable")
		i.Set(func(i *authntest.IDP) { i.Down = false })
		time.Sleep(minInterval)
		try(t, c, "ec", authntest.EcKey()) // asks, and need not wait
		synctest.Wait()
		authntest.Want(t, "back again", try(t, c, "ec", authntest.EcKey()), "ok")
	})
}

// An issuer that accepts connections and then says nothing is as good as down, and
// holds callers up only once.
func TestL27_IssuerHangs(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Cache = "max-age=60"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "up", try(t, c, "ec", authntest.EcKey()), "ok")
		gate := make(chan struct{})
		defer close(gate)
		i.Set(func(i *authntest.IDP) { i.Gate = gate })
		time.Sleep(61 * time.Second)
		authntest.Want(t, "known key", try(t, c, "ec", authntest.EcKey()), "ok")
		for range 10 {
			time.Sleep(31 * time.Second)
			start := time.Now()
			authntest.Want(t, "known key", try(t, c, "ec", authntest.EcKey()), "ok")
			authntest.Want(t, "unknown key", try(t, c, rand.Text(), authntest.EcKey()), "unknown-key")
			if d := time.Since(start); d > 50*time.Millisecond {
				t.Errorf("callers waited %v", d)
			}
		}
	})
}

func TestL27_IssuerDownAtStart(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Down = true
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "down", try(t, c, "ec", authntest.EcKey()), "unavailable")
		if err := c.Warm(t.Context()); !errors.Is(err, authn.ErrUnavailable) || !strings.Contains(err.Error(),
			"connection refused") {
			t.Errorf("warm: %v", err)
		}
		i.Set(func(i *authntest.IDP) { i.Down = false })
		time.Sleep(time.Second)
		authntest.Want(t, "up a second later", try(t, c, "ec", authntest.EcKey()), "ok")
		if err := c.Warm(t.Context()); err != nil {
			t.Errorf("warm: %v", err)
		}
	})
}

// While nothing is known the gateway tries often at first and rarely later.
func TestBackoffBeforeFirstLoad(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		for range 600 {
			authntest.Want(t, "down", try(t, c, "ec", authntest.EcKey()), "unavailable")
			time.Sleep(time.Second)
		}
		if n := i.Jwks.Load(); n < 20 || n > 30 {
			t.Errorf("%d attempts in ten minutes", n)
		}
	})
}

// A key that is published for one algorithm verifies no other.
func TestL25_KeyIsPinnedToItsAlgorithm(t *testing.T) {
	t.Parallel()
	bubble(t, authntest.NewIDP(authntest.TestIssuer, authntest.JWK("rsa", "RS256", authntest.RsaKey())), func(t *testing.T, c *authn.Chain) {
		for alg, expected := range map[string]string{"RS256": "ok", "PS256": "algorithm"} {
			_, err := c.Authenticate(authntest.BearerOf(authntest.Sign(t, authntest.RsaKey(), map[string]any{"alg": alg, "kid": "rsa"},
				authntest.ClaimsOf(nil))))
			authntest.Want(t, alg, authntest.FaultOf(err), expected)
		}
	})
}

// A caller who gives up neither waits on nor ends the fetch of the others.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		gate := make(chan struct{})
		i.Set(func(i *authntest.IDP) { i.Gate = gate })
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan string), make(chan string)
		go func() {
			_, err := c.Authenticate(authntest.BearerOf(authntest.Good(t, nil)).WithContext(ctx))
			first <- authntest.FaultOf(err)
		}()
		go func() { second <- try(t, c, "ec", authntest.EcKey()) }()
		synctest.Wait()
		cancel()
		authntest.Want(t, "gave up", <-first, "unavailable")
		close(gate)
		authntest.Want(t, "waited", <-second, "ok")
	})
}

// A set that no sane issuer publishes does not replace the one that is known, and
// is not believed when nothing is.
func TestL27_PoisonedKeySet(t *testing.T) {
	t.Parallel()
	ec, rsa := mustJSON(t, authntest.JWK("ec", "ES256", authntest.EcKey())), mustJSON(t, authntest.JWK("rsa", "", authntest.RsaKey()))
	private := mustJSON(t, withPrivate(authntest.JWK("ec", "", authntest.EcKey())))
	list := func(keys ...string) string { return `{"keys":[` + strings.Join(keys, ",") + `]}` }
	tests := map[string]http.HandlerFunc{
		"symmetric key":     say(list(`{"kty":"oct","kid":"x","k":"c2VjcmV0"}`)),
		"k in another key":  say(list(strings.Replace(ec, `{`, `{"k":"c2VjcmV0",`, 1))),
		"private key":       say(list(private)),
		"name twice":        say(list(strings.Replace(ec, `{`, `{"kid":"other",`, 1))),
		"unknown keys":      say(list(manyKeys(50))),
		"not on the curve":  say(list(strings.Replace(ec, `"x":"`, `"x":"AAAA`, 1))),
		"weak RSA":          say(list(`{"kty":"RSA","kid":"w","e":"AQAB","n":"` + authntest.Base64(make1024()) + `"}`)),
		"RSA exponent 1":    say(list(strings.Replace(rsa, `"AQAB"`, `"AQ"`, 1))),
		"no keys":           say(list()),
		"no usable keys":    say(list(`{"kty":"RSA","use":"enc","n":"AA","e":"AQAB"}`)),
		"keys an object":    say(`{"keys":{}}`),
		"not JSON":          say(`<html>`),
		"empty":             say(``),
		"trailing document": say(list(ec) + list(rsa)),
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"pad":"`+strings.Repeat("x", maxDocument)+`",`+list(ec)[1:])
		},
		"padded beyond the limit": say(list(ec) + strings.Repeat(" ", maxDocument)),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, authntest.TestIssuer+"/elsewhere", http.StatusFound)
		},
		"status 500": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, list(ec), 500) },
		"status 203": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(203)
			_,
				_ = io.WriteString(w, list(ec))
		},
		"cut off in the middle": say(list(ec)[:40]),
	}
	for name, answer := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := authntest.Standard()
			i.Cache = "max-age=60"
			bubble(t, i, func(t *testing.T, c *authn.Chain) {
				i.Set(func(i *authntest.IDP) { i.Answer = answer })
				authntest.Want(t, "nothing known", try(t, c, "ec", authntest.EcKey()), "unavailable")
				i.Set(func(i *authntest.IDP) { i.Answer = nil })
				time.Sleep(time.Minute)
				authntest.Want(t, "good set", try(t, c, "ec", authntest.EcKey()), "ok")
				i.Set(func(i *authntest.IDP) { i.Answer = answer })
				time.Sleep(5 * time.Minute)
				authntest.Want(t, "known", try(t, c, "ec", authntest.EcKey()), "ok")
			})
		})
	}
}
