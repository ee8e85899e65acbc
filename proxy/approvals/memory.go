package approvals

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/policy/approval"
)

// Remember has an approval count for later calls, as its rule says.
func (s *Store) Remember(ctx context.Context, r *approval.Rule, st *Status) error {
	if r.Remember == 0 {
		return nil
	}
	m := memory{ID: st.ID}
	for _, v := range st.For(r.Name) {
		if v.Agent != "" {
			m.Agents = append(m.Agents, v.Agent)
		} else {
			m.By = append(m.By, v.By)
		}
	}
	return s.put(ctx, spaceRemembered, alike(r, &st.Call), m, r.Remember)
}

// memory is what is remembered of an approved call.
type memory struct {
	ID     string   `json:"id"`
	By     []string `json:"by"`              // people who have agreed
	Agents []string `json:"agents,omitzero"` // agents that have
}

// Remembered is the approved call whose approval counts for another, too; "" for none, and where one of
// those who have agreed may not agree to the other, which is their own. kin says so of agents.
func (s *Store) Remembered(ctx context.Context, r *approval.Rule, c *Call, kin func(agent string) approval.Kin) (id string, err error) {
	if r.Remember == 0 {
		return "", nil
	}
	var m memory
	ok, err := s.get(ctx, spaceRemembered, alike(r, c), &m)
	if err != nil || !ok || slices.ContainsFunc(m.By, func(name string) bool { return r.Own(name, c.Caller.Selves) }) ||
		slices.ContainsFunc(m.Agents, func(agent string) bool { return r.OwnOf(kin(agent)) }) {
		return "", err
	}
	return m.ID, nil
}

// alike is a key for what calls have in common that one approval is for.
func alike(r *approval.Rule, c *Call) string {
	sum := sha256.New()
	part := func(text string) {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(text)))
		sum.Write(n[:])
		sum.Write([]byte(text))
	}
	part(r.Digest)
	for _, word := range []struct{ by, value string }{
		{approval.ByCaller, c.Caller.Owner}, {approval.ByAgent, c.Agent}, {approval.BySkill, c.Skill}, {approval.ByContext, c.Context},
	} {
		if slices.Contains(r.By, word.by) {
			part(word.by)
			part(word.value)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
