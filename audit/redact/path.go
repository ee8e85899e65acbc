package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Path is a JSON path (RFC 9535) of names, indexes from the front, * and .., which is
// all that places in messages need, and can be followed while a document is read.
// It is a subset of RFC 9535: filters, slices, unions and indexes from the end are refused.
type Path struct {
	segments []segment
}

// segment is one step of a path.
type segment struct {
	deep  bool // also any number of levels further down
	any   bool
	name  string
	index int // -1 for a name
}

// states are how much of a path fits so far: bit i, that its first i segments do.
// A path with .. is a nondeterministic automaton, of which this is the set of states; all paths of
// a rule are followed at once, without going back in the document.
type states uint32

const (
	mostSegments = 31 // bits of states
	longestPath  = 1024
)

// starts is n paths, each at its first segment.
func starts(n int) []states {
	all := make([]states, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

// step goes one member, or one element, deeper. A path with .. may be at several of its segments at once,
// which is why a state is a set of them.
func (p Path) step(at states, name string, index int) (next states) {
	for i, s := range p.segments {
		if at&(1<<i) == 0 {
			continue
		}
		if s.deep {
			next |= 1 << i
		}
		if s.any || s.index == index && (index >= 0 || s.name == name) {
			next |= 1 << (i + 1)
		}
	}
	return next
}

// ends reports whether the path leads here.
func (p Path) ends(at states) bool { return at&(1<<len(p.segments)) != 0 }

// ParsePath reads a path.
// Errors quote at most 64 characters of the path.
func ParsePath(text string) (Path, error) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok || rest == "" || len(text) > longestPath {
		return Path{}, fmt.Errorf("%.64q is no JSON path: it begins with $, and a name, [index] or * follows", text)
	}
	var p Path
	for rest != "" {
		s, after, err := parseSegment(rest)
		if err != nil {
			return Path{}, fmt.Errorf("%.64q: %w", text, err)
		}
		if p.segments = append(p.segments, s); len(p.segments) > mostSegments {
			return Path{}, fmt.Errorf("%.64q: has more than %d steps", text, mostSegments)
		}
		rest = after
	}
	return p, nil
}

// parseSegment reads one step of a path, and what is left of it.
func parseSegment(text string) (s segment, rest string, err error) {
	s.index = -1
	// A name may follow .. directly, as in $..name.
	rest, s.deep = strings.CutPrefix(text, "..")
	if !s.deep && !strings.HasPrefix(text, "[") {
		var ok bool
		if rest, ok = strings.CutPrefix(text, "."); !ok {
			return s, "", fmt.Errorf("want . or [ before %.16q", text)
		}
	}
	switch {
	case strings.HasPrefix(rest, "["):
		return parseBracket(s, rest)
	case strings.HasPrefix(rest, "*"):
		s.any = true
		return s, rest[1:], nil
	}
	// These have a meaning in RFC 9535 that this subset does not know.
	end := strings.IndexAny(rest, ".[]*'\"?@() ")
	if end < 0 {
		end = len(rest)
	}
	if s.name = rest[:end]; end == 0 {
		return s, "", errors.New("a name is empty, or has what only ['…'] may have")
	}
	return s, rest[end:], nil
}

// parseBracket reads a step in brackets.
func parseBracket(s segment, text string) (segment, string, error) {
	inner := text[1:]
	if quote := inner[:min(1, len(inner))]; quote == "'" || quote == `"` {
		name, rest, ok := strings.Cut(inner[1:], quote+"]")
		if s.name = name; !ok || strings.Contains(name, `\`) {
			return s, "", fmt.Errorf("want ['name'] without backslashes at %.16q", text)
		}
		return s, rest, nil
	}
	inner, rest, ok := strings.Cut(inner, "]")
	if s.any = inner == "*"; s.any && ok {
		return s, rest, nil
	}
	n, err := strconv.ParseUint(inner, 10, 31)
	if s.index = int(n); err != nil || !ok {
		return s, "", fmt.Errorf("want [number], [*] or ['name'] at %.16q", text)
	}
	return s, rest, nil
}

// Find calls see with what stands at the path, until it returns false. A string is
// without its quotes. What is no JSON has nothing.
// It is how rules for capturing look at params: $.message.metadata.class.
func (p Path) Find(doc []byte, see func(value string) bool) {
	// Lenient as agents are: a name that stands twice must not hide what follows it.
	in := jsontext.NewDecoder(bytes.NewReader(doc), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := p.find(in, 1, see); err != nil && !errors.Is(err, io.EOF) {
		return
	}
}

var errSeen = errors.New("seen")

// find shows what the path leads to, and passes over what it cannot lead to without reading it into
// memory.
func (p Path) find(in *jsontext.Decoder, at states, see func(string) bool) error {
	if p.ends(at) {
		value, err := in.ReadValue()
		if err != nil {
			return err
		}
		return p.show(value, at, see)
	}
	kind := in.PeekKind()
	if at == 0 || kind != '{' && kind != '[' {
		return in.SkipValue()
	}
	if _, err := in.ReadToken(); err != nil {
		return err
	}
	for i := 0; in.PeekKind() != '}' && in.PeekKind() != ']'; i++ {
		name, index := "", i
		if kind == '{' {
			token, err := in.ReadToken()
			if err != nil {
				return err
			}
			name, index = token.String(), -1
		}
		if err := p.find(in, p.step(at, name, index), see); err != nil {
			return err
		}
	}
	_, err := in.ReadToken()
	return err
}

// show shows a value, and those in it where the path goes on to fit.
// With .. a value may be a match and hold others: $..a of {"a":{"a":1}} has two.
func (p Path) show(value jsontext.Value, at states, see func(string) bool) error {
	text := string(value)
	if value.Kind() == '"' {
		unquoted, _ := jsontext.AppendUnquote(nil, value) // it was read as JSON
		text = string(unquoted)
	}
	if !see(text) {
		return errSeen
	}
	inner := at &^ (1 << len(p.segments))
	if inner == 0 {
		return nil
	}
	in := jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return p.find(in, inner, see)
}
