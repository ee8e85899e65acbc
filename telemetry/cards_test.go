package telemetry

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/telemetry/metrics"
)

// TestCardGauges: what is shown of cards is what was said of them last, and nothing of
// agents that there are no more, or of which nothing was said.
func TestCardGauges(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	m := tel.Metrics
	shown := func(name string, l labels) float64 { return metric(t, tel, "a2a_gateway_card_"+name, l) }
	state := func(agent string) (all []string) {
		for _, s := range []string{"other", "pending", "accepted", "alerted", "quarantined", "approved", "rejected", "refused"} {
			if shown("state", labels{"agent": agent, "state": s}) == 1 {
				all = append(all, s)
			}
		}
		return all
	}
	m.Cards.Ruled("billing", "accepted", false, true, 7)
	m.Cards.Ruled("billing", "quarantined", true, true, 40)
	m.Cards.Ruled("billing", "quarantined", true, false, 40)
	m.Cards.Warned("billing", 3)
	m.Cards.Warned("travel", 0)
	if got := state("billing"); len(got) != 1 || got[0] != "quarantined" {
		t.Errorf("states %v", got)
	}
	for _, c := range []struct {
		name string
		l    labels
		want float64
	}{
		{"drift", labels{"agent": "billing"}, 1},
		{"lint_score", labels{"agent": "billing"}, 40},
		{"warnings", labels{"agent": "billing"}, 3},
		{"rulings_total", labels{"agent": "billing", "state": "accepted"}, 1},
		{"rulings_total", labels{"agent": "billing", "state": "quarantined"}, 1},
	} {
		if got := shown(c.name, c.l); got != c.want {
			t.Errorf("%s%v = %v, want %v", c.name, c.l, got, c.want)
		}
	}
	page := scrape(t, tel, "")
	if !strings.Contains(page, `card_warnings{agent="travel"} 0`) || strings.Contains(page, `card_drift{agent="travel"}`) {
		t.Errorf("an agent whose card was looked at, and not ruled on yet: %s", page)
	}
	m.Cards.Ruled("billing", "what is this", false, false, 0)
	if got := state("billing"); len(got) != 0 {
		t.Errorf("states %v", got)
	}
	m.Cards.Ruled("nobody's", "accepted", false, true, 0)
	m.Cards.Warned("nobody's", 1)
	m.Cards.Fetched("nobody's", "error")
	m.Cards.Ruled("", "accepted", false, true, 0)
	if page = scrape(t, tel, ""); strings.Contains(page, `agent="other"`) || strings.Contains(page, `agent="none"`) {
		t.Errorf("of agents that there are not: %s", page)
	}
	m.SetLabels(metrics.Labels{Agents: []string{"travel"}})
	m.Cards.Ruled("billing", "quarantined", true, true, 40) // by who did not know
	m.Cards.Fetched("billing", "error")
	if page = scrape(t, tel, ""); strings.Contains(page, `"billing"`) || !strings.Contains(page, `agent="travel"`) {
		t.Errorf("after one has gone: %s", page)
	}
}
