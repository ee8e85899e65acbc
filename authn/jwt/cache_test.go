package jwt

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// Distinct tokens never share an entry, however alike they are, and what is found
// is what was put in.
func TestL30_DistinctTokensNeverShareAnEntry(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Now()
		c := new(cache)
		// A small alphabet and few lengths make prefixes, suffixes and near-copies.
		tokens := rapid.SliceOfNDistinct(rapid.StringMatching(`[a.\x00]{0,6}`), 1, 40, rapid.ID[string]).Draw(t,
			"tokens")
		for i, raw := range tokens {
			c.add(digest(raw), entry{principal: &authn.Principal{Subject: fmt.Sprint(i)}, until: now.Add(time.Second)}, now)
		}
		for i, raw := range tokens {
			if e, ok := c.find(digest(raw), now); !ok || e.principal.Subject != fmt.Sprint(i) {
				t.Fatalf("token %q found %v", raw, e.principal)
			}
		}
		other := rapid.StringMatching(`[a.\x00]{7,9}`).Draw(t, "other")
		if e, ok := c.find(digest(other), now); ok {
			t.Fatalf("token %q, never added, found %v", other, e.principal)
		}
	})
}

// Callers at the same time never get each other's principal.
func TestL30_CallersNeverSwap(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	var wg sync.WaitGroup
	for n := range 4 {
		name := fmt.Sprint("caller-", n)
		token := authntest.Good(t, map[string]any{"sub": name})
		for range 2 {
			wg.Go(func() {
				r := authntest.BearerOf(token)
				for range 10_000 {
					if p, err := c.Authenticate(r); err != nil || p.Subject != name {
						t.Errorf("%s got %v, %v", name, p, err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
}

func TestL30_RememberedNoLongerThanTheToken(t *testing.T) {
	t.Parallel()
	bubble(t, authntest.Standard(), func(t *testing.T, c *authn.Chain) {
		now := time.Now()
		find := func(token string) bool {
			_, ok := From(c).cache.find(digest(token), time.Now())
			return ok
		}
		short := authntest.Good(t, map[string]any{"exp": now.Add(10 * time.Second).Unix()})
		long := authntest.Good(t, map[string]any{"exp": now.Add(time.Hour).Unix()})
		grace := authntest.Good(t, map[string]any{"exp": now.Add(-10 * time.Second).Unix()})
		for _, token := range []string{short, long, grace} {
			if _, err := c.Authenticate(authntest.BearerOf(token)); err != nil {
				t.Fatal(err)
			}
		}
		if !find(short) || !find(long) || find(grace) {
			t.Error("fresh: short and long should be remembered, expired never")
		}
		time.Sleep(10 * time.Second)
		if find(short) || !find(long) {
			t.Error("at exp: short should be forgotten, long remembered")
		}
		time.Sleep(20 * time.Second)
		if find(long) {
			t.Errorf("remembered for longer than %v", maxRemembered)
		}
		time.Sleep(41 * time.Second) // exp of short and the tolerance are over
		_, err := c.Authenticate(authntest.BearerOf(short))
		authntest.Want(t, "expired", authntest.FaultOf(err), "expired")
	})
}

// A refused token is refused again: nothing of it is remembered.
func TestRefusalsAreNotRemembered(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	bad := authntest.Good(t, map[string]any{"aud": "other"})
	for range 3 {
		if _, err := c.Authenticate(authntest.BearerOf(bad)); authntest.FaultOf(err) != "audience" {
			t.Errorf("got %v", err)
		}
	}
	if _, ok := From(c).cache.find(digest(bad), time.Now()); ok {
		t.Error("a refused token is remembered")
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := new(cache)
		size := func() (n int) {
			for i := range c.shards {
				n += len(c.shards[i].known)
			}
			return n
		}
		fill := func(n int) {
			for range n {
				now := time.Now()
				c.add(digest(rand.Text()), entry{until: now.Add(maxRemembered)}, now)
			}
		}
		fill(3 * memoryShards * memoryEach)
		if n := size(); n > memoryShards*memoryEach {
			t.Errorf("%d entries", n)
		}
		now := time.Now()
		keep := digest("keep")
		c.add(keep, entry{until: now.Add(time.Hour)}, now)
		time.Sleep(maxRemembered)
		fill(memoryShards * memoryEach)
		if _, ok := c.find(keep, time.Now()); !ok {
			t.Error("a live entry was dropped while dead ones were there")
		}
	})
}
