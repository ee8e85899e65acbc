package authn

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
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
	shards [replayShards]replayShard
}

// replayShard holds the proofs of some keys.
type replayShard struct {
	mu     sync.Mutex
	known  map[[sha256.Size]byte]struct{}
	owners map[[sha256.Size]byte]int // entries by the key that made them
	queue  []replay                  // in the order they came, which is that of their ends
	_      [64]byte                  // keeps the locks of neighbours off one cache line
}

// replay is one proof.
type replay struct {
	id, owner [sha256.Size]byte
	at        time.Duration
}

func newReplays(now time.Time) *replays {
	s := &replays{start: now}
	for i := range s.shards {
		s.shards[i].known = make(map[[sha256.Size]byte]struct{})
		s.shards[i].owners = make(map[[sha256.Size]byte]int)
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

// crowded says that a proof cannot be remembered.
type crowded struct {
	limit int
	owner bool // of one key
}

// Error names the bound.
func (c *crowded) Error() string {
	if c.owner {
		return fmt.Sprintf("one key has made half of the %d DPoP proofs that are remembered (authn.dpop.proofs)", c.limit)
	}
	return fmt.Sprintf("%d DPoP proofs are remembered, the most there may be (authn.dpop.proofs)", c.limit)
}

// Is makes errors.Is(err, ErrUnavailable) true: it is no statement about the proof.
func (c *crowded) Is(target error) bool { return target == ErrUnavailable }

// replayKey is what a proof is remembered by: two keys may give their proofs the same id.
func replayKey(owner [sha256.Size]byte, id string) [sha256.Size]byte {
	var buf [sha256.Size + maxProofID]byte
	return sha256.Sum256(append(append(buf[:0], owner[:]...), id...))
}

// take takes a proof unless it has been taken before, here or by another gateway. Here
// comes first: it costs less, and a flood by one key ends here. What the others know
// cannot be told when they cannot be asked, and then the proof is not taken.
func (g *prover) take(ctx context.Context, p *proof, now time.Time) error {
	if err := g.seen.add(p.print, p.id, g.limit, now); err != nil || g.shared == nil {
		return err
	}
	key := replayKey(p.print, p.id)
	// It is good until made+window by any gateway's clock; the other window is for the
	// difference of their clocks.
	life := p.made.Sub(now) + 2*g.window
	first, err := g.shared(ctx, base64.RawURLEncoding.EncodeToString(key[:]), life)
	switch {
	case err != nil:
		return fmt.Errorf("%w: remember a DPoP proof: %w", ErrUnavailable, err)
	case !first:
		return refuseProof(faultProofRepeated, nil)
	}
	return nil
}

// add takes the proof that the owner gave this id, unless it has been taken before.
// The error is a *Refused or *crowded.
func (s *replays) add(owner [sha256.Size]byte, id string, limit int, now time.Time) error {
	key := replayKey(owner, id)
	at := now.Sub(s.start)
	shard := &s.shards[owner[0]%replayShards]
	if s.count.Load() >= int64(limit) {
		s.sweep(at) // proofs of keys that are quiet by now may fill the store
	}
	shard.mu.Lock()
	defer shard.mu.Unlock()
	s.drop(shard, at)
	if _, ok := shard.known[key]; ok {
		return refuseProof(faultProofRepeated, nil)
	}
	if shard.owners[owner] >= max(limit/2, 1) {
		return &crowded{limit: limit, owner: true}
	}
	if s.count.Add(1) > int64(limit) {
		s.count.Add(-1)
		return &crowded{limit: limit}
	}
	shard.known[key] = struct{}{}
	shard.owners[owner]++
	shard.queue = append(shard.queue, replay{id: key, owner: owner, at: at})
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
		if shard.owners[e.owner]--; shard.owners[e.owner] <= 0 {
			delete(shard.owners, e.owner)
		}
		n++
	}
	shard.queue = shard.queue[n:] // append moves the rest when the front has grown idle
	s.count.Add(int64(-n))
}
