package proxytest

import (
	"context"
	"sync/atomic"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// CountingStore counts ids that are looked up and trips to the store.
type CountingStore struct {
	state.Ledger
	IDs, Trips atomic.Int64
}

func (s *CountingStore) Lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	s.IDs.Add(1)
	s.Trips.Add(1)
	return s.Ledger.Lookup(ctx, agent, k, id)
}

func (s *CountingStore) LookupAll(ctx context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	s.IDs.Add(int64(len(refs)))
	s.Trips.Add(1)
	return s.Ledger.LookupAll(ctx, agent, refs)
}

func (s *CountingStore) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	s.Trips.Add(1)
	return s.Ledger.Claim(ctx, r)
}

func (s *CountingStore) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	s.Trips.Add(1)
	return s.Ledger.ClaimAll(ctx, rs)
}
