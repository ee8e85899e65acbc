package snapshot

import (
	"errors"
	"fmt"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/card/trust"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// Standing is whether calls reach an agent: one of metrics.AgentServing and its like, and why.
type Standing struct {
	Word, Why string
	kept      bool // the card in force is used on
}

// Reached reports whether calls reach the agent, by the card in force, though something is wrong with the next one.
func (s Standing) Reached() bool { return s.Serving() || s.kept }

// Pending is before anything is known.
func (s Standing) Pending() bool { return s.Word == metrics.AgentPending }

func (s Standing) Serving() bool { return s.Word == metrics.AgentServing }

// Text is for people.
func (s Standing) Text() string { return s.Word + ": " + s.Why }

// Standing says how the agent stands. Of several reasons it is the one that keeps most calls
// away.
func (m *Member) Standing() Standing {
	current, err, ruling := m.Agent.Source.Current(), m.Agent.Source.Err(), m.Judge.Status()
	waits := ruling.State == trust.Quarantined
	up, trouble := m.Agent.Upstream.State(), m.Agent.Upstream.Trouble()
	switch {
	case current == nil && waits && err != nil:
		return Standing{Word: metrics.AgentCardWaiting, Why: err.Error()}
	case errors.Is(err, card.ErrPending) && current == nil:
		return Standing{Word: metrics.AgentPending, Why: err.Error()}
	case current == nil && err != nil:
		return Standing{Word: metrics.AgentNoCard, Why: err.Error()}
	case current == nil:
		return Standing{Word: metrics.AgentNoCard, Why: "card not fetched yet"}
	case !m.Agent.Callable():
		return Standing{Word: metrics.AgentNoInterface, Why: "the card names no interface that can be called; write one down under interfaces, or list its origin under endpoints"}
	case trouble == upstream.Unreachable:
		return Standing{Word: metrics.AgentUnreachable, Why: "no connection to where calls go comes about"}
	case len(m.Config.Load.Instances) > 0 && up.Healthy == 0:
		return Standing{Word: metrics.AgentUnreachable, Why: fmt.Sprintf("none of %d instances is healthy", up.Instances)}
	case trouble == upstream.Failing:
		return Standing{Word: metrics.AgentFailing, Why: "one call after the other fails"}
	case waits:
		return Standing{Word: metrics.AgentCardWaiting, Why: fmt.Sprintf("another card waits for a decision: %s (%s)", ruling.Why, ruling.Digest), kept: true}
	case err != nil && !errors.Is(err, card.ErrPending):
		return Standing{Word: metrics.AgentCardStale, Why: err.Error(), kept: true}
	}
	return Standing{Word: metrics.AgentServing}
}
