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
	Within    quantity.Duration
	Remember  *Remember
}

// Absent reports the keys that are there in a rule with another effect.
func (k *Keys) Absent() []error {
	var problems []error
	for _, one := range []struct {
		key string
		has bool
	}{{"approvers", k.Approvers != nil}, {"within", k.Within != 0}, {"remember", k.Remember != nil}} {
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
	Count    int           // how many people have to agree
	Within   time.Duration // in which they have to
	Remember time.Duration // for how long an approval counts for later calls; 0 for the one call alone
	By       []string      // what later calls have in common with it

	approvers Approvers
	subjects  pattern.List
	self      bool
}

// New makes one, or says what is wrong with the keys.
func New(name, digest string, k Keys) (*Rule, []error) {
	if problems := slices.Concat(k.Approvers.check(), checkWithin(k.Within), k.Remember.check()); problems != nil {
		return nil, problems
	}
	r := &Rule{
		Name: name, Digest: digest, Count: max(k.Approvers.Count, 1), Within: usualWithin,
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

// Approver is somebody who agrees to a call, or rejects it, as the admin API knows them.
type Approver struct {
	Subject string
	Groups  []string
}

// Refuses says why somebody may not agree to a call; "" where they may. selves are the names of its
// caller and of all who act for it.
func (r *Rule) Refuses(who Approver, selves []string) string {
	switch {
	case r.Own(who.Subject, selves):
		return "nobody decides about a call of their own (approvers.notSelf)"
	case r.approvers.Subjects != nil && !r.subjects.Match(who.Subject):
		return "you are none of approvers.subjects"
	case r.approvers.Groups != nil && !pattern.Intersect(r.approvers.Groups, who.Groups):
		return "you are in none of approvers.groups"
	}
	return ""
}

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
	people, groups := strings.Join(r.approvers.Subjects, " or "), strings.Join(r.approvers.Groups, " or ")
	switch {
	case people == "":
		return count + " of the group " + groups
	case groups == "":
		return count + " of " + people
	}
	return count + " of " + people + " in the group " + groups
}

// String says in words what the rule asks for, and for which later calls an approval counts.
func (r *Rule) String() string {
	text := fmt.Sprintf("%s, within %s (rule %s)", r.Asks(), quantity.Duration(r.Within), r.Name)
	if r.Remember == 0 {
		return text
	}
	return fmt.Sprintf("%s; counts for %s for later calls of the same %s", text, quantity.Duration(r.Remember), strings.Join(r.By, ", "))
}
