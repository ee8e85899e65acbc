package refusal_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/audit/reader"
	"github.com/a2a-gateway/a2a-gateway/internal/refusal"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call                reader.Call
		stage, rule, remedy string
		code                int
	}{
		"by a rule": {
			reader.Call{Decision: "deny", Rule: "no-refunds", Reason: "UNAUTHORIZED"},
			"policy", "no-refunds", "change policy.rules", -31403,
		},
		"by no rule, told that the agent is not there": {
			reader.Call{Decision: "deny", Rule: "default", Reason: "AGENT_NOT_FOUND"},
			"policy", "default", "change policy.rules", -32601,
		},
		"by a limit": {
			reader.Call{Decision: "error", Rule: "finance", Limit: "policy.limits.calls", Reason: "RATE_LIMITED"},
			"limits", "", "or raise policy.limits.calls", -32603,
		},
		"after a rule allowed it": {
			reader.Call{Decision: "error", Rule: "finance", Reason: "UNAVAILABLE"},
			"forwarding", "", "look at the agent", -32603,
		},
		"allowed by a rule, without the extension that is required": {
			reader.Call{Decision: "deny", Rule: "finance", Reason: "EXTENSION_SUPPORT_REQUIRED"},
			"negotiation", "", "A2A-Extensions", -32008,
		},
		"no credential": {
			reader.Call{Decision: "error", Reason: "UNAUTHENTICATED"},
			"authentication", "", "a credential that authn accepts", -31401,
		},
		"not JSON": {
			reader.Call{Decision: "error", Reason: "PARSE_ERROR"},
			"decoding", "", "docs/errors.md has PARSE_ERROR", -32700,
		},
		"our own fault": {
			reader.Call{Decision: "error", Reason: "INTERNAL_ERROR", RequestID: "r-1"},
			"gateway", "", "by this request id: r-1", -32603,
		},
		"a reason that nobody knows": {
			reader.Call{Decision: "error", Reason: "OF_A_LATER_VERSION"},
			"decoding", "", "docs/errors.md has OF_A_LATER_VERSION", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := refusal.Of(&c.call)
			if r == nil {
				t.Fatal("not refused")
			}
			if r.Stage != c.stage || r.Rule != c.rule || r.Code != c.code || !strings.Contains(r.Remedy, c.remedy) {
				t.Errorf("%+v", *r)
			}
		})
	}
	for _, decision := range []string{"allow", ""} {
		if r := refusal.Of(&reader.Call{Decision: decision, Reason: "TASK_NOT_FOUND"}); r != nil {
			t.Errorf("decision %q is a refusal: %+v", decision, *r)
		}
	}
}
