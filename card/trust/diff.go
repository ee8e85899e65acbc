package trust

import (
	"bytes"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/card/lint"
)

// Diff says what one card says otherwise than another, by meaning: cards of two versions
// of A2A that say the same differ in their interfaces alone. It lists at most maxChanges
// changes. Cards of which it lists nothing are the same but for white space.
func Diff(old, new []byte) ([]Change, error) {
	a, err := read(old)
	if err != nil {
		return nil, err
	}
	b, err := read(new)
	if err != nil {
		return nil, err
	}
	var l changes
	l.texts(a, b)
	l.interfaces(a.interfaces, b.interfaces)
	l.security(a, b)
	l.extensions(a.extensions, b.extensions)
	l.skills(a, b)
	l.flags(a, b)
	// What was read above has been taken out, so that whatever a later version of A2A adds is
	// compared here and cannot change unseen.
	l.members("", a.rest, b.rest)
	l.members("provider.", a.provider, b.provider)
	l.members("capabilities.", a.capabilities, b.capabilities)
	l.members("authentication.", a.authentication, b.authentication)
	if err := l.findings(old, new); err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(a.signatures, b.signatures) {
		l.add(Change{Kind: signatureChanged, Severity: Info, Text: "the signatures changed"})
	}
	// Nothing of the meaning changed. Whoever compares digests should still be told why they
	// differ.
	if len(l) == 0 {
		x, err := canonical(old)
		if err != nil {
			return nil, err
		}
		y, err := canonical(new)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(x, y) {
			l.add(Change{Kind: spellingChanged, Severity: Info, Text: "the same is written otherwise"})
		}
	}
	return l, nil
}

// texts compares what stands in the card once. The name is what callers and models choose an
// agent by, so another one is another agent until a person says otherwise.
func (l *changes) texts(a, b *profile) {
	for _, t := range [...]struct {
		member   string
		kind     Kind
		severity Severity
		what     string
	}{
		{"name", nameChanged, Danger, "the name changed"},
		{"description", descriptionChanged, Notice, "the description changed"},
		{"version", versionChanged, Info, "the agent's version changed"},
		{"provider.organization", providerChanged, Notice, "the provider changed"},
		{"provider.url", providerChanged, Notice, "the provider's URL changed"},
		{"documentationUrl", linkChanged, Notice, "the link to the documentation changed"},
		{"iconUrl", linkChanged, Info, "the icon changed"},
	} {
		if x, y := a.texts[t.member], b.texts[t.member]; x != y {
			l.add(Change{Kind: t.kind, Severity: t.severity, Text: t.what, Old: x, New: y})
		}
	}
	for _, name := range sorted(a.modes, b.modes) {
		if x, y := a.modes[name], b.modes[name]; !slices.Equal(x, y) {
			l.add(Change{
				Kind: modesChanged, Severity: Notice, Subject: name, Text: "media types changed:",
				Old: strings.Join(x, ", "), New: strings.Join(y, ", "),
			})
		}
	}
}

// interfaces compares the ways to reach the agent. One at an origin that the old card did
// not name leads somewhere else: calls, with their credentials, would go to whoever is there. The
// order counts because clients take the first that they speak.
func (l *changes) interfaces(a, b []endpoint) {
	known := map[string]bool{}
	for _, e := range a {
		known[originOf(e.url)] = true
	}
	for _, e := range b {
		switch {
		case slices.Contains(a, e):
		case known[originOf(e.url)]:
			l.add(Change{Kind: interfaceAdded, Severity: Notice, Text: "an interface was added", New: e.String()})
		default:
			l.add(Change{Kind: interfaceAdded, Severity: Danger, Text: "an interface was added at another address", New: e.String()})
		}
	}
	for _, e := range a {
		if !slices.Contains(b, e) {
			l.add(Change{Kind: interfaceRemoved, Severity: Notice, Text: "an interface was removed", Old: e.String()})
		}
	}
	// Only of those that stand in both cards can it be said that they changed places.
	stay := func(in []endpoint) func(endpoint) bool {
		return func(e endpoint) bool { return !slices.Contains(in, e) }
	}
	x, y := slices.DeleteFunc(slices.Clone(a), stay(b)), slices.DeleteFunc(slices.Clone(b), stay(a))
	if !slices.Equal(x, y) {
		l.add(Change{
			Kind: interfaceOrder, Severity: Notice, Text: "the order of the interfaces changed", Old: x[0].String(), New: y[0].String(),
		})
	}
}

// originOf is what has to be the same for a URL, or host:port, to lead to the same place.
// A port is compared as it is written: one that is left out is another than 443. To be told of a
// change that is none costs a look, and cards are written by programs that do not vary it.
func originOf(raw string) string {
	if !strings.Contains(raw, "//") {
		return strings.ToLower(raw)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return strings.ToLower(u.Scheme + "://" + u.Host)
}

// security compares what callers have to show, first as a whole and then each scheme. A card
// that asks for less is how somebody who took an agent over collects what its callers send.
func (l *changes) security(a, b *profile) {
	if !sameRequirements(a.requirements, b.requirements) {
		c := Change{
			Kind: securityChanged, Severity: Notice, Text: "what callers have to show changed",
			Old: alternatives(a.requirements), New: alternatives(b.requirements),
		}
		if weaker(a.requirements, b.requirements) {
			c.Kind, c.Severity, c.Text = securityWeaker, Danger, "what callers have to show became less, or other"
		}
		l.add(c)
	}
	for _, name := range sorted(a.schemes, b.schemes) {
		x, inOld := a.schemes[name]
		y, inNew := b.schemes[name]
		c := Change{Kind: securityChanged, Severity: Notice, Subject: name, Old: x.String(), New: y.String()}
		switch {
		case !inOld:
			c.Text = "a security scheme was added:"
		case !inNew:
			c.Text = "a security scheme was removed:"
		case x.kind != y.kind && y.strength() <= x.strength():
			c.Kind, c.Severity, c.Text = securityWeaker, Danger, "a security scheme is another, not stronger:"
		case x.kind != y.kind:
			c.Text = "a security scheme is another:"
		case !reflect.DeepEqual(x.detail, y.detail), !reflect.DeepEqual(x.odd, y.odd):
			// Whoever names the address where tokens are had, has them.
			c.Severity, c.Text = Danger, "a security scheme changed:"
		default:
			continue
		}
		l.add(c)
	}
}

// String is a scheme for people; "" for none, as in a change that adds or removes one.
func (s scheme) String() string {
	switch {
	case s.odd != nil:
		return written(s.odd)
	case s.kind == "" && len(s.detail) == 0:
		return ""
	}
	return s.kind + " " + written(s.detail)
}

// extensions compares those that the agent declares, by URI, as another version has another one. One
// that became required keeps out callers
// who do not know it, and has the others do what it says.
func (l *changes) extensions(a, b map[string]extension) {
	for _, uri := range sorted(a, b) {
		x, inOld := a[uri]
		y, inNew := b[uri]
		c := Change{Kind: extensionChanged, Severity: Notice, Subject: uri}
		switch {
		case !inNew:
			c.Kind, c.Text = extensionRemoved, "an extension was removed:"
			l.add(c)
			continue
		case y.required && !x.required:
			l.add(Change{Kind: extensionRequired, Severity: Danger, Subject: uri, Text: "an extension became required:"})
		case x.required && !y.required:
			l.add(Change{Kind: extensionChanged, Severity: Notice, Subject: uri, Text: "an extension is not required any more:"})
		}
		if !inOld {
			c.Kind, c.Text, c.New = extensionAdded, "an extension was added:", y.description
			l.add(c)
			continue
		}
		if x.description != y.description {
			c.Text, c.Old, c.New = "the description of an extension changed:", x.description, y.description
			l.add(c)
		}
		if !reflect.DeepEqual(x.rest, y.rest) {
			c.Text, c.Old, c.New = "parameters of an extension changed:", written(x.rest), written(y.rest)
			l.add(c)
		}
	}
}

// flags compares capabilities. One that a card does not name is the same as one that it denies.
// It is a notice: a capability by itself gives nobody anything.
func (l *changes) flags(a, b *profile) {
	for _, name := range sorted(a.flags, b.flags) {
		if x, y := a.flags[name], b.flags[name]; x != y {
			l.add(Change{
				Kind: capabilityChanged, Severity: Notice, Subject: name, Text: "a capability changed:", Old: written(x), New: written(y),
			})
		}
	}
}

// members compares what A2A does not define, and what is not of the type that it should be. What it
// means cannot be known here, so that it is shown as it stands.
func (l *changes) members(within string, a, b object) {
	for _, name := range sorted(a, b) {
		if x, y := a[name], b[name]; !reflect.DeepEqual(x, y) {
			l.add(Change{
				Kind: memberChanged, Severity: Notice, Subject: within + name, Text: "a member changed:", Old: written(x), New: written(y),
			})
		}
	}
}

// findings are what lint has against the new card and had not against the old one. What was there
// when a person approved the card is not told again; what is new is dangerous whatever else changed,
// since it is what cards are poisoned with.
func (l *changes) findings(old, new []byte) error {
	before, err := lint.Check(old, lint.Limits{})
	if err != nil {
		return err
	}
	after, err := lint.Check(new, lint.Limits{})
	if err != nil {
		return err
	}
	counted := map[lint.Kind]int{}
	for i := range before {
		counted[before[i].Kind]++
	}
	for _, f := range after {
		// They are counted by kind and not by place: an item that was added to a list moves the
		// places of all behind it. A text that is too long is no danger, and was cut.
		if counted[f.Kind]--; counted[f.Kind] >= 0 || f.Kind == lint.Long {
			continue
		}
		l.add(Change{Kind: findingAdded, Severity: Danger, Subject: f.Pointer, Text: f.Text + " at"})
	}
	return nil
}

// sorted are the names in either.
// The order of a list of changes must not depend on that of a map: it is compared and shown.
func sorted[T any](a, b map[string]T) []string {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]T{}
	}
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
