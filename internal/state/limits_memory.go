package state

import (
	"context"
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// limitsPeriod is how often buckets that stand as new ones would are looked for: most
// are full again within a minute.
const limitsPeriod = 10 * time.Second

// buckets is what the memory driver counts limits in. It has a bound of its own, so that
// callers who are counted cannot use up the room for who owns what.
type buckets struct {
	limit  int64
	start  time.Time
	seed   maphash.Seed
	size   atomic.Int64 // buckets and places in all shards, never above limit
	shards [shards]bucketShard
}

// bucketShard is one lock and what it guards.
type bucketShard struct {
	mu      sync.Mutex
	buckets map[string]bucket
	changed map[string]struct{} // since Counts.Changed looked; nil where nobody does
	_       [40]byte            // keeps neighbours' locks off this cache line
}

// bucket is one limit of one caller. Its methods are called with its shard locked. Of a
// Draw, reserve comes first for all buckets, then settle for all, then stand.
type bucket interface {
	kind() DrawKind
	// reserve fills in OK and Wait. ErrFull is its only error.
	reserve(d *Draw, got *Drawn, now moment) error
	// settle takes what was reserved, or gives it up.
	settle(d *Draw, now moment, take bool)
	// stand reports Left and Reset.
	stand(d *Draw, now moment) (left int64, reset time.Duration)
	// idle says that a new bucket would stand as this one does.
	idle(now moment) bool
}

// moment is one reading of the clock, for all draws of a call. What lasts is measured
// by a clock that nobody sets.
type moment struct {
	since uint64 // nanoseconds since the driver began
	wall  time.Time
}

func newBuckets(limit int64) *buckets {
	b := &buckets{limit: limit, start: time.Now(), seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i].buckets = make(map[string]bucket)
	}
	return b
}

// Draw implements Limits: it refuses what means nothing and draws the rest.
func (b *buckets) Draw(_ context.Context, draws []Draw) ([]Drawn, error) {
	for i := range draws {
		if err := draws[i].Check(); err != nil {
			return nil, err
		}
	}
	return b.draw(draws)
}

// draw draws on all buckets or on none. It looks first what each would give, and takes only then: a call
// that one limit refuses costs nothing of the others.
func (b *buckets) draw(draws []Draw) ([]Drawn, error) {
	locked := b.lock(draws)
	defer b.unlock(locked)
	now, got, all := b.now(), make([]Drawn, len(draws)), true
	var room [8]bucket // more than one call usually draws on
	found := room[:0]
	var err error
	for i := range draws {
		k := b.find(&draws[i])
		if k == nil {
			err = ErrFull
			break
		}
		found = append(found, k)
		if err = k.reserve(&draws[i], &got[i], now); err != nil {
			break
		}
		all = all && (got[i].OK || draws[i].Soft)
	}
	for i, k := range found {
		if got[i].OK {
			k.settle(&draws[i], now, all && err == nil)
			b.shard(draws[i].Key).note(draws[i].Key)
		}
	}
	if err != nil {
		return nil, err
	}
	for i, k := range found {
		got[i].Left, got[i].Reset = k.stand(&draws[i], now)
	}
	return got, nil
}

// find returns the bucket of a Draw, if need be a new one; nil when there is no room.
func (b *buckets) find(d *Draw) bucket {
	s := b.shard(d.Key)
	k := s.buckets[d.Key]
	if k != nil && k.kind() == d.Kind {
		return k
	}
	if !b.grow() {
		return nil
	}
	b.drop(s, d.Key)
	k = b.make(d.Kind)
	// The key is often a piece of something longer, which must not live as long.
	s.buckets[strings.Clone(d.Key)] = k
	return k
}

func (b *buckets) make(k DrawKind) bucket {
	switch k {
	case Rate:
		return &rate{}
	case Quota:
		return &quota{}
	default:
		return &hold{all: b}
	}
}

// Release implements Limits.
func (b *buckets) Release(_ context.Context, holds []Draw) error {
	locked := b.lock(holds)
	defer b.unlock(locked)
	for i := range holds {
		d := &holds[i]
		s := b.shard(d.Key)
		if h, ok := s.buckets[d.Key].(*hold); ok {
			h.release(d.Holder)
			if len(h.places) == 0 {
				b.drop(s, d.Key)
			}
		}
	}
	return nil
}

// drop forgets a bucket, if it is there. Its shard must be locked.
func (b *buckets) drop(s *bucketShard, key string) {
	k, ok := s.buckets[key]
	if !ok {
		return
	}
	if h, is := k.(*hold); is {
		b.size.Add(-int64(len(h.places)))
	}
	delete(s.buckets, key)
	s.note(key)
	b.size.Add(-1)
}

// grow takes the room of one more bucket or place, if there is any.
func (b *buckets) grow() bool {
	if b.size.Add(1) > b.limit {
		b.size.Add(-1)
		return false
	}
	return true
}

// shardSet names shards by bits.
type shardSet [shards / 64]uint64

// lock locks the shards of all draws in the order of the shards, so that no two calls
// wait for each other.
func (b *buckets) lock(draws []Draw) shardSet {
	var set shardSet
	for i := range draws {
		n := b.index(draws[i].Key)
		set[n/64] |= 1 << (n % 64)
	}
	b.each(set, func(s *bucketShard) { s.mu.Lock() })
	return set
}

func (b *buckets) unlock(set shardSet) {
	b.each(set, func(s *bucketShard) { s.mu.Unlock() })
}

func (b *buckets) each(set shardSet, do func(*bucketShard)) {
	for word, rest := range set {
		for ; rest != 0; rest &= rest - 1 {
			do(&b.shards[word*64+bits.TrailingZeros64(rest)])
		}
	}
}

func (b *buckets) index(key string) uint64 { return maphash.String(b.seed, key) % shards }

func (b *buckets) shard(key string) *bucketShard { return &b.shards[b.index(key)] }

func (b *buckets) now() moment {
	wall := time.Now()
	return moment{since: uint64(wall.Sub(b.start)), wall: wall} //nolint:gosec // its clock only goes on
}

// sweep forgets what stands as a new bucket would, one lock at a time.
func (b *buckets) sweep() {
	for i := range b.shards {
		s, now := &b.shards[i], b.now()
		s.mu.Lock()
		for key, k := range s.buckets {
			if k.idle(now) {
				b.drop(s, key)
			}
		}
		s.mu.Unlock()
	}
}

// Counted is how many buckets of limits and places in them are held, those that stand as
// new ones would but were not yet swept included.
func (m *Memory) Counted() int { return int(m.buckets.size.Load()) }
