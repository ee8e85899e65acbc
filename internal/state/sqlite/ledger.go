package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Claim implements state.Ledger. What is remembered is found without the writer.
func (s *Store) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	stand, err := s.ClaimAll(ctx, []state.Record{r})
	if err != nil {
		return state.Record{}, err
	}
	return stand[0], nil
}

// ClaimAll implements state.Ledger, for all or, with an error, perhaps for none. What is
// not remembered is most likely new, so that it is not looked for before the writer does.
func (s *Store) ClaimAll(ctx context.Context, rs []state.Record) ([]state.Record, error) {
	now := s.now()
	stand := make([]state.Record, len(rs))
	var unknown []int
	for i, r := range rs {
		remembered, ok := s.remembered(r.Agent, r.Kind, r.ID, now)
		if stand[i] = remembered; !ok {
			unknown = append(unknown, i)
		}
	}
	if unknown == nil {
		return stand, nil
	}
	claimed := make([]known, len(unknown))
	err := s.write(ctx, func(w *writer) error {
		for n, i := range unknown {
			var err error
			if claimed[n], err = s.claim(w, rs[i], now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for n, i := range unknown { // which the file has by now
		stand[i] = claimed[n].record
		s.recent.remember(claimed[n].record, claimed[n].used)
	}
	return stand, nil
}

// claim runs in a transaction.
func (s *Store) claim(w *writer, r state.Record, now time.Time) (known, error) {
	mine := rowOf(r, now)
	result, err := w.put.addRecord.Exec(mine.values()...)
	if err != nil {
		return known{}, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		stands, torn := mine.record()
		return known{stands, mine.used}, errors.Join(err, torn)
	}
	var other row
	if err := other.read(w.put.record.QueryRow(mine.agent, mine.kind, mine.id)); err != nil {
		return known{}, err
	}
	if s.live(other.use(), other.used, now) {
		stands, torn := other.record()
		return known{stands, other.used}, torn
	}
	if _, err := w.put.newRecord.Exec(mine.values()...); err != nil {
		return known{}, err
	}
	stands, torn := mine.record()
	return known{stands, mine.used}, torn
}

// Lookup implements state.Ledger.
func (s *Store) Lookup(_ context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	return s.find(agent, k, id, s.now())
}

// LookupAll implements state.Ledger.
func (s *Store) LookupAll(_ context.Context, agent string, refs []state.Ref) ([]state.Record, error) {
	now := s.now()
	found := make([]state.Record, len(refs))
	for i, r := range refs {
		var err error
		if found[i], _, err = s.find(agent, r.Kind, r.ID, now); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// find reads what the last transaction left. It takes no context: giving up would take
// longer than an answer from a local file does.
func (s *Store) find(agent string, k state.Kind, id string, now time.Time) (state.Record, bool, error) {
	if r, ok := s.remembered(agent, k, id, now); ok {
		return r, true, nil
	}
	var r row
	err := r.read(s.read.record.QueryRow([]byte(agent), int64(k), []byte(id)))
	if errors.Is(err, sql.ErrNoRows) {
		return state.Record{}, false, nil
	}
	if err != nil {
		return state.Record{}, false, err
	}
	if !s.live(r.use(), r.used, now) {
		return state.Record{}, false, nil
	}
	found, err := r.record()
	if err != nil {
		return state.Record{}, false, err
	}
	s.recent.remember(found, r.used)
	return found, true, nil
}
