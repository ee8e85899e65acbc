package telemetry

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// cardStates are the values of the label state.
var cardStates = []string{"pending", "accepted", "alerted", "quarantined", "approved", "rejected", "refused"}

func (f factory) cards(m *Metrics) {
	states := "state=" + strings.Join(cardStates, "|") + "|" + labelOther
	m.cardFetch = f.counters("card_fetch_total", "Fetches of agent cards.", "agent", "result=ok|unchanged|error|other")
	m.cardRulings = f.counters("card_rulings_total", "Cards that were ruled on for the first time.", "agent", states)
	m.cardGauges = &cardGauges{
		all:      map[string]cardCondition{},
		warnings: f.asked("card_warnings", "Oddities of an agent's card.", "agent"),
		state:    f.asked("card_state", "What became of the card that an agent serves: 1 for its state.", "agent", states),
		drift:    f.asked("card_drift", "Whether an agent serves another card than the one in force.", "agent"),
		score:    f.asked("card_lint_score", "What is in an agent's card that should not be: 0 for nothing, at most 100.", "agent"),
	}
	f.registry.MustRegister(m.cardGauges)
	m.cardSignatures = f.fixed("card_signature_verifications_total", "Verifications of the signatures of cards.",
		"ok", "unsigned", "untrusted", "unavailable", "malformed")
}

// cardGauges are made up when somebody looks. Kept as they are shown, ten of them would be
// more than an agent's card is itself.
type cardGauges struct {
	mu  sync.Mutex
	all map[string]cardCondition // by agent

	warnings, state, drift, score *prometheus.Desc
}

// cardCondition is what there is to be shown of one agent.
type cardCondition struct {
	state         int8 // of cardStates, counted from 1, or none of them; 0 for a card that was not ruled on
	drift, linted bool // linted: there are warnings, or none of them
	score, faults int32
}

// change notes what is new of an agent, and reports whether there is such an agent. It asks
// with the lock held: whoever forgets an agent waits for it, or it finds the agent gone.
func (m *Metrics) change(agent string, with func(*cardCondition)) bool {
	g := m.cardGauges
	g.mu.Lock()
	defer g.mu.Unlock()
	if !m.knows(agent) {
		return false
	}
	c := g.all[agent]
	with(&c)
	g.all[agent] = c
	return true
}

// knows reports whether there is such an agent. A card is no call: that of an agent which
// was removed is not counted as one of "other", where what it is like would stand for ever.
func (m *Metrics) knows(agent string) bool {
	_, ok := m.sets.Load().agents[agent]
	return ok
}

// CardFetch counts one fetch of an agent's card; result is ok, unchanged or error.
func (m *Metrics) CardFetch(agent, result string) {
	if m.knows(agent) {
		m.cardFetch.WithLabelValues(agent, oneOf(result, "ok", "unchanged", "error")).Inc()
	}
}

// forget is for agents that there are no more.
func (g *cardGauges) forget(agent string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.all, agent)
}

// Describe implements prometheus.Collector.
func (g *cardGauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{g.warnings, g.state, g.drift, g.score} {
		to <- d
	}
}

// Collect implements prometheus.Collector. Who reads from the channel may take his time: the
// lock is not held meanwhile.
func (g *cardGauges) Collect(to chan<- prometheus.Metric) {
	g.mu.Lock()
	all := maps.Clone(g.all)
	g.mu.Unlock()
	for agent, c := range all {
		show := func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{agent}, labels...)...)
		}
		if c.linted {
			show(g.warnings, float64(c.faults))
		}
		if c.state == 0 {
			continue
		}
		for i, state := range cardStates {
			show(g.state, truth(i+1 == int(c.state)), state)
		}
		show(g.drift, truth(c.drift))
		show(g.score, float64(c.score))
	}
}

// CardRuled says what became of the card that an agent serves: its state, whether another
// one is in force, and how much is in it that should not be. fresh is whether that is new.
func (m *Metrics) CardRuled(agent, state string, drift, fresh bool, score int) {
	at := slices.Index(append(slices.Clip(cardStates), state), state) + 1
	known := m.change(agent, func(c *cardCondition) {
		c.state, c.drift, c.score = int8(at), drift, int32(score) //nolint:gosec // there are few, and it is at most 100
	})
	if known && fresh {
		m.cardRulings.WithLabelValues(agent, oneOf(state, cardStates...)).Inc()
	}
}

// CardWarnings says how many warnings an agent's card gives reason for.
func (m *Metrics) CardWarnings(agent string, n int) {
	m.change(agent, func(c *cardCondition) {
		c.linted, c.faults = true, int32(n) //nolint:gosec // a card has not as many
	})
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
