package upstream

import (
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// Config says how one agent is reached. The zero value reaches it without
// credentials, with the system's roots, under the default limits.
type Config struct {
	// Endpoints lists URLs (scheme, host, port) that the agent's card may name
	// beside the card's own origin. Anything else in a card is not contacted. For
	// gRPC the scheme may be grpcs or grpc, which mean https and http; a card that
	// says host:port alone is reached over the scheme that is listed.
	Endpoints []string `yaml:"endpoints"`

	// Credentials are added to every call; each sets one header. The caller's
	// own credential never reaches the agent unless one of them passes it on.
	Credentials []credentials.Credential `yaml:"credentials"`

	// TLS changes how https endpoints are verified. The files are read again when they
	// change; bad ones leave the last good ones in use.
	TLS TLS `yaml:"tls"`

	// Egress is the way to the agent where that is not the one of `egress`: another HTTP
	// proxy, or "none". It takes that section's place whole.
	Egress tunnel.Config `yaml:"egress"`

	// Connections limits calls in flight to the agent, streams included; on
	// HTTP/1.1 each has a connection of its own. Further ones are answered 503. One caller
	// may have as many as there are places left, so half of them at most.
	// Default 4096.
	Connections int `yaml:"connections"`

	// Connect limits dialling, through a proxy too, and the TLS handshake. Default 5s.
	Connect quantity.Duration `yaml:"connectTimeout"`

	// Answer limits the wait for a unary answer's last byte and for a stream's
	// first. Default: server.timeouts.call.
	Answer quantity.Duration `yaml:"answerTimeout"`

	// Load spreads calls over the agent's instances, and keeps those that fail from
	// holding calls up.
	Load Load `yaml:"load"`
}

// TLS verifies an agent that a public CA does not vouch for.
type TLS struct {
	// CA is a PEM file of roots to trust instead of the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files of the gateway's client certificate.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName replaces the endpoint's host in verification.
	ServerName string `yaml:"serverName"`
}

func orDefault(d quantity.Duration, def time.Duration) time.Duration {
	if d <= 0 {
		return def
	}
	return d.Std()
}
