package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestInstancesAreReported: the gateway checks the instances of an agent, and /readyz
// and /metrics say how they are.
func TestInstancesAreReported(t *testing.T) {
	t.Parallel()
	agent, gone := newCounter(t, nil), freeAddress(t)
	w := newWorld(t)
	g := w.start(w.yaml(plain, fmt.Sprintf(`agents:
  - id: counter
    card: %s
    load:
      instances: [{static: [%q]}]
      health: {interval: 10ms, unhealthy: 1}
policy: {default: allow}
`, agent.CardURL, gone)))
	eventually(t, "agent without a healthy instance", func() bool {
		_, ready := fetch(t, g.StatusURL()+"/readyz?verbose", nil)
		return strings.Contains(ready, "agent counter instances: failed: none of 1 is healthy")
	})
	for series, want := range map[string]string{
		`a2a_gateway_upstream_instances{agent="counter"}`: "1",
		`a2a_gateway_upstream_healthy{agent="counter"}`:   "0",
		`a2a_gateway_circuit_state{agent="counter"}`:      "0",
	} {
		if got := metric(t, g, series); got != want {
			t.Errorf("%s is %q, want %s", series, got, want)
		}
	}
	if status, body := call(t, g, "counter", w.token("caller", "team")); status != 503 || strings.Contains(body, gone) {
		t.Errorf("a call: %d %s", status, body)
	}
}
