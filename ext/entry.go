package ext

import (
	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Status is what the registry says about an extension.
type Status string

// The statuses. The empty status means Allowed.
const (
	Allowed    Status = "allowed"    // agents may offer it
	Deprecated Status = "deprecated" // still works; on its way out
	Blocked    Status = "blocked"    // denied on every agent
)

// Kind is what an extension adds to A2A (A2A 1.0 §4.6); it decides what is checked.
type Kind string

// The kinds. The empty kind means Profile.
const (
	Data    Kind = "data"    // information in the card only
	Profile Kind = "profile" // rules on the core objects and their metadata
	Method  Kind = "method"  // further RPCs
	States  Kind = "state"   // further states of a task
)

// Mode is how strictly something is checked.
type Mode string

// The modes. What the empty mode means stands with each key.
const (
	Off     Mode = "off"
	Report  Mode = "report"  // recorded and counted
	Enforce Mode = "enforce" // refused
)

// Entry is one extension in the registry, the top-level `extensions:` list. It says what holds
// wherever the extension is used. Config says what one agent does with it.
type Entry struct {
	// URI identifies the extension, exactly as clients and cards write it.
	URI string `yaml:"uri" jsonschema:"required"`

	// Description says in a sentence what the extension is for. The gateway shows it in served cards
	// to which it adds the extension itself.
	Description string `yaml:"description"`

	// Kind is data, profile (the default), method or state.
	Kind Kind `yaml:"kind" jsonschema:"enum=data,enum=profile,enum=method,enum=state"`

	// Status is allowed (the default), deprecated or blocked. The gateway denies a blocked extension
	// on every agent.
	Status Status `yaml:"status" jsonschema:"enum=allowed,enum=deprecated,enum=blocked"`

	// Replacement is the URI to use instead of a deprecated extension.
	Replacement string `yaml:"replacement"`

	// Sunset is the last day of a deprecated extension, such as 2027-03-31. From the next day on, in
	// UTC, it is blocked.
	Sunset string `yaml:"sunset"`

	// Specification is where to find the extension's specification: a URL, or a file.
	Specification string `yaml:"specification" file:"read-or-url"`

	// Digest is "sha256:" and the hex digest of the specification. `validate` compares
	// it with a file, `validate --online` with a URL.
	Digest string `yaml:"digest"`

	// Dependencies are other extensions that this one builds on.
	Dependencies Dependencies `yaml:"dependencies"`

	// Metadata lists the metadata keys of the extension, in addition to those by convention: the
	// URI, the URI followed by / # ? or : and a name, and both without their scheme. A * at the end
	// stands for any rest. Several extensions may list the same key, as versions of one do. The
	// gateway lets it pass if one of them is active.
	Metadata []string `yaml:"metadata"`

	// Defaults are what the gateway adds to a message's metadata if it injects the extension.
	Defaults map[string]secret.JSON `yaml:"defaults"`

	// Schemas are what the gateway validates calls with this extension against.
	Schemas Schemas `yaml:"schemas"`

	// Methods are the RPCs that the extension adds.
	Methods []MethodConfig `yaml:"methods"`

	// States are the states that the extension adds.
	States *StatesConfig `yaml:"states"`

	// Validation says what the gateway does on a violation of Schemas or States: off, report, or
	// enforce (the default).
	Validation Mode `yaml:"validation" jsonschema:"enum=off,enum=report,enum=enforce"`

	// Hooks are services that see the calls in which the extension is active.
	Hooks []hook.Config `yaml:"hooks"`
}

// Dependencies are extensions that another one builds on, by URI.
type Dependencies struct {
	Required []string `yaml:"required"` // must be active with this one
	Optional []string `yaml:"optional"` // may be active with it; for the reader
}

// Schemas are JSON Schemas, each optional. The gateway validates objects in their A2A 1.0 JSON
// form, whatever the version and binding on the wire.
type Schemas struct {
	// Params is for the params that a card gives the extension.
	Params schema.Source `yaml:"params"`
	// Request is for the value under the extension's URI in the metadata of the request itself
	// (params.metadata). For the metadata of its message, use Metadata.
	Request schema.Source `yaml:"request"`
	// Metadata are for the values under these keys, in the metadata of any object.
	Metadata map[string]schema.Source `yaml:"metadata"`
	// Message, Artifact, Status and Part are for every such object of a call in which the extension
	// is active, in both directions. The gateway does not validate a task's history, because it may
	// be older than the call.
	Message  schema.Source `yaml:"message"`
	Artifact schema.Source `yaml:"artifact"`
	Status   schema.Source `yaml:"status"`
	Part     schema.Source `yaml:"part"`
}

// MethodConfig is an RPC that an extension adds. The gateway forwards no RPC that neither A2A nor
// an entry like this names.
//
//	{name: tasks/search, verb: POST, path: "/tasks:search", about: tasks}
type MethodConfig struct {
	// Name is the method's name in JSON-RPC, such as tasks/search, and in policy, metrics and
	// records.
	Name string `yaml:"name"`
	// Verb and Path are for HTTP+JSON: GET or POST, and a path below the agent's base URL, such as
	// /tasks:search or /tasks/{task}:annotate. In 0.3 the path is below /v1.
	Verb string `yaml:"verb" jsonschema:"enum=GET,enum=POST"`
	Path string `yaml:"path"`
	// RPC is the name in gRPC, such as /acme.v1.Search/Find. The gateway forwards its messages
	// unchanged, so only an agent with gRPC can answer it.
	RPC string `yaml:"rpc"`
	// TaskTag is the number of the field that names the task in RPC's request.
	TaskTag int `yaml:"taskTag"`
	// About says what a call is about. So it decides what the gateway checks before the agent sees
	// the call, and what the answer can show: message (params as those of SendMessage), task (one
	// task), tasks (the caller's tasks; the gateway cuts others out of the answer), or agent
	// (default; no task).
	About string `yaml:"about" jsonschema:"enum=message,enum=task,enum=tasks,enum=agent"`
	// Task is the member of the params that names the task, besides id and taskId.
	Task string `yaml:"task"`
	// Skill is the skill that a caller needs for a call.
	Skill string `yaml:"skill"`
	// Streaming says that the answer is an event stream.
	Streaming bool `yaml:"streaming"`
	// Writes says that a call changes something.
	Writes bool `yaml:"writes"`
}

// StatesConfig lists states that an extension adds to those of A2A (the page Extensions of A2A
// 1.0, Limitations: in metadata, never as new task states).
type StatesConfig struct {
	// Key is the metadata key under which a task, an update or a status message says
	// its state: a text, or an object with a text under "state".
	Key string `yaml:"key"`
	// Initial are the states that a task may begin with.
	Initial []string `yaml:"initial"`
	// Transitions are the states that may follow each. A task may always stay in its state. The
	// events of a stream show every step; other answers show where a task is, after any number of
	// steps.
	Transitions map[string][]string `yaml:"transitions"`
	// Within are the task states, by their 1.0 names, that a state may go with. A state that is not
	// listed goes with any.
	Within map[string][]string `yaml:"within"`
}
