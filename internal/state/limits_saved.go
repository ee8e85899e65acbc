package state

import (
	"context"
	"strings"
	"time"
)

// Counts keeps Limits in the process, as the memory driver does, for a driver that serves
// one process and writes down from time to time what has changed. Nothing of it blocks
// on more than a short lock. Places are not for writing down: they end with who holds
// them, and so with the process.
type Counts struct{ b *buckets }

// Count is a rate or a quota in writing.
type Count struct {
	Key  string
	Kind DrawKind // 0 when the bucket stands as a new one would
	// Until is Unix nanoseconds: when a rate is full again, when a quota begins anew.
	Until int64
	// Units is what was used of a quota; of a rate, how many Parts of a nanosecond beyond
	// Until.
	Units int64
	Parts int64
}

// NewCounts makes an empty one with room for as many buckets and places as the memory
// driver has for records.
func NewCounts(c MemoryConfig) *Counts {
	b := newBuckets(c.records())
	for i := range b.shards {
		b.shards[i].changed = make(map[string]struct{})
	}
	return &Counts{b}
}

// Draw implements Limits.
func (c *Counts) Draw(ctx context.Context, draws []Draw) ([]Drawn, error) {
	return c.b.Draw(ctx, draws)
}

// Release implements Limits.
func (c *Counts) Release(ctx context.Context, holds []Draw) error { return c.b.Release(ctx, holds) }

// Sweep forgets what stands as a new bucket would; call it every ten seconds or so.
func (c *Counts) Sweep() { c.b.sweep() }

// Changed returns at most limit counts that have changed and were not returned since. If
// they could not be written down, Again has them returned once more.
func (c *Counts) Changed(limit int) []Count {
	var list []Count
	for i := range c.b.shards {
		s, now := &c.b.shards[i], c.b.now()
		s.mu.Lock()
		for key := range s.changed {
			if len(list) >= limit {
				break
			}
			delete(s.changed, key)
			list = append(list, s.count(key, now))
		}
		s.mu.Unlock()
	}
	return list
}

// Again takes back what Changed has returned.
func (c *Counts) Again(list []Count) {
	for _, count := range list {
		s := c.b.shard(count.Key)
		s.mu.Lock()
		s.note(count.Key)
		s.mu.Unlock()
	}
}

// Restore puts a count back as an earlier process has left it. With no room for more it
// is forgotten.
func (c *Counts) Restore(count Count) {
	s, now := c.b.shard(count.Key), c.b.now()
	k := count.bucket(now)
	s.mu.Lock()
	defer s.mu.Unlock()
	// One that is new by now is swept like others, and then noted as such.
	if k != nil && s.buckets[count.Key] == nil && c.b.grow() {
		s.buckets[strings.Clone(count.Key)] = k
	}
}

// bucket is the inverse of bucketShard.count.
func (count Count) bucket(now moment) bucket {
	switch count.Kind {
	case Rate:
		left := time.Unix(0, count.Until).Sub(now.wall)
		if left < 0 {
			return &rate{}
		}
		return &rate{at: now.since + uint64(left), part: uint64(count.Units), of: uint64(count.Parts)} //nolint:gosec // as checked: above zero, below 292 years
	case Quota:
		return &quota{used: count.Units, until: count.Until}
	default:
		return nil
	}
}

// count writes down how a bucket stands. The shard must be locked, here as below.
func (s *bucketShard) count(key string, now moment) Count {
	switch k := s.buckets[key].(type) {
	case *rate:
		if k.idle(now) {
			break
		}
		until := now.wall.Add(time.Duration(k.at - now.since)).UnixNano()                          //nolint:gosec // as checked: above zero, below 292 years
		return Count{Key: key, Kind: Rate, Until: until, Units: int64(k.part), Parts: int64(k.of)} //nolint:gosec // as checked: above zero, below 292 years
	case *quota:
		return Count{Key: key, Kind: Quota, Until: k.until, Units: k.used}
	}
	return Count{Key: key}
}

// note remembers that a bucket is not what it was.
func (s *bucketShard) note(key string) {
	if s.changed == nil {
		return
	}
	if _, ok := s.changed[key]; !ok {
		s.changed[strings.Clone(key)] = struct{}{}
	}
}
