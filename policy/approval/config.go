package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Approvers is `approvers:` of a rule with effect approve: the people who may agree to a call, as the
// admin API knows them, and agents of the fleet. Where both subjects and groups are given, a person needs
// both. Subjects, groups or agents are required.
type Approvers struct {
	// Subjects are subjects of people, or names of tokens of the admin API (admin.tokens), with *
	// allowed; one match is enough.
	Subjects []string `yaml:"subjects"`
	// Groups are values of the claim admin.oidc.claim, exactly; one match is enough. Who comes with a
	// token of the admin API has none.
	Groups []string `yaml:"groups"`
	// Agents are ids of configured agents whose decisions count, each as that of one person. The gateway
	// sends each of them the message of the call as soon as it waits. An agent never decides about a call
	// to itself.
	Agents []string `yaml:"agents" json:",omitzero"`
	// Count is how many of them have to agree, people and agents together; default 1, at most 10. One who
	// rejects the call ends it.
	Count int `yaml:"count"`
	// NotSelf says that nobody decides about a call of their own: not the caller, the owner of its API key,
	// or one who acts for the caller, and no agent that one of these is (agents[].callsAs). Default true.
	NotSelf *bool `yaml:"notSelf"`
}

// Remember is `remember:` of a rule with effect approve: for which later calls an approval counts, too.
type Remember struct {
	// For is for how long after the approval, between 1s and 30d. Required.
	For quantity.Duration `yaml:"for" jsonschema:"required"`
	// By is what later calls must have in common with the approved one: caller, agent, skill, context.
	// Default: caller, agent and skill.
	By []string `yaml:"by" jsonschema:"enum=caller,enum=agent,enum=skill,enum=context"`
}

// Words of Remember.By.
const (
	ByCaller  = "caller"
	ByAgent   = "agent"
	BySkill   = "skill"
	ByContext = "context"
)

const (
	usualWithin = 4 * time.Hour
	shortest    = quantity.Duration(time.Second)
	longest     = quantity.Duration(30 * 24 * time.Hour)
	mostCount   = 10
)

// check returns what is wrong with the approvers.
func (a *Approvers) check() []error {
	if a == nil || !a.people() && a.Agents == nil {
		return []error{keypath.Point(errors.New("a rule with effect approve needs approvers, with subjects, groups or agents"), "approvers")}
	}
	var problems []error
	for _, l := range []struct {
		key  string
		list []string
	}{{"subjects", a.Subjects}, {"groups", a.Groups}, {"agents", a.Agents}} {
		if l.list != nil && (len(l.list) == 0 || slices.Contains(l.list, "")) {
			problems = append(problems, keypath.Point(fmt.Errorf("approvers.%s is empty, or has an empty entry, so that nobody could agree", l.key), "approvers", l.key))
		}
	}
	problems = append(problems, eachOnce(a.Agents, "approvers", "agents")...)
	if a.Count < 0 || a.Count > mostCount {
		problems = append(problems, keypath.Point(fmt.Errorf("approvers.count is %d; it must be between 1 and %d", a.Count, mostCount), "approvers", "count"))
	} else if !a.people() && a.Count > len(a.Agents) {
		problems = append(problems, keypath.Point(fmt.Errorf("approvers.count is %d, and approvers has %d agents and no people", a.Count, len(a.Agents)), "approvers", "count"))
	}
	return problems
}

// people reports whether people may agree.
func (a *Approvers) people() bool { return a.Subjects != nil || a.Groups != nil }

// eachOnce returns what is wrong with a list of agents: ids are written out, as each agent that is named gets
// the messages of calls.
func eachOnce(agents []string, at ...any) []error {
	var problems []error
	key := fmt.Sprint(at[0])
	for _, more := range at[1:] {
		key += fmt.Sprintf(".%v", more)
	}
	for i, id := range agents {
		switch {
		case strings.Contains(id, "*"):
			problems = append(problems, keypath.Point(fmt.Errorf("%s has %q; agents are named by their ids, without *", key, id), append(at, i)...))
		case slices.Index(agents, id) < i:
			problems = append(problems, keypath.Point(fmt.Errorf("%s has %q twice", key, id), append(at, i)...))
		}
	}
	return problems
}

// checkAdvisers returns what is wrong with who gives advice.
func checkAdvisers(advisers []string, a *Approvers) []error {
	problems := eachOnce(advisers, "advisers")
	for i, id := range advisers {
		switch {
		case id == "":
			problems = append(problems, keypath.Point(errors.New("advisers has an empty entry"), "advisers", i))
		case a != nil && slices.Contains(a.Agents, id):
			problems = append(problems, keypath.Point(fmt.Errorf("advisers has %q, which is one of approvers.agents: an agent either decides or advises", id), "advisers", i))
		}
	}
	return problems
}

// checkWithin returns what is wrong with the time that approvers have.
func checkWithin(d quantity.Duration) []error {
	if d == 0 || d >= shortest && d <= longest {
		return nil
	}
	return []error{keypath.Point(fmt.Errorf("within is %s; it must be between %s and %s", d, shortest, longest), "within")}
}

// check returns what is wrong with how long an approval counts.
func (m *Remember) check() []error {
	if m == nil {
		return nil
	}
	var problems []error
	if m.For < shortest || m.For > longest {
		problems = append(problems, keypath.Point(fmt.Errorf("remember.for is %s; it must be between %s and %s", m.For, shortest, longest), "remember", "for"))
	}
	if m.By != nil && len(m.By) == 0 {
		problems = append(problems, keypath.Point(errors.New("remember.by is empty, so that one approval would count for every call; leave it out to mean caller, agent and skill"), "remember", "by"))
	}
	for i, word := range m.By {
		if !slices.Contains([]string{ByCaller, ByAgent, BySkill, ByContext}, word) {
			problems = append(problems, keypath.Point(fmt.Errorf("remember.by has %q; it must be of caller, agent, skill and context", word), "remember", "by", i))
		}
	}
	return problems
}
