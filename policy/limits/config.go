package limits

import "github.com/a2a-gateway/a2a-gateway/internal/quantity"

// Config is `policy.limits:`.
type Config struct {
	// OnLoss says what happens while the gateway cannot reach the state store. "local" (default):
	// each gateway counts by itself. "deny": it refuses calls that a limit applies to. "allow": it
	// does not count them.
	OnLoss string `yaml:"onLoss" jsonschema:"enum=local,enum=deny,enum=allow"`
	// Headers says whether answers carry the headers RateLimit and RateLimit-Policy: "on" (default)
	// or "off".
	Headers string `yaml:"headers" jsonschema:"enum=on,enum=off"`
	// Each are the limits. A call passes only if all limits that apply have room for it.
	Each []Limit `yaml:"each"`
}

// Limit is one limit. It applies to the calls that meet all its conditions, and counts each value
// of its key separately.
type Limit struct {
	// Name is what errors, headers, metrics and audit records call the limit. Required and unique;
	// letters, digits, "-", "_" and ".", at most 64.
	Name string `yaml:"name" jsonschema:"required"`
	// Agents, Skills, Subjects, Groups, Issuers and Methods select the calls to count, as in rules.
	Agents   []string `yaml:"agents"`
	Skills   []string `yaml:"skills"`
	Methods  []string `yaml:"methods"`
	Subjects []string `yaml:"subjects"`
	Groups   []string `yaml:"groups"`
	Issuers  []string `yaml:"issuers"`
	// Key says which calls count together: any of principal, client, tenant, agent, skill, source.
	// Default [principal]; [] is one count for all. Calls without a tenant share one count, and so
	// do calls without a client or skill. Clients of different issuers count separately. Of IPv6
	// addresses the first 64 bits count.
	Key []string `yaml:"key"`
	// Rate limits how fast calls may come.
	Rate *Rate `yaml:"rate"`
	// Quota limits how much callers may use in a day or another span.
	Quota *Quota `yaml:"quota"`
	// Concurrency is how many calls may run at once, streams included.
	Concurrency int64 `yaml:"concurrency"`
	// OpenTasks is how many tasks may be open at once: created by the caller and not yet in a
	// terminal state. Key may then have only principal, tenant, agent and skill.
	OpenTasks int64 `yaml:"openTasks"`
	// Forget is when an open task stops counting if the gateway hears nothing of it; default 1d.
	Forget quantity.Duration `yaml:"forget"`
	// Bytes is how large the body of a request may be.
	Bytes quantity.Size `yaml:"bytes"`
	// Cost is how many units of rate and quota a call takes; default 1.
	Cost Cost `yaml:"cost"`
	// Mode is "enforce" (default) or "shadow": the gateway only records what it would refuse.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
}

// Rate is a token bucket.
type Rate struct {
	// Units is how many units come back in every Per; required.
	Units int64 `yaml:"units"`
	// Per is the span, from 1ms to 31d; default 1s.
	Per quantity.Duration `yaml:"per"`
	// Burst is how many units a caller may use at once; default Units.
	Burst int64 `yaml:"burst"`
}

// Quota is a count that starts again with every span.
type Quota struct {
	// Units is how many units a caller may use in a span; required.
	Units int64 `yaml:"units"`
	// Per is the span: hour, day (default), week (from Monday) or month, in UTC.
	Per string `yaml:"per" jsonschema:"enum=hour,enum=day,enum=week,enum=month"`
}

// Cost weighs calls. The gateway multiplies the cost of the method by the cost of the skill. 0 is
// free.
type Cost struct {
	// Methods are costs by method, as rules name them.
	Methods map[string]int64 `yaml:"methods"`
	// Skills are costs by skill.
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
