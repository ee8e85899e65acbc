package state

import (
	"bytes"
	"container/heap"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidwall/btree"

	"github.com/a2a-gateway/a2a-gateway/internal/share"
)

// evictions is how many values that ran out a write takes away at most: more than it
// adds, so that they never pile up, and so few that it stays short.
const evictions = 64

// spaces are the Values of the memory driver. There are few spaces and none goes.
type spaces struct {
	limit  int64
	size   atomic.Int64  // what values in all of them weigh, never above limit
	owners share.Holders // of that

	mu    sync.RWMutex
	names map[string]*space
}

// space is the values under one name.
type space struct {
	name   string
	mu     sync.Mutex
	values btree.Map[string, *value]
	due    due
}

type value struct {
	key     string
	data    []byte
	expires int64 // Unix nanoseconds; 0 for never
	place   int   // in due; counts only for what expires
}

// bytesOfOne is how much of data counts as a further value.
const bytesOfOne = 256

// weight is what a value with such data counts for.
func weight(data []byte) int64 { return 1 + int64(len(data)/bytesOfOne) }

// owner is who has a value of a space: what stands before the first slash of its key, or the
// space as such. Owners share the room as they do that of a Queue.
func (s *space) owner(key string) string {
	if owner, _, found := strings.Cut(key, "/"); found {
		return s.name + "/" + owner
	}
	return s.name
}

// take makes room for what somebody's value weighs more than before, or less.
func (x *spaces) take(owner string, n int64) error {
	if n <= 0 {
		x.owners.Give(owner, -n)
		x.size.Add(n)
		return nil
	}
	if size := x.size.Add(n); size > x.limit || !x.owners.Take(owner, n, x.limit-size) {
		x.size.Add(-n)
		return ErrFull
	}
	return nil
}

// Put implements Values. It fails only with ErrFull.
func (x *spaces) Put(_ context.Context, space, key string, data []byte, ttl time.Duration) error {
	s, now := x.open(space), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(x, now, evictions)
	if there, err := s.replace(x, key, data, now, ttl); there || err != nil {
		return err
	}
	return s.insert(x, &value{key: key, data: data}, now, ttl)
}

// Replace implements Values. It fails only with ErrFull.
func (x *spaces) Replace(_ context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	s, now := x.open(space), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(x, now, evictions)
	return s.replace(x, key, data, now, ttl)
}

// replace is false where nothing is stored under a key, or there is no room for what is to
// be: what is there stays then.
func (s *space) replace(x *spaces, key string, data []byte, now time.Time, ttl time.Duration) (bool, error) {
	v := s.live(key, now)
	if v == nil {
		return false, nil
	}
	if err := x.take(s.owner(key), weight(data)-weight(v.data)); err != nil {
		return false, err
	}
	s.unschedule(v)
	v.data = bytes.Clone(data)
	s.schedule(v, now, ttl)
	return true, nil
}

// Add implements Values.
func (x *spaces) Add(_ context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	s, now := x.open(space), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(x, now, evictions)
	if s.live(key, now) != nil {
		return false, nil
	}
	err := s.insert(x, &value{key: key, data: data}, now, ttl)
	return err == nil, err
}

// Get implements Values.
func (x *spaces) Get(_ context.Context, space, key string) ([]byte, bool, error) {
	s, now := x.open(space), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.live(key, now)
	if v == nil {
		return nil, false, nil
	}
	return bytes.Clone(v.data), true, nil
}

// Delete implements Values.
func (x *spaces) Delete(_ context.Context, space, key string) error {
	s := x.open(space)
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.values.Get(key); ok {
		s.remove(x, v)
	}
	return nil
}

// List implements Values.
func (x *spaces) List(_ context.Context, space, after string, limit int) ([]Value, error) {
	s, now := x.open(space), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Value
	s.values.Ascend(after, func(key string, v *value) bool {
		if len(list) >= limit {
			return false
		}
		if key > after && !v.over(now) {
			list = append(list, v.value())
		}
		return true
	})
	return list, nil
}

// open finds or makes a space.
func (x *spaces) open(name string) *space {
	x.mu.RLock()
	s := x.names[name]
	x.mu.RUnlock()
	if s != nil {
		return s
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if s = x.names[name]; s == nil {
		s = &space{name: strings.Clone(name)}
		x.names[s.name] = s
	}
	return s
}

// sweep takes away what ran out, and lets others in between.
func (x *spaces) sweep(now time.Time) {
	x.mu.RLock()
	all := slices.Collect(maps.Values(x.names))
	x.mu.RUnlock()
	for _, s := range all {
		for s.sweep(x, now) {
		}
	}
}

// sweep takes some of what ran out away and says whether there may be more.
func (s *space) sweep(x *spaces, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.expire(x, now, evictions) == evictions
}

// live finds a value that has not run out. The space must be locked, here as below.
func (s *space) live(key string, now time.Time) *value {
	v, ok := s.values.Get(key)
	if !ok || v.over(now) {
		return nil
	}
	return v
}

// insert stores a value whose key has none that lives, with copies of what the
// caller holds.
func (s *space) insert(x *spaces, v *value, now time.Time, ttl time.Duration) error {
	if old, ok := s.values.Get(v.key); ok {
		s.remove(x, old)
	}
	if err := x.take(s.owner(v.key), weight(v.data)); err != nil {
		return err
	}
	v.key, v.data = strings.Clone(v.key), bytes.Clone(v.data)
	s.values.Set(v.key, v)
	s.schedule(v, now, ttl)
	return nil
}

func (s *space) remove(x *spaces, v *value) {
	s.unschedule(v)
	s.values.Delete(v.key)
	_ = x.take(s.owner(v.key), -weight(v.data)) // what shrinks always may
}

// schedule says when a value runs out.
func (s *space) schedule(v *value, now time.Time, ttl time.Duration) {
	v.expires = 0
	if ttl != 0 {
		v.expires = now.Add(ttl).UnixNano()
		heap.Push(&s.due, v)
	}
}

func (s *space) unschedule(v *value) {
	if v.expires != 0 {
		heap.Remove(&s.due, v.place)
	}
}

// expire takes away at most some values that ran out, and says how many.
func (s *space) expire(x *spaces, now time.Time, most int) int {
	n := 0
	for ; n < most && len(s.due) > 0 && s.due[0].over(now); n++ {
		s.remove(x, s.due[0])
	}
	return n
}

// over reports whether a value has run out.
func (v *value) over(now time.Time) bool { return v.expires != 0 && now.UnixNano() >= v.expires }

// value is what callers see, with data of their own.
func (v *value) value() Value {
	out := Value{Key: v.key, Data: bytes.Clone(v.data)}
	if v.expires != 0 {
		out.Expires = time.Unix(0, v.expires).UTC()
	}
	return out
}

// due is a heap of the values that run out, the next on top.
type due []*value

func (d due) Len() int           { return len(d) }
func (d due) Less(i, j int) bool { return d[i].expires < d[j].expires }
func (d due) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

// Push implements heap.Interface.
func (d *due) Push(v any) {
	if e, ok := v.(*value); ok {
		e.place = len(*d)
		*d = append(*d, e)
	}
}

// Pop implements heap.Interface.
func (d *due) Pop() any {
	last := len(*d) - 1
	v := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return v
}
