package console

import "testing"

// TestBrowserMap uses the screen Map; what it looks for is in
// internal/console/ui/test/map.mjs.
func TestBrowserMap(t *testing.T) {
	t.Parallel()
	need(t, []string{"node_modules/playwright-core", "node_modules/@axe-core/playwright"}, "node", "chromium")
	newOffice(t).play(t, "test/map.mjs")
}
