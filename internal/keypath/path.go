package keypath

import (
	"regexp"
	"strconv"
	"strings"
)

// Path leads from a mapping of the configuration to a value below it.
type Path []Step

// Step is a key of a mapping, or an item of a list.
type Step struct {
	Key   string
	Index int // of the item, from 0
	Item  bool
}

// Of makes a path of strings, which are keys, of ints, which are indexes, and of paths. Anything
// else is a mistake in the program and panics.
func Of(steps ...any) Path {
	p := make(Path, 0, len(steps))
	for _, s := range steps {
		switch s := s.(type) {
		case string:
			p = append(p, Step{Key: s})
		case int:
			p = append(p, Step{Index: s, Item: true})
		case Path:
			p = append(p, s...)
		default:
			panic("keypath: a step is neither a key nor an index") //nolint:forbidigo // a mistake in the program, which its first test finds
		}
	}
	return p
}

// plain keys stand in a path as they are, and numbers as if they were indexes: others, such as
// the URI of an extension, have dots and colons of their own and are quoted.
var (
	plain  = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	number = regexp.MustCompile(`^[0-9]+$`)
)

// String writes a path as it stands in messages: agents[0].card,
// extensions[0].defaults["https://…"].
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch {
		case s.Item:
			b.WriteString("[" + strconv.Itoa(s.Index) + "]")
			continue
		case number.MatchString(s.Key):
			b.WriteString("[" + s.Key + "]")
			continue
		case !plain.MatchString(s.Key):
			b.WriteString("[" + strconv.Quote(s.Key) + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(s.Key)
	}
	return b.String()
}
