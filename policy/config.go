package policy

import (
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/policy/approval"
	"github.com/a2a-gateway/a2a-gateway/policy/content"
	"github.com/a2a-gateway/a2a-gateway/policy/window"
)

// Config is the `policy:` section: who may do what.
type Config struct {
	// Default decides a call that no rule matches: "deny" (default) or "allow".
	Default string `yaml:"default" jsonschema:"enum=deny,enum=allow"`
	// Rules are the authorization rules. Their order does not matter: a matching deny rule wins,
	// then a matching allow rule, then the default. A call that is allowed waits if approve rules match.
	Rules []Rule `yaml:"rules"`
	// Files are further files with rules, as patterns (rules.d/*.yaml), relative to the
	// configuration. Each file has one key, rules. A pattern that matches no file is an error unless
	// it contains a *.
	Files []string `yaml:"files"`
	// Skills says how the gateway judges calls that do not say which skill they are for.
	Skills SkillsConfig `yaml:"skills"`
	// Tasks says who shares tasks and contexts with whom.
	Tasks TasksConfig `yaml:"tasks"`
}

// SkillsConfig is `policy.skills:`.
type SkillsConfig struct {
	// Undeclared decides a call whose skill the gateway cannot tell from the path, the task, the
	// skill-selection metadata, or the agent having only one. "require-all" (default): the rules
	// must allow every skill of the agent; for an agent without skills, only rules without a skills
	// condition decide. "deny": the gateway denies the call. "agent": only rules without a skills
	// condition decide, so rules about single skills, deny rules included, do not bind such calls.
	// "require-any": one allowed skill is enough. The signed assertion tells the agent which ones,
	// so every agent has to get one (agents[].credentials, kind assertion).
	Undeclared string `yaml:"undeclared" jsonschema:"enum=require-all,enum=require-any,enum=deny,enum=agent"`
	// Scopes says whether the caller's credential needs the OAuth scopes that an agent's card
	// requires for a skill (securityRequirements), in addition to the scopes in rules: "off"
	// (default) or "card".
	Scopes string `yaml:"scopes" jsonschema:"enum=off,enum=card"`
}

// TasksConfig is `policy.tasks:`.
type TasksConfig struct {
	// Scope says who may use a task or context besides the principal whose message created it.
	// "principal" (default): nobody. "tenant": principals with the same non-empty tenant. "agent":
	// everybody who may use the agent.
	Scope string `yaml:"scope" jsonschema:"enum=principal,enum=tenant,enum=agent"`
	// Contexts says what the gateway does with a contextId that it has not recorded, whose owner
	// nobody can tell. "derive" (default): the gateway gives the agent another id, made for this
	// caller, who still sees its own. "adopt": the agent gets the id unchanged, and the caller owns
	// it from then on, whoever owned it before the state was lost.
	Contexts string `yaml:"contexts,omitempty" jsonschema:"enum=derive,enum=adopt"`
	// Sharing gives other callers access to tasks, in addition to scope. A caller may use a task if
	// any entry says so; the rules have to allow the operation as well.
	Sharing []Sharing `yaml:"sharing"`
}

// Sharing is one entry of `policy.tasks.sharing`, about tasks of other callers. All its
// conditions must hold; a condition that is left out always holds. Patterns are those of rules.
type Sharing struct {
	// Name is what audit records call the entry. Required, and unique among these.
	Name string `yaml:"name"`
	// Agents whose tasks are shared.
	Agents []string `yaml:"agents"`
	// Owners are the subjects of the principals who own the tasks.
	Owners []string `yaml:"owners"`
	// OwnerIssuers are the owners' issuers, exactly.
	OwnerIssuers []string `yaml:"ownerIssuers"`
	// OwnerTenants are the owners' tenants, exactly.
	OwnerTenants []string `yaml:"ownerTenants"`
	// Skills that the tasks are for. A task whose skill is not known matches none.
	Skills []string `yaml:"skills"`
	// Methods that the other callers may use; default those that change nothing (GetTask, ListTasks,
	// SubscribeToTask). Push notification configs are for their owner alone.
	Methods []string `yaml:"methods"`
	// Subjects, Groups, Issuers and Tenants select the callers who may use the tasks. An entry needs
	// at least one of the four.
	Subjects []string `yaml:"subjects"`
	Groups   []string `yaml:"groups"`
	Issuers  []string `yaml:"issuers"`
	Tenants  []string `yaml:"tenants"`
}

// Rule is one authorization rule. It matches if all its conditions hold; a condition that is left
// out always holds. An empty list is an error, because "nobody" and "anybody" are both plausible
// readings of it.
//
// In agents, skills, subjects, clients and actors a * stands for any run of characters, also
// none. Nothing else is special, and the gateway compares everything byte for byte.
type Rule struct {
	// Name is what audit records call the rule. Required and unique.
	Name string `yaml:"name" jsonschema:"required"`
	// Effect is "allow", "deny" or "approve". A rule with extensions may leave it out, and then decides
	// nothing about the call itself. An approve rule has messages that other rules allow wait until its
	// approvers agree (docs/approvals.md).
	Effect string `yaml:"effect" jsonschema:"enum=allow,enum=deny,enum=approve"`
	// Approvers are the people and agents who have to agree. Required with effect approve, and only there.
	Approvers *approval.Approvers `yaml:"approvers"`
	// Advisers are ids of configured agents that are asked about calls that wait as well, and whose answers
	// are shown to the people who decide, and decide nothing. Only with effect approve.
	Advisers []string `yaml:"advisers" json:",omitzero"`
	// Within is how long they have for it, between 1s and 30d; default 4h. Only with effect approve.
	Within quantity.Duration `yaml:"within"`
	// Remember has an approval count for later calls as well. Only with effect approve. Default: an
	// approval is for one call.
	Remember *approval.Remember `yaml:"remember"`
	// Agents are ids of configured agents, with * allowed; one match is enough.
	Agents []string `yaml:"agents"`
	// Skills are skill ids, with * allowed; one match is enough.
	Skills []string `yaml:"skills"`
	// Methods are A2A operations under their 1.0 names (SendMessage, GetTask, …); one match is
	// enough. The names of earlier versions mean the same operations: a rule for message/send also
	// covers SendMessage and tasks/send. A method of an extension has only one name.
	Methods []string `yaml:"methods"`
	// Subjects are subjects of principals, with * allowed; one match is enough. If you configure
	// several issuers, say with issuers whose subjects you mean.
	Subjects []string `yaml:"subjects"`
	// Groups are groups of the principal, exactly; one match is enough.
	Groups []string `yaml:"groups"`
	// Scopes are scopes of the credential, exactly; it needs all of them.
	Scopes []string `yaml:"scopes"`
	// Issuers are issuers of principals, exactly: an OIDC issuer URL, "api-keys", "mtls" or
	// "anonymous"; one match is enough.
	Issuers []string `yaml:"issuers"`
	// Clients are the calling programs, with * allowed; one match is enough. A client is the OAuth
	// client of the credential, or the subject of the workload that came with it. A lone * matches
	// any named client.
	Clients []string `yaml:"clients"`
	// Actors are the subjects that may act for the caller, with * allowed. An allow rule matches if
	// the credential has actors and all of them are listed. For a deny rule one listed actor is
	// enough, because adding an actor must not be a way around it. ["none"] alone matches callers
	// nobody acts for.
	Actors []string `yaml:"actors"`
	// Claims are values of the credential's claims, by name or path. Each claim must have one of its
	// values, exactly; a claim that is a list has each member as a value. Numbers compare as they
	// are written out (1.5, 42), true and false as those words. A claim is unknown if another system
	// keeps it, or if it is too large a number. A deny rule then matches and an allow rule does not.
	Claims map[string][]string `yaml:"claims"`
	// Authentication says how the user must have authenticated. Only with effect allow: the gateway
	// asks a caller who lacks nothing else to authenticate again (step-up, RFC 9470).
	Authentication *Authentication `yaml:"authentication"`
	// Consent is what the user must have agreed to. Only with effect allow; the audit record says
	// what the user consented to.
	Consent *Consent `yaml:"consent"`
	// Bindings are the bindings that the call may use: JSONRPC, HTTP+JSON, GRPC, MCP; one match is
	// enough.
	Bindings []string `yaml:"bindings" jsonschema:"enum=JSONRPC,enum=HTTP+JSON,enum=GRPC,enum=MCP"`
	// Sources are client addresses and networks (10.0.0.0/8, 2001:db8::/32); one match is enough.
	// The gateway skips trusted proxies to find the client's address.
	Sources []string `yaml:"sources"`
	// Times are the time windows in which the rule holds; one is enough.
	Times []Window `yaml:"times"`
	// Content restricts the parts of the call's message. In an allow rule every part has to meet it;
	// in a deny rule one part that meets it is enough. A call without a message has no parts.
	Content *Content `yaml:"content"`
	// Expr is a CEL expression that has to be true (docs/policy.md has its variables). If the
	// gateway cannot evaluate it, a deny rule matches and an allow rule does not.
	Expr string `yaml:"expr"`
	// Mode is "enforce" (default) or "shadow". A shadow rule decides nothing; the audit record says
	// what it would have done.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
	// Extensions says what the calls that the rule matches may do with extensions, in addition to
	// the agent's own section. Not with effect deny or approve.
	Extensions *RuleExtensions `yaml:"extensions"`
}

// Window and Content are conditions of rules whose configuration stands with their code.
type (
	Window  = window.Config
	Content = content.Config
)

// MatchRule is one entry of an agent's match. It says which skill a call is for if the call does
// not say so itself.
type MatchRule struct {
	// Skill is the id of the skill.
	Skill string `yaml:"skill"`
	// When is a CEL expression over the call (docs/policy.md). The first entry that is true decides.
	// If the gateway cannot evaluate an entry, it stops there, and the skill is not known.
	When string `yaml:"when"`
}

// RuleExtensions is `extensions:` of a rule. It needs at least one list, and no list may be
// empty. The gateway compares URIs byte for byte.
type RuleExtensions struct {
	// Allow are the extensions that may be active. If several matching rules have such a list, one
	// of them has to list the extension.
	Allow []string `yaml:"allow"`
	// Deny are extensions that are never active, whatever else allows them.
	Deny []string `yaml:"deny"`
	// Require are extensions without which the gateway refuses the call.
	Require []string `yaml:"require"`
	// Inject are extensions that the gateway activates for callers who do not ask for them.
	Inject []string `yaml:"inject"`
}

// undeclared is SkillsConfig.Undeclared, compiled.
type undeclared uint8

const (
	requireAll undeclared = iota
	denyUndeclared
	byAgent
	requireAny
)
