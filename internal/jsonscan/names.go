package jsonscan

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Field is what a member means to the reader of a document. The zero field means nothing
// to it. The other values are the caller's own.
type Field uint8

// Names are the members that mean something in one kind of object. They are
// few, so that comparing lengths finds one faster than a map would.
//
// ProtoJSON parsers take {"taskId":…} and {"task_id":…} for the same member, encoding/json
// takes {"TASKID":…} for it as well, and Jackson, where it is told to, {"task-id":…}. A reader
// that knows only one of these lets the others pass by it; one that accepts all would read a
// document as strict parsers do not. So Find knows three answers: the member, a near miss,
// and something else.
type Names struct {
	List []Spelling
}

// Spelling is how a name may be written: as the schemas do, or in the snake
// case of the proto files, which ProtoJSON parsers accept too.
type Spelling struct {
	Camel, Snake string
	Folded       string // as the most lenient parser sees either, see Fold
	Field        Field
	Bit          uint32 // set once seen, so that two spellings are one name
}

// NewNames builds the table for an object from its names in camel case. Later
// sets win over earlier ones.
func NewNames(sets ...map[string]Field) *Names {
	all := make(map[string]Field)
	for _, set := range sets {
		maps.Copy(all, set)
	}
	n := &Names{}
	for i, camel := range slices.Sorted(maps.Keys(all)) {
		n.List = append(n.List, Spelling{
			Camel: camel, Snake: snakeCase(camel), Folded: string(Fold(nil, []byte(camel), LongestName)),
			Field: all[camel], Bit: 1 << i,
		})
	}
	return n
}

// snakeCase is the proto file's name for a member: taskId is task_id.
func snakeCase(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// Find looks name up. It is compared byte for byte, in either spelling; a near miss gives the
// spelling it misses and the zero field, every other name nil. A near miss is what folds into
// the same letters: see Fold.
func (n *Names) Find(name []byte) (*Spelling, Field) {
	for i := range n.List {
		if sp := &n.List[i]; string(name) == sp.Camel || string(name) == sp.Snake {
			return sp, sp.Field
		}
	}
	var buf [LongestName + utf8.UTFMax]byte
	folded := Fold(buf[:0], name, LongestName)
	for i := range n.List {
		if sp := &n.List[i]; string(folded) == sp.Folded {
			return sp, 0
		}
	}
	return nil, 0
}

// LongestName is more than any name in the tables has.
const LongestName = 32

// Fold appends name as the most lenient parser would see it: in lower case, without
// underscores, hyphens, white space and control characters, with the two letters that fold
// into ASCII (ſ and the Kelvin sign). "Task-ID" and "task_id" become "taskid". It stops where
// the result is longer than longest, so that a name of a megabyte costs no more than a short
// one.
func Fold(dst, name []byte, longest int) []byte {
	for i := 0; i < len(name) && len(dst) <= longest; {
		c := name[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'A' <= c && c <= 'Z':
				dst = append(dst, c|0x20)
			case c > ' ' && c != '_' && c != '-':
				dst = append(dst, c)
			}
			continue
		}
		r, size := utf8.DecodeRune(name[i:])
		i += size
		switch r {
		case 'ſ':
			dst = append(dst, 's')
		case '\u212a': // Kelvin sign
			dst = append(dst, 'k')
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// Resembles reports whether Fold makes word of name, without memory for the result. Mostly the
// first letter tells.
func Resembles(name []byte, word string) bool {
	n := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c |= 0x20
		case c <= ' ', c == '_', c == '-':
			continue
		case c == "ſ"[0] && i+1 < len(name) && name[i+1] == "ſ"[1]:
			c = 's'
			i++
		}
		if n == len(word) || c != word[n] {
			return false
		}
		n++
	}
	return n == len(word)
}
