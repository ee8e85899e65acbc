package guard

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// Config is `policy.guards:`.
type Config []Guard

// Guard looks at what messages and artifacts say: texts, data, names and URLs of files, and metadata.
// It looks at the calls that meet all its conditions.
type Guard struct {
	// Name is what errors, metrics and audit records call the guard. Required and unique; letters,
	// digits, "-", "_" and ".", at most 64.
	Name string `yaml:"name" jsonschema:"required"`
	// On says what the guard looks at: request (what callers send), answer (what agents answer),
	// event (what they stream, and notify with). Default: all of them.
	On []Phase `yaml:"on" jsonschema:"enum=request,enum=answer,enum=event"`
	// Use is what the guard looks for: secrets, pii, injection, links, size or schema, or the kind of
	// service that it asks: presidio, moderation, modelArmor, bedrock, contentSafety, promptShields,
	// llamaGuard, shieldGemma or hook (docs/guards.md).
	Use string `yaml:"use" jsonschema:"required,enum=secrets,enum=pii,enum=injection,enum=links,enum=size,enum=schema,enum=presidio,enum=moderation,enum=modelArmor,enum=bedrock,enum=contentSafety,enum=promptShields,enum=llamaGuard,enum=shieldGemma,enum=hook"`
	// Action is what becomes of what is found: refuse (default) the call, the answer or the stream;
	// redact: a mark takes the place of what was found, and what has no place in a text is refused;
	// report: it is recorded only.
	Action string `yaml:"action" jsonschema:"enum=report,enum=redact,enum=refuse"`
	// Mode is "enforce" (default) or "shadow": the gateway only records what the guard would do.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
	// Kinds are what secrets or pii finds (docs/guards.md lists them). Default: all.
	Kinds []string `yaml:"kinds"`
	// Links are the hosts that URLs may name, with use links.
	Links Links `yaml:"links"`
	// Size bounds messages and artifacts, with use size.
	Size Size `yaml:"size"`
	// Schema is what the data of every part has to keep to, with use schema: the path of a JSON Schema
	// or the schema itself.
	Schema schema.Source `yaml:"schema"`
	// Service is what the guard asks, with a use that asks one.
	Service service.Config `yaml:"service"`

	Conditions `yaml:",inline"`
}

// Links are the hosts of http and https URLs in texts, data, metadata and files: names, "*." and a
// domain, or addresses. At least one of the two is required.
type Links struct {
	// Allow are the hosts that URLs may name. Default: any.
	Allow []string `yaml:"allow"`
	// Deny are hosts that they may not name.
	Deny []string `yaml:"deny"`
}

// Size bounds one message or artifact. At least one of the two is required.
type Size struct {
	// Text is how many bytes all texts and data of it may have.
	Text quantity.Size `yaml:"text"`
	// Parts is how many parts it may have.
	Parts int `yaml:"parts"`
}

// Conditions are those of rules, with the same meaning. In doubt they hold.
type Conditions struct {
	// Agents, Skills and Methods select the calls by what is called, as in rules.
	Agents  []string `yaml:"agents"`
	Skills  []string `yaml:"skills"`
	Methods []string `yaml:"methods"`
	// Subjects, Groups, Scopes, Issuers, Clients and Claims select them by who calls, as in rules.
	Subjects []string            `yaml:"subjects"`
	Groups   []string            `yaml:"groups"`
	Scopes   []string            `yaml:"scopes"`
	Issuers  []string            `yaml:"issuers"`
	Clients  []string            `yaml:"clients"`
	Claims   map[string][]string `yaml:"claims"`
	// Bindings, Sources and Times select them by how, whence and when they come, as in rules.
	Bindings []string        `yaml:"bindings" jsonschema:"enum=JSONRPC,enum=HTTP+JSON,enum=GRPC,enum=MCP"`
	Sources  []string        `yaml:"sources"`
	Times    []policy.Window `yaml:"times"`
	// Expr is a CEL expression that has to be true, as in rules.
	Expr string `yaml:"expr"`
}

// rule is a rule with these conditions.
func (c *Conditions) rule(name string) policy.Rule {
	return policy.Rule{
		Name: name, Agents: c.Agents, Skills: c.Skills, Methods: c.Methods, Subjects: c.Subjects, Groups: c.Groups,
		Scopes: c.Scopes, Issuers: c.Issuers, Clients: c.Clients, Claims: c.Claims, Bindings: c.Bindings,
		Sources: c.Sources, Times: c.Times, Expr: c.Expr,
	}
}

// Hold is `policy.guardWindow:`. An event with a chunk of an artifact waits until that much of the artifact
// has come behind it, or for that time, if a guard looks at the stream that can find what is split.
type Hold struct {
	// Bytes of text that have to stand behind a chunk before it is passed on, up to 64KiB; default 256B.
	// What is longer is found all the same once its beginning looks like what it is.
	Bytes quantity.Size `yaml:"bytes"`
	// Time is how long a chunk waits at most, up to 10s; default 200ms.
	Time quantity.Duration `yaml:"time"`
}

const (
	usualBytes   = 256
	mostBytes    = 64 << 10
	usualTime    = 200 * time.Millisecond
	longestTime  = 10 * time.Second
	shortestTime = time.Millisecond
)

// Validate reports what cannot work, naming the key.
func (h Hold) Validate() error {
	var errs []error
	if h.Bytes < 0 || h.Bytes > mostBytes {
		errs = append(errs, keypath.At(fmt.Errorf("%s is not between 1B and 64KiB", h.Bytes), "bytes"))
	}
	if h.Time != 0 && h.Time.Std() < shortestTime || h.Time.Std() > longestTime {
		errs = append(errs, keypath.At(fmt.Errorf("%s is not between 1ms and 10s", h.Time), "time"))
	}
	return errors.Join(errs...)
}

// orDefault fills in what is left out.
func (h Hold) orDefault() Hold {
	return Hold{cmp.Or(h.Bytes, usualBytes), cmp.Or(h.Time, quantity.Duration(usualTime))}
}

// Phase is what a document is in a call.
type Phase string

// The phases.
const (
	Request Phase = "request" // what a caller sends
	Answer  Phase = "answer"  // what an agent answers
	Event   Phase = "event"   // what an agent streams, or notifies with
)

// The words of Guard.Action and Guard.Mode.
const (
	report      = "report"
	redact      = "redact"
	refuse      = "refuse"
	modeEnforce = "enforce"
	modeShadow  = "shadow"
)

// nameLength bounds names: they stand in every audit record.
const nameLength = 64
