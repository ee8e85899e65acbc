package console

import "testing"

// TestBrowserReplay uses the view Replay of the screen Policy; what it looks for is in
// internal/console/ui/test/replay.mjs.
func TestBrowserReplay(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t, "    - {name: weather-only-for-alice, effect: deny, agents: [weather], subjects: [bob], mode: shadow}").
		play(t, "test/replay.mjs")
}
