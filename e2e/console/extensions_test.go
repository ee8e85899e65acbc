package console

import (
	"fmt"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestBrowserExtensions uses the screen Extensions; what it looks for is in
// internal/console/ui/test/extensions.mjs.
func TestBrowserExtensions(t *testing.T) {
	t.Parallel()
	needBrowser(t)
	newOffice(t, fmt.Sprintf(`extensions:
  - {uri: %q, description: Books the call on a cost centre., schemas: {metadata: {%[1]q: {type: string, pattern: "^cc-"}}}}
  - {uri: "https://billing.example/extensions/tenancy/v1", status: deprecated, replacement: "https://billing.example/extensions/tenancy/v2", sunset: "2099-03-31"}`,
		demo.CostCentre)).play(t, "test/extensions.mjs")
}
