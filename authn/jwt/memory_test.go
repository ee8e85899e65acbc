package jwt

import (
	"crypto/rand"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/jws"
)

// heavy is who a token with so many groups is about, read from JSON as verification does.
func heavy(t testing.TB, groups int) *authn.Principal {
	t.Helper()
	claims := map[string]any{
		"iss": "https://issuer.test", "sub": rand.Text(), "aud": "https://gateway.test", "exp": 1.9e9, "iat": 1.8e9, "jti": rand.Text(),
		"azp": "client-7", "name": "Alice Liddell", "email": "alice@example.com", "scope": "billing.read billing.write",
	}
	var list []string
	for i := range groups {
		list = append(list, fmt.Sprintf("%s-%d", rand.Text(), i))
	}
	claims["groups"] = list
	doc, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	read, err := jws.Object[any](doc)
	if err != nil {
		t.Fatal(err)
	}
	is := &issuer{cfg: Issuer{Issuer: "https://issuer.test"}}
	p, _, err := is.principal(read)
	if err != nil {
		t.Fatal(err)
	}
	p.Attest(&origin{issuer: is})
	return p
}

// TestMemoryIsBoundedInBytes: however much is in tokens, what is kept of them stays within
// the bound, the sum is right, and what is usual is found all the same.
func TestMemoryIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	c, f := new(cache), new(findings)
	now := time.Now()
	large, small := heavy(t, 600), heavy(t, 2)
	if w := weight(large); memoryShards*memoryEach*w < 4*memoryBytes || w > memoryShare {
		t.Fatalf("%d bytes are no test", w)
	}
	check := func() {
		t.Helper()
		sum, both := 0, 0
		for i := range c.shards {
			s, g := &c.shards[i], &f.shards[i]
			entries := 0
			for _, r := range s.known {
				entries += weight(r.value.principal)
			}
			if entries != s.bytes || s.bytes > memoryShare || g.bytes > memoryShare {
				t.Fatalf("shard %d: %d bytes, counted %d, and %d of findings", i, entries, s.bytes, g.bytes)
			}
			sum, both = sum+s.bytes, both+g.bytes
		}
		if sum > memoryBytes || both > memoryBytes {
			t.Fatalf("%d and %d bytes", sum, both)
		}
	}
	for i := range memoryShards * memoryEach {
		id, until := digest(rand.Text()), now.Add(time.Duration(i)*time.Millisecond+time.Second)
		c.add(id, entry{principal: large, until: until}, now)
		f.add(id, finding{principal: large, asked: now, until: until}, now)
		if _, ok := c.find(id, now); !ok {
			t.Fatalf("token %d is not remembered", i)
		}
	}
	check()
	var ids [][32]byte
	for i := range 3 * memoryShards { // so few that a sample never has these alone
		ids = append(ids, digest(fmt.Sprint("small ", i)))
		c.add(ids[i], entry{principal: small, until: now.Add(time.Hour)}, now)
		c.add(digest(rand.Text()), entry{principal: large, until: now.Add(time.Minute)}, now)
	}
	check()
	for i, id := range ids {
		if _, ok := c.find(id, now); !ok {
			t.Errorf("small token %d is forgotten", i)
		}
	}
}

// TestTooHeavyIsNotRemembered: what would fill a shard by itself pushes nothing out, and what
// was known of the same token before does not outlive it.
func TestTooHeavyIsNotRemembered(t *testing.T) {
	t.Parallel()
	var m memory[string]
	now := time.Now()
	until := now.Add(time.Minute)
	var other, id [32]byte
	other[1], id[1] = 1, 2 // of the same shard
	m.remember(other, "other", 1, now, until, now)
	m.remember(id, "light", memoryShare-1, now, until, now)
	if v, ok := m.find(id, now); !ok || v != "light" {
		t.Errorf("what fits exactly: %q, %v", v, ok)
	}
	m.remember(id, "heavy", memoryShare+1, now, until, now)
	if v, ok := m.find(id, now); ok {
		t.Errorf("what is too heavy: %q", v)
	}
	if v, ok := m.find(other, now); !ok || v != "other" || m.shards[0].bytes != 1 {
		t.Errorf("another: %q, %v; %d bytes", v, ok, m.shards[0].bytes)
	}
}

// TestWeights: what is counted is what the heap grows by, a quarter up or down. It runs while
// no other test does.
func TestWeights(t *testing.T) {
	for _, groups := range []int{0, 2, 20, 200, 600} {
		n := 40_000 / (groups + 40)
		c := new(cache)
		now := time.Now()
		before := authntest.Heap()
		for range n {
			c.add(digest(rand.Text()), entry{principal: heavy(t, groups), until: now.Add(time.Minute)}, now)
		}
		real, counted := int(authntest.Heap()-before), 0
		for i := range c.shards {
			counted += c.shards[i].bytes
		}
		t.Logf("%d groups: %d bytes each, counted %d", groups, real/n, counted/n)
		if counted < real*3/4 || counted > real*5/4 {
			t.Errorf("%d groups: %d bytes each, counted %d", groups, real/n, counted/n)
		}
		runtime.KeepAlive(c)
	}
}
