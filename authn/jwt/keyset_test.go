package jwt

import (
	"crypto/ecdsa"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// bubble runs a test on a fake clock with a chain over an in-memory issuer. The
// clock stands still while anything runs and jumps to the next timer when all wait.
func bubble(t *testing.T, i *authntest.IDP, run func(t *testing.T, c *authn.Chain)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o := bySource()
		o.Client = &http.Client{Transport: i}
		c, err := tryTokens(t.Context(), Config{OIDC: []Issuer{issuerConfig()}}, o)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		run(t, c)
		synctest.Wait()
	})
}

// try authenticates a fresh good token, signed by key under kid.
func try(t *testing.T, c *authn.Chain, kid string, key *ecdsa.PrivateKey) string {
	t.Helper()
	return tryFrom(t, c, "", kid, key)
}

// tryFrom does so from an address.
func tryFrom(t *testing.T, c *authn.Chain, from, kid string, key *ecdsa.PrivateKey) string {
	t.Helper()
	head := map[string]any{"alg": "ES256", "kid": kid, "typ": "at+jwt"}
	jti := map[string]any{"jti": rand.Text()} // never cached
	r := authntest.BearerOf(authntest.Sign(t, key, head, authntest.ClaimsOf(jti)))
	r.Header.Set("X-From", from)
	_, err := c.Authenticate(r)
	return authntest.FaultOf(err)
}

func newECKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(authntest.EcKey().Curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestL27_UnknownKidFlood(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		// Signing ten thousand tokens is not the point: the kid decides before the
		// signature is looked at.
		_, tail, _ := strings.Cut(authntest.Good(t, nil), ".")
		authntest.Want(t, "a good token before the flood", try(t, c, "ec", authntest.EcKey()), "ok")
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 1250 {
					head := authntest.Base64(fmt.Appendf(nil, `{"alg":"ES256","kid":"%s"}`, rand.Text()))
					if _, err := c.Authenticate(authntest.BearerOf(head + "." + tail)); authntest.FaultOf(err) != "unknown-key" {
						t.Errorf("got %v", err)
					}
					time.Sleep(10 * time.Millisecond) // 12.5 seconds in all
				}
			})
		}
		wg.Wait()
		// The first one, and what one address has: at once, and in 12.5 seconds.
		if n := i.Jwks.Load(); n < 1+missShare || n > 1+missShare+2 {
			t.Errorf("%d fetches for a flood of unknown kids", n)
		}
		authntest.Want(t, "a good token during the flood", try(t, c, "ec", authntest.EcKey()), "ok")
	})
}

// Who makes up a kid, or guesses the next one, just before an issuer publishes a key does
// not delay the first token with that key.
func TestL27_MadeUpKidsBeforeRotation(t *testing.T) {
	t.Parallel()
	const mallory, alice = "203.0.113.9", "192.0.2.1"
	for name, tt := range map[string]struct {
		from  string // of the good token
		kids  int    // made up before
		guess bool   // the good one among them
	}{
		"one, from the same address":       {from: mallory, kids: 1},
		"a flood, from another address":    {from: alice, kids: 1000},
		"a guess, from another address":    {from: alice, guess: true},
		"a flood behind a guess, likewise": {from: alice, guess: true, kids: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := authntest.Standard()
			next := newECKey(t)
			bubble(t, i, func(t *testing.T, c *authn.Chain) {
				authntest.Want(t, "before", tryFrom(t, c, alice, "ec", authntest.EcKey()), "ok")
				time.Sleep(time.Second)
				if tt.guess {
					authntest.Want(t, "a guess", tryFrom(t, c, mallory, "next", authntest.EcKey()), "unknown-key")
				}
				for range tt.kids {
					time.Sleep(time.Millisecond)
					authntest.Want(t, "made up", tryFrom(t, c, mallory, rand.Text(), authntest.EcKey()), "unknown-key")
				}
				if n := i.Jwks.Load(); n > 1+missShare {
					t.Errorf("%d fetches for one address", n-1)
				}
				i.Set(func(i *authntest.IDP) { i.Keys = append(i.Keys, authntest.JWK("next", "ES256", next)) })
				time.Sleep(time.Millisecond)
				authntest.Want(t, "the new key", tryFrom(t, c, tt.from, "next", next), "ok")
			})
		})
	}
}

// A flood of made-up kids from everywhere is a bounded number of fetches, of which each
// brings a new key: it is never late by more than it takes for the next one.
func TestL27_UnknownKidsFromEverywhere(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	next := newECKey(t)
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "before", try(t, c, "ec", authntest.EcKey()), "ok")
		time.Sleep(time.Second)
		flood := func() {
			for n := range 100 {
				time.Sleep(time.Millisecond)
				tryFrom(t, c, fmt.Sprintf("203.0.113.%d", n), rand.Text(), authntest.EcKey())
			}
		}
		flood()
		if n := i.Jwks.Load() - 1; n != missBurst {
			t.Errorf("%d fetches at once, want %d", n, missBurst)
		}
		i.Set(func(i *authntest.IDP) { i.Keys = append(i.Keys, authntest.JWK("next", "ES256", next)) })
		time.Sleep(time.Millisecond)
		authntest.Want(t, "while there is nothing left", tryFrom(t, c, "192.0.2.1", "next", next), "unknown-key")
		time.Sleep(minInterval / missBurst)
		flood()
		authntest.Want(t, "a moment later", tryFrom(t, c, "192.0.2.1", "next", next), "ok")
		for range 10 {
			time.Sleep(minInterval / 10)
			flood()
		}
		if n := i.Jwks.Load() - 1; n > 2*missBurst+2 { // and one by age
			t.Errorf("%d fetches", n)
		}
	})
}

// What is remembered of addresses is no more than there were fetches a moment ago, and a
// clock that is set back holds nobody up.
func TestMissesAreBounded(t *testing.T) {
	t.Parallel()
	var m misses
	now := time.Now()
	for n := range 10_000 {
		m.take(failures.AddressBlock(fmt.Sprintf("10.0.%d.%d", n/250, n%250)), now.Add(time.Duration(n)*time.Second))
	}
	if n := len(m.from); n == 0 || n > 2*missBurst {
		t.Errorf("%d addresses", n)
	}
	now = now.Add(-time.Hour)
	m.take(failures.AddressBlock("10.0.0.1"), now)
	if !m.take(failures.AddressBlock("10.0.0.1"), now.Add(minInterval/missShare)) {
		t.Error("held up by a clock of before")
	}
}

// A key set that was fetched for this very token is not fetched again for it.
func TestUnknownKidOnFirstLoad(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "unknown", try(t, c, "dead", authntest.EcKey()), "unknown-key")
		if n := i.Jwks.Load(); n != 1 {
			t.Errorf("%d fetches", n)
		}
	})
}

// One stale client with a dead kid must not cause a fetch per interval for ever.
func TestL27_AbsentKidIsRemembered(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Cache = "max-age=3600"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "known", try(t, c, "ec", authntest.EcKey()), "ok")
		for range 8 {
			time.Sleep(minInterval)
			authntest.Want(t, "dead kid", try(t, c, "dead", authntest.EcKey()), "unknown-key")
		}
		if n := i.Jwks.Load(); n != 2 {
			t.Errorf("%d fetches, want the first and one for the kid", n)
		}
		time.Sleep(absentFor)
		authntest.Want(t, "dead kid", try(t, c, "dead", authntest.EcKey()), "unknown-key")
		if n := i.Jwks.Load(); n != 3 {
			t.Errorf("%d fetches, want one more after %v", n, absentFor)
		}
	})
}

// A new key is used the moment it is published, seconds after a routine refresh,
// by many callers at once, while others go on with the old one.
func TestL27_RotationUnderLoad(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	next := newECKey(t)
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "before", try(t, c, "ec", authntest.EcKey()), "ok")
		time.Sleep(time.Second)
		gate := make(chan struct{})
		i.Set(func(i *authntest.IDP) { i.Keys = append(i.Keys, authntest.JWK("next", "ES256", next)); i.Gate = gate })
		var wg sync.WaitGroup
		for n := range 64 {
			wg.Go(func() {
				if n%2 == 0 {
					authntest.Want(t, "new key", try(t, c, "next", next), "ok")
				} else {
					authntest.Want(t, "old key", try(t, c, "ec", authntest.EcKey()), "ok")
				}
			})
		}
		synctest.Wait() // all with the new key wait for the one fetch
		close(gate)
		wg.Wait()
		if n := i.Jwks.Load(); n != 2 {
			t.Errorf("%d fetches, want 2", n)
		}
	})
}

// A token whose key is published while a routine fetch is under way joins that
// fetch, does not find its key in it, and has one more made.
func TestRotationDuringRoutineFetch(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	next := newECKey(t)
	i.Cache = "max-age=1000"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		authntest.Want(t, "before", try(t, c, "ec", authntest.EcKey()), "ok")
		authntest.Want(t, "in use", try(t, c, "ec", authntest.EcKey()), "ok")
		gate := make(chan struct{})
		old := append(i.Keys[:0:0], i.Keys...)
		i.Set(func(i *authntest.IDP) { i.Gate = gate })
		for i.Jwks.Load() == 1 {
			time.Sleep(time.Second) // until the background refresh is under way
		}
		i.Set(func(i *authntest.IDP) { i.Keys, i.Gate = append(old, authntest.JWK("next", "", next)), nil })
		time.Sleep(time.Second)
		joined := make(chan string)
		go func() { joined <- try(t, c, "next", next) }()
		synctest.Wait()
		close(gate)
		authntest.Want(t, "joined", <-joined, "ok")
	})
}

// What the issuer takes back is refused when its age is over, also for callers
// whose token was verified a moment ago.
func TestL27_RemovedKeyDiesAtMaxAge(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Cache = "max-age=120"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		token := authntest.BearerOf(authntest.Good(t, nil))
		pass := func() string { _, err := c.Authenticate(token); return authntest.FaultOf(err) }
		authntest.Want(t, "published", pass(), "ok")
		i.Set(func(i *authntest.IDP) { i.Keys = i.Keys[:1] })
		// Nobody called since, so nothing was refreshed in the background.
		time.Sleep(119 * time.Second)
		authntest.Want(t, "removed, within max-age", pass(), "ok")
		time.Sleep(2 * time.Second)
		authntest.Want(t, "after max-age", pass(), "unknown-key")
		authntest.Want(t, "the other key", authntest.FaultOf(func() error {
			head := map[string]any{"alg": "RS256", "kid": "rsa"}
			_, err := c.Authenticate(authntest.BearerOf(authntest.Sign(t, authntest.RsaKey(), head, authntest.ClaimsOf(nil))))
			return err
		}()), "ok")
	})
}

// A withdrawal that is seen earlier, because some token made the gateway look, voids
// what was verified with the key at once; other keys' tokens stay known.
func TestL27_WithdrawalVoidsVerifiedTokens(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*authntest.IDP){
		"removed":       func(i *authntest.IDP) { i.Keys = i.Keys[:1] },
		"replaced":      func(i *authntest.IDP) { i.Keys[1] = authntest.JWK("ec", "ES256", authntest.RsaOther()) },
		"other purpose": func(i *authntest.IDP) { i.Keys[1].Algorithm = "ES384" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := authntest.Standard()
			bubble(t, i, func(t *testing.T, c *authn.Chain) {
				token := authntest.Good(t, nil)
				_, err := c.Authenticate(authntest.BearerOf(token))
				authntest.Want(t, "before", authntest.FaultOf(err), "ok")
				i.Set(change)
				time.Sleep(time.Second)
				_, err = c.Authenticate(authntest.BearerOf(token))
				authntest.Want(t, "not seen yet", authntest.FaultOf(err), "ok")
				authntest.Want(t, "unknown kid", try(t, c, "new", authntest.EcKey()), "unknown-key")
				if _, err = c.Authenticate(authntest.BearerOf(token)); err == nil {
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
	s := &keySet{absent: map[absent]time.Time{}}
	for n := range 3 * maxAbsent {
		s.note(absent{kid: fmt.Sprint(n)}, now)
	}
	if len(s.absent) != maxAbsent {
		t.Errorf("%d kids", len(s.absent))
	}
	late := absent{kid: "late"}
	s.note(late, now.Add(absentFor))
	if _, ok := s.absent[late]; !ok || len(s.absent) != 1 {
		t.Errorf("%d kids after all have lapsed", len(s.absent))
	}
}

// In use, keys are refreshed before they go stale, so that no caller waits; out of
// use, the issuer is left alone.
func TestBackgroundRefresh(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Cache = "public, max-age=600"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		token := authntest.BearerOf(authntest.Good(t, nil))
		for range 60 {
			if _, err := c.Authenticate(token); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Second)
		}
		if n := i.Jwks.Load(); n < 3 || n > 4 {
			t.Errorf("%d fetches in twenty minutes of use with max-age 600", n)
		}
		time.Sleep(10 * time.Minute)
		idle := i.Jwks.Load()
		time.Sleep(10 * time.Hour)
		if n := i.Jwks.Load(); n > idle+1 {
			t.Errorf("%d fetches while nobody called", n-idle)
		}
	})
}

func TestMinimumInterval(t *testing.T) {
	t.Parallel()
	i := authntest.Standard()
	i.Cache = "no-store"
	bubble(t, i, func(t *testing.T, c *authn.Chain) {
		for range 300 {
			authntest.Want(t, "in use", try(t, c, "ec", authntest.EcKey()), "ok")
			time.Sleep(time.Second)
		}
		if n := i.Jwks.Load(); n < 9 || n > 11 {
			t.Errorf("%d fetches in five minutes, want one per %v", n, minInterval)
		}
	})
}
