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
	nameChanged        Kind = "name-changed"
	descriptionChanged Kind = "description-changed"
	versionChanged     Kind = "version-changed" // the agent's own, not the protocol's
	providerChanged    Kind = "provider-changed"
	linkChanged        Kind = "link-changed" // documentation, icon
	skillAdded         Kind = "skill-added"
	skillRemoved       Kind = "skill-removed"
	skillChanged       Kind = "skill-changed"
	interfaceAdded     Kind = "interface-added" // a URL, or one in another binding or protocol version
	interfaceRemoved   Kind = "interface-removed"
	interfaceOrder     Kind = "interface-order" // another one is preferred
	securityWeaker     Kind = "security-weaker"
	securityChanged    Kind = "security-changed"
	extensionAdded     Kind = "extension-added"
	extensionRemoved   Kind = "extension-removed"
	extensionRequired  Kind = "extension-required" // it was optional, or is new
	extensionChanged   Kind = "extension-changed"
	capabilityChanged  Kind = "capability-changed"
	modesChanged       Kind = "modes-changed"     // the default media types
	memberChanged      Kind = "member-changed"    // one that A2A does not define
	signatureChanged   Kind = "signature-changed" // the content may be the same
	spellingChanged    Kind = "spelling-changed"  // order, repeats, another way to write the same
	findingAdded       Kind = "finding-added"     // lint finds what it did not find before
	nameTaken          Kind = "name-taken"        // another agent's card has a name that looks the same
	skillTaken         Kind = "skill-taken"       // another agent's card has a skill of that id
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

// rank orders severities. One that is none of them is below all.
func (s Severity) rank() int { return slices.Index([]Severity{Info, Notice, Danger}, s) }

// Change is one difference between two cards.
// Old and New are cut and cleaned: they are an agent's words, and are shown in terminals and pages.
type Change struct {
	Kind     Kind     `json:"kind"`
	Severity Severity `json:"severity"`
	Subject  string   `json:"subject,omitzero"` // id of the skill, URI of the extension, name of the member
	Text     string   `json:"text"`             // in words

	// Old and New are what stood there and what stands there, for people: cleaned, without
	// secrets, and cut to maxExcerpt bytes. "" where there is nothing.
	Old string `json:"old,omitzero"`
	New string `json:"new,omitzero"`
}

// Limits of what is kept of one comparison.
const (
	maxChanges = 200 // listed; that there are more is a change of its own
	maxExcerpt = 1000
	maxSubject = 200
)

// Worst is the severity of the change that matters most, "" for none. It is what onChange is held
// against: one dangerous change among twenty harmless ones makes a dangerous card.
func Worst(list []Change) Severity {
	var worst Severity
	for i := range list {
		if list[i].Severity.Worse(worst) {
			worst = list[i].Severity
		}
	}
	return worst
}

// Words says in a line what has changed, the worst first, and within one severity in the order of
// the list.
// It is what an alert's line and the reason of a quarantine say.
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

// mostWords is how many changes a line names: it goes into logs and alerts, and the list has them all.
const mostWords = 8

// changes collects them, in the order in which a card is compared: the same on every replica.
type changes []Change

// add appends a change, cut to what fits in a record and on a screen. Where there are too many the
// last says so, and is taken for dangerous, since nobody has seen what is not listed.
func (l *changes) add(c Change) {
	switch {
	case len(*l) > maxChanges:
		return
	case len(*l) == maxChanges:
		*l = append(*l, Change{Kind: memberChanged, Severity: Danger, Text: "more has changed than is listed"})
		return
	}
	c.Subject, c.Old, c.New = excerpt(c.Subject, maxSubject), excerpt(c.Old, maxExcerpt), excerpt(c.New, maxExcerpt)
	if c.Subject != "" {
		c.Text += " " + c.Subject
	}
	*l = append(*l, c)
}

// excerpt is a text of an agent's as people may see it, in consoles and terminals too: without
// control characters, which could paint over what stands beside them, and without secrets, which
// would be kept with the history.
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
