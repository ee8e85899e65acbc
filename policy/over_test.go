package policy

import (
	"slices"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestSkillsOver: who reads of skills that are called over one binding sees what rules say of that
// binding, and nothing of others.
func TestSkillsOver(t *testing.T) {
	t.Parallel()
	alice := &authn.Principal{Subject: "alice", Issuer: "i", Method: "oidc"}
	all := []string{"quote", "refund"}
	for name, c := range map[string]struct {
		rules            []Rule
		mcp, rpc, anyway []string
	}{
		"a rule for another binding": {
			[]Rule{{Name: "r", Effect: "allow", Bindings: []string{"JSONRPC"}}}, nil, all, all,
		},
		"a rule for MCP": {
			[]Rule{{Name: "r", Effect: "allow", Bindings: []string{"MCP"}}}, all, nil, all,
		},
		"denied over MCP": {
			[]Rule{{Name: "r", Effect: "allow"}, {Name: "d", Effect: "deny", Skills: []string{"refund"}, Bindings: []string{"MCP"}}},
			[]string{"quote"}, all, all,
		},
		"denied over MCP at some times": {
			[]Rule{{Name: "r", Effect: "allow"}, {Name: "d", Effect: "deny", Bindings: []string{"MCP"}, Sources: []string{"192.0.2.0/24"}}},
			all, all, all,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _, err := Compile(Config{Rules: c.rules}, []string{"billing"})
			if err != nil {
				t.Fatal(err)
			}
			for b, want := range map[wire.Binding][]string{wire.MCP: c.mcp, wire.JSONRPC: c.rpc, 0: c.anyway} {
				if got := s.SkillsOver(b, alice, "billing", all, nil); !slices.Equal(got, want) && len(got)+len(want) > 0 {
					t.Errorf("%s: %v, want %v", b, got, want)
				}
			}
		})
	}
}
