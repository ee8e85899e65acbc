package config

import (
	"errors"
	"reflect"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/guard"
)

// DraftError says what is wrong with a draft: all of it, one a line, each with its place as in
// draft:3:7.
type DraftError struct {
	Line int // of the first of it; 0 where there is no place
	Err  error
}

// Error implements error.
func (e *DraftError) Error() string { return e.Err.Error() }

// Unwrap implements errors.
func (e *DraftError) Unwrap() error { return e.Err }

// Mistakes tells all that is wrong, in the order in which Error does, and where: line and column are
// counted from 1, and 0 where there is no place.
func (e *DraftError) Mistakes(tell func(line, column int, text string)) { mistakes(e.Err, tell) }

func mistakes(err error, tell func(line, column int, text string)) {
	if p, ok := err.(*problem); ok { //nolint:errorlint // what a problem wraps has no place of its own
		tell(p.line, p.column, p.err.Error())
		return
	}
	many, ok := err.(interface{ Unwrap() []error })
	if !ok {
		tell(0, 0, err.Error())
		return
	}
	for _, one := range many.Unwrap() {
		mistakes(one, tell)
	}
}

// draft stands for the name of the file in errors, as in draft:3:7.
const draft = "draft"

// Draft is the configuration with other rules, and the rules compiled. They are read as
// strictly as those of a file, from somebody who may look and must not be able to read this
// machine's environment by doing so. book is the configuration's own. The error is a
// DraftError.
func (c *Config) Draft(text []byte, book *ext.Book) (*Config, *policy.Set, error) {
	next, rules, err := c.drafted(text, book)
	if err == nil {
		return next, rules, nil
	}
	e := &DraftError{Err: err}
	var first *problem
	if errors.As(err, &first) {
		e.Line = first.line
	}
	return nil, nil, e
}

func (c *Config) drafted(text []byte, book *ext.Book) (*Config, *policy.Set, error) {
	doc, err := draftDocument(text, "rules")
	if err != nil {
		return nil, nil, err
	}
	var d ruleDocument
	if err := decode(draft, "", doc, &d); err != nil {
		return nil, nil, err
	}
	if child(doc.Content[0], "rules") == nil {
		return nil, nil, problemAt(draft, doc.Content[0], "want a list of rules, or the key rules with one")
	}
	// A draft is all of the rules: those of the file and of further files do not count beside it.
	next := *c // what is in it is shared, and only read
	next.Policy.Rules = d.Rules
	src := newSources(draft, doc, &Config{})
	if err := src.add(&src.rules, draft, doc, ruleNames(d.Rules)); err != nil {
		return nil, nil, err
	}
	rules, _, err := policy.Compile(next.Policy.Config, next.RuleAgents(), book.Extra().Methods()...)
	if err != nil {
		return nil, nil, placed(src, keypath.At(err, "policy"))
	}
	if err := errors.Join(append(next.checkRules(book), next.checkSkills(rules))...); err != nil {
		return nil, nil, placed(src, err)
	}
	return &next, rules, nil
}

// guardDocument is the whole of a draft of guards.
type guardDocument struct {
	Guards guard.Config `yaml:"guards"`
}

// DraftGuards reads guards as those of a file, and checks them. Neither the environment nor files are read for
// them, but for the schemas that guards of the configuration have. The error is a DraftError.
func DraftGuards(c *Config, text []byte, book *ext.Book) (guard.Config, error) {
	guards, errs := draftedGuards(c, text, book)
	if len(errs) == 0 {
		return guards, nil
	}
	e := &DraftError{Err: errors.Join(errs...)}
	var first *problem
	if errors.As(e.Err, &first) {
		e.Line = first.line
	}
	return nil, e
}

func draftedGuards(c *Config, text []byte, book *ext.Book) (guard.Config, []error) {
	doc, err := draftDocument(text, "guards")
	if err != nil {
		return nil, flat(err)
	}
	root := doc.Content[0]
	s := newShape(draft, "")
	s.secrets = s.unreadSecret
	s.visit(root, reflect.TypeFor[guardDocument](), nil)
	var d guardDocument
	if err := root.Load(&d, yaml.WithKnownFields()); err != nil {
		s.errs = append(s.errs, flat(located(draft, err, s))...)
	}
	list := child(root, "guards")
	if list == nil {
		s.errs = append(s.errs, problemAt(draft, root, "want a list of guards, or the key guards with one"))
	}
	known := map[string]bool{"": true}
	readPaths(&c.Policy.Guards, func(path *string) { known[*path] = true })
	readPaths(&d.Guards, func(path *string) {
		if !known[*path] {
			s.errs = append(s.errs, problemAt(draft, list, "files cannot be named here, but for those that the guards in force name"))
		}
	})
	if len(s.errs) > 0 {
		return nil, s.errs
	}
	made, err := guard.New(d.Guards, guard.Options{Agents: c.RuleAgents(), Methods: book.Extra().Methods()})
	made.Close()
	for _, e := range keypath.Errors(keypath.Trim(err, "policy")) {
		s.errs = append(s.errs, problemAt(draft, find(root, e.Path()), "%w", error(e)))
	}
	return d.Guards, s.errs
}

// draftDocument is a draft as a file with one key. A list alone is taken for that of the key, with
// a key that stands where the list begins, so that places in errors are those of the text.
func draftDocument(text []byte, of string) (*yaml.Node, error) {
	if len(text) > sizeLimit {
		return nil, &problem{name: draft, err: errors.New("it is larger than a file may be")}
	}
	doc, err := oneDocument(draft, text)
	if err != nil {
		return nil, err
	}
	if len(doc.Content) == 1 && doc.Content[0].Kind == yaml.SequenceNode {
		list := doc.Content[0]
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: of, Line: list.Line, Column: list.Column}
		doc.Content[0] = &yaml.Node{
			Kind: yaml.MappingNode, Tag: "!!map", Line: list.Line, Column: list.Column, Content: []*yaml.Node{key, list},
		}
	}
	if err := checkTree(draft, doc); err != nil {
		return nil, err
	}
	return doc, unreferring(doc)
}

// unreferring refuses references to the environment. A default would do no good either: the
// draft would be another one here than in its file.
func unreferring(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		var names []string
		value, err := replace(n.Value, func(name string) (string, bool) {
			names = append(names, name)
			return "", true
		})
		switch {
		case err != nil:
			return problemAt(draft, n, "%w", err)
		case names != nil:
			return problemAt(draft, n, "the environment is not read here: write what ${%s} stands for", names[0])
		}
		n.Value = value
		return nil
	}
	if n.Kind == yaml.AliasNode { // its anchor is elsewhere in the text
		return nil
	}
	var errs []error
	for _, child := range n.Content {
		errs = append(errs, unreferring(child))
	}
	return errors.Join(errs...)
}
