package trust

import (
	"reflect"
	"slices"
	"strings"
)

// skills compares them by their ids. One with another id is another skill, whatever its name: rules
// are about ids.
func (l *changes) skills(a, b *profile) {
	for _, id := range sorted(a.skills, b.skills) {
		x, inOld := a.skills[id]
		y, inNew := b.skills[id]
		switch {
		case !inOld:
			l.add(Change{Kind: skillAdded, Severity: Notice, Subject: id, Text: "a skill was added:", New: y.texts["description"]})
		case !inNew:
			l.add(Change{Kind: skillRemoved, Severity: Notice, Subject: id, Text: "a skill was removed:", Old: x.texts["description"]})
		default:
			l.skill(id, x, y)
		}
	}
}

// skill compares two of the same id: its texts and lists, which models read and choose by, and what
// it asks of callers, like security does for the card. Each member is a change of its own, so that
// a person who decides sees which text was exchanged, with both.
func (l *changes) skill(id string, x, y skill) {
	for _, t := range [...]struct{ member, what string }{
		{"name", "the name of a skill changed:"},
		{"description", "the description of a skill changed:"},
	} {
		if x.texts[t.member] != y.texts[t.member] {
			l.add(Change{
				Kind: skillChanged, Severity: Notice, Subject: id, Text: t.what, Old: x.texts[t.member], New: y.texts[t.member],
			})
		}
	}
	for _, t := range [...]struct{ member, what string }{
		{"tags", "tags of a skill changed:"},
		{"examples", "examples of a skill changed:"},
		{"inputModes", "media types that a skill takes changed:"},
		{"outputModes", "media types that a skill returns changed:"},
	} {
		if before, after := x.lists[t.member], y.lists[t.member]; !slices.Equal(before, after) {
			l.add(Change{
				Kind: skillChanged, Severity: Notice, Subject: id, Text: t.what,
				Old: strings.Join(before, "\n"), New: strings.Join(after, "\n"),
			})
		}
	}
	if !sameRequirements(x.requirements, y.requirements) {
		c := Change{
			Kind: securityChanged, Severity: Notice, Subject: id, Text: "what callers of a skill have to show changed:",
			Old: alternatives(x.requirements), New: alternatives(y.requirements),
		}
		if weaker(x.requirements, y.requirements) {
			c.Kind, c.Severity, c.Text = securityWeaker, Danger, "what callers of a skill have to show became less, or other:"
		}
		l.add(c)
	}
	if !reflect.DeepEqual(x.rest, y.rest) {
		l.add(Change{
			Kind: skillChanged, Severity: Notice, Subject: id, Text: "members of a skill changed:", Old: written(x.rest), New: written(y.rest),
		})
	}
}
