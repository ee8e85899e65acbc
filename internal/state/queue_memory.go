package state

import (
	"context"
	"strings"
	"sync"
	"time"
)

// buries is how many dead items whose time has come a Take forgets at most.
const buries = 64

// backlogs are the queues of the memory driver. There are few and none goes.
type backlogs struct {
	mu    sync.RWMutex
	names map[string]*backlog
}

// open finds or makes a queue.
func (x *backlogs) open(name string) *backlog {
	x.mu.RLock()
	b := x.names[name]
	x.mu.RUnlock()
	if b != nil {
		return b
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if b = x.names[name]; b == nil {
		b = newBacklog()
		x.names[strings.Clone(name)] = b
	}
	return b
}

// locked finds or makes a queue and locks it.
func (x *backlogs) locked(name string) (b *backlog, unlock func()) {
	b = x.open(name)
	b.mu.Lock()
	return b, b.mu.Unlock
}

// Push implements Queue.
func (x *backlogs) Push(_ context.Context, queue string, it Item, most int64) (bool, error) {
	if err := it.Check(); err != nil {
		return false, err
	}
	b, unlock := x.locked(queue)
	defer unlock()
	if b.works[it.ID] != nil {
		return false, nil
	}
	if most > 0 && b.load(b.waiting.Len(), it.Owner(), func(s *stake) int { return s.waiting }) >= most {
		return false, ErrFull
	}
	b.add(newWork(it))
	return true, nil
}

// Take implements Queue.
func (x *backlogs) Take(_ context.Context, queue, holder string, now time.Time, n int, lease time.Duration) ([]Item, error) {
	if err := CheckHolder(holder); err != nil {
		return nil, err
	}
	b, unlock := x.locked(queue)
	defer unlock()
	b.settle(Micros(now))
	until := Micros(now.Add(lease))
	var taken []Item
	for len(taken) < n {
		w, ok := b.at[free].Min()
		if !ok || w.at > Micros(now) {
			break
		}
		w.holder = strings.Clone(holder)
		b.move(w, leased, until)
		taken = append(taken, w.item())
	}
	return taken, nil
}

// Done implements Queue.
func (x *backlogs) Done(_ context.Context, queue, holder, id string) error {
	b, unlock := x.locked(queue)
	defer unlock()
	w := b.held(holder, id)
	if w == nil {
		return ErrTaken
	}
	b.remove(w)
	return nil
}

// Again implements Queue.
func (x *backlogs) Again(_ context.Context, queue, holder, id string, due time.Time, failure string) error {
	b, unlock := x.locked(queue)
	defer unlock()
	w := b.held(holder, id)
	if w == nil {
		return ErrTaken
	}
	w.fail(failure)
	w.due = Micros(due)
	b.move(w, free, w.due)
	return nil
}

// Bury implements Queue.
func (x *backlogs) Bury(_ context.Context, queue, holder, id, failure string, now time.Time, keep Keep) error {
	b, unlock := x.locked(queue)
	defer unlock()
	w := b.held(holder, id)
	if w == nil {
		return ErrTaken
	}
	w.fail(failure)
	b.bury(w, Micros(now.Add(keep.For)))
	if keep.Most > 0 && w.owner != "" && b.load(b.buried.Len(), w.owner, func(s *stake) int { return s.dead.Len() }) > keep.Most+1 {
		if oldest, ok := b.stakes[w.owner].dead.Min(); ok {
			b.remove(oldest)
		}
	}
	return nil
}

// Revive implements Queue.
func (x *backlogs) Revive(_ context.Context, queue, id string, now time.Time) (bool, error) {
	b, unlock := x.locked(queue)
	defer unlock()
	w := b.works[id]
	if w == nil || w.place != dead || w.at <= Micros(now) {
		return false, nil
	}
	b.remove(w)
	w.due, w.attempts, w.failure = Micros(now), 0, ""
	b.add(w)
	return true, nil
}

// Remove implements Queue.
func (x *backlogs) Remove(_ context.Context, queue, id string) (bool, error) {
	b, unlock := x.locked(queue)
	defer unlock()
	w := b.works[id]
	if w != nil {
		b.remove(w)
	}
	return w != nil, nil
}

// RemoveLine implements Queue.
func (x *backlogs) RemoveLine(_ context.Context, queue, line string) (int, error) {
	b, unlock := x.locked(queue)
	defer unlock()
	return b.removeLine(line), nil
}

// Items implements Queue.
func (x *backlogs) Items(_ context.Context, queue string, dead bool, after string, limit int) ([]Item, error) {
	b, unlock := x.locked(queue)
	defer unlock()
	var list []Item
	b.index(dead).Ascend(after, func(id string, w *work) bool {
		if len(list) >= limit {
			return false
		}
		if id > after {
			list = append(list, w.item())
		}
		return true
	})
	return list, nil
}

// Depth implements Queue.
func (x *backlogs) Depth(_ context.Context, queue string, now time.Time) (Depth, error) {
	b, unlock := x.locked(queue)
	defer unlock()
	d := Depth{Waiting: int64(b.waiting.Len()), Dead: int64(b.buried.Len())}
	if w, ok := b.age.Min(); ok {
		d.Oldest = FromMicros(w.pushed)
	}
	b.at[dead].Scan(func(w *work) bool {
		over := w.at <= Micros(now)
		if over {
			d.Dead--
		}
		return over
	})
	return d, nil
}
