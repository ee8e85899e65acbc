package metrics

import (
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// cardStates are the values of the label state.
var cardStates = []string{"pending", "accepted", "alerted", "quarantined", "approved", "rejected", "refused"}

// Cards counts fetches of agent cards and rulings on them, and shows what is in force.
type Cards struct {
	sets    *labelSets
	metrics cardMetrics
	gauges  cardGauges
}

// cardMetrics are about the cards of agents.
type cardMetrics struct {
	Fetch      counterVec                    `metric:"card_fetch_total{agent,result=ok|unchanged|error|other}" help:"Fetches of agent cards."`
	Rulings    counterVec                    `metric:"card_rulings_total{agent,state=$cardStates}" help:"Cards that were ruled on for the first time."`
	Signatures map[string]prometheus.Counter `metric:"card_signature_verifications_total{result=ok|unsigned|untrusted|unavailable|malformed}" help:"Verifications of the signatures of cards."`
}

// cardGauges are made up when somebody looks. Kept as they are shown, ten of them would be
// more than an agent's card is itself.
type cardGauges struct {
	mu  sync.Mutex
	all map[string]cardCondition // by agent

	// Warnings are about the extensions of the card as last fetched; the log says which.
	Warnings *prometheus.Desc `metric:"card_warnings{agent}" help:"Oddities of an agent's card."`
	State    *prometheus.Desc `metric:"card_state{agent,state=$cardStates}" help:"What became of the card that an agent serves: 1 for its state."`
	Drift    *prometheus.Desc `metric:"card_drift{agent}" help:"Whether an agent serves another card than the one in force."`
	Score    *prometheus.Desc `metric:"card_lint_score{agent}" help:"What is in an agent's card that should not be: 0 for nothing, at most 100."`
}

// cardCondition is what there is to be shown of one agent.
type cardCondition struct {
	state         int8 // of cardStates, counted from 1, or none of them; 0 for a card that was not ruled on
	drift, linted bool // linted: there are warnings, or none of them
	score, faults int32
}

// change notes what is new of an agent, and reports whether there is such an agent. It asks
// with the lock held: whoever forgets an agent waits for it, or it finds the agent gone.
func (c *Cards) change(agent string, with func(*cardCondition)) bool {
	g := &c.gauges
	g.mu.Lock()
	defer g.mu.Unlock()
	if !c.knows(agent) {
		return false
	}
	now := g.all[agent]
	with(&now)
	g.all[agent] = now
	return true
}

// knows reports whether there is such an agent. A card is no call: that of an agent which
// was removed is not counted as one of "other", where what it is like would stand for ever.
func (c *Cards) knows(agent string) bool {
	_, ok := c.sets.Load().agents[agent]
	return ok
}

// Fetched counts one fetch of an agent's card; result is ok, unchanged or error.
func (c *Cards) Fetched(agent, result string) {
	if c.knows(agent) {
		c.metrics.Fetch.with(agent, result).Inc()
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
	for _, d := range []*prometheus.Desc{g.Warnings, g.State, g.Drift, g.Score} {
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
			show(g.Warnings, float64(c.faults))
		}
		if c.state == 0 {
			continue
		}
		for i, state := range cardStates {
			show(g.State, truth(i+1 == int(c.state)), state)
		}
		show(g.Drift, truth(c.drift))
		show(g.Score, float64(c.score))
	}
}

// Ruled says what became of the card that an agent serves: its state, whether another
// one is in force, and how much is in it that should not be. fresh is whether that is new.
func (c *Cards) Ruled(agent, state string, drift, fresh bool, score int) {
	at := slices.Index(append(slices.Clip(cardStates), state), state) + 1
	known := c.change(agent, func(now *cardCondition) {
		now.state, now.drift, now.score = int8(at), drift, int32(score) //nolint:gosec // there are few, and it is at most 100
	})
	if known && fresh {
		c.metrics.Rulings.with(agent, state).Inc()
	}
}

// Warned says how many warnings an agent's card gives reason for.
func (c *Cards) Warned(agent string, n int) {
	c.change(agent, func(now *cardCondition) {
		now.linted, now.faults = true, int32(n) //nolint:gosec // a card has not as many
	})
}

// Verified counts a look at the signatures of a card; result is ok, unsigned,
// untrusted, unavailable or malformed.
func (c *Cards) Verified(result string) {
	if _, known := c.metrics.Signatures[result]; !known {
		result = "untrusted"
	}
	c.metrics.Signatures[result].Inc()
}
