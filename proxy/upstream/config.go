package upstream

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// Config says how the gateway reaches one agent. The zero value reaches it without credentials,
// with the system's roots, under the default limits.
type Config struct {
	// Endpoints lists URLs (scheme, host, port) that the agent's card may name besides the card's
	// own origin. The gateway contacts no other address of a card. For gRPC the scheme may be
	// grpcs or grpc, which mean https and http. If a card says only host:port, the scheme listed
	// here applies.
	Endpoints []string `yaml:"endpoints"`

	// Credentials are what the gateway adds to every call; each sets one header. The caller's own
	// credential never reaches the agent unless one of these entries passes it on.
	Credentials []credentials.Credential `yaml:"credentials"`

	// TLS changes how the gateway verifies https endpoints. The gateway rereads the files when
	// they change, and keeps the last good ones if the new ones are bad.
	TLS TLS `yaml:"tls"`

	// Egress replaces the `egress` section for this agent: another HTTP proxy, or none (proxy:
	// "none"). No key of that section applies to the agent then.
	Egress tunnel.Config `yaml:"egress"`

	// Connections limits calls in flight to the agent, including streams; on HTTP/1.1 each has a
	// connection of its own. The gateway answers further calls with 503. One caller may have at
	// most as many as there are places left, so at most half. Default 4096.
	Connections int `yaml:"connections"`

	// Connect limits the time to connect, also through a proxy, and for the TLS handshake. Default
	// 5s.
	Connect quantity.Duration `yaml:"connectTimeout"`

	// Answer limits the wait for the last byte of a unary answer, and for the first byte of a
	// stream. Default: server.timeouts.call.
	Answer quantity.Duration `yaml:"answerTimeout"`

	// Load spreads calls over the agent's instances, and keeps failing instances from delaying
	// calls.
	Load Load `yaml:"load"`
}

// TLS verifies an agent whose certificate is not from a public CA.
type TLS struct {
	// CA is a PEM file of roots that the gateway trusts instead of the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files of the gateway's client certificate.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName replaces the endpoint's host as the name that the certificate must have.
	ServerName string `yaml:"serverName"`
}

func orDefault(d quantity.Duration, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d.Std()
}
