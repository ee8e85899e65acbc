package policy

import (
	"github.com/a2a-gateway/a2a-gateway/policy/content"
	"github.com/a2a-gateway/a2a-gateway/policy/window"
)

// Config is the `policy:` section: who may do what.
type Config struct {
	// Default decides a call that no rule matches: "deny" (default) or "allow".
	Default string `yaml:"default" jsonschema:"enum=deny,enum=allow"`
	// Rules are the rules. Their order does not matter: a deny rule that matches
	// wins, then an allow rule, then the default.
	Rules []Rule `yaml:"rules"`
	// Files are further files with rules, as patterns (rules.d/*.yaml), relative to the
	// configuration. Each has one key, rules. A pattern that names no file is an error
	// unless it has a *.
	Files []string `yaml:"files"`
	// Skills says how calls are judged that do not say which skill they are for.
	Skills SkillsConfig `yaml:"skills"`
	// Tasks says who shares tasks and contexts with whom.
	Tasks TasksConfig `yaml:"tasks"`
}

// SkillsConfig is `policy.skills:`.
type SkillsConfig struct {
	// Undeclared decides a call whose skill cannot be told from the path, the task,
	// the skill-selection metadata, or the agent having only one. "require-all"
	// (default): the caller must be allowed every skill of the agent; an agent
	// without skills is judged by the rules without a skills condition. "deny": the
	// call is denied. "agent": only the rules without a skills condition are asked,
	// so rules about single skills, deny rules included, do not bind such calls.
	// "require-any": it is enough to be allowed one skill, and the agent is told which
	// ones in the signed assertion, which every agent then has to get
	// (agents[].credentials, kind assertion).
	Undeclared string `yaml:"undeclared" jsonschema:"enum=require-all,enum=require-any,enum=deny,enum=agent"`
	// Scopes says whether the OAuth scopes that an agent's card asks for at a skill
	// (securityRequirements) have to be in the caller's credential, beside what rules
	// ask: "off" (default) or "card".
	Scopes string `yaml:"scopes" jsonschema:"enum=off,enum=card"`
}

// TasksConfig is `policy.tasks:`.
type TasksConfig struct {
	// Scope says who may use a task or context besides the principal that caused
	// it: "principal" (default) nobody, "tenant" principals with the same non-empty
	// tenant, "agent" everybody who may use the agent.
	Scope string `yaml:"scope" jsonschema:"enum=principal,enum=tenant,enum=agent"`
	// Contexts says what becomes of a contextId that is not recorded, so that nobody can
	// tell whose it is: "derive" (default) gives the agent another in its place, made for the
	// caller, who goes on seeing its own; "adopt" lets the agent have it as it is, and the
	// caller own it from then on, whoever had it before the state was lost.
	Contexts string `yaml:"contexts,omitempty" jsonschema:"enum=derive,enum=adopt"`
	// Sharing lets others at tasks beyond Scope. A caller may use a task if any entry
	// says so; what it may do with it is for the rules to say as well.
	Sharing []Sharing `yaml:"sharing"`
}

// Sharing is one statement about tasks of somebody else's. All its conditions must
// hold; one that is left out always does. Patterns are those of rules.
type Sharing struct {
	// Name is what audit records call it. Required, and unique among these.
	Name string `yaml:"name"`
	// Agents whose tasks are shared.
	Agents []string `yaml:"agents"`
	// Owners are subjects of the principals whose tasks they are.
	Owners []string `yaml:"owners"`
	// OwnerIssuers are their issuers, exactly.
	OwnerIssuers []string `yaml:"ownerIssuers"`
	// OwnerTenants are the tenants that they belong to, exactly.
	OwnerTenants []string `yaml:"ownerTenants"`
	// Skills that the tasks are for. A task whose skill is not known is for none.
	Skills []string `yaml:"skills"`
	// Methods that the others may call; default those that change nothing (GetTask,
	// ListTasks, SubscribeToTask). Push notification configs are their owner's alone.
	Methods []string `yaml:"methods"`
	// Subjects, Groups, Issuers and Tenants are who may: at least one of the four has to
	// be given.
	Subjects []string `yaml:"subjects"`
	Groups   []string `yaml:"groups"`
	Issuers  []string `yaml:"issuers"`
	Tenants  []string `yaml:"tenants"`
}

// Rule is one statement. All its conditions must hold for it to match; one that
// is left out always holds. An empty list is an error, because "nobody" and
// "anybody" are both plausible readings of it.
//
// In agents, skills and subjects a * stands for any run of characters, also none;
// nothing else is special and everything is compared byte for byte.
type Rule struct {
	// Name is what audit records call the rule. Required and unique.
	Name string `yaml:"name" jsonschema:"required"`
	// Effect is "allow" or "deny". A rule with extensions may leave it out, and then
	// decides nothing about the call itself.
	Effect string `yaml:"effect" jsonschema:"enum=allow,enum=deny"`
	// Agents are ids of configured agents, with * allowed; any of them.
	Agents []string `yaml:"agents"`
	// Skills are skill ids, with * allowed; any of them.
	Skills []string `yaml:"skills"`
	// Methods are A2A operations under their 1.0 names (SendMessage, GetTask, …);
	// any of them. The names of earlier versions mean the same operations: a rule
	// for message/send holds for SendMessage and tasks/send too. Methods that
	// extensions bring go by the one name they have.
	Methods []string `yaml:"methods"`
	// Subjects are subjects of principals, with * allowed; any of them. Where
	// several issuers are configured, say whose subjects with issuers.
	Subjects []string `yaml:"subjects"`
	// Groups are groups of the principal, exactly; any of them.
	Groups []string `yaml:"groups"`
	// Scopes are scopes of the credential, exactly; all of them.
	Scopes []string `yaml:"scopes"`
	// Issuers are issuers of principals, exactly: an OIDC issuer URL, "api-keys", "mtls" or
	// "anonymous"; any of them.
	Issuers []string `yaml:"issuers"`
	// Clients are the software that calls, with * allowed; any of them: the OAuth client
	// of the credential, or the subject of the workload that came with it. A lone * is
	// any that is named.
	Clients []string `yaml:"clients"`
	// Actors are the subjects that may act for the caller, with * allowed: every actor of
	// the credential has to be one of them, and there has to be one. For a deny rule one
	// that is among them is enough, or an actor more would be a way around it. ["none"]
	// alone is for callers nobody acts for.
	Actors []string `yaml:"actors"`
	// Claims are values of the credential's claims, by name or path: one of the values
	// of each, exactly. A claim with a list has all its members. Numbers are compared as
	// they are written out (1.5, 42), true and false as those words. Where a claim cannot
	// be told, as it is kept elsewhere or too large a number, a deny rule matches and an
	// allow rule does not.
	Claims map[string][]string `yaml:"claims"`
	// Authentication says how the user has to have authenticated. Only with effect
	// allow: a caller who lacks nothing else is asked to authenticate again (RFC 9470).
	Authentication *Authentication `yaml:"authentication"`
	// Consent is what the user has to have agreed to. Only with effect allow; what was
	// consented to is written into the audit record.
	Consent *Consent `yaml:"consent"`
	// Bindings are what the call came over: JSONRPC, HTTP+JSON, GRPC; any of them.
	Bindings []string `yaml:"bindings" jsonschema:"enum=JSONRPC,enum=HTTP+JSON,enum=GRPC"`
	// Sources are addresses and networks (10.0.0.0/8, 2001:db8::/32) that the call comes
	// from, after trusted proxies were taken off; any of them.
	Sources []string `yaml:"sources"`
	// Times are when the rule holds; any of them.
	Times []Window `yaml:"times"`
	// Content is about the parts of the call's message. In an allow rule every part has
	// to be within it; in a deny rule one that is within it is enough. A call without a
	// message has no parts.
	Content *Content `yaml:"content"`
	// Expr is a CEL expression that has to be true (docs/policy.md has its variables).
	// Where it cannot be evaluated a deny rule matches and an allow rule does not.
	Expr string `yaml:"expr"`
	// Mode is "enforce" (default) or "shadow". A shadow rule decides nothing; what
	// it would have done is written into the audit record.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=shadow"`
	// Extensions says what the calls that the rule matches may do with extensions,
	// beside what the agent's own section says. Not with effect deny.
	Extensions *RuleExtensions `yaml:"extensions"`
}

// Window and Content are conditions of rules whose configuration stands with their code.
type (
	Window  = window.Config
	Content = content.Config
)

// MatchRule is one entry of an agent's match: it says which skill a call is for that
// does not say it itself.
type MatchRule struct {
	// Skill is the id.
	Skill string `yaml:"skill"`
	// When is a CEL expression over the call (docs/policy.md). The first entry that is
	// true counts. One that cannot be evaluated ends the search: the skill is not known.
	When string `yaml:"when"`
}

// RuleExtensions is `extensions:` of a rule. At least one list is given, none is
// empty, and each URI is compared byte for byte.
type RuleExtensions struct {
	// Allow are the extensions that may be active. Where several rules with such a
	// list match a call, one that any of them lists may be.
	Allow []string `yaml:"allow"`
	// Deny are extensions that are never active, whoever else allows them.
	Deny []string `yaml:"deny"`
	// Require are extensions without which the call is refused.
	Require []string `yaml:"require"`
	// Inject are extensions that the gateway activates for callers who do not ask.
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
