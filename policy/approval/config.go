package approval

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// Approvers is `approvers:` of a rule with effect approve: the people who may agree to a call, as the
// admin API knows them. All that is given must hold; subjects or groups are required.
type Approvers struct {
	// Subjects are subjects of people, or names of tokens of the admin API (admin.tokens), with *
	// allowed; one match is enough.
	Subjects []string `yaml:"subjects"`
	// Groups are values of the claim admin.oidc.claim, exactly; one match is enough. Who comes with a
	// token of the admin API has none.
	Groups []string `yaml:"groups"`
	// Count is how many of them have to agree; default 1, at most 10. One who rejects the call ends it.
	Count int `yaml:"count"`
	// NotSelf says that nobody decides about a call of their own: not the caller, the owner of its API key,
	// or one who acts for the caller. Default true.
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
	if a == nil || a.Subjects == nil && a.Groups == nil {
		return []error{keypath.Point(errors.New("a rule with effect approve needs approvers, with subjects or groups"), "approvers")}
	}
	var problems []error
	for _, l := range []struct {
		key  string
		list []string
	}{{"subjects", a.Subjects}, {"groups", a.Groups}} {
		if l.list != nil && (len(l.list) == 0 || slices.Contains(l.list, "")) {
			problems = append(problems, keypath.Point(fmt.Errorf("approvers.%s is empty, or has an empty entry, so that nobody could agree", l.key), "approvers", l.key))
		}
	}
	if a.Count < 0 || a.Count > mostCount {
		problems = append(problems, keypath.Point(fmt.Errorf("approvers.count is %d; it must be between 1 and %d", a.Count, mostCount), "approvers", "count"))
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
