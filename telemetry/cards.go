package telemetry

import (
	"slices"
	"strings"
)

// cardStates are the values of the label state.
var cardStates = []string{"pending", "accepted", "alerted", "quarantined", "approved", "rejected", "refused"}

func (f factory) cards(m *Metrics) {
	states := "state=" + strings.Join(cardStates, "|") + "|" + labelOther
	m.cardFetch = f.counters("card_fetch_total", "Fetches of agent cards.", "agent", "result=ok|unchanged|error|other")
	m.cardWarnings = f.gauges("card_warnings", "Oddities of an agent's card.", "agent")
	m.cardState = f.gauges("card_state", "What became of the card that an agent serves: 1 for its state.", "agent", states)
	m.cardDrift = f.gauges("card_drift", "Whether an agent serves another card than the one in force.", "agent")
	m.cardRulings = f.counters("card_rulings_total", "Cards that were ruled on for the first time.", "agent", states)
	m.cardScore = f.gauges("card_lint_score", "What is in an agent's card that should not be: 0 for nothing, at most 100.", "agent")
	m.cardSignatures = f.fixed("card_signature_verifications_total", "Verifications of the signatures of cards.",
		"ok", "unsigned", "untrusted", "unavailable", "malformed")
}

// CardRuled says what became of the card that an agent serves: its state, whether another
// one is in force, and how much is in it that should not be. fresh is whether that is new.
func (m *Metrics) CardRuled(agent, state string, drift, fresh bool, score int) {
	agent = member(m.sets.Load().agents, agent)
	state = oneOf(state, cardStates...)
	for _, other := range cardStates {
		m.cardState.WithLabelValues(agent, other).Set(truth(other == state))
	}
	m.cardDrift.WithLabelValues(agent).Set(truth(drift))
	m.cardScore.WithLabelValues(agent).Set(float64(score))
	if fresh {
		m.cardRulings.WithLabelValues(agent, state).Inc()
	}
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// CardVerified counts a look at the signatures of a card; result is ok, unsigned,
// untrusted, unavailable or malformed.
func (m *Metrics) CardVerified(result string) {
	if !slices.Contains([]string{"ok", "unsigned", "untrusted", "unavailable", "malformed"}, result) {
		result = "untrusted"
	}
	m.cardSignatures[result].Inc()
}
