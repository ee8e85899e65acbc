package console

import "testing"

// TestBrowserReplay uses the view Replay of the screen Policy; what it looks for is in
// internal/console/ui/test/replay.mjs.
func TestBrowserReplay(t *testing.T) {
	t.Parallel()
	need(t, []string{"node_modules/playwright-core", "node_modules/@axe-core/playwright"}, "node", "chromium")
	newOffice(t, "    - {name: weather-only-for-alice, effect: deny, agents: [weather], subjects: [bob], mode: shadow}").
		play(t, "test/replay.mjs")
}
