package config

import (
	"os"
	"strings"
	"testing"
)

const skillsConfig = `server: {address: "127.0.0.1:0", publicURL: "http://127.0.0.1"}
authn: {anonymous: true}
agents:
  - {id: listed, card: "http://127.0.0.1:1/card", skills: [{id: read}, {id: write}]}
  - {id: listed2, card: "http://127.0.0.1:1/card", skills: [{id: count}]}
  - {id: carded, card: "http://127.0.0.1:1/card"}
policy:
  rules:
    - {name: one, effect: allow, `

// A rule about a skill that the file itself says does not exist is a mistake in
// the file; where the card says which skills there are, it may be none.
func TestRuleNamesUnlistedSkill(t *testing.T) {
	t.Parallel()
	const wrong = `c.yaml:9:`
	tests := []struct {
		name, rule, want string
	}{
		{"listed", `agents: [listed], skills: [read]}`, ""},
		{"unlisted", `agents: [listed], skills: [read, refund]}`, `"one": none of its agents has a skill "refund"`},
		{"several", `agents: [listed], skills: [a, b]}`, `"one": none of its agents has a skill "a"`},
		{"a deny rule", "agents: [listed], skills: [refund]}\n    - {name: two, effect: allow}", `"one": none`},
		{"of the other agent", `agents: [listed, listed2], skills: [read, count]}`, ""},
		{"of neither agent", `agents: [listed, listed2], skills: [refund]}`, `has a skill "refund"`},
		{"one of them has a card", `agents: [listed, carded], skills: [refund]}`, ""},
		{"agents by pattern", `agents: ["listed*"], skills: [refund]}`, `has a skill "refund"`},
		{"all agents", `skills: [refund]}`, ""},
		{"skills by pattern", `agents: [listed], skills: ["refund*"]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("c.yaml", []byte(skillsConfig+tt.rule+"\n"), os.LookupEnv)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("error %v, want none", err)
			case tt.want != "" && err == nil:
				t.Error("no error")
			case tt.want == "":
			case !strings.Contains(err.Error(), tt.want), !strings.HasPrefix(err.Error(), wrong):
				t.Errorf("error %q, want one at %s with %q", err, wrong, tt.want)
			}
		})
	}
}
