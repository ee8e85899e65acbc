package policycmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDocumentedCases runs the cases that docs/policy.md shows.
func TestDocumentedCases(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "### Test cases\n")
	_, rest, _ = strings.Cut(rest, "```\n")
	text, _, _ := strings.Cut(rest, "```\n")
	dir := t.TempDir()
	file, cases := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "cases.yaml")
	write(t, cases, text)
	write(t, file, fmt.Sprintf(`
server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q}
authn: {anonymous: true, oidc: [{issuer: "https://login.example.com", audiences: [a2a-gateway]}]}
policy:
  rules: [{name: finance, effect: allow, agents: [billing], groups: [finance], times: [{from: "08:00", to: "18:00"}]}]
  limits: {each: [{name: calls, rate: {units: 10}}]}
agents:
  - id: billing
    card: "https://billing.example.com/.well-known/agent-card.json"
    skills: [{id: refund}, {id: summarize}]
    match: [{skill: refund, when: 'message.parts.exists(p, p.text.startsWith("refund"))'}]
`, dir))
	c, err := compile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	trials, err := c.readCases([]string{cases}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := c.tryAll(t.Context(), trials)
	for _, res := range r.Results {
		if !res.OK {
			t.Errorf("%s: %s\n%s", res.Name, res.summary(), res.details("  "))
		}
	}
	if r.Cases < 2 {
		t.Errorf("%d cases in the page", r.Cases)
	}
}
