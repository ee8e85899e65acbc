package console

import "testing"

// TestBrowserPolicy uses the screen Policy; what it looks for is in
// internal/console/ui/test/policy.mjs.
func TestBrowserPolicy(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t, "    - {name: weather-only-for-alice, effect: deny, agents: [weather], subjects: [bob], mode: shadow}",
		"  limits: {each: [{name: parcels-an-hour, agents: [courier], rate: {units: 1, per: 1h, burst: 1}}]}").
		play(t, "test/policy.mjs")
}
