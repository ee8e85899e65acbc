package snapshot

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// Member is an agent with what keeps running for it. Members that a reload did
// not change move to the next snapshot as they are, connections and card
// included.
type Member struct {
	Config agents.Config
	Agent  *agents.Agent
	Judge  *trust.Judge
	Retire context.CancelFunc // ends the card's refresher
	Stop   context.CancelFunc // ends all that keeps running
	Users  *atomic.Int64      // snapshots that hold it
}

// Rejudge has the source log what is wrong, if anything is.
func (m *Member) Rejudge(ctx context.Context) { _ = m.Agent.Source.Rejudge(ctx) }

// CardLine says in /readyz?verbose that an agent's card waits for a person, and that it is
// the one that was kept.
func (m *Member) CardLine(id string) (lines []string) {
	r := m.Judge.Status()
	switch r.State {
	case trust.Alerted, trust.Quarantined, trust.Rejected, trust.Refused:
		lines = append(lines, fmt.Sprintf("agent %s card: failed: %s: %s (%s)", id, r.State, r.Why, r.Digest))
	}
	if since, ok := m.Agent.Source.Kept(); ok {
		lines = append(lines, fmt.Sprintf("agent %s card: kept, not fetched since: in force since %s (%s)",
			id, since.Format(time.RFC3339), time.Since(since).Round(time.Second)))
	}
	return lines
}

// JudgedAlike reports whether which cards of an agent count is as it was before a reload: the
// card's URL, what is set of trust, and the keys in its files, which are read anew.
func (m *Member) JudgedAlike(old *Member) bool {
	if m.Config.Card.URL != old.Config.Card.URL || !reflect.DeepEqual(m.Config.Card.Trust, old.Config.Card.Trust) {
		return false
	}
	now, _ := m.Judge.Verifier.(*signature.Verifier)
	before, _ := old.Judge.Verifier.(*signature.Verifier)
	return now.SameFiles(before)
}

// Skills are those the operator lists, or else the card's; false while neither
// is known.
func (m *Member) Skills() ([]string, bool) {
	var ids []string
	for _, skill := range m.Config.Skills {
		ids = append(ids, skill.ID)
	}
	if ids != nil {
		return ids, true
	}
	card := m.Agent.Source.Current()
	if card == nil {
		return nil, false
	}
	for _, skill := range card.Skills {
		ids = append(ids, skill.ID)
	}
	return ids, true
}
