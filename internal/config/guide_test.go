package config

import (
	"fmt"
	"os"
	"regexp"
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

// TestIdentityGuide makes sure that the examples in docs/identity.md are configurations.
func TestIdentityGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/identity.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```yaml\n(.*?)```\n").FindAllStringSubmatch(string(text), -1)
	if len(examples) < 8 {
		t.Fatalf("only %d examples", len(examples))
	}
	for i, m := range examples {
		file := m[1]
		for _, e := range elsewhere {
			if !strings.Contains("\n"+file, "\n"+e.key+":") {
				file += e.text
			}
		}
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
