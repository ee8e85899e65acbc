//go:build minimal

package pdp

import (
	"crypto/tls"
	"log/slog"

	"github.com/a2a-gateway/a2a-gateway/internal/feature"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// newExtAuthz refuses, as checkURL does before: this build has not got Envoy's protocol.
func newExtAuthz(*Authorizer, *tls.Config, *tunnel.Proxy, *slog.Logger) (decider, error) {
	return nil, feature.Need(feature.ExtAuthz)
}
