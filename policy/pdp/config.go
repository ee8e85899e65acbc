package pdp

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is `policy.authorizers:`.
type Config []Authorizer

// Authorizer is one service that the gateway asks. All authorizers that a call concerns have to
// allow it.
type Authorizer struct {
	// Name is what errors, metrics and audit records call the authorizer. Required and unique;
	// letters, digits, "-", "_" and ".", at most 64.
	Name string `yaml:"name" jsonschema:"required"`
	// Kind is the protocol: authzen or ext_authz.
	Kind string `yaml:"kind" jsonschema:"enum=authzen,enum=ext_authz"`
	// URL of the service. For authzen, that of the policy decision point (https://pdp.example). The
	// gateway reads the evaluation endpoints from its metadata, or else uses /access/v1/evaluation
	// below the URL. For ext_authz, grpc://host:port or grpcs://host:port. http and grpc are only
	// for services on this machine (localhost, 127.0.0.1, ::1).
	URL secret.URL `yaml:"url" jsonschema:"required"`
	// Agents, Skills and Methods select the calls that the gateway asks about, as in rules.
	Agents  []string `yaml:"agents"`
	Skills  []string `yaml:"skills"`
	Methods []string `yaml:"methods"`
	// Timeout is how long an answer may take; default 500ms, at most 10s.
	Timeout quantity.Duration `yaml:"timeout"`
	// OnFailure says what a question without an answer means: "deny" (default) or "allow". Either
	// way, the gateway refuses a call whose question the service finds bad, because a caller could
	// provoke that.
	OnFailure string `yaml:"onFailure" jsonschema:"enum=deny,enum=allow"`
	// Cache is how long the gateway reuses an answer for the same question; default 0: not at all.
	// At most 1m.
	Cache quantity.Duration `yaml:"cache" zero:"kept"`
	// Message says whether the gateway describes the message to the service: the kinds, media types
	// and sizes of its parts, and the metadata of the message and of the call, but not the contents.
	// Default false.
	Message bool `yaml:"message"`
	// Claims are names of claims that the gateway sends; "*" is all. Default none.
	Claims []string `yaml:"claims"`
	// Token is a bearer token that the gateway sends.
	Token secret.Value `yaml:"token"`
	// TLS says how the gateway verifies the service and identifies itself.
	TLS TLS `yaml:"tls"`
	// Mode is "enforce" (default) or "shadow": the gateway only records the answer. A call still
	// waits for it, at most for Timeout.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
}

// TLS is `tls:` of an authorizer. The gateway reads the files at load.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files that the gateway presents to the service.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName is the name in the service's certificate; default the host of URL.
	ServerName string `yaml:"serverName"`
}

// The words of a Config.
const (
	kindAuthZEN  = "authzen"
	kindExtAuthz = "ext_authz"
	modeEnforce  = "enforce"
	modeShadow   = "shadow"
	failDeny     = "deny"
	failAllow    = "allow"
)
