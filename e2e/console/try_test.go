package console

import "testing"

// TestBrowserTry uses the screen Try it; what it looks for is in internal/console/ui/test/try.mjs.
func TestBrowserTry(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/try.mjs")
}
