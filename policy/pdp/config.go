package pdp

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Config is `policy.authorizers:`.
type Config []Authorizer

// Authorizer is one service that is asked. All that a call concerns have to allow it.
type Authorizer struct {
	// Name is what errors, metrics and audit records call it. Required and unique;
	// letters, digits, "-", "_" and ".", at most 64.
	Name string `yaml:"name" jsonschema:"required"`
	// Kind is authzen or ext_authz.
	Kind string `yaml:"kind" jsonschema:"enum=authzen,enum=ext_authz"`
	// URL of the service: for authzen that of the policy decision point (https://pdp.example),
	// whose evaluation endpoints are read from its metadata, or else are
	// /access/v1/evaluation below it; for ext_authz grpc://host:port or grpcs://host:port.
	// http and grpc are for services on this machine (localhost, 127.0.0.1, ::1).
	URL secret.URL `yaml:"url" jsonschema:"required"`
	// Agents, Skills and Methods are the calls that it is asked about, as in rules.
	Agents  []string `yaml:"agents"`
	Skills  []string `yaml:"skills"`
	Methods []string `yaml:"methods"`
	// Timeout ends a question; default 500ms, at most 10s.
	Timeout quantity.Duration `yaml:"timeout"`
	// OnFailure says what a question without an answer means: "deny" (default) or "allow".
	// A question that the service finds bad is refused with either: a caller could see to it.
	OnFailure string `yaml:"onFailure" jsonschema:"enum=deny,enum=allow"`
	// Cache is how long an answer holds for the same question; default 0: not at all.
	// At most 1m.
	Cache quantity.Duration `yaml:"cache" zero:"kept"`
	// Message is whether it is told of the message: the kinds, media types and sizes of its
	// parts, and the metadata of the message and of the call, but not the contents.
	// Default false.
	Message bool `yaml:"message"`
	// Claims are names of claims that it is told of; "*" is all. Default none.
	Claims []string `yaml:"claims"`
	// Token is a bearer token that it is shown.
	Token secret.Value `yaml:"token"`
	// TLS says how it is known, and shown who asks.
	TLS TLS `yaml:"tls"`
	// Mode is "enforce" (default) or "shadow": only recorded. A call waits for the answer
	// all the same, at most for Timeout.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
}

// TLS is `tls:` of an authorizer. The files are read at load.
type TLS struct {
	// CA is a PEM file with the CAs to trust; default the system's.
	CA string `yaml:"ca" file:"read"`
	// Certificate and Key are PEM files that are shown.
	Certificate string `yaml:"certificate" file:"read"`
	Key         string `yaml:"key" file:"read"`
	// ServerName is the name in its certificate; default the host of URL.
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
