package config

import (
	"slices"
	"strings"
	"testing"
)

// TestMappedIdentities: names of two issuers in one map are warned of, unless the file says
// whose they are.
func TestMappedIdentities(t *testing.T) {
	t.Parallel()
	const (
		one = "{issuer: https://a.example, audiences: [gw]}"
		two = one + ", {issuer: https://b.example, audiences: [gw]}"
	)
	for _, tt := range []struct{ name, issuers, identity, want string }{
		{"two issuers", two, "{subjects: {alice: al}}",
			"agents[0].credentials[1].assertion.identity.subjects: holds for callers of every one of 2 issuers"},
		{"one issuer", one, "{subjects: {alice: al}}", ""},
		{"said whose", two, "{issuers: [https://b.example], subjects: {alice: al}}", ""},
		{"no map", two, "{claim: email}", ""},
		{"nobody's", two, "{issuers: [api-keys, https://b.example/]}",
			"agents[0].credentials[1].assertion.identity.issuers: no caller comes from https://b.example/"},
	} {
		c, err := Parse("config.yaml", []byte(`server: {publicURL: "http://gw.example"}
authn: {oidc: [`+tt.issuers+`]}
agents:
  - id: billing
    card: {url: "https://agent.example/.well-known/agent-card.json"}
    credentials:
      - {value: secret}
      - {header: X-Assertion, assertion: {identity: `+tt.identity+`}}
policy: {rules: [{name: all, effect: allow, agents: [billing]}]}
`), environment)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		warnings, err := c.Check()
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		warnings = slices.DeleteFunc(warnings, func(w string) bool { return !strings.Contains(w, ".identity.") })
		if tt.want == "" && len(warnings) != 0 || tt.want != "" && (len(warnings) != 1 || !strings.HasPrefix(warnings[0], tt.want)) {
			t.Errorf("%s: %q", tt.name, warnings)
		}
	}
}
