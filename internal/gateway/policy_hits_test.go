package gateway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console/rules"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// TestHitsNameWhoDecided: a refusal counts for what refused it, and a rule that let the
// call through is not counted as having denied it. Its name stands in the record all the
// same.
func TestHitsNameWhoDecided(t *testing.T) {
	t.Parallel()
	w, agent := newWorld(t), newCounter(t, nil)
	g := w.start(w.yaml(plain, fmt.Sprintf(`admin: {}
policy:
  rules:
    - {name: look, effect: allow, methods: [GetTask]}
    - {name: team, effect: allow, groups: [team], methods: [SendMessage]}
    - {name: guests, effect: deny, groups: [guests], methods: [SendMessage]}
  limits: {each: [{name: few, groups: [team], rate: {units: 1, per: 1h}}]}
agents: [{id: a, card: %q}]
`, agent.CardURL)))
	for n, c := range []struct {
		groups []string
		status int
	}{
		{[]string{"team"}, 200}, {[]string{"team"}, 429}, {[]string{"team"}, 429},
		{[]string{"team", "guests"}, 403}, {nil, 403},
	} {
		if status, body := call(t, g, "a", w.token("caller", c.groups...)); status != c.status {
			t.Errorf("call %d: %d %s", n, status, body)
		}
	}
	if status, body := call(t, g, "a", nil); status != 401 {
		t.Errorf("without a credential: %d %s", status, body)
	}
	want := []rules.Hit{
		{Rule: "default", Deny: 1}, {Rule: "guests", Deny: 1}, {Rule: "none", Deny: 3}, {Rule: "team", Allow: 1, Error: 2},
	}
	var got rules.Hits
	eventually(t, "the calls are counted", func() bool {
		got = hitsOf(t, g, w.dir)
		n := int64(0)
		for _, h := range got.Rules {
			n += h.Allow + h.Deny
		}
		return n >= 6
	})
	if !slices.Equal(got.Rules, want) {
		t.Errorf("%+v, want %+v", got.Rules, want)
	}
	for series, want := range map[string]string{
		`a2a_gateway_authz_decisions_total{decision="deny",rule="none"}`:      "3",
		`a2a_gateway_authz_decisions_total{decision="deny",rule="default"}`:   "1",
		`a2a_gateway_authz_decisions_total{decision="overruled",rule="team"}`: "2",
	} {
		if got := metric(t, g, series); got != want {
			t.Errorf("%s is %q, want %s", series, got, want)
		}
	}
	eventually(t, "the records name the rule that let the calls through", func() bool {
		return len(recorded(t, w, `"decision":"deny"`, `"rule":"team"`, `"limit":"few"`)) == 2
	})
}

func hitsOf(t *testing.T, g *gateway.Gateway, dir string) (h rules.Hits) {
	t.Helper()
	status, body := fetch(t, g.AdminURL()+"/api/v1/policy/hits", adminOf(t, dir))
	if err := json.Unmarshal([]byte(body), &h); err != nil || status != 200 {
		t.Fatal(status, body, err)
	}
	return h
}

// recorded are the lines of the audit log that have all the words.
func recorded(t *testing.T, w *world, words ...string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "audit", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(line, word) }) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// TestUndecidedAreDocumented: what stands in the place of a rule is named where metrics and
// records are explained.
func TestUndecidedAreDocumented(t *testing.T) {
	t.Parallel()
	for file, quote := range map[string]string{"metrics.md": "", "audit.md": "`"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", file))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "| `rule` |") {
				continue
			}
			for _, name := range policy.Undecided() {
				if !strings.Contains(line, quote+name+quote) {
					t.Errorf("%s does not name %s: %s", file, name, line)
				}
			}
		}
	}
}
