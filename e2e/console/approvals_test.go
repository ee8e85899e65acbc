package console

import "testing"

// TestApprovals has calls that wait for approval approved and rejected in a browser; what it looks for is in
// internal/console/ui/test/approvals.mjs.
func TestApprovals(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t, "    - {name: refunds, effect: approve, agents: [billing], methods: [SendMessage], approvers: {subjects: [admin-token]}}",
		"  approvals: {wait: 10ms}").play(t, "test/approvals.mjs")
}
