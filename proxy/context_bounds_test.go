package proxy

import (
	"fmt"
	"testing"
)

// TestContextsAreBounded: an agent that shows one context after the other has none of them
// remembered for long, but for those that go by another name with the caller.
func TestContextsAreBounded(t *testing.T) {
	t.Parallel()
	x := &exchange{}
	x.learnName(newForeign("agents", "callers"))
	for i := range 100 * mostContexts {
		x.learnName(newForeign(fmt.Sprint("another-", i), ""))
		if len(x.contexts) > mostContexts {
			t.Fatalf("%d are remembered", len(x.contexts))
		}
	}
	if got := x.nameFor("agents"); got != "callers" {
		t.Errorf("it goes by the name %q", got)
	}
}
