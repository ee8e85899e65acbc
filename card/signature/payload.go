package signature

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The canonical forms, in the order in which they are tried. All are without the card's
// signatures.
const (
	// AsReceived is RFC 8785 over everything that the card has, known or not.
	AsReceived Form = "as-received"
	// formPresence is the letter of A2A 1.0 §8.4.1: what the specification knows, less what
	// has its default value, unless it is required or was set explicitly.
	formPresence Form = "presence"
	// formMessage is what the SDKs for Python and JavaScript sign since 1.0: the card as its
	// Protobuf message has it, less everything empty at any depth.
	formMessage Form = "message"
	// formNoEmpties is everything that the card has, less everything empty at any depth.
	formNoEmpties Form = "no-empties"
	// formMessageNoSchemes is formMessage without security schemes: the SDK for JavaScript loses
	// them where it signs or verifies a card that it has read before.
	formMessageNoSchemes Form = "message-no-schemes"
	// formMessageUpgraded is what the SDK for Python makes of a card with 0.3's members when
	// it reads it: Message, with 1.0's members filled in from those of 0.3.
	formMessageUpgraded Form = "message-upgraded"
	// formMessageASCII is formMessage as Python wrote it before 1.2: not in RFC 8785, but in
	// ASCII and with names in the order of code points.
	formMessageASCII Form = "message-ascii"
	// formLegacy is what the SDK for Python signs in 0.3: the members of 0.3 less those with
	// their default value and everything empty, in ASCII.
	formLegacy Form = "legacy"
)

// forms are all of them. One that covers more comes before one that covers less.
// The error of make means that a card cannot be written in that form, as when a member is of
// another type than the schema has.
var forms = [...]struct {
	name Form
	make func(card value) (payload []byte, uncovered []string, err error)
}{
	{AsReceived, func(card value) ([]byte, []string, error) { return whole(card, jcs) }},
	{formMessage, func(card value) ([]byte, []string, error) { return typed(card, &cardMessage, true, jcs) }},
	{formPresence, func(card value) ([]byte, []string, error) { return typed(card, &cardMessage, false, jcs) }},
	{formNoEmpties, func(card value) ([]byte, []string, error) { return whole(compact(card), jcs) }},
	{formMessageNoSchemes, func(card value) ([]byte, []string, error) { return typed(card, &cardNoSchemes, true, jcs) }},
	{formMessageUpgraded, func(card value) ([]byte, []string, error) { return typed(upgraded(card), &cardMessage, true, jcs) }},
	{formMessageASCII, func(card value) ([]byte, []string, error) { return typed(card, &cardMessage, true, messageASCII) }},
	{formLegacy, func(card value) ([]byte, []string, error) { return typed(card, &legacyCard, true, legacyASCII) }},
}

// rank is lower for a form that covers more.
func (f Form) rank() int {
	for i := range forms {
		if forms[i].name == f {
			return i
		}
	}
	return len(forms)
}

// payload is one form of one card.
type payload struct {
	form      Form
	body      []byte
	uncovered []string
}

// payloads are forms of a card without its signatures, all of them or those that are
// wanted, less those that are the same as one before them. The error is about the first
// that the card does not have.
// Most cards have two or three forms that differ.
func payloads(card value, wanted ...Form) (list []payload, lacking error) {
	for _, f := range &forms {
		if wanted != nil && !slices.Contains(wanted, f.name) {
			continue
		}
		body, uncovered, err := f.make(card)
		// A signature over bytes that were tried already cannot hold this time.
		same := func(o payload) bool { return string(o.body) == string(body) }
		switch {
		case err != nil && lacking == nil:
			lacking = fmt.Errorf("it has no form %s: %w", f.name, err)
		case err == nil && !slices.ContainsFunc(list, same):
			list = append(list, payload{f.name, body, uncovered})
		}
	}
	return list, lacking
}

// writer writes a canonical form. What it cannot write without changing it is an error.
type writer func(value) ([]byte, error)

// whole is a form that has all that is in the card, so that nothing of it is uncovered.
func whole(card value, write writer) ([]byte, []string, error) {
	body, err := write(card)
	return body, nil, err
}

// typed is a form that has only what a schema knows.
// uncovered lists what the schema does not know, and so a signature of this form says nothing of.
func typed(card value, s *schema, compacted bool, write writer) ([]byte, []string, error) {
	p := pruning{keepRequired: !compacted}
	out, err := p.message(card, s, "")
	if err != nil {
		return nil, nil, err
	}
	if compacted {
		out = compact(out)
	}
	slices.Sort(p.dropped)
	body, err := write(out)
	return body, p.dropped, err
}

// jcs is RFC 8785.
// Names are sorted by UTF-16 code units (RFC 8785 section 3.2.3), which differs from code points
// only beyond the Basic Multilingual Plane.
func jcs(v value) ([]byte, error) {
	if err := v.numbers(isDouble); err != nil {
		return nil, err
	}
	doc := jsontext.Value(v.append(nil))
	err := doc.Canonicalize()
	return doc, err
}

// compact is v less everything empty at any depth: texts, lists, objects and nulls. An
// object with nothing left is {}. It goes from the inside out, so that what has become empty by it is
// left out too, as the SDKs do it.
func compact(v value) value {
	switch v.kind {
	case '[':
		list := make([]value, 0, len(v.list))
		for _, e := range v.list {
			if e = compact(e); !e.empty() {
				list = append(list, e)
			}
		}
		v.list = list
	case '{':
		members := make([]member, 0, len(v.members))
		for _, m := range v.members {
			if m.value = compact(m.value); !m.value.empty() {
				members = append(members, m)
			}
		}
		v.members = members
	}
	return v
}

// empty reports whether a value is the default of its kind: an empty text, list or object, or null.
// false and 0 are not empty: they are values that somebody may have set.
func (v *value) empty() bool {
	switch v.kind {
	case '"':
		return v.text == ""
	case '[':
		return len(v.list) == 0
	case '{':
		return len(v.members) == 0
	case 'n':
		return true
	}
	return false
}

// pruning reduces a card to what a schema knows, and remembers what that was not: who uses a card by
// such a signature must not use the rest of it.
type pruning struct {
	keepRequired bool
	dropped      []string // unknown members, as JSON pointers
}

// message reduces an object. Absent members stay absent: nobody adds a required one.
func (p *pruning) message(v value, s *schema, at string) (value, error) {
	if v.kind != '{' {
		return v, fmt.Errorf("%s is not an object", cmp.Or(at, "the card"))
	}
	out := value{kind: '{', members: []member{}}
	for _, m := range v.members {
		where := at + "/" + pointer.Replace(m.name)
		name, f := s.field(m.name)
		if f == nil {
			if !m.value.empty() {
				p.dropped = append(p.dropped, where)
			}
			continue
		}
		// Protobuf readers take documentationUrl and documentation_url for one member, and the last
		// of the two wins; what was signed could then be another card than what is read.
		if out.find(name) != nil {
			return v, fmt.Errorf("%s is there in two spellings", where)
		}
		if m.value.kind == 'n' {
			continue // as good as absent, in every reader of messages
		}
		kept, err := p.field(m.value, f, where)
		if err != nil {
			return v, err
		}
		// Whether it was set cannot be told of a member without presence; its default then counts
		// as not set.
		if f.optional || f.required && p.keepRequired || !f.isDefault(&kept) {
			out.members = append(out.members, member{name, kept})
		}
	}
	return out, nil
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// field reduces the value of a member that is known, and refuses one of another type than the schema
// has: an SDK could not have made a message of it, nor signed it in this form.
func (p *pruning) field(v value, f *field, at string) (value, error) {
	switch f.shape {
	case text:
		return v, expect(v, '"', at)
	case flag:
		if v.kind == 't' || v.kind == 'f' {
			return v, nil
		}
		return v, fmt.Errorf("%s is not a boolean", at)
	case object:
		return v, expect(v, '{', at)
	case anything, implied:
		return v, nil
	case message:
		return p.message(v, f.of, at)
	case texts, messages:
		return p.list(v, f, at)
	case textMap, messageMap, textsMap:
		return p.mapping(v, f, at)
	}
	return v, nil
}

// expect reports a value of another kind than the schema has. A card with one has no canonical form of
// that schema, whoever signed it.
func expect(v value, kind jsontext.Kind, at string) error {
	if v.kind != kind {
		return fmt.Errorf("%s is not a JSON %s", at, kind)
	}
	return nil
}

// list prunes each element of a list. None is left out: an empty one in a list is still one.
func (p *pruning) list(v value, f *field, at string) (value, error) {
	if err := expect(v, '[', at); err != nil {
		return v, err
	}
	element := field{shape: text}
	if f.shape == messages {
		element = field{shape: message, of: f.of}
	}
	out := value{kind: '[', list: make([]value, 0, len(v.list))}
	for i, e := range v.list {
		kept, err := p.field(e, &element, fmt.Sprintf("%s/%d", at, i))
		if err != nil {
			return v, err
		}
		out.list = append(out.list, kept)
	}
	return out, nil
}

// mapping prunes the values of a map, whose names are the card's own and are all kept, as they are
// keys of a Protobuf map and not members of a message.
func (p *pruning) mapping(v value, f *field, at string) (value, error) {
	if err := expect(v, '{', at); err != nil {
		return v, err
	}
	element := field{shape: text}
	switch f.shape {
	case messageMap:
		element = field{shape: message, of: f.of}
	case textsMap:
		element = field{shape: texts}
	}
	out := value{kind: '{', members: make([]member, 0, len(v.members))}
	for _, m := range v.members {
		kept, err := p.field(m.value, &element, at+"/"+pointer.Replace(m.name))
		if err != nil {
			return v, err
		}
		out.members = append(out.members, member{m.name, kept})
	}
	return out, nil
}
