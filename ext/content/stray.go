package content

import (
	"slices"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Strays are the marks of extensions that are not visible: URIs that are listed,
// known or not, and metadata keys of an extension that the registry or the card
// knows. They may be in a task's history too, where they can be left from a call in
// which they were in place (wire.Carrier.History).
func (t *Terms) Strays(c *wire.Carriers) []wire.Mark {
	var strays []wire.Mark
	visible := t.visible(len(c.Marks))
	for i := range c.Marks {
		m := &c.Marks[i]
		if uri := t.whose(m); (m.Listed || uri != "") && !visible.has(uri) && !t.shares(uri, m) {
			strays = append(strays, *m)
		}
	}
	return strays
}

// lookup is a set that is asked for often.
type lookup struct {
	set   ext.Set
	index map[string]bool // of set, where that is worth it
}

func (l *lookup) has(uri string) bool {
	if l.index != nil {
		return l.index[uri]
	}
	return l.set.Has(uri)
}

// visible is Visible to be asked n times. An agent chooses how many extensions its card
// declares, and how many marks it makes: going through the one for each of the other
// could take a second.
func (t *Terms) visible(n int) *lookup {
	l := &lookup{set: t.Visible}
	if n*len(t.Visible) > 1<<12 {
		l.index = make(map[string]bool, len(t.Visible))
		for _, uri := range t.Visible {
			l.index[uri] = true
		}
	}
	return l
}

// shares reports whether the key of one extension is also that of another, which is
// visible.
func (t *Terms) shares(uri string, m *wire.Mark) bool {
	if m.Listed {
		return false
	}
	all := t.Book.Owners(m.Key)
	return len(all) > 1 && all[0] == uri && slices.ContainsFunc(all[1:], t.Visible.Has)
}

// Describe says as violations what Strays found.
func (t *Terms) Describe(c *wire.Carriers, strays []wire.Mark, enforced bool) []Violation {
	var f findings
	for i := range strays {
		m := &strays[i]
		text := "metadata of an extension that is not active here"
		if m.Listed {
			text = "lists an extension that is not active here"
		}
		f.add(Violation{
			Extension: clip(t.whose(m)), Fault: Unrequested,
			Pointer: c.PointerTo(*m), Text: text, Enforced: enforced,
		})
	}
	return f.list
}

// Unknown are violations for metadata keys that are URIs of extensions which nobody
// knows. They are never enforced: such a key may be anybody's way of naming things.
func (t *Terms) Unknown(c *wire.Carriers) []Violation {
	var f findings
	visible := t.visible(len(c.Marks))
	for i := range c.Marks {
		m := &c.Marks[i]
		// What is listed is its own URI's, and so a stray or in place. What only the
		// gateway acts on is visible, and nobody has to know it.
		if !identifies(m.Key) || t.whose(m) != "" || visible.has(m.Key) {
			continue
		}
		f.add(Violation{
			Extension: clip(m.Key), Fault: Undeclared, Pointer: c.PointerTo(*m),
			Text: "metadata of an extension that neither the registry nor the agent's card knows",
		})
	}
	return f.list
}

// whose is the extension that left a mark, "" if nobody knows. Of nested URIs the
// longest is meant, whoever wrote it down; but no card takes a key away from whom the
// registry gives it to by name.
func (t *Terms) whose(m *wire.Mark) string {
	if m.Listed {
		return m.Key
	}
	owner := t.Book.Owner(m.Key)
	longest := root(owner, m.Key)
	if owner != "" && longest == 0 {
		return owner
	}
	if uri, n := t.Declared.Owner(m.Key); n > longest {
		return uri
	}
	return owner
}

// root is how much of a metadata key says whose it is, if it is an extension's by
// convention: its URI, or a name below that, both also without the scheme. 0 means that
// it is not.
func root(uri, key string) int {
	if ext.Below(uri, key) {
		return len(uri)
	}
	if _, rest, ok := strings.Cut(uri, "://"); ok && ext.Below(rest, key) {
		return len(rest)
	}
	return 0
}

// identifies reports whether a key looks like an extension's identifier. Other
// schemes than these are as likely to be a word and a colon.
func identifies(key string) bool {
	for _, scheme := range [...]string{"https://", "http://", "urn:"} {
		if len(key) > len(scheme) && strings.EqualFold(key[:len(scheme)], scheme) {
			return ext.CheckURI(key) == nil
		}
	}
	return false
}

// repeated is how much of a text from a document is repeated: as much as a client may
// name in the header.
const repeated = 512

func clip(uri string) string {
	if len(uri) <= repeated {
		return uri
	}
	return strings.ToValidUTF8(uri[:repeated], "") + "…"
}
