package policy

// Config is the `policy:` section: who may do what.
type Config struct {
	// Default decides a call that no rule matches: "deny" (default) or "allow".
	Default string `yaml:"default"`
	// Rules are the rules. Their order does not matter: a deny rule that matches
	// wins, then an allow rule, then the default.
	Rules []Rule `yaml:"rules"`
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
	Undeclared string `yaml:"undeclared"`
}

// TasksConfig is `policy.tasks:`.
type TasksConfig struct {
	// Scope says who may use a task or context besides the principal that caused
	// it: "principal" (default) nobody, "tenant" principals with the same non-empty
	// tenant, "agent" everybody who may use the agent.
	Scope string `yaml:"scope"`
}

// Rule is one statement. All its conditions must hold for it to match; one that
// is left out always holds. An empty list is an error, because "nobody" and
// "anybody" are both plausible readings of it.
//
// In agents, skills and subjects a * stands for any run of characters, also none;
// nothing else is special and everything is compared byte for byte.
type Rule struct {
	// Name is what audit records call the rule. Required and unique.
	Name string `yaml:"name"`
	// Effect is "allow" or "deny". A rule with extensions may leave it out, and then
	// decides nothing about the call itself.
	Effect string `yaml:"effect"`
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
	// Mode is "enforce" (default) or "shadow". A shadow rule decides nothing; what
	// it would have done is written into the audit record.
	Mode string `yaml:"mode"`
	// Extensions says what the calls that the rule matches may do with extensions,
	// beside what the agent's own section says. Not with effect deny.
	Extensions *RuleExtensions `yaml:"extensions"`
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
)
