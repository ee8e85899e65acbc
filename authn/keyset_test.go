package authn

import (
	"context"
	"crypto/ecdsa"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bubble runs a test on a fake clock with a chain over an in-memory issuer. The
// clock stands still while anything runs and jumps to the next timer when all wait.
func bubble(t *testing.T, i *idp, run func(t *testing.T, c *Chain)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Config{OIDC: []Issuer{issuerConfig()}}, Options{Client: &http.Client{Transport: i}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		run(t, c)
		synctest.Wait()
	})
}

// try authenticates a fresh good token, signed by key under kid.
func try(t *testing.T, c *Chain, kid string, key *ecdsa.PrivateKey) string {
	t.Helper()
	head := map[string]any{"alg": "ES256", "kid": kid, "typ": "at+jwt"}
	jti := map[string]any{"jti": rand.Text()} // never cached
	_, err := c.Authenticate(bearerOf(sign(t, key, head, claimsOf(jti))))
	return faultOf(err)
}

func want(t *testing.T, what, got, expected string) {
	t.Helper()
	if got != expected {
		t.Errorf("%s: got %s, want %s", what, got, expected)
	}
}

func newECKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(ecKey().Curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestL27_UnknownKidFlood(t *testing.T) {
	t.Parallel()
	i := standard()
	bubble(t, i, func(t *testing.T, c *Chain) {
		// Signing ten thousand tokens is not the point: the kid decides before the
		// signature is looked at.
		_, tail, _ := strings.Cut(good(t, nil), ".")
		want(t, "a good token before the flood", try(t, c, "ec", ecKey()), "ok")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 1250 {
					head := b64(fmt.Appendf(nil, `{"alg":"ES256","kid":"%s"}`, rand.Text()))
					if _, err := c.Authenticate(bearerOf(head + "." + tail)); faultOf(err) != "unknown-key" {
						t.Errorf("got %v", err)
					}
					time.Sleep(10 * time.Millisecond) // 12.5 seconds in all
				}
			})
		}
		wg.Wait()
		if n := i.jwks.Load(); n > 2 {
			t.Errorf("%d fetches for a flood of unknown kids", n)
		}
		want(t, "a good token during the flood", try(t, c, "ec", ecKey()), "ok")
	})
}

// One stale client with a dead kid must not cause a fetch per interval for ever.
func TestL27_AbsentKidIsRemembered(t *testing.T) {
	t.Parallel()
	i := standard()
	i.cache = "max-age=3600"
	bubble(t, i, func(t *testing.T, c *Chain) {
		want(t, "known", try(t, c, "ec", ecKey()), "ok")
		for range 8 {
			time.Sleep(minInterval)
			want(t, "dead kid", try(t, c, "dead", ecKey()), "unknown-key")
		}
		if n := i.jwks.Load(); n != 2 {
			t.Errorf("%d fetches, want the first and one for the kid", n)
		}
		time.Sleep(absentFor)
		want(t, "dead kid", try(t, c, "dead", ecKey()), "unknown-key")
		if n := i.jwks.Load(); n != 3 {
			t.Errorf("%d fetches, want one more after %v", n, absentFor)
		}
	})
}

// A new key is used the moment it is published, seconds after a routine refresh,
// by many callers at once, while others go on with the old one.
func TestL27_RotationUnderLoad(t *testing.T) {
	t.Parallel()
	i := standard()
	next := newECKey(t)
	bubble(t, i, func(t *testing.T, c *Chain) {
		want(t, "before", try(t, c, "ec", ecKey()), "ok")
		time.Sleep(time.Second)
		gate := make(chan struct{})
		i.set(func(i *idp) { i.keys = append(i.keys, jwk("next", "ES256", next)); i.gate = gate })
		var wg sync.WaitGroup
		for n := range 64 {
			wg.Go(func() {
				if n%2 == 0 {
					want(t, "new key", try(t, c, "next", next), "ok")
				} else {
					want(t, "old key", try(t, c, "ec", ecKey()), "ok")
				}
			})
		}
		synctest.Wait() // all with the new key wait for the one fetch
		close(gate)
		wg.Wait()
		if n := i.jwks.Load(); n != 2 {
			t.Errorf("%d fetches, want 2", n)
		}
	})
}

// A token whose key is published while a routine fetch is under way joins that
// fetch, does not find its key in it, and has one more made.
func TestRotationDuringRoutineFetch(t *testing.T) {
	t.Parallel()
	i := standard()
	next := newECKey(t)
	i.cache = "max-age=1000"
	bubble(t, i, func(t *testing.T, c *Chain) {
		want(t, "before", try(t, c, "ec", ecKey()), "ok")
		want(t, "in use", try(t, c, "ec", ecKey()), "ok")
		gate := make(chan struct{})
		old := append(i.keys[:0:0], i.keys...)
		i.set(func(i *idp) { i.gate = gate })
		for i.jwks.Load() == 1 {
			time.Sleep(time.Second) // until the background refresh is under way
		}
		i.set(func(i *idp) { i.keys, i.gate = append(old, jwk("next", "", next)), nil })
		time.Sleep(time.Second)
		joined := make(chan string)
		go func() { joined <- try(t, c, "next", next) }()
		synctest.Wait()
		close(gate)
		want(t, "joined", <-joined, "ok")
	})
}

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
		if err := c.Warm(t.Context()); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "connection refused") {
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

// What the issuer takes back is refused when its age is over, also for callers
// whose token was verified a moment ago.
func TestL27_RemovedKeyDiesAtMaxAge(t *testing.T) {
	t.Parallel()
	i := standard()
	i.cache = "max-age=120"
	bubble(t, i, func(t *testing.T, c *Chain) {
		token := bearerOf(good(t, nil))
		pass := func() string { _, err := c.Authenticate(token); return faultOf(err) }
		want(t, "published", pass(), "ok")
		i.set(func(i *idp) { i.keys = i.keys[:1] })
		want(t, "removed a moment ago", pass(), "ok")
		time.Sleep(119 * time.Second)
		pass() // remembered, unless the background refresh has run already
		time.Sleep(2 * time.Second)
		want(t, "after max-age", pass(), "unknown-key")
		want(t, "the other key", faultOf(func() error {
			head := map[string]any{"alg": "RS256", "kid": "rsa"}
			_, err := c.Authenticate(bearerOf(sign(t, rsaKey(), head, claimsOf(nil))))
			return err
		}()), "ok")
	})
}

// A withdrawal that is seen earlier, because some token made the gateway look, voids
// what was verified with the key at once; other keys' tokens stay known.
func TestL27_WithdrawalVoidsVerifiedTokens(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*idp){
		"removed":       func(i *idp) { i.keys = i.keys[:1] },
		"replaced":      func(i *idp) { i.keys[1] = jwk("ec", "ES256", rsaOther()) },
		"other purpose": func(i *idp) { i.keys[1].Algorithm = "ES384" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := standard()
			bubble(t, i, func(t *testing.T, c *Chain) {
				token := good(t, nil)
				_, err := c.Authenticate(bearerOf(token))
				want(t, "before", faultOf(err), "ok")
				i.set(change)
				time.Sleep(time.Second)
				_, err = c.Authenticate(bearerOf(token))
				want(t, "not seen yet", faultOf(err), "ok")
				want(t, "unknown kid", try(t, c, "new", ecKey()), "unknown-key")
				if _, err = c.Authenticate(bearerOf(token)); err == nil {
					t.Error("a token outlived its key")
				}
			})
		})
	}
}

// The table of absent kids stays small and forgets what has lapsed.
func TestAbsentKidsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := &keySet{absent: map[string]time.Time{}}
	for n := range 3 * maxAbsent {
		s.note(fmt.Sprint(n), now)
	}
	if len(s.absent) != maxAbsent {
		t.Errorf("%d kids", len(s.absent))
	}
	s.note("late", now.Add(absentFor))
	if _, ok := s.absent["late"]; !ok || len(s.absent) != 1 {
		t.Errorf("%d kids after all have lapsed", len(s.absent))
	}
}

// A key that is published for one algorithm verifies no other.
func TestL25_KeyIsPinnedToItsAlgorithm(t *testing.T) {
	t.Parallel()
	bubble(t, newIDP(testIssuer, jwk("rsa", "RS256", rsaKey())), func(t *testing.T, c *Chain) {
		for alg, expected := range map[string]string{"RS256": "ok", "PS256": "algorithm"} {
			_, err := c.Authenticate(bearerOf(sign(t, rsaKey(), map[string]any{"alg": alg, "kid": "rsa"}, claimsOf(nil))))
			want(t, alg, faultOf(err), expected)
		}
	})
}

// In use, keys are refreshed before they go stale, so that no caller waits; out of
// use, the issuer is left alone.
func TestBackgroundRefresh(t *testing.T) {
	t.Parallel()
	i := standard()
	i.cache = "public, max-age=600"
	bubble(t, i, func(t *testing.T, c *Chain) {
		token := bearerOf(good(t, nil))
		for range 60 {
			if _, err := c.Authenticate(token); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
		}
		if n := i.jwks.Load(); n < 3 || n > 4 {
			t.Errorf("%d fetches in twenty minutes of use with max-age 600", n)
		}
		time.Sleep(10 * time.Minute)
		idle := i.jwks.Load()
		time.Sleep(10 * time.Hour)
		if n := i.jwks.Load(); n > idle+1 {
			t.Errorf("%d fetches while nobody called", n-idle)
		}
	})
}

func TestMinimumInterval(t *testing.T) {
	t.Parallel()
	i := standard()
	i.cache = "no-store"
	bubble(t, i, func(t *testing.T, c *Chain) {
		for range 300 {
			want(t, "in use", try(t, c, "ec", ecKey()), "ok")
			time.Sleep(time.Second)
		}
		if n := i.jwks.Load(); n < 9 || n > 11 {
			t.Errorf("%d fetches in five minutes, want one per %v", n, minInterval)
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
		"symmetric key":     say(list(ec, `{"kty":"oct","kid":"x","k":"c2VjcmV0"}`)),
		"k in another key":  say(list(strings.Replace(ec, `{`, `{"k":"c2VjcmV0",`, 1))),
		"private key":       say(list(private)),
		"kid twice":         say(list(ec, strings.Replace(rsa, `"rsa"`, `"ec"`, 1))),
		"name twice":        say(list(strings.Replace(ec, `{`, `{"kid":"other",`, 1))),
		"51 keys":           say(list(ec, manyKeys(50))),
		"not on the curve":  say(list(strings.Replace(ec, `"x":"`, `"x":"AAAA`, 1))),
		"weak RSA":          say(list(ec, `{"kty":"RSA","kid":"w","e":"AQAB","n":"`+b64(make1024())+`"}`)),
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
		"status 500":            func(w http.ResponseWriter, _ *http.Request) { http.Error(w, list(ec), 500) },
		"status 203":            func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(203); _, _ = io.WriteString(w, list(ec)) },
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

// Keys that are for something else, or of a kind that is not known, are skipped.
func TestForeignKeysAreSkipped(t *testing.T) {
	t.Parallel()
	ec := mustJSON(t, jwk("ec", "ES256", ecKey()))
	i := standard()
	i.answer = say(`{"keys":[{"kty":"AKP","kid":"a","alg":"ML-DSA-44","pub":"AA"},{"kty":"OKP","crv":"X25519","kid":"b","x":"AA"},
		{"kty":"EC","crv":"secp256k1","kid":"c","x":"AA","y":"AA"},{"kty":"RSA","use":"enc","kid":"ec","n":"AA","e":"AQAB"},
		{"kty":"RSA","key_ops":["encrypt"],"kid":"d"},{"kty":"RSA","alg":"RSA-OAEP","kid":"e"},` + ec + `],"extra":1}`)
	bubble(t, i, func(t *testing.T, c *Chain) {
		want(t, "the one key for us", try(t, c, "ec", ecKey()), "ok")
	})
}

func TestNoKidAndSeveralKeys(t *testing.T) {
	t.Parallel()
	i := newIDP(testIssuer, jwk("a", "", ecKey()), jwk("b", "", newECKey(t)))
	bubble(t, i, func(t *testing.T, c *Chain) {
		_, err := c.Authenticate(bearerOf(sign(t, ecKey(), map[string]any{"alg": "ES256"}, claimsOf(nil))))
		want(t, "no kid", faultOf(err), "unknown-key")
	})
}
