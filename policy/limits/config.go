package limits

import "github.com/a2a-gateway/a2a-gateway/internal/quantity"

// Config is `policy.limits:`.
type Config struct {
	// OnLoss says what happens while the state cannot be reached: "local" (default) each
	// gateway counts by itself, "deny" calls that a limit applies to are refused, "allow"
	// they are not counted.
	OnLoss string `yaml:"onLoss" jsonschema:"enum=local,enum=deny,enum=allow"`
	// Headers says whether answers carry RateLimit and RateLimit-Policy: "on" (default)
	// or "off".
	Headers string `yaml:"headers" jsonschema:"enum=on,enum=off"`
	// Each are the limits. All that apply to a call have to have room for it.
	Each []Limit `yaml:"each"`
}

// Limit is one limit. It applies to the calls that meet all its conditions, and is
// counted for each value of its key by itself.
type Limit struct {
	// Name is what errors, headers, metrics and audit records call it. Required and
	// unique; letters, digits, "-", "_" and ".", at most 64.
	Name string `yaml:"name" jsonschema:"required"`
	// Agents, Skills, Subjects, Groups, Issuers and Methods are conditions, as in rules.
	Agents   []string `yaml:"agents"`
	Skills   []string `yaml:"skills"`
	Methods  []string `yaml:"methods"`
	Subjects []string `yaml:"subjects"`
	Groups   []string `yaml:"groups"`
	Issuers  []string `yaml:"issuers"`
	// Key is what it is counted by: any of principal, client, tenant, agent, skill,
	// source. Default [principal]; [] is one count for all. Calls without a tenant share
	// one, and so do calls without a client or skill. A client is that of an issuer; of
	// IPv6 addresses the first 64 bits are the source.
	Key []string `yaml:"key"`
	// Rate bounds how fast calls may come.
	Rate *Rate `yaml:"rate"`
	// Quota bounds how much may be used in a day or another span.
	Quota *Quota `yaml:"quota"`
	// Concurrency is how many calls may run at once, streams included.
	Concurrency int64 `yaml:"concurrency"`
	// OpenTasks is how many tasks may be open at once: made by the caller and not yet in a
	// terminal state. Key may be of principal, tenant, agent and skill.
	OpenTasks int64 `yaml:"openTasks"`
	// Forget is when an open task that nobody hears of counts no more; default 1d.
	Forget quantity.Duration `yaml:"forget"`
	// Bytes is how large the body of a request may be.
	Bytes quantity.Size `yaml:"bytes"`
	// Cost is how many units of rate and quota a call takes; default 1.
	Cost Cost `yaml:"cost"`
	// Mode is "enforce" (default) or "shadow": only recorded.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
}

// Rate is a token bucket.
type Rate struct {
	// Units that come back in every Per; required.
	Units int64 `yaml:"units"`
	// Per is the span, from 1ms to 31d; default 1s.
	Per quantity.Duration `yaml:"per"`
	// Burst is how many may be used at once; default Units.
	Burst int64 `yaml:"burst"`
}

// Quota is a count that begins anew with every span.
type Quota struct {
	// Units in a span; required.
	Units int64 `yaml:"units"`
	// Per is the span: hour, day (default), week (from Monday) or month, in UTC.
	Per string `yaml:"per" jsonschema:"enum=hour,enum=day,enum=week,enum=month"`
}

// Cost weighs calls. What several entries say of a call is multiplied. 0 is free.
type Cost struct {
	// Methods are weights by method, as rules name them.
	Methods map[string]int64 `yaml:"methods"`
	// Skills are weights by skill.
	Skills map[string]int64 `yaml:"skills"`
}

// The words of a configuration.
const (
	// Of OnLoss.
	lossLocal = "local"
	lossDeny  = "deny"
	lossAllow = "allow"

	// Of Headers.
	headersOn  = "on"
	headersOff = "off"

	// Of Mode.
	modeEnforce = "enforce"
	modeShadow  = "shadow"
)

// Bounds of figures. They keep every product of weights, and every count that a store
// makes of them, exact.
const (
	nameLength = 64
	maxUnits   = 1_000_000_000_000
	maxPlaces  = 1_000_000
	maxWeight  = 1_000_000
)
