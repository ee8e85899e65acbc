package ownership_test

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/ownership"
)

// TestContextsAreBounded: an agent that shows one context after the other has none of them
// remembered for long, but for those that go by another name with the caller.
func TestContextsAreBounded(t *testing.T) {
	t.Parallel()
	x := &exchange.Exchange{}
	x.LearnName(ownership.NewForeign("agents", "callers"))
	for i := range 100 * exchange.MostContexts {
		x.LearnName(ownership.NewForeign(fmt.Sprint("another-", i), ""))
		if len(x.Contexts) > exchange.MostContexts {
			t.Fatalf("%d are remembered", len(x.Contexts))
		}
	}
	if got := x.NameFor("agents"); got != "callers" {
		t.Errorf("it goes by the name %q", got)
	}
}
