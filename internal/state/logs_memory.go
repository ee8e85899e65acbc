package state

import (
	"bytes"
	"context"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// entryCost and logCost are what an entry and a log take besides their bytes: counted,
	// so that a flood of empty ones is bounded as well.
	entryCost = 48
	logCost   = 256
)

var errLogsFull = fmt.Errorf("%w: all logs together have state.memory.logBytes", ErrFull)

// logs are the Logs of the memory driver.
type logs struct {
	limit  int64
	seed   maphash.Seed
	size   atomic.Int64 // bytes of all logs and what they cost, never above limit
	shards [shards]logShard
}

// logShard is one lock and what it guards.
type logShard struct {
	mu   sync.Mutex
	logs map[string]*log
	_    [48]byte // keeps neighbours' locks off this cache line
}

// log is what is kept of one. The bytes of its entries never change.
type log struct {
	entries [][]byte
	last    uint64 // number of the newest
	bytes   int64
	expires time.Time
}

func newLogs(limit int64) *logs {
	x := &logs{limit: limit, seed: maphash.MakeSeed()}
	for i := range x.shards {
		x.shards[i].logs = make(map[string]*log)
	}
	return x
}

// Append implements Logs.
func (x *logs) Append(_ context.Context, name string, after uint64, entries [][]byte, keep Bound) error {
	if err := keep.Check(name); err != nil {
		return err
	}
	return x.append(name, after, entries, keep)
}

// Read implements Logs.
func (x *logs) Read(_ context.Context, name string, after uint64, limit int) (Tail, error) {
	if err := CheckLog(name); err != nil {
		return Tail{}, err
	}
	tail := x.read(name, after, limit)
	own(tail.Entries)
	return tail, nil
}

// Drop implements Logs.
func (x *logs) Drop(_ context.Context, name string) error {
	if err := CheckLog(name); err != nil {
		return err
	}
	s := x.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.logs[name]; l != nil {
		x.forget(s, name, l)
	}
	return nil
}

// append appends to a log that ends where the caller believes that it does, and drops what bounds do not
// leave room for. Room is taken before anything is changed.
func (x *logs) append(name string, after uint64, entries [][]byte, keep Bound) error {
	s, now := x.shard(name), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := x.live(s, name, now)
	if l == nil {
		if l = new(log); after == 0 && len(entries) == 0 {
			return nil
		}
	}
	if l.last != after {
		return ErrMoved
	}
	old, added, size := l.fit(entries, keep)
	cost := size - l.bytes + entryCost*int64(len(added)-old)
	if l.last == 0 {
		cost += logCost + int64(len(name))
	}
	if !x.grow(cost) {
		return errLogsFull
	}
	if l.last == 0 {
		// The name is often a piece of something longer, which must not live as long.
		s.logs[strings.Clone(name)] = l
	}
	clear(l.entries[:old])
	l.entries = l.entries[old:]
	for _, e := range added {
		l.entries = append(l.entries, bytes.Clone(e))
	}
	l.last, l.bytes, l.expires = after+uint64(len(entries)), size, now.Add(keep.TTL)
	return nil
}

// fit says what is within a bound once entries are added: how many of the old ones go,
// which of the new ones come, and how many bytes there are then.
func (l *log) fit(entries [][]byte, keep Bound) (old int, added [][]byte, size int64) {
	n := len(l.entries) + len(entries)
	at := func(i int) []byte {
		if i < len(l.entries) {
			return l.entries[i]
		}
		return entries[i-len(l.entries)]
	}
	size = l.bytes
	for _, e := range entries {
		size += int64(len(e))
	}
	first := 0
	for ; first < n-1 && (n-first > keep.Entries || size > keep.Bytes); first++ {
		size -= int64(len(at(first)))
	}
	old = min(first, len(l.entries))
	return old, entries[first-old:], size
}

// read finds what own has then to copy.
func (x *logs) read(name string, after uint64, limit int) Tail {
	s, now := x.shard(name), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := x.live(s, name, now)
	if l == nil {
		return Tail{}
	}
	tail := Tail{First: l.last + 1 - uint64(len(l.entries)), Last: l.last}
	from := max(after, tail.First-1) // the one before the first that is asked for
	if limit <= 0 || from >= l.last {
		return tail
	}
	rest := l.entries[from+1-tail.First:]
	tail.From, tail.Entries = from+1, append(tail.Entries, rest[:min(limit, len(rest))]...)
	return tail
}

// own puts copies in the place of entries, all in one piece.
func own(entries [][]byte) {
	size := 0
	for _, e := range entries {
		size += len(e)
	}
	all := make([]byte, 0, size)
	for i, e := range entries {
		begin := len(all)
		all = append(all, e...)
		entries[i] = all[begin:len(all):len(all)]
	}
}

// live finds a log that has not run out, and forgets one that has. The shard must be
// locked, here as below.
func (x *logs) live(s *logShard, name string, now time.Time) *log {
	l := s.logs[name]
	if l != nil && !now.Before(l.expires) {
		x.forget(s, name, l)
		return nil
	}
	return l
}

func (x *logs) forget(s *logShard, name string, l *log) {
	delete(s.logs, name)
	x.size.Add(-(l.bytes + entryCost*int64(len(l.entries)) + logCost + int64(len(name))))
}

// grow takes room, if there is enough, or gives it back. What shrinks always may.
func (x *logs) grow(by int64) bool {
	if x.size.Add(by) > x.limit && by > 0 {
		x.size.Add(-by)
		return false
	}
	return true
}

func (x *logs) shard(name string) *logShard {
	return &x.shards[maphash.String(x.seed, name)%shards]
}

// sweep forgets what ran out, one lock at a time.
func (x *logs) sweep(now time.Time) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		for name, l := range s.logs {
			if !now.Before(l.expires) {
				x.forget(s, name, l)
			}
		}
		s.mu.Unlock()
	}
}
