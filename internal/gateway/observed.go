package gateway

import (
	"context"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// observed is a store whose operations are counted. It is put before those that are
// not in memory only: there counting would cost more than what is counted.
type observed struct {
	state.Store
	count func(operation string, took time.Duration, err error)
}

func (o *observed) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	start := time.Now()
	stands, err := o.Store.Claim(ctx, r)
	o.count("claim", time.Since(start), err)
	return stands, err
}

func (o *observed) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	start := time.Now()
	stand, err := o.Store.ClaimAll(ctx, rs)
	o.count("claim", time.Since(start), err)
	return stand, err
}

func (o *observed) Lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	start := time.Now()
	r, ok, err := o.Store.Lookup(ctx, agent, k, id)
	o.count("lookup", time.Since(start), err)
	return r, ok, err
}

func (o *observed) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	start := time.Now()
	found, err := o.Store.LookupAll(ctx, agent, refs)
	o.count("lookup", time.Since(start), err)
	return found, err
}

func (o *observed) Tasks(ctx context.Context, q state.Query) ([]state.Record, error) {
	start := time.Now()
	list, err := o.Store.Tasks(ctx, q)
	o.count("list", time.Since(start), err)
	return list, err
}

func (o *observed) Count(ctx context.Context, q state.Query) (int, error) {
	start := time.Now()
	n, err := o.Store.Count(ctx, q)
	o.count("count", time.Since(start), err)
	return n, err
}

func (o *observed) Advance(ctx context.Context, s state.Step, from, to string) (string, error) {
	start := time.Now()
	stands, err := o.Store.Advance(ctx, s, from, to)
	o.count("advance", time.Since(start), err)
	return stands, err
}

func (o *observed) Draw(ctx context.Context, draws []state.Draw) ([]state.Drawn, error) {
	start := time.Now()
	drawn, err := o.Store.Draw(ctx, draws)
	o.count("draw", time.Since(start), err)
	return drawn, err
}

func (o *observed) Release(ctx context.Context, holds []state.Draw) error {
	start := time.Now()
	err := o.Store.Release(ctx, holds)
	o.count("release", time.Since(start), err)
	return err
}
