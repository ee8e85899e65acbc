// Package observed counts what is asked of a store, for the metrics of state operations, and
// tells its failures from answers.
//
// A driver has two kinds of errors. Some are answers of a store that works: ErrFull, ErrMoved and
// ErrTaken say something about what was asked. All others mean that nobody knows, and a call that
// depends on the store must be refused; they come out as state.ErrUnavailable, whatever the driver
// said, so that who decides has one error to look for:
//
//	the driver says         counted as    comes out as
//	nil                     success       nil
//	ErrFull                 success       ErrFull
//	disk I/O error          failure       ErrUnavailable, which wraps it
//	context.Canceled        success       context.Canceled, where the caller has gone
//
// Operations that have no row in the metrics, such as Ping and Get, go to the store as they are.
package observed

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Store is a store whose operations are counted, and whose failures are told from
// answers. It is put before those that are not in memory only: there counting would cost
// more than what is counted, and nothing fails.
type Store struct {
	state.Store
	// Counted is told of each operation by its name in the metrics, such as "claim", how long it
	// took, and of its failure; err is nil for answers of all kinds.
	Counted func(operation string, took time.Duration, err error)
}

// done counts an operation. Whatever kept the store from answering is the same to those
// who asked: they do not know, and nobody may go on.
func (o *Store) done(ctx context.Context, operation string, start time.Time, err error) error {
	gone := err != nil && errors.Is(ctx.Err(), context.Canceled)
	switch {
	case gone: // a caller who did not wait says nothing about the store; one whose time ran out does
	case answered(err):
		o.Counted(operation, time.Since(start), nil)
	default:
		o.Counted(operation, time.Since(start), err)
	}
	if answered(err) || errors.Is(err, state.ErrFull) || errors.Is(err, state.ErrUnavailable) ||
		gone && errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %w", state.ErrUnavailable, err)
}

// answered reports what a store says that is there: a bound that was reached is the
// caller's affair.
func answered(err error) bool {
	return err == nil || errors.Is(err, state.ErrMoved) || errors.Is(err, state.ErrTaken) || errors.Is(err, state.ErrFull)
}

// Away implements state.Distant for a store that is.
func (o *Store) Away(agent string) error {
	if d, ok := o.Store.(state.Distant); ok {
		return d.Away(agent)
	}
	return nil
}

// Ready implements state.Distant for a store that is.
func (o *Store) Ready(ctx context.Context, agent string) error {
	d, ok := o.Store.(state.Distant)
	if !ok {
		return nil
	}
	start := time.Now()
	err := d.Ready(ctx, agent)
	return o.done(ctx, "ready", start, err)
}

// Claim implements state.Ledger.
func (o *Store) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	start := time.Now()
	stands, err := o.Store.Claim(ctx, r)
	return stands, o.done(ctx, "claim", start, err)
}

// ClaimAll implements state.Ledger. It counts as one claim: it is one round trip.
func (o *Store) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	start := time.Now()
	stand, err := o.Store.ClaimAll(ctx, rs)
	return stand, o.done(ctx, "claim", start, err)
}

// Lookup implements state.Ledger.
func (o *Store) Lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	start := time.Now()
	r, ok, err := o.Store.Lookup(ctx, agent, k, id)
	return r, ok, o.done(ctx, "lookup", start, err)
}

// LookupAll implements state.Ledger. It counts as one lookup.
func (o *Store) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	start := time.Now()
	found, err := o.Store.LookupAll(ctx, agent, refs)
	return found, o.done(ctx, "lookup", start, err)
}

// Tasks implements state.Ledger.
func (o *Store) Tasks(ctx context.Context, q state.Query) ([]state.Record, error) {
	start := time.Now()
	list, err := o.Store.Tasks(ctx, q)
	return list, o.done(ctx, "list", start, err)
}

// Count implements state.Ledger.
func (o *Store) Count(ctx context.Context, q state.Query) (int, error) {
	start := time.Now()
	n, err := o.Store.Count(ctx, q)
	return n, o.done(ctx, "count", start, err)
}

// Advance implements state.Steps.
func (o *Store) Advance(ctx context.Context, s state.Step, from, to string) (string, error) {
	start := time.Now()
	stands, err := o.Store.Advance(ctx, s, from, to)
	return stands, o.done(ctx, "advance", start, err)
}

// Draw implements state.Limits.
func (o *Store) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	start := time.Now()
	drawn, err := o.Store.Draw(ctx, draws)
	return drawn, o.done(ctx, "draw", start, err)
}

// Add implements state.Values.
func (o *Store) Add(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	start := time.Now()
	added, err := o.Store.Add(ctx, space, key, data, ttl)
	return added, o.done(ctx, "add", start, err)
}

// Replace implements state.Values.
func (o *Store) Replace(ctx context.Context, space, key string, data []byte, ttl time.Duration) (bool, error) {
	start := time.Now()
	replaced, err := o.Store.Replace(ctx, space, key, data, ttl)
	return replaced, o.done(ctx, "replace", start, err)
}

// Release implements state.Limits.
func (o *Store) Release(ctx context.Context, holds []state.Draw) error {
	start := time.Now()
	err := o.Store.Release(ctx, holds)
	return o.done(ctx, "release", start, err)
}

// Append implements state.Logs.
func (o *Store) Append(ctx context.Context, log string, after uint64, entries [][]byte, keep state.Bound) error {
	start := time.Now()
	err := o.Store.Append(ctx, log, after, entries, keep)
	return o.done(ctx, "append", start, err)
}

// Read implements state.Logs.
func (o *Store) Read(ctx context.Context, log string, after uint64, limit int) (state.Tail, error) {
	start := time.Now()
	tail, err := o.Store.Read(ctx, log, after, limit)
	return tail, o.done(ctx, "read", start, err)
}
