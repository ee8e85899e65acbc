package state

import "context"

// ClaimAll implements Ledger.
func (m *records) ClaimAll(ctx context.Context, rs []Record) ([]Record, error) {
	stand := make([]Record, 0, len(rs))
	for _, r := range rs {
		s, err := m.Claim(ctx, r)
		if err != nil {
			return nil, err
		}
		stand = append(stand, s)
	}
	return stand, nil
}

// LookupAll implements Ledger.
func (m *records) LookupAll(ctx context.Context, agent string, refs []Ref) ([]Record, error) {
	found := make([]Record, len(refs))
	for i, r := range refs {
		found[i], _, _ = m.Lookup(ctx, agent, r.Kind, r.ID) // never fails
	}
	return found, nil
}
