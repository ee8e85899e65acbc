package exchange_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
)

// TestOwned: no spelling of a name of the gateway's can be configured.
func TestOwned(t *testing.T) {
	t.Parallel()
	for _, name := range agents.OwnedHeaders {
		for _, spelled := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if !agents.Owned(spelled) {
				t.Errorf("%s is not owned", spelled)
			}
		}
	}
	for _, prefix := range agents.OwnedPrefixes {
		if !agents.Owned(prefix+"Anything") || !agents.Owned(strings.ToLower(prefix)+"anything") {
			t.Errorf("%s… is not owned", prefix)
		}
	}
	for _, name := range append(append([]string{}, intake.RequestHeaders...), exchange.ResponseHeaders...) {
		if agents.Owned(name) || http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is owned, or not canonical", name)
		}
	}
}
