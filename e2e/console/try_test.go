package console

import "testing"

// TestBrowserTry uses the screen Try it; what it looks for is in internal/console/ui/test/try.mjs.
func TestBrowserTry(t *testing.T) {
	t.Parallel()
	need(t, []string{"node_modules/playwright-core", "node_modules/@axe-core/playwright"}, "node", "chromium")
	newOffice(t).play(t, "test/try.mjs")
}
