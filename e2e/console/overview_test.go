package console

import "testing"

// TestBrowserOverview uses the screen Overview while calls are made; what it looks for is in
// internal/console/ui/test/overview.mjs.
func TestBrowserOverview(t *testing.T) {
	t.Parallel()
	need(t, []string{"node_modules/playwright-core", "node_modules/@axe-core/playwright"}, "node", "chromium")
	newOffice(t).play(t, "test/overview.mjs")
}
