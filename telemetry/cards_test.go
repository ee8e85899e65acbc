package telemetry

import (
	"strings"
	"testing"
)

// TestCardGauges: what is shown of cards is what was said of them last, and nothing of
// agents that there are no more, or of which nothing was said.
func TestCardGauges(t *testing.T) {
	t.Parallel()
	tel := labelled(t)
	m := tel.Metrics
	shown := func(name string, l labels) float64 { return metric(t, tel, "a2a_gateway_card_"+name, l) }
	state := func(agent string) (all []string) {
		for _, s := range append([]string{labelOther}, cardStates...) {
			if shown("state", labels{"agent": agent, "state": s}) == 1 {
				all = append(all, s)
			}
		}
		return all
	}
	m.CardRuled("billing", "accepted", false, true, 7)
	m.CardRuled("billing", "quarantined", true, true, 40)
	m.CardRuled("billing", "quarantined", true, false, 40)
	m.CardWarnings("billing", 3)
	m.CardWarnings("travel", 0)
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
	m.CardRuled("billing", "what is this", false, false, 0)
	if got := state("billing"); len(got) != 0 {
		t.Errorf("states %v", got)
	}
	m.CardRuled("nobody's", "accepted", false, true, 0)
	m.CardWarnings("nobody's", 1)
	m.CardFetch("nobody's", "error")
	m.CardRuled("", "accepted", false, true, 0)
	if page = scrape(t, tel, ""); strings.Contains(page, `agent="other"`) || strings.Contains(page, `agent="none"`) {
		t.Errorf("of agents that there are not: %s", page)
	}
	m.SetLabels(Labels{Agents: []string{"travel"}})
	m.CardRuled("billing", "quarantined", true, true, 40) // by who did not know
	m.CardFetch("billing", "error")
	if page = scrape(t, tel, ""); strings.Contains(page, `"billing"`) || !strings.Contains(page, `agent="travel"`) {
		t.Errorf("after one has gone: %s", page)
	}
}
