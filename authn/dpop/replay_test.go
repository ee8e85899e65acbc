package dpop

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func ownerOf(name string) [sha256.Size]byte { return sha256.Sum256([]byte(name)) }

// RFC 9449 §11.1: a proof is good once, for as long as it is fresh at all.
func TestDPoPReplay(t *testing.T) {
	t.Parallel()
	c := authntest.NewClock(time.Now())
	g := openProver(Config{}, c.Now)
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	take := func(proof, want string) {
		t.Helper()
		err := g.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt)
		if got := authntest.FaultOf(err); got != want {
			t.Errorf("fault %s, want %s", got, want)
		}
		wantChallenge(t, err)
	}
	ahead := authntest.ProofOf(t, nil, map[string]any{"jti": "a", "iat": c.Now().Add(59 * time.Second).Unix()})
	take(ahead, "ok")
	for range 118 { // until its last second
		take(ahead, "dpop-replay")
		c.Pass(time.Second)
	}
	c.Pass(2 * time.Second)
	take(ahead, "dpop-time")
	again := func(change map[string]any) string {
		claims := map[string]any{"jti": "b", "iat": c.Now().Unix()}
		for k, v := range change {
			claims[k] = v
		}
		return authntest.ProofOf(t, nil, claims)
	}
	take(again(nil), "ok")
	take(again(map[string]any{"x": "other bytes, same jti"}), "dpop-replay")
	take(again(map[string]any{"jti": "c"}), "ok")
	// A proof that was turned down was not used.
	turned := again(map[string]any{"jti": "d", "htm": "GET"})
	take(turned, "dpop-request")
	take(again(map[string]any{"jti": "d"}), "ok")
}

// Of many who show one proof at once, one is let in.
func TestDPoPReplayRace(t *testing.T) {
	t.Parallel()
	g := openProver(Config{}, nil)
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	for range 20 {
		proof := authntest.ProofOf(t, nil, nil)
		var taken, repeated atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				switch err := g.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt); authntest.FaultOf(err) {
				case "ok":
					taken.Add(1)
				case "dpop-replay":
					repeated.Add(1)
				}
			})
		}
		all.Wait()
		if taken.Load() != 1 || repeated.Load() != 7 {
			t.Fatalf("%d taken, %d repeated", taken.Load(), repeated.Load())
		}
	}
}

// Memory is bounded, nothing fresh is forgotten for it, and the flood of one caller, by
// whatever keys, leaves room for others.
func TestDPoPReplayBounds(t *testing.T) {
	t.Parallel()
	c := authntest.NewClock(time.Now())
	s := newReplays(c.Now())
	s.keep(2 * time.Minute)
	most := replayBounds{all: 100, each: 10}
	add := func(caller, key, id string) error {
		return s.add(ownerOf(caller), ownerOf(key), id, most, c.Now())
	}
	full := func(err error, who string, is error, limit string) {
		t.Helper()
		if !errors.Is(err, is) || !strings.Contains(err.Error(), "("+limit+")") {
			t.Errorf("%s: %v", who, err)
		}
	}
	for i := range 1000 {
		err := add("mallory", fmt.Sprint("key", i%7), fmt.Sprint(i))
		if i < most.each && err != nil {
			t.Fatal(i, err)
		} else if i >= most.each {
			full(err, "mallory", ErrTooManyProofs, "authn.dpop.proofsPerCaller")
		}
	}
	for i := range most.all - most.each {
		if err := add(fmt.Sprint("alice", i), "1", fmt.Sprint(i)); err != nil {
			t.Fatal(i, err)
		}
	}
	full(add("bob", "1", "bob's"), "one more than there may be", authn.ErrUnavailable, "authn.dpop.proofs")
	for name, err := range map[string]error{
		"in the flood": add("mallory", "key0", "0"), "besides": add("alice0", "1", "0"),
		"by the key's owner under another name": add("alice1", "1", "0"),
	} {
		if authntest.FaultOf(err) != "dpop-replay" {
			t.Errorf("a fresh proof was forgotten %s: %v", name, err)
		}
	}
	c.Pass(2 * time.Minute)
	if err := add("bob", "1", "1"); err != nil {
		t.Error("when all have ended:", err)
	}
	s.sweep(c.Now().Sub(s.start))
	if n, held := s.count.Load(), len(s.shares.of); n != 1 || held != 1 {
		t.Errorf("%d proofs of %d callers remembered, want 1", n, held)
	}
}

// A caller who has used up the own share has it again as the proofs end, those by keys
// that are not used any more among them.
func TestDPoPReplayShareComesBack(t *testing.T) {
	t.Parallel()
	c := authntest.NewClock(time.Now())
	s := newReplays(c.Now())
	s.keep(time.Minute)
	for round := range 3 {
		for i := range 5 {
			key := ownerOf(fmt.Sprint("key", round, i))
			if err := s.add(ownerOf("alice"), key, "1", replayBounds{all: 100, each: 5}, c.Now()); err != nil {
				t.Fatal(round, i, err)
			}
		}
		c.Pass(time.Minute)
	}
}

// The numbers stay right under load, and there are never more than the bound.
func TestDPoPReplayCount(t *testing.T) {
	t.Parallel()
	s := newReplays(time.Now())
	s.keep(time.Hour)
	const limit = 500
	most := replayBounds{all: limit, each: limit}
	var taken atomic.Int64
	var all sync.WaitGroup
	for w := range 8 {
		all.Go(func() {
			for i := range 200 {
				if s.add(ownerOf(fmt.Sprint(i%3)), ownerOf(fmt.Sprint(w, i%50)), fmt.Sprint(i), most, time.Now()) == nil {
					taken.Add(1)
				}
			}
		})
	}
	all.Wait()
	held := 0
	for i := range s.shards {
		held += len(s.shards[i].known)
	}
	if taken.Load() != limit || s.count.Load() != limit || held != limit {
		t.Errorf("%d taken, %d counted, %d held, want %d", taken.Load(), s.count.Load(), held, limit)
	}
}

// A reload keeps what was taken, and a longer window brings nothing back.
func TestDPoPAcrossReload(t *testing.T) {
	t.Parallel()
	c := authntest.NewClock(time.Now())
	o := Options{Now: c.Now}
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	first := New(Config{Window: secs(10), Nonce: true}, &o, nil)
	nonce := first.Nonce()
	proof := authntest.ProofOf(t, nil, map[string]any{"iat": c.Now().Unix(), "nonce": nonce})
	if err := first.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt); err != nil {
		t.Fatal(err)
	}
	same := New(Config{Window: secs(10), Nonce: true}, &o, first)
	if same.Nonce() != nonce {
		t.Error("the nonce changed with a reload")
	}
	if got := authntest.FaultOf(same.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt)); got != "dpop-replay" {
		t.Error("after a reload:", got)
	}
	c.Pass(30 * time.Second) // forgotten, were anything added now
	same.seen.sweep(c.Now().Sub(same.seen.start))
	longer := New(Config{Window: secs(300)}, &o, same)
	if got := authntest.FaultOf(longer.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt)); got != "dpop-time" {
		t.Error("with a longer window:", got)
	}
	fresh := authntest.ProofOf(t, nil, map[string]any{"iat": c.Now().Unix()})
	if err := longer.Check(authntest.ProofRequest(fresh), authntest.ProofCaller, authntest.ProofToken, jkt); err != nil {
		t.Error(err)
	}
	c.Pass(30 * time.Second)
	// A chain that is on its way out must not forget for the one that came after.
	same.seen.sweep(c.Now().Sub(same.seen.start))
	if got := authntest.FaultOf(longer.Check(authntest.ProofRequest(fresh), authntest.ProofCaller, authntest.ProofToken, jkt)); got != "dpop-replay" {
		t.Error("after the old chain swept:", got)
	}
}

// RFC 9449 §9: a nonce of the gateway's, of this stretch of time or the last.
func TestDPoPNonce(t *testing.T) {
	t.Parallel()
	c := authntest.NewClock(time.Unix(1_800_000_000, 0))
	g := openProver(Config{Nonce: true}, c.Now)
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	take := func(name string, nonce any, want string) {
		t.Helper()
		proof := authntest.ProofOf(t, nil, map[string]any{"nonce": nonce, "iat": c.Now().Unix()})
		err := g.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt)
		if got := authntest.FaultOf(err); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		wantChallenge(t, err)
	}
	nonce := g.Nonce()
	take("none", nil, "dpop-nonce")
	take("somebody else's", newNonces().at(c.Now(), time.Minute, 0), "dpop-nonce")
	take("cut", nonce[:len(nonce)-1], "dpop-nonce")
	take("ours", nonce, "ok")
	take("ours again", nonce, "ok")
	c.Pass(time.Minute)
	take("the last one", nonce, "ok")
	if g.Nonce() == nonce {
		t.Error("the nonce does not change")
	}
	c.Pass(time.Minute)
	take("one before the last", nonce, "dpop-nonce")
	// Asking for the nonce does not use the proof up.
	proof := authntest.ProofOf(t, nil, map[string]any{"iat": c.Now().Unix()})
	for range 2 {
		if got := authntest.FaultOf(g.Check(authntest.ProofRequest(proof), authntest.ProofCaller, authntest.ProofToken, jkt)); got != "dpop-nonce" {
			t.Error("asked twice:", got)
		}
	}
	if n := g.seen.count.Load(); n != 3 {
		t.Error(n, "proofs remembered, want 3")
	}
	if openProver(Config{}, nil).Nonce() != "" {
		t.Error("a nonce that nobody asks for")
	}
}

func BenchmarkReplays(b *testing.B) {
	for _, owners := range []int{1, 10_000} {
		b.Run(fmt.Sprint(owners), func(b *testing.B) {
			s := newReplays(time.Now())
			s.keep(time.Millisecond)
			keys := make([][sha256.Size]byte, owners)
			for i := range keys {
				keys[i] = ownerOf(fmt.Sprint(i))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := s.add(keys[i%owners], keys[i%owners], fmt.Sprint(i), replayBounds{all: maxProofs, each: maxProofs}, time.Now()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
