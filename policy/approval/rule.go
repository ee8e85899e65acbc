package approval

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Keys are those of a rule that only one with effect approve has.
type Keys struct {
	Approvers *Approvers
	Advisers  []string
	Within    quantity.Duration
	Remember  *Remember
}

// Absent reports the keys that are there in a rule with another effect.
func (k *Keys) Absent() []error {
	var problems []error
	for _, one := range []struct {
		key string
		has bool
	}{{"approvers", k.Approvers != nil}, {"advisers", k.Advisers != nil}, {"within", k.Within != 0}, {"remember", k.Remember != nil}} {
		if one.has {
			problems = append(problems, keypath.Point(errors.New(one.key+" is for rules with effect approve"), one.key))
		}
	}
	return problems
}

// Rule is what a rule with effect approve asks for. It is immutable, and safe for concurrent use.
type Rule struct {
	Name     string        // the rule's
	Digest   string        // of the rule: another one when anything of it has changed
	Count    int           // how many have to agree
	Agents   []string      // ids of those whose decisions count
	Advisers []string      // ids of those whose answers are shown to who decides
	Within   time.Duration // in which they have to
	Remember time.Duration // for how long an approval counts for later calls; 0 for the one call alone
	By       []string      // what later calls have in common with it

	approvers Approvers
	subjects  pattern.List
	self      bool
}

// New makes one, or says what is wrong with the keys.
func New(name, digest string, k Keys) (*Rule, []error) {
	if problems := slices.Concat(k.Approvers.check(), checkAdvisers(k.Advisers, k.Approvers), checkWithin(k.Within), k.Remember.check()); problems != nil {
		return nil, problems
	}
	r := &Rule{
		Name: name, Digest: digest, Count: max(k.Approvers.Count, 1), Within: usualWithin,
		Agents: k.Approvers.Agents, Advisers: k.Advisers,
		approvers: *k.Approvers, subjects: pattern.Compile(k.Approvers.Subjects),
		self: k.Approvers.NotSelf != nil && !*k.Approvers.NotSelf,
	}
	if k.Within != 0 {
		r.Within = k.Within.Std()
	}
	if k.Remember != nil {
		r.Remember, r.By = k.Remember.For.Std(), k.Remember.By
		if r.By == nil {
			r.By = []string{ByCaller, ByAgent, BySkill}
		}
	}
	return r, nil
}

// Approver is somebody who agrees to a call, or rejects it: a person, as the admin API knows them, or an
// agent.
type Approver struct {
	Subject string
	Groups  []string

	Agent string // its id; "" for a person
	Kin          // what the agent has to do with the call
}

// Kin is what an agent has to do with a call.
type Kin struct {
	Target bool // the call is for it, or for another agent of the same interfaces
	Caller bool // it, or another agent of the same interfaces, is the caller, or acts for the caller or answers for it

	Backend string // names its interfaces: agents with one name are one; "" where they are not known
}

// Refuses says why somebody may not agree to a call; "" where they may. selves are the names of its
// caller and of all who act for it.
func (r *Rule) Refuses(who Approver, selves []string) string {
	switch {
	case who.Agent != "":
		return r.refusesAgent(who)
	case r.Own(who.Subject, selves):
		return "nobody decides about a call of their own (approvers.notSelf)"
	case !r.approvers.people():
		return "only agents decide about calls that this rule holds back"
	case r.approvers.Subjects != nil && !r.subjects.Match(who.Subject):
		return "you are none of approvers.subjects"
	case r.approvers.Groups != nil && !pattern.Intersect(r.approvers.Groups, who.Groups):
		return "you are in none of approvers.groups"
	}
	return ""
}

func (r *Rule) refusesAgent(who Approver) string {
	switch {
	case who.Target:
		return "no agent decides about a call to itself"
	case r.OwnOf(who.Kin):
		return "nobody decides about a call of their own (approvers.notSelf)"
	case !slices.Contains(r.Agents, who.Agent):
		return "the agent is none of approvers.agents"
	}
	return ""
}

// OwnOf reports whether an agent may not decide about a call because it is its own.
func (r *Rule) OwnOf(k Kin) bool { return k.Target || k.Caller && !r.self }

// People reports whether people may agree, and not agents alone.
func (r *Rule) People() bool { return r.approvers.people() }

// Own reports whether somebody may not decide about a call because it is their own.
func (r *Rule) Own(name string, selves []string) bool {
	return !r.self && slices.Contains(selves, name)
}

// Asks says in words who has to agree: "one of the group finance-leads".
func (r *Rule) Asks() string {
	count := "one"
	if r.Count > 1 {
		count = fmt.Sprint(r.Count)
	}
	var who []string
	people, groups := strings.Join(r.approvers.Subjects, " or "), strings.Join(r.approvers.Groups, " or ")
	switch {
	case people != "" && groups != "":
		who = append(who, people+" in the group "+groups)
	case groups != "":
		who = append(who, "the group "+groups)
	case people != "":
		who = append(who, people)
	}
	if len(r.Agents) > 0 {
		who = append(who, named(r.Agents))
	}
	if r.Count == 1 && people+groups == "" && len(r.Agents) == 1 {
		return who[0]
	}
	return count + " of " + strings.Join(who, " or ")
}

// named is a list of agents in words.
func named(agents []string) string {
	if len(agents) == 1 {
		return "the agent " + agents[0]
	}
	return "the agents " + strings.Join(agents, " or ")
}

// String says in words what the rule asks for, and for which later calls an approval counts.
func (r *Rule) String() string {
	text := fmt.Sprintf("%s, within %s (rule %s)", r.Asks(), quantity.Duration(r.Within), r.Name)
	if len(r.Advisers) > 0 {
		text += "; advice of " + named(r.Advisers)
	}
	if r.Remember == 0 {
		return text
	}
	return fmt.Sprintf("%s; counts for %s for later calls of the same %s", text, quantity.Duration(r.Remember), strings.Join(r.By, ", "))
}
