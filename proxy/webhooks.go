package proxy

import (
	"net/url"

	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// webhooks registers the webhooks of callers, gives agents an address of the gateway in their
// place, and judges which notifications go on. relay is nil where push configs go on as they are.
type webhooks struct {
	relay     *Relay
	telemetry *telemetry.Telemetry
	publicURL *url.URL
}
