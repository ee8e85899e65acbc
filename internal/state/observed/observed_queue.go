package observed

import (
	"context"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Push checks the item itself: what no store takes is no failure of this one.
func (o *Store) Push(ctx context.Context, queue string, it state.Item, most int64) (bool, error) {
	if err := it.Check(); err != nil {
		return false, err
	}
	start := time.Now()
	pushed, err := o.Store.Push(ctx, queue, it, most)
	return pushed, o.done(ctx, "push", start, err)
}

// Take implements state.Queue. Like Push it checks first what only the caller can have got wrong.
func (o *Store) Take(ctx context.Context, queue, holder string, now time.Time, n int, lease time.Duration) ([]state.Item, error) {
	if err := state.CheckHolder(holder); err != nil {
		return nil, err
	}
	start := time.Now()
	taken, err := o.Store.Take(ctx, queue, holder, now, n, lease)
	return taken, o.done(ctx, "take", start, err)
}

// Done implements state.Queue.
func (o *Store) Done(ctx context.Context, queue, holder, id string) error {
	start := time.Now()
	err := o.Store.Done(ctx, queue, holder, id)
	return o.done(ctx, "done", start, err)
}

// Again implements state.Queue.
func (o *Store) Again(ctx context.Context, queue, holder, id string, due time.Time, failure string) error {
	start := time.Now()
	err := o.Store.Again(ctx, queue, holder, id, due, failure)
	return o.done(ctx, "again", start, err)
}

// Bury implements state.Queue.
func (o *Store) Bury(ctx context.Context, queue, holder, id, failure string, now time.Time, keep state.Keep) error {
	start := time.Now()
	err := o.Store.Bury(ctx, queue, holder, id, failure, now, keep)
	return o.done(ctx, "bury", start, err)
}

// Revive implements state.Queue.
func (o *Store) Revive(ctx context.Context, queue, id string, now time.Time) (bool, error) {
	start := time.Now()
	revived, err := o.Store.Revive(ctx, queue, id, now)
	return revived, o.done(ctx, "revive", start, err)
}

// Remove implements state.Queue.
func (o *Store) Remove(ctx context.Context, queue, id string) (bool, error) {
	start := time.Now()
	removed, err := o.Store.Remove(ctx, queue, id)
	return removed, o.done(ctx, "remove", start, err)
}

// RemoveLine implements state.Queue.
func (o *Store) RemoveLine(ctx context.Context, queue, line string) (int, error) {
	start := time.Now()
	n, err := o.Store.RemoveLine(ctx, queue, line)
	return n, o.done(ctx, "remove", start, err)
}

// Items implements state.Queue.
func (o *Store) Items(ctx context.Context, queue string, dead bool, after string, limit int) ([]state.Item, error) {
	start := time.Now()
	list, err := o.Store.Items(ctx, queue, dead, after, limit)
	return list, o.done(ctx, "items", start, err)
}

// Depth implements state.Queue.
func (o *Store) Depth(ctx context.Context, queue string, now time.Time) (state.Depth, error) {
	start := time.Now()
	d, err := o.Store.Depth(ctx, queue, now)
	return d, o.done(ctx, "depth", start, err)
}
