package dpop

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// replayShards spreads keys over locks.
const replayShards = 32

// replays remembers the proofs that were taken, for as long as they would be taken
// again (RFC 9449 §11.1). None is forgotten early: what cannot be remembered is not
// taken.
type replays struct {
	start  time.Time    // times are kept as what has passed since: setting the clock changes nothing
	life   atomic.Int64 // nanoseconds an entry stays
	count  atomic.Int64
	shares proofShares
	shards [replayShards]replayShard
}

// replayShard holds the proofs of some keys.
type replayShard struct {
	mu    sync.Mutex
	known map[[sha256.Size]byte]struct{}
	queue []replay // in the order they came, which is that of their ends
	_     [64]byte // keeps the locks of neighbours off one cache line
}

// replay is one proof.
type replay struct {
	id, caller [sha256.Size]byte
	at         time.Duration
}

// replayBounds are how many proofs are remembered.
type replayBounds struct {
	all, each int // of everybody, of one caller
}

// proofShares counts what is remembered by caller. A key is no measure: whoever may have
// tokens may have one for each of any number of keys.
type proofShares struct {
	mu sync.Mutex
	of map[[sha256.Size]byte]int
}

// take takes a place of a caller, of most that there are.
func (s *proofShares) take(caller [sha256.Size]byte, most int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[caller] >= most {
		return false
	}
	s.of[caller]++
	return true
}

// give gives one back.
func (s *proofShares) give(caller [sha256.Size]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[caller]--; s.of[caller] <= 0 {
		delete(s.of, caller)
	}
}

// held is how many places a caller has.
func (s *proofShares) held(caller [sha256.Size]byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[caller]
}

func newReplays(now time.Time) *replays {
	s := &replays{start: now, shares: proofShares{of: make(map[[sha256.Size]byte]int)}}
	for i := range s.shards {
		s.shards[i].known = make(map[[sha256.Size]byte]struct{})
	}
	return s
}

// keep makes entries stay at least this long.
func (s *replays) keep(life time.Duration) {
	for {
		was := s.life.Load()
		if int64(life) <= was || s.life.CompareAndSwap(was, int64(life)) {
			return
		}
	}
}

// ErrTooManyProofs says that one caller has made as many proofs as are remembered of one.
// It is no statement about the credential, which is good; 429.
var ErrTooManyProofs = errors.New("too many DPoP proofs within a short time (authn.dpop.proofsPerCaller)")

// crowded says that a proof cannot be remembered.
type crowded struct {
	limit int
	own   bool // of one caller
}

// Error names the bound.
func (c *crowded) Error() string {
	if c.own {
		return fmt.Sprintf("%d DPoP proofs of one caller are remembered, the most there may be (authn.dpop.proofsPerCaller)", c.limit)
	}
	return fmt.Sprintf("%d DPoP proofs are remembered, the most there may be (authn.dpop.proofs)", c.limit)
}

// Is makes errors.Is(err, ErrUnavailable) true, or ErrTooManyProofs: it is no statement
// about the proof.
func (c *crowded) Is(target error) bool {
	if c.own {
		return target == ErrTooManyProofs
	}
	return target == authn.ErrUnavailable
}

// replayKey is what a proof is remembered by: two keys may give their proofs the same id.
func replayKey(owner [sha256.Size]byte, id string) [sha256.Size]byte {
	var buf [sha256.Size + maxProofID]byte
	return sha256.Sum256(append(append(buf[:0], owner[:]...), id...))
}

// take takes a proof unless it has been taken before, here or by another gateway. Here
// comes first: it costs less, and a flood by one caller ends here. What the others know
// cannot be told when they cannot be asked, and then the proof is not taken.
func (g *Prover) take(ctx context.Context, caller string, p *proof, now time.Time) error {
	if err := g.seen.add(sha256.Sum256([]byte(caller)), p.print, p.id, g.bounds, now); err != nil || g.shared == nil {
		return err
	}
	key := replayKey(p.print, p.id)
	// It is good until made+window by any gateway's clock; the other window is for the
	// difference of their clocks.
	life := p.made.Sub(now) + 2*g.window
	first, err := g.shared(ctx, base64.RawURLEncoding.EncodeToString(key[:]), life)
	switch {
	case err != nil:
		return fmt.Errorf("%w: remember a DPoP proof: %w", authn.ErrUnavailable, err)
	case !first:
		return refuseProof(faultProofRepeated, nil)
	}
	return nil
}

// add takes the proof that the owner of a key gave this id, unless it has been taken
// before. The caller is who the token is for. The error is a *Refused or *crowded.
//
// Entries are found by key and not by caller: a configuration that reads another subject
// out of the same token must not bring back what was taken.
func (s *replays) add(caller, owner [sha256.Size]byte, id string, most replayBounds, now time.Time) error {
	key := replayKey(owner, id)
	at := now.Sub(s.start)
	shard := &s.shards[owner[0]%replayShards]
	if s.count.Load() >= int64(most.all) || s.shares.held(caller) >= most.each {
		s.sweep(at) // proofs of keys that are quiet by now may fill the store, or the share
	}
	shard.mu.Lock()
	defer shard.mu.Unlock()
	s.drop(shard, at)
	if _, ok := shard.known[key]; ok {
		return refuseProof(faultProofRepeated, nil)
	}
	if !s.shares.take(caller, most.each) {
		return &crowded{limit: most.each, own: true}
	}
	if s.count.Add(1) > int64(most.all) {
		s.count.Add(-1)
		s.shares.give(caller)
		return &crowded{limit: most.all}
	}
	shard.known[key] = struct{}{}
	shard.queue = append(shard.queue, replay{id: key, caller: caller, at: at})
	return nil
}

// sweep drops what has ended everywhere.
func (s *replays) sweep(at time.Duration) {
	for i := range s.shards {
		shard := &s.shards[i]
		shard.mu.Lock()
		s.drop(shard, at)
		shard.mu.Unlock()
	}
}

// drop forgets the entries of a shard that have ended. The caller holds its lock.
func (s *replays) drop(shard *replayShard, at time.Duration) {
	n, life := 0, time.Duration(s.life.Load())
	for n < len(shard.queue) && at-shard.queue[n].at >= life {
		e := &shard.queue[n]
		delete(shard.known, e.id)
		s.shares.give(e.caller)
		n++
	}
	shard.queue = shard.queue[n:] // append moves the rest when the front has grown idle
	s.count.Add(int64(-n))
}
