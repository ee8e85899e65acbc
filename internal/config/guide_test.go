package config

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// elsewhere stands in for the sections that an example in a guide leaves out.
var elsewhere = []struct{ key, text string }{
	{"server", "server: {publicURL: \"https://agents.example.com\", plaintext: true}\n"},
	{"authn", "authn: {oidc: [{issuer: \"https://login.example.com\", audiences: [gateway]}]}\n"},
	{"policy", "policy: {rules: [{name: team, effect: allow, agents: [\"*\"], groups: [team]}]}\n"},
	{"agents", "agents: [{id: billing, card: \"https://billing.internal.example.com/card\"}]\n"},
}

// examples are those of a guide, at least so many, each with the sections that it leaves out.
func examples(t *testing.T, path string, least int) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, m := range fenced.FindAllStringSubmatch(string(text), -1) {
		list = append(list, completed(m[1]))
	}
	if len(list) < least {
		t.Fatalf("only %d examples", len(list))
	}
	return list
}

// TestPolicyGuide makes sure that the examples in docs/policy.md are configurations that
// nothing is to be said about.
func TestPolicyGuide(t *testing.T) {
	t.Parallel()
	for i, file := range examples(t, "../../docs/policy.md", 8) {
		if !strings.Contains(file, "\n  rules:") { // about something else than rules
			file = strings.Replace(file, "policy:\n", "policy:\n  rules: [{name: all, effect: allow}]\n", 1)
		}
		cfg, err := Parse(fmt.Sprintf("example %d", i+1), []byte(file), func(string) (string, bool) { return "set", true })
		if err != nil {
			t.Errorf("%v\n%s", err, file)
			continue
		}
		if _, warnings, err := policy.Compile(cfg.Policy.Config, cfg.AgentIDs()); err != nil || len(warnings) > 0 {
			t.Errorf("example %d: %v %v", i+1, warnings, err)
		}
	}
}

// TestTLSGuide makes sure that the examples in docs/tls.md are configurations that nothing
// is to be said about.
func TestTLSGuide(t *testing.T) {
	t.Parallel()
	for i, file := range examples(t, "../../docs/tls.md", 3) {
		file = strings.Replace(file, "{file: /run/secrets/acme-mac}", "c2VjcmV0", 1)
		cfg, err := Parse(fmt.Sprintf("example %d", i+1), []byte(file), environment)
		if err != nil {
			t.Errorf("%v\n%s", err, file)
			continue
		}
		if got := cfg.uncertified(); len(got) > 0 {
			t.Errorf("example %d: %q", i+1, got)
		}
	}
}

// TestIdentityGuide makes sure that the examples in docs/identity.md are configurations.
func TestIdentityGuide(t *testing.T) {
	t.Parallel()
	for i, file := range examples(t, "../../docs/identity.md", 8) {
		cfg, err := Parse(fmt.Sprintf("example %d", i+1), []byte(file), environment)
		if err != nil {
			t.Errorf("%v\n%s", err, file)
			continue
		}
		if _, warnings, err := policy.Compile(cfg.Policy.Config, cfg.AgentIDs()); err != nil || len(warnings) > 0 {
			t.Errorf("example %d: %v %v", i+1, warnings, err)
		}
		for _, warning := range cfg.identities() {
			t.Errorf("example %d: %s", i+1, warning)
		}
		for _, a := range cfg.Agents {
			u, err := upstream.New(a.Config, upstream.Options{})
			if err != nil {
				t.Errorf("example %d: %v", i+1, err)
				continue
			}
			u.Close()
		}
	}
}

// TestGuides makes sure that the examples in the other guides are configurations, with
// ways to their agents.
func TestGuides(t *testing.T) {
	t.Parallel()
	for guide, least := range map[string]int{"state": 2, "streams": 3, "fleet": 6, "signatures": 2, "cards": 2, "operations": 2} {
		for i, file := range examples(t, "../../docs/"+guide+".md", least) {
			name := fmt.Sprintf("%s.md, example %d", guide, i+1)
			cfg, err := Parse(name, []byte(file), environment)
			if err != nil {
				t.Errorf("%v\n%s", err, file)
				continue
			}
			for _, a := range cfg.Agents {
				u, err := upstream.New(a.Config, upstream.Options{})
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				u.Close()
			}
		}
	}
}

// TestPushGuide makes sure that the examples in docs/push.md are configurations, each with
// a mode that it writes out or leaves to relay.
func TestPushGuide(t *testing.T) {
	t.Parallel()
	for i, file := range examples(t, "../../docs/push.md", 8) {
		cfg, err := Parse(fmt.Sprintf("example %d", i+1), []byte(file), environment)
		if err != nil {
			t.Errorf("%v\n%s", err, file)
			continue
		}
		other := strings.Contains(file, "mode: off") || strings.Contains(file, "mode: passthrough")
		if cfg.Push.Relays() == other {
			t.Errorf("example %d: mode %q", i+1, cfg.Push.Mode)
		}
	}
}

// TestCatalogGuide makes sure that the examples in docs/catalog.md are configurations.
func TestCatalogGuide(t *testing.T) {
	t.Parallel()
	for i, file := range examples(t, "../../docs/catalog.md", 1) {
		if _, err := Parse(fmt.Sprintf("example %d", i+1), []byte(file), func(string) (string, bool) { return "set", true }); err != nil {
			t.Errorf("%v\n%s", err, file)
		}
	}
}

// TestAdminGuide makes sure that the examples in docs/admin.md are configurations.
func TestAdminGuide(t *testing.T) {
	t.Parallel()
	for i, file := range examples(t, "../../docs/admin.md", 4) {
		if _, err := Parse(fmt.Sprintf("example %d", i+1), []byte(file), environment); err != nil {
			t.Errorf("%v\n%s", err, file)
		}
	}
}
