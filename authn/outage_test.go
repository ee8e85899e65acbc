package authn

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
)

func TestL27_IssuerDownAfterStart(t *testing.T) {
	t.Parallel()
	i := standard()
	i.cache = "max-age=60"
	bubble(t, i, func(t *testing.T, c *Chain) {
		want(t, "up", try(t, c, "ec", ecKey()), "ok")
		i.set(func(i *idp) { i.down = true })
		before := i.jwks.Load()
		const hours = 3
		for range hours * 60 {
			time.Sleep(time.Minute)
			start := time.Now()
			want(t, "known key", try(t, c, "ec", ecKey()), "ok")
			want(t, "unknown key", try(t, c, rand.Text(), ecKey()), "unknown-key")
			if d := time.Since(start); d > 50*time.Millisecond {
				t.Fatalf("callers waited %v for an issuer that is down", d)
			}
		}
		if n := i.jwks.Load() - before; n > 2*2*60*hours {
			t.Errorf("%d attempts in %d hours", n, hours)
		}
		i.set(func(i *idp) { i.down = false })
		time.Sleep(2 * minInterval)
		want(t, "back up", try(t, c, "ec", ecKey()), "ok")
		synctest.Wait() // by the keys that are known, while they are asked for again

		// Known keys end a day after their age.
		i.set(func(i *idp) { i.down = true })
		time.Sleep(staleFor - time.Minute)
		want(t, "down for most of a day", try(t, c, "ec", ecKey()), "ok")
		time.Sleep(3 * time.Minute)
		want(t, "down for more than a day", try(t, c, "ec", ecKey()), "unavailable")
		i.set(func(i *idp) { i.down = false })
		time.Sleep(minInterval)
		try(t, c, "ec", ecKey()) // asks, and need not wait
		synctest.Wait()
		want(t, "back again", try(t, c, "ec", ecKey()), "ok")
	})
}

// An issuer that accepts connections and then says nothing is as good as down, and
// holds callers up only once.
func TestL27_IssuerHangs(t *testing.T) {
	t.Parallel()
	i := standard()
	i.cache = "max-age=60"
	bubble(t, i, func(t *testing.T, c *Chain) {
		want(t, "up", try(t, c, "ec", ecKey()), "ok")
		gate := make(chan struct{})
		defer close(gate)
		i.set(func(i *idp) { i.gate = gate })
		time.Sleep(61 * time.Second)
		want(t, "known key", try(t, c, "ec", ecKey()), "ok")
		for range 10 {
			time.Sleep(31 * time.Second)
			start := time.Now()
			want(t, "known key", try(t, c, "ec", ecKey()), "ok")
			want(t, "unknown key", try(t, c, rand.Text(), ecKey()), "unknown-key")
			if d := time.Since(start); d > 50*time.Millisecond {
				t.Errorf("callers waited %v", d)
			}
		}
	})
}

func TestL27_IssuerDownAtStart(t *testing.T) {
	t.Parallel()
	i := standard()
	i.down = true
	bubble(t, i, func(t *testing.T, c *Chain) {
		want(t, "down", try(t, c, "ec", ecKey()), "unavailable")
		if err := c.Warm(t.Context()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(),
			"connection refused") {
			t.Errorf("warm: %v", err)
		}
		i.set(func(i *idp) { i.down = false })
		time.Sleep(time.Second)
		want(t, "up a second later", try(t, c, "ec", ecKey()), "ok")
		if err := c.Warm(t.Context()); err != nil {
			t.Errorf("warm: %v", err)
		}
	})
}

// While nothing is known the gateway tries often at first and rarely later.
func TestBackoffBeforeFirstLoad(t *testing.T) {
	t.Parallel()
	i := standard()
	i.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	bubble(t, i, func(t *testing.T, c *Chain) {
		for range 600 {
			want(t, "down", try(t, c, "ec", ecKey()), "unavailable")
			time.Sleep(time.Second)
		}
		if n := i.jwks.Load(); n < 20 || n > 30 {
			t.Errorf("%d attempts in ten minutes", n)
		}
	})
}

// A key that is published for one algorithm verifies no other.
func TestL25_KeyIsPinnedToItsAlgorithm(t *testing.T) {
	t.Parallel()
	bubble(t, newIDP(testIssuer, jwk("rsa", "RS256", rsaKey())), func(t *testing.T, c *Chain) {
		for alg, expected := range map[string]string{"RS256": "ok", "PS256": "algorithm"} {
			_, err := c.Authenticate(bearerOf(sign(t, rsaKey(), map[string]any{"alg": alg, "kid": "rsa"},
				claimsOf(nil))))
			want(t, alg, faultOf(err), expected)
		}
	})
}

// A caller who gives up neither waits on nor ends the fetch of the others.
func TestCallerGivesUp(t *testing.T) {
	t.Parallel()
	i := standard()
	bubble(t, i, func(t *testing.T, c *Chain) {
		gate := make(chan struct{})
		i.set(func(i *idp) { i.gate = gate })
		ctx, cancel := context.WithCancel(t.Context())
		first, second := make(chan string), make(chan string)
		go func() {
			_, err := c.Authenticate(bearerOf(good(t, nil)).WithContext(ctx))
			first <- faultOf(err)
		}()
		go func() { second <- try(t, c, "ec", ecKey()) }()
		synctest.Wait()
		cancel()
		want(t, "gave up", <-first, "unavailable")
		close(gate)
		want(t, "waited", <-second, "ok")
	})
}

// A set that no sane issuer publishes does not replace the one that is known, and
// is not believed when nothing is.
func TestL27_PoisonedKeySet(t *testing.T) {
	t.Parallel()
	ec, rsa := mustJSON(t, jwk("ec", "ES256", ecKey())), mustJSON(t, jwk("rsa", "", rsaKey()))
	private := mustJSON(t, withPrivate(jwk("ec", "", ecKey())))
	list := func(keys ...string) string { return `{"keys":[` + strings.Join(keys, ",") + `]}` }
	tests := map[string]http.HandlerFunc{
		"symmetric key":     say(list(`{"kty":"oct","kid":"x","k":"c2VjcmV0"}`)),
		"k in another key":  say(list(strings.Replace(ec, `{`, `{"k":"c2VjcmV0",`, 1))),
		"private key":       say(list(private)),
		"name twice":        say(list(strings.Replace(ec, `{`, `{"kid":"other",`, 1))),
		"unknown keys":      say(list(manyKeys(50))),
		"not on the curve":  say(list(strings.Replace(ec, `"x":"`, `"x":"AAAA`, 1))),
		"weak RSA":          say(list(`{"kty":"RSA","kid":"w","e":"AQAB","n":"` + b64(make1024()) + `"}`)),
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
			http.Redirect(w, r, testIssuer+"/elsewhere", http.StatusFound)
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
			i := standard()
			i.cache = "max-age=60"
			bubble(t, i, func(t *testing.T, c *Chain) {
				i.set(func(i *idp) { i.answer = answer })
				want(t, "nothing known", try(t, c, "ec", ecKey()), "unavailable")
				i.set(func(i *idp) { i.answer = nil })
				time.Sleep(time.Minute)
				want(t, "good set", try(t, c, "ec", ecKey()), "ok")
				i.set(func(i *idp) { i.answer = answer })
				time.Sleep(5 * time.Minute)
				want(t, "known", try(t, c, "ec", ecKey()), "ok")
			})
		})
	}
}
