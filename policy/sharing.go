package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// share is one entry of TasksConfig.Sharing, compiled.
type share struct {
	name    string
	methods methods

	// Whose tasks, and for which skills.
	owners       pattern.List
	ownerIssuers []string // nil: any
	ownerTenants []string // nil: any
	skilled      bool     // there is a condition on skills: a task without one is for none
	skills       pattern.List

	// Who may use them.
	subjects pattern.List
	groups   []string // nil: any
	issuers  []string // nil: any
	tenants  []string // nil: any

	source *Sharing
}

// sharing is TasksConfig.Sharing, compiled.
type sharing struct {
	entries []*share            // in the order of the file
	byAgent map[string][]*share // of them, those about an agent
	open    bool                // tasks.scope is agent: everybody shares all tasks anyway
}

// Shares names the first entry of tasks.sharing that lets p call a method on a task of
// somebody else's at an agent, "" where none does. Whose task t is and what rules say of
// the call is not asked here.
func (s *Set) Shares(p *authn.Principal, agent string, m *wire.Method, t *Task) string {
	if p == nil || m == nil || t == nil {
		return ""
	}
	bit := s.ops.bit(m)
	for _, sh := range s.sharing.byAgent[agent] {
		if sh.methods&bit != 0 && sh.lets(p) && sh.about(t) {
			return sh.name
		}
	}
	return ""
}

// MayShare reports whether Shares could name an entry for any task: whether it is worth
// finding out whose a task is.
func (s *Set) MayShare(p *authn.Principal, agent string, m *wire.Method) bool {
	if p == nil || m == nil {
		return false
	}
	bit := s.ops.bit(m)
	for _, sh := range s.sharing.byAgent[agent] {
		if sh.methods&bit != 0 && sh.lets(p) {
			return true
		}
	}
	return false
}

// lets reports whether the entry is for this principal.
func (sh *share) lets(p *authn.Principal) bool {
	return sh.subjects.Match(p.Subject) &&
		(sh.groups == nil || pattern.Intersect(sh.groups, p.Groups)) &&
		(sh.issuers == nil || slices.Contains(sh.issuers, p.Issuer)) &&
		(sh.tenants == nil || slices.Contains(sh.tenants, p.Tenant))
}

// about reports whether the entry is about this task. No list has an empty entry, so
// that what is not recorded is on none of them.
func (sh *share) about(t *Task) bool {
	return sh.owners.Match(t.Owner) &&
		(sh.ownerIssuers == nil || slices.Contains(sh.ownerIssuers, t.Issuer)) &&
		(sh.ownerTenants == nil || slices.Contains(sh.ownerTenants, t.Tenant)) &&
		(!sh.skilled || t.Skill != "" && sh.skills.Match(t.Skill))
}

// compile reads tasks.sharing for the agents and methods of a set, and describes what is wrong
// with it. names are the methods by name.
func (l *sharing) compile(list []Sharing, s *Set, names map[string]methods) []error {
	var errs []error
	taken := map[string]bool{}
	l.byAgent = map[string][]*share{}
	for i := range list {
		src := &list[i]
		sh, problems := newShare(src, s.ops, names)
		problems = slices.Concat(checkName(src.Name, taken, "another entry"), src.check(), s.ids.check(src.Agents), problems)
		taken[src.Name] = true
		for _, p := range problems {
			errs = append(errs, keypath.At(p, "tasks", "sharing", i))
		}
		l.entries = append(l.entries, sh)
		agents := pattern.Compile(src.Agents)
		for _, id := range s.ids {
			if agents.Match(id) {
				l.byAgent[id] = append(l.byAgent[id], sh)
			}
		}
	}
	return errs
}

// readsOfTasks are the names of A2A's own methods that read tasks.
func readsOfTasks() []string {
	var list []string
	for _, m := range wire.Methods() {
		if m.Does == wire.Reads && (m.Subject == wire.OfTask || m.Subject == wire.OfCaller) {
			list = append(list, m.Name)
		}
	}
	return list
}

// newShare compiles one entry, and describes what is wrong with its methods.
func newShare(src *Sharing, ops operations, names map[string]methods) (*share, []error) {
	sh := &share{
		name: src.Name, source: src,
		owners: pattern.Compile(src.Owners), ownerIssuers: src.OwnerIssuers, ownerTenants: src.OwnerTenants,
		skilled: src.Skills != nil, skills: pattern.Compile(src.Skills),
		subjects: pattern.Compile(src.Subjects), groups: src.Groups, issuers: src.Issuers, tenants: src.Tenants,
	}
	list := src.Methods
	if list == nil { // those that change nothing
		list = readsOfTasks()
	}
	var problems []error
	sh.methods, problems = methodsOf(list, names)
	for m, bit := range ops {
		if sh.methods&bit == 0 {
			continue
		}
		switch {
		case m.Push || m.Subject == wire.OfConfig:
			problems = append(problems, keypath.Point(fmt.Errorf("method %s: push notification configs are their owner's alone", m.Name), "methods"))
		case m.Subject == wire.OfAgent:
			problems = append(problems, keypath.Point(fmt.Errorf("method %s: it is about no task", m.Name), "methods"))
		}
	}
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) }) // the methods came out of a map
	return sh, problems
}

// check returns what is wrong with the conditions, read on their own.
func (src *Sharing) check() []error {
	var problems []error
	for _, l := range []struct {
		key   string
		items []string
		exact bool
	}{
		{"agents", src.Agents, false},
		{"owners", src.Owners, false},
		{"ownerIssuers", src.OwnerIssuers, true},
		{"ownerTenants", src.OwnerTenants, true},
		{"skills", src.Skills, false},
		{"methods", src.Methods, false},
		{"subjects", src.Subjects, false},
		{"groups", src.Groups, true},
		{"issuers", src.Issuers, true},
		{"tenants", src.Tenants, true},
	} {
		problems = append(problems, checkList(l.key, l.items, l.exact, "entry")...)
	}
	if src.Subjects == nil && src.Groups == nil && src.Issuers == nil && src.Tenants == nil {
		problems = append(problems, errors.New("it says nothing of who may: give subjects, groups, issuers or tenants"))
	}
	return problems
}
