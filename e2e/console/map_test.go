package console

import "testing"

// TestBrowserMap uses the screen Map; what it looks for is in
// internal/console/ui/test/map.mjs.
func TestBrowserMap(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/map.mjs")
}
