package console

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/console/extensions"
)

// adopters is an Extensions of so many agents.
type adopters int

func (adopters) Registry() extensions.Registry {
	return extensions.Registry{Since: time.Unix(1, 0).UTC(), Extensions: []extensions.Registered{{
		URI: "https://ext.example/a", Kind: "profile", Status: "deprecated", Sunset: "2027-03-31", Calls: extensions.Negotiated{Activated: 3},
		Violations: []extensions.Violation{{Fault: "schema", Enforced: true, Count: 2}},
	}}}
}

func (n adopters) Adoption(after string, limit int) (list []extensions.Adoption) {
	for i := range int(n) {
		if id := fmt.Sprintf("agent-%03d", i); id > after && len(list) < limit {
			list = append(list, extensions.Adoption{Agent: id, Card: true, Extensions: []extensions.Adopted{{URI: "https://ext.example/a", Standing: "offered", Declared: true}}})
		}
	}
	return list
}

func (n adopters) Of(agent string) (extensions.Standing, bool) {
	return extensions.Standing{Agent: agent, Card: true, Extensions: []ext.Account{{
		URI: "https://ext.example/a", Standing: "denied", Why: []string{"registry: it is blocked"},
	}}}, agent == "a-1"
}

// TestExtensions: the registry, and what it is on agents, page by page and one by one.
func TestExtensions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if got := w.ask("GET", "/api/v1/extensions", nil); got.status != 200 || !strings.Contains(got.body, `"violations":[{"fault":"schema","enforced":true,"count":2}]`) {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/extensions/agents/a-1", nil); got.status != 200 || !strings.Contains(got.body, `"why":["registry: it is blocked"]`) {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/extensions/agents/never", nil); got.status != 404 || !strings.Contains(got.body, "NO_SUCH_AGENT") {
		t.Error(got)
	}
	seen, target := 0, "/api/v1/extensions/agents?limit=10"
	for next := ""; ; {
		var page extensions.AdoptionPage
		got := w.ask("GET", target+next, nil)
		if err := json.Unmarshal([]byte(got.body), &page); err != nil {
			t.Fatal(got, err)
		}
		seen += len(page.Agents)
		if page.Next == "" {
			break
		}
		next = "&cursor=" + page.Next
	}
	if seen != 25 {
		t.Errorf("%d agents on all pages", seen)
	}
}
