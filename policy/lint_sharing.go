package policy

import (
	"errors"
	"fmt"
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/pattern"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// warn makes a warning about an entry of tasks.sharing.
func (sh *share) warn(pos int, key, format string, args ...any) warning {
	return warning{Text: fmt.Sprintf("tasks.sharing[%d]%s: %q ", pos, key, sh.name) + fmt.Sprintf(format, args...)}
}

// warnings report the entries that share nothing.
func (l *sharing) warnings(s *Set) []warning {
	getTask, listTasks := s.ops.own(wire.GetTask), s.ops.own(wire.ListTasks)
	var list []warning
	for i, sh := range l.entries {
		switch other := l.sharedBy(i); {
		case sh.source.Agents != nil && !slices.ContainsFunc(sh.source.Agents, s.ids.named):
			list = append(list, sh.warn(i, "", "is about agents that are not configured, so it can never match"))
		case l.open:
			list = append(list, sh.warn(i, "", "shares nothing that tasks.scope: agent does not share"))
		case other != nil:
			list = append(list, sh.warn(i, "", "shares nothing that %q does not share", other.name))
		case sh.methods&listTasks != 0 && sh.methods&getTask == 0:
			list = append(list, sh.warn(i, ".methods", "has ListTasks without GetTask, and lists show only what GetTask would"))
		}
	}
	return list
}

// sharedBy finds another entry that shares whatever the one at pos does: of two that
// share the same the earlier one.
func (l *sharing) sharedBy(pos int) *share {
	sh := l.entries[pos]
	for i, other := range l.entries {
		if i != pos && other.covers(sh) && (i < pos || !sh.covers(other)) {
			return other
		}
	}
	return nil
}

// covers reports whether every task that other shares is shared by sh with the same
// callers, for the same methods.
func (sh *share) covers(other *share) bool {
	a, b := sh.source, other.source
	agents := pattern.Compile(a.Agents)
	return other.methods&^sh.methods == 0 && agents.Covers(b.Agents) &&
		sh.owners.Covers(b.Owners) && pattern.Widens(a.OwnerIssuers, b.OwnerIssuers) && pattern.Widens(a.OwnerTenants, b.OwnerTenants) &&
		(!sh.skilled || other.skilled && sh.skills.Covers(b.Skills)) && sh.subjects.Covers(b.Subjects) &&
		pattern.Widens(a.Groups, b.Groups) && pattern.Widens(a.Issuers, b.Issuers) && pattern.Widens(a.Tenants, b.Tenants)
}

// lint compares entries with what is known by now, as Lint does with rules.
func (l *sharing) lint(ids agentIDs, k Known) []warning {
	var list []warning
	for i, sh := range l.entries {
		src := sh.source
		for _, named := range []struct {
			key     string
			issuers []string
		}{{".ownerIssuers", src.OwnerIssuers}, {".issuers", src.Issuers}} {
			for _, issuer := range named.issuers {
				if k.Issuers != nil && !slices.Contains(k.Issuers, issuer) {
					list = append(list, sh.warn(i, named.key, "names issuer %q, which is not configured", issuer))
				}
			}
		}
		if src.Issuers == nil && len(k.Issuers) > 1 && (!sh.subjects.All() || src.Groups != nil) {
			list = append(list, sh.warn(i, "", "names subjects or groups but no issuers, "+
				"so the same names from any of %d issuers match", len(k.Issuers)))
		}
		for _, skill := range ids.lacking(src.Agents, src.Skills, k.Skills) {
			list = append(list, sh.warn(i, ".skills", "names skill %q, which none of its agents has", skill))
		}
	}
	return list
}

// UnknownSkills is an error for each skill that a rule or an entry of tasks.sharing names and
// that none of its agents has, by the lists of agents' skills that are known: what Lint warns
// of, for who holds the lists to be whole.
func (s *Set) UnknownSkills(known map[string][]string) error {
	var errs []error
	for _, r := range s.rules {
		for _, w := range r.lintSkills(s.ids, known) {
			errs = append(errs, keypath.At(errors.New(w.String()), "rules", r.pos, onSkills.key))
		}
	}
	for i, sh := range s.sharing.entries {
		for _, skill := range s.ids.lacking(sh.source.Agents, sh.source.Skills, known) {
			err := fmt.Errorf("%q names skill %q, which none of its agents has", sh.name, skill)
			errs = append(errs, keypath.At(keypath.Point(err, slices.Index(sh.source.Skills, skill)), "tasks", "sharing", i, "skills"))
		}
	}
	return errors.Join(errs...)
}
