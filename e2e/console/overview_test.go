package console

import "testing"

// TestBrowserOverview uses the screen Overview while calls are made; what it looks for is in
// internal/console/ui/test/overview.mjs.
func TestBrowserOverview(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/overview.mjs")
}
