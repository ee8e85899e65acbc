package console

import "testing"

// TestBrowserAgent uses the screen of an agent; what it looks for is in
// internal/console/ui/test/agent.mjs.
func TestBrowserAgent(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/agent.mjs")
}

// TestBrowserDraft edits agents as drafts; what it looks for is in
// internal/console/ui/test/draft.mjs.
func TestBrowserDraft(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t).play(t, "test/draft.mjs")
}
