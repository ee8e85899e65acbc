package server

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/server/cors"
	"github.com/a2a-gateway/a2a-gateway/internal/server/mcp"
)

// Config is the server: section.
type Config struct {
	// Name of this gateway in records, among replicas, and in the Via header of calls. Each replica
	// has its own. The gateway refuses a call that passes it twice, as a loop. A call that comes
	// back to another replica goes on, to limits.hops at most. Default: host and port of publicURL.
	ID string `yaml:"id,omitempty" reload:"restart"`

	// Address of the public listener, host:port. An empty host means all addresses, port 0 any free
	// port. Default: ":8443" with tls, ":8080" without.
	Address string `yaml:"address,omitempty"`

	// Address of the status listener (/livez, /readyz, /healthz, /metrics): plaintext, not for the
	// public; "off" for none. Default: ":9902".
	StatusAddress string `yaml:"statusAddress,omitempty"`

	// Further hosts that requests to the status listener may name, as host or host:port. The
	// listener always accepts requests without a host, and those that name an address, as probes and
	// scrapers of pods do. It also accepts localhost, the hosts of statusAddress, publicURL and
	// hosts, and the machine's own name. That name may stand before a further host, as pods of a
	// headless service are named. Others get 421, to stop DNS rebinding by web pages. Default: none.
	StatusHosts []string `yaml:"statusHosts,omitempty"`

	// URL under which clients reach the gateway: scheme and host, and a path if a reverse proxy in
	// front forwards only what begins with it. All URLs in cards come from it, never from the Host
	// of a request. Required: https://… with tls; an explicit http://… permits plaintext.
	PublicURL string `yaml:"publicURL" jsonschema:"required"`

	// Path with which requests begin when they reach the gateway: publicURL's path if the reverse
	// proxy in front keeps it, "/" if the proxy strips it. Set it if the proxy refuses some paths by
	// itself. Default: with publicURL's path or without it, whichever is a path of the gateway's.
	// Agents with hosts of their own have none.
	BasePath string `yaml:"basePath,omitempty"`

	// Further hosts that requests may name, as host or host:port. The gateway always accepts the
	// host of publicURL and every agent's hosts, and on a loopback listener localhost, 127.0.0.1 and
	// [::1].
	Hosts []string `yaml:"hosts,omitempty"`

	// Plaintext HTTP/2 by prior knowledge, for gRPC clients without TLS; never by Upgrade. Default:
	// true on a loopback listener without tls, false elsewhere.
	H2C *bool `yaml:"h2c,omitempty"`

	// Serves gRPC's server reflection to anyone. It describes A2A itself, and nothing of agents or
	// callers. Default: true.
	Reflection *bool `yaml:"reflection,omitempty"`

	// Directory for state, audit records and generated keys. Default:
	// $STATE_DIRECTORY, else $XDG_STATE_HOME/a2a-gateway, else
	// ~/.local/state/a2a-gateway.
	DataDir string `yaml:"dataDir,omitempty" file:"write"`

	// TLS on the public listener. Default: none, see publicURL.
	TLS *TLS `yaml:"tls,omitempty"`

	// Serves plaintext although publicURL is https://, because a load balancer or ingress in front
	// terminates TLS. The gateway then does not protect the traffic between the two. Default: false.
	Plaintext bool `yaml:"plaintext,omitempty"`

	// Networks of proxies in front of the gateway, such as 10.0.0.0/8. The gateway believes
	// X-Forwarded-For from these peers, and no others. They do not count against
	// limits.connectionsPerIP. Default: none.
	TrustedProxies []netip.Prefix `yaml:"trustedProxies,omitempty"`

	// Permits 0.0.0.0/0 and ::/0 in trustedProxies. They let every client choose the address that
	// the gateway sees. Default: false.
	TrustAnyProxy bool `yaml:"trustAnyProxy,omitempty"`

	// Web pages of other origins that may call agents, and read cards and the catalog. Default:
	// none.
	CORS *cors.Config `yaml:"cors,omitempty"`

	// Endpoint of the Model Context Protocol, at which agents' skills are tools. Default: none.
	MCP *mcp.Config `yaml:"mcp,omitempty"`

	// Limits on connections, requests and answers.
	Limits Limits `yaml:"limits,omitempty"`

	// Limits on waiting.
	Timeouts Timeouts `yaml:"timeouts,omitempty"`
}

// TLS is the server.tls section. TLS 1.3 only unless minVersion says otherwise.
type TLS struct {
	// Certificates with their keys. The gateway chooses one by the client's server name; clients
	// that send none or an unknown one get the first. It watches the files, uses new ones within
	// seconds, and logs bad ones and keeps the old. Required without acme.
	Certificates []Certificate `yaml:"certificates,omitempty"`

	// Certificates from a CA, in addition to those of files, which come first. Default: none.
	ACME *ACME `yaml:"acme,omitempty"`

	// PEM files with the CAs that verify client certificates. The gateway watches them like the
	// certificates. If you remove a CA, TLS sessions that began with it and identities it vouched
	// for end. With require, the gateway also refuses requests on open connections. With any CA,
	// clientAuth must be optional or require.
	ClientCA []string `yaml:"clientCA,omitempty" file:"read"`

	// Whether the gateway asks clients for a certificate: off (the default), request (any
	// certificate or none; good for tokens bound to it, never as an identity), optional (none, or
	// one that clientCA verifies), or require (one that clientCA verifies).
	ClientAuth string `yaml:"clientAuth,omitempty" jsonschema:"enum=off,enum=request,enum=optional,enum=require"`

	// Lowest TLS version: "1.3", or "1.2" with forward-secret AEAD suites only. Default: "1.3".
	MinVersion string `yaml:"minVersion,omitempty" jsonschema:"enum=1.3,enum=1.2"`
}

// Certificate names the files of one certificate.
type Certificate struct {
	// PEM file of the certificate followed by its intermediates.
	Cert string `yaml:"cert" file:"read" jsonschema:"required"`

	// PEM file of the private key.
	Key string `yaml:"key" file:"read" jsonschema:"required"`
}

// files are all that a generation is read from.
func (t TLS) files() []string {
	var paths []string
	for _, pair := range t.Certificates {
		paths = append(paths, pair.Cert, pair.Key)
	}
	return append(paths, t.ClientCA...)
}

// Timeouts is the server.timeouts section. In every key, 0 is the default.
type Timeouts struct {
	// Time for a TLS handshake, and for a request's head once its connection is open. Default: 5s.
	Header quantity.Duration `yaml:"header,omitempty"`

	// Time after which the gateway closes a kept-alive connection without a request. Default: 60s.
	Idle quantity.Duration `yaml:"idle,omitempty"`

	// Time for a request body before the gateway enforces limits.bodyRate. Default: 5s.
	Body quantity.Duration `yaml:"body,omitempty"`

	// Time for what a client still sends after its answer, see limits.linger. The gateway does not
	// wait for a client that sends nothing for timeouts.body. Over HTTP/2 the connection goes on, and
	// the gateway resets the stream after a second instead. Default: 30s.
	Linger quantity.Duration `yaml:"linger,omitempty"`

	// Time for one write to a client that does not read. A whole answer may take longer, and a
	// stream may last. Default: 60s.
	Write quantity.Duration `yaml:"write,omitempty"`

	// Time for an agent's whole answer, or for the first sign of a stream, unless the agent's
	// answerTimeout says otherwise. A blocking send waits for the agent's work. Default: 5m.
	Call quantity.Duration `yaml:"call,omitempty"`

	// Time after which the gateway gives up an agent's stream without any event or comment. Default:
	// 15m.
	Stream quantity.Duration `yaml:"stream,omitempty"`

	// Time between heartbeat comments on a silent stream. Default: 15s.
	Heartbeat quantity.Duration `yaml:"heartbeat,omitempty"`

	// Time in which a stopping gateway still accepts connections. It is not ready any more and
	// closes each connection after its answer. So load balancers and kept-alive clients are gone
	// when it closes the rest. Part of drain. An upgrade takes 1s at least, less if nobody is
	// connected. Default: 0s.
	LameDuck quantity.Duration `yaml:"lameDuck,omitempty" zero:"kept"`

	// Time for requests and streams to end when the gateway stops. Default: 30s.
	Drain quantity.Duration `yaml:"drain,omitempty"`
}

// PathPrefix is what the paths of requests to the gateway's own hosts begin with, or may.
func (c *Config) PathPrefix() string {
	if c.BasePath != "" {
		return strings.TrimSuffix(c.BasePath, "/")
	}
	u, err := publicURL(c.PublicURL)
	if err != nil { // which Validate tells of
		return ""
	}
	return u.Path
}

// Defaults fills in what is not set, as the fields say.
func (c *Config) Defaults() {
	if c.TLS != nil {
		fill(&c.Address, ":8443")
		fill(&c.TLS.MinVersion, "1.3")
		fill(&c.TLS.ClientAuth, authOff)
		if c.TLS.ACME != nil {
			c.TLS.ACME.defaults()
		}
	}
	fill(&c.Address, ":8080")
	fill(&c.StatusAddress, ":9902")
	if u, err := publicURL(c.PublicURL); err == nil {
		fill(&c.ID, u.Host)
	}
	fill(&c.DataDir, dataDir(os.Getenv))
	if c.H2C == nil {
		h2c := c.TLS == nil && c.Loopback()
		c.H2C = &h2c
	}
	if c.Reflection == nil {
		on := true
		c.Reflection = &on
	}
	if c.CORS != nil {
		c.CORS.Defaults()
	}
	if c.MCP != nil {
		c.MCP.Defaults()
	}
	c.Limits.Defaults()
	c.Timeouts.defaults()
}

// GRPC reports whether gRPC clients can reach the public listener: gRPC needs
// HTTP/2, which TLS negotiates and plaintext must permit. c must have its Defaults.
func (c *Config) GRPC() bool { return c.TLS != nil || *c.H2C }

func (t *Timeouts) defaults() {
	fill(&t.Header, seconds(5))
	fill(&t.Idle, seconds(60))
	fill(&t.Body, seconds(5))
	fill(&t.Linger, seconds(30))
	fill(&t.Write, seconds(60))
	fill(&t.Call, seconds(5*60))
	fill(&t.Stream, seconds(15*60))
	fill(&t.Heartbeat, seconds(15))
	fill(&t.Drain, seconds(30))
}

func seconds(n int64) quantity.Duration { return quantity.Duration(n * 1e9) }

// fill sets what is still its zero value.
func fill[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// dataDir is the default of DataDir. systemd may list several directories in
// $STATE_DIRECTORY; the first one is ours. Without a home directory it is empty,
// which only matters to those who write there.
func dataDir(env func(string) string) string {
	if dirs := filepath.SplitList(env("STATE_DIRECTORY")); len(dirs) > 0 && dirs[0] != "" {
		return dirs[0]
	}
	if dir := env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "a2a-gateway")
	}
	if home := env("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "a2a-gateway")
	}
	return ""
}
