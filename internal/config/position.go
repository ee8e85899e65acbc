package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// problem is something wrong at a place in the file.
type problem struct {
	name         string
	line, column int // 0 where there is no place
	err          error
}

func (p *problem) Error() string {
	if p.line == 0 {
		return p.name + ": " + p.err.Error()
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.name, p.line, p.column, p.err)
}

func (p *problem) Unwrap() error { return p.err }

// problemAt is a problem of one node, once for every line of the text.
func problemAt(name string, n *yaml.Node, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if inner := errors.Unwrap(err); inner != nil {
		if many, ok := inner.(interface{ Unwrap() []error }); ok && err.Error() == inner.Error() {
			errs := make([]error, 0, len(many.Unwrap()))
			for _, e := range many.Unwrap() {
				errs = append(errs, &problem{name, n.Line, n.Column, e})
			}
			return errors.Join(errs...)
		}
	}
	return &problem{name, n.Line, n.Column, err}
}

// located turns the YAML library's errors into file:line:column, one per line.
// s knows the keys of each place, and which places are wrong already; it may be
// nil.
func located(name string, err error, s *shape) error {
	var many *yaml.LoadErrors
	if errors.As(err, &many) {
		errs := make([]error, 0, len(many.Errors))
		for _, e := range many.Errors {
			errs = append(errs, located(name, e, s))
		}
		return errors.Join(errs...)
	}
	var one *yaml.LoadError
	if !errors.As(err, &one) {
		return &problem{name: name, err: err}
	}
	text := plain(one.Message)
	if s != nil {
		where := place{one.Mark.Line, one.Mark.Column}
		if s.wrongs[where] {
			return nil
		}
		if path := s.paths[where]; path != "" {
			text = path + ": " + text
		}
	}
	return &problem{name, one.Mark.Line, one.Mark.Column, errors.New(text)}
}

// position is the line that section types put in front of their own errors.
var position = regexp.MustCompile(`^(yaml: )?(line \d+: )?`)

// plain takes out of the library's words what does not help: positions that are
// there already, and every text that it quotes from the file. A password that
// begins with * is an unknown anchor to it.
func plain(message string) string {
	message = message[len(position.FindString(message)):]
	switch {
	case strings.HasPrefix(message, "unknown anchor "):
		return "the alias has no anchor; put a text that begins with * in quotes"
	case strings.HasPrefix(message, "cannot construct "):
		return "the value does not fit here"
	case message == "no documents in stream":
		return "the file is empty"
	}
	return message
}

// section is an error of a section with the path of the section's key.
type section struct {
	path []string
	err  error
}

func at(err error, path ...string) error {
	if err == nil {
		return nil
	}
	return &section{path: path, err: err}
}

// Error says the path once, also where the section's own words begin with it.
func (s *section) Error() string {
	var lines []string
	for _, leaf := range leaves("", s.err) {
		path, text := s.place(leaf.text)
		lines = append(lines, spell(path)+": "+text)
	}
	return strings.Join(lines, "\n")
}

func (s *section) Unwrap() error { return s.err }

// place splits what a section says into the whole path of the key and the rest.
func (s *section) place(text string) (path []string, rest string) {
	path, rest = keys(text)
	if len(path) < len(s.path) || !slices.Equal(path[:len(s.path)], s.path) {
		path = slices.Concat(s.path, path)
	}
	return path, rest
}

// spell writes a path as it stands in messages: agents[0].card.
func spell(path []string) string {
	var b strings.Builder
	for i, step := range path {
		switch {
		case step[0] >= '0' && step[0] <= '9':
			b.WriteString("[" + step + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
}

// placed adds file, line and column to the errors of Validate, in the order of
// the file.
func placed(name string, doc *yaml.Node, err error) error {
	var problems []*problem
	for _, leaf := range leaves("", err) {
		p := &problem{name: name, err: leaf.err}
		var s *section
		if errors.As(leaf.err, &s) {
			for _, l := range leaves("", s.err) {
				path, text := s.place(l.text)
				n := seek(find(doc, path), text)
				problems = append(problems, &problem{name, n.Line, n.Column,
					&said{spell(path) + ": " + text, l.err}})
			}
			continue
		}
		problems = append(problems, p)
	}
	slices.SortStableFunc(problems, func(a, b *problem) int {
		if a.line != b.line {
			return a.line - b.line
		}
		return a.column - b.column
	})
	errs := make([]error, 0, len(problems))
	for _, p := range problems {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// said is an error in other words.
type said struct {
	text string
	err  error
}

func (s *said) Error() string { return s.text }
func (s *said) Unwrap() error { return s.err }

// leaves takes joined errors apart, also below a common prefix as in
// fmt.Errorf("authn.oidc[0]: %w", errors.Join(…)), which is then put before each.
func leaves(prefix string, err error) []said {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var all []said
		for _, e := range many.Unwrap() {
			all = append(all, leaves(prefix, e)...)
		}
		return all
	}
	if _, ok := err.(*section); !ok {
		if inner := errors.Unwrap(err); inner != nil {
			if own, ok := strings.CutSuffix(err.Error(), inner.Error()); ok {
				return leaves(prefix+own, inner)
			}
		}
	}
	return []said{{prefix + err.Error(), err}}
}

// leading matches the key path that a section's own errors begin with, as in
// `credentials[2].oauth2: …`.
var leading = regexp.MustCompile(`^([a-z]\w*(\[\d+\])*(\.[a-z]\w*(\[\d+\])*)*): `)

// steps takes such a path apart.
var steps = regexp.MustCompile(`\w+`)

func keys(text string) (path []string, rest string) {
	for {
		m := leading.FindStringSubmatch(text)
		if m == nil {
			return path, text
		}
		path = append(path, steps.FindAllString(m[1], -1)...)
		text = text[len(m[0]):]
	}
}

// find follows keys and indexes from the document's root and returns the
// deepest node there is.
func find(n *yaml.Node, path []string) *yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, step := range path {
		next := child(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// child is the value of a key, also of one merged in by <<, or an item.
func child(n *yaml.Node, step string) *yaml.Node {
	n = target(n)
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == step {
				return n.Content[i+1]
			}
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].ShortTag() == "!!merge" {
				return child(n.Content[i+1], step)
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
			return n.Content[i]
		}
	}
	return nil
}

// rule matches how policy names the rule that an error is about.
var rule = regexp.MustCompile(`^rule (\d+|"(?:[^"\\]|\\.)*"): `)

// word matches the keys that an error may begin with, as in `effect is …`.
var word = regexp.MustCompile(`^[a-z][A-Za-z]*(\.[a-z][A-Za-z]*)*`)

// quotation matches the first thing that an error quotes.
var quotation = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// seek goes from the node an error is known to be in further down, by the words
// of the error: a rule that it names, a key that it begins with, a list item
// that it quotes. What it does not find changes nothing.
func seek(n *yaml.Node, text string) *yaml.Node {
	if m := rule.FindStringSubmatch(text); m != nil {
		if r := ruleNode(child(n, "rules"), m[1]); r != nil {
			return seek(r, text[len(m[0]):])
		}
		if target(n).Kind != yaml.MappingNode {
			return n // within the rule already
		}
	}
	for _, key := range strings.Split(word.FindString(text), ".") {
		next := child(n, key)
		if next == nil {
			next = child(n, key+"s") // `agent "x" is not configured` is about agents
		}
		if next == nil {
			break
		}
		n = next
	}
	for _, q := range quotation.FindAllString(text, -1) {
		if quoted, err := strconv.Unquote(q); err == nil {
			if item := holding(n, quoted); item != nil {
				return item
			}
		}
	}
	return n
}

// ruleNode finds a rule by its number or by its name. Of two with the same name
// it is the later one that is wrong.
func ruleNode(rules *yaml.Node, label string) *yaml.Node {
	if rules == nil {
		return nil
	}
	if i, err := strconv.Atoi(label); err == nil {
		return child(rules, strconv.Itoa(i-1))
	}
	name, err := strconv.Unquote(label)
	if err != nil {
		return nil
	}
	for _, r := range slices.Backward(target(rules).Content) {
		if n := child(r, "name"); n != nil && target(n).Value == name {
			return r
		}
	}
	return nil
}

// holding is the last scalar below a list or mapping that reads as value: where
// something is there twice, the second one is the mistake.
func holding(n *yaml.Node, value string) *yaml.Node {
	n = target(n)
	if n.Kind == yaml.ScalarNode && n.Value == value {
		return n
	}
	for i, item := range slices.Backward(n.Content) {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			continue // a key
		}
		if found := holding(item, value); found != nil {
			return found
		}
	}
	return nil
}

func readLimited(to *bytes.Buffer, from io.Reader) error {
	n, err := to.ReadFrom(io.LimitReader(from, sizeLimit+1))
	if err != nil {
		return err
	}
	if n > sizeLimit {
		return fmt.Errorf("larger than %d bytes", sizeLimit)
	}
	return nil
}
