package trust

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
)

// Kind says what of a card has changed.
type Kind string

// The kinds.
const (
	NameChanged        Kind = "name-changed"
	DescriptionChanged Kind = "description-changed"
	VersionChanged     Kind = "version-changed" // the agent's own, not the protocol's
	ProviderChanged    Kind = "provider-changed"
	LinkChanged        Kind = "link-changed" // documentation, icon
	SkillAdded         Kind = "skill-added"
	SkillRemoved       Kind = "skill-removed"
	SkillChanged       Kind = "skill-changed"
	InterfaceAdded     Kind = "interface-added" // a URL, or one in another binding or protocol version
	InterfaceRemoved   Kind = "interface-removed"
	InterfaceOrder     Kind = "interface-order" // another one is preferred
	SecurityWeaker     Kind = "security-weaker"
	SecurityChanged    Kind = "security-changed"
	ExtensionAdded     Kind = "extension-added"
	ExtensionRemoved   Kind = "extension-removed"
	ExtensionRequired  Kind = "extension-required" // it was optional, or is new
	ExtensionChanged   Kind = "extension-changed"
	CapabilityChanged  Kind = "capability-changed"
	ModesChanged       Kind = "modes-changed"     // the default media types
	MemberChanged      Kind = "member-changed"    // one that A2A does not define
	SignatureChanged   Kind = "signature-changed" // the content may be the same
	SpellingChanged    Kind = "spelling-changed"  // order, repeats, another way to write the same
	FindingAdded       Kind = "finding-added"     // lint finds what it did not find before
	NameTaken          Kind = "name-taken"        // another agent's card has a name that looks the same
	SkillTaken         Kind = "skill-taken"       // another agent's card has a skill of that id
)

// Severity says how much a change matters.
type Severity string

// The severities. Changes of the least come into force whatever onChange says.
const (
	Info   Severity = "info"   // nothing that callers or models act by
	Notice Severity = "notice" // what callers or models read, or may use
	Danger Severity = "danger" // who is spoken to, and how well that is protected
)

// Worse reports whether s matters more than other.
func (s Severity) Worse(other Severity) bool { return s.rank() > other.rank() }

func (s Severity) rank() int { return slices.Index([]Severity{Info, Notice, Danger}, s) }

// Change is one difference between two cards.
type Change struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject,omitzero"` // id of the skill, URI of the extension, name of the member
	Text     string   `json:"text"`             // in words

	// Old and New are what stood there and what stands there, for people: cleaned, without
	// secrets, and cut to MaxExcerpt bytes. "" where there is nothing.
	Old string `json:"old,omitzero"`
	New string `json:"new,omitzero"`
}

// Limits of what is kept of one comparison.
const (
	MaxChanges = 200 // listed; that there are more is a change of its own
	MaxExcerpt = 1000
	maxSubject = 200
)

// Worst is the severity of the change that matters most, "" for none.
func Worst(list []Change) Severity {
	var worst Severity
	for i := range list {
		if list[i].Severity.Worse(worst) {
			worst = list[i].Severity
		}
	}
	return worst
}

// Words says in a line what has changed, the worst first.
func Words(list []Change) string {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Change) int { return cmp.Compare(b.Severity.rank(), a.Severity.rank()) })
	words := make([]string, 0, len(sorted))
	for i := range sorted {
		if i == mostWords {
			words = append(words, "and more")
			break
		}
		words = append(words, sorted[i].Text)
	}
	return strings.Join(words, "; ")
}

const mostWords = 8

// changes collects them.
type changes []Change

func (l *changes) add(c Change) {
	switch {
	case len(*l) > MaxChanges:
		return
	case len(*l) == MaxChanges:
		*l = append(*l, Change{Kind: MemberChanged, Severity: Danger, Text: "more has changed than is listed"})
		return
	}
	c.Subject, c.Old, c.New = excerpt(c.Subject, maxSubject), excerpt(c.Old, MaxExcerpt), excerpt(c.New, MaxExcerpt)
	if c.Subject != "" {
		c.Text += " " + c.Subject
	}
	*l = append(*l, c)
}

// excerpt is a text of an agent's as people may see it, in consoles and terminals too.
func excerpt(s string, limit int) string {
	s = lint.Clean(strings.ToValidUTF8(s[:min(len(s), 4*limit)], "\uFFFD"))
	if i := lint.SecretIn(s); i >= 0 {
		s = s[:i] + "[removed]"
	}
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
