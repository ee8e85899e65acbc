package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestDoubts: what the file permits and hardly means is in the log, once.
func TestDoubts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := newCounter(t, nil)
	w.start(w.yaml(plain, fmt.Sprintf(`policy: {rules: [{name: all, effect: allow}]}
agents: [{id: a, card: %[1]q, credentials: [{assertion: {audience: x}}]}, {id: b, card: %[1]q, credentials: [{assertion: {audience: x}}]}]
`, agent.CardURL)))
	const warning = "agents[1].credentials[0].assertion.audience"
	eventually(t, "the warning", func() bool { return strings.Contains(w.log.String(), warning) })
	if n := strings.Count(w.log.String(), warning); n != 1 {
		t.Errorf("warned %d times: %s", n, w.log.String())
	}
}
