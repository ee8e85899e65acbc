package config

import (
	"errors"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// sources are the files that a configuration was read from, for errors to say where.
type sources struct {
	main          *source
	rules, agents list
}

// source is one file.
type source struct {
	name  string
	doc   *yaml.Node
	first int // of what it has, among all of the list
	count int
}

// list is what further files may have more of: rules and agents. Errors of Validate are about all of
// a list, and have to be told about the file that an item is in.
//
//	rule 12 of all  →  rules.d/billing.yaml, rules[2]
//
// since Validate counts rules through all files, and an operator looks for them in one.
type list struct {
	one, id  string       // what one is called, and its member that tells it from the others
	at       keypath.Path // where the main file has its own; in a further file, the last is the one key
	patterns keypath.Path // where the main file names the further files
	files    []*source
	names    []string // of all in all files, in the order in which they count
}

// newSources begins with the main file, whose rules and agents come first.
func newSources(name string, doc *yaml.Node, c *Config) *sources {
	return &sources{
		main: &source{name: name, doc: doc},
		rules: list{
			one: "rule", id: "name", at: keypath.Of("policy", "rules"),
			patterns: keypath.Of("policy", "files"), names: ruleNames(c.Policy.Rules),
		},
		agents: list{
			one: "agent", id: "id", at: keypath.Of("agents"),
			patterns: keypath.Of("fleet", "files"), names: c.AgentIDs(),
		},
	}
}

// all lists the files, the main one first: the order in which errors are told.
func (s *sources) all() []*source {
	return slices.Concat([]*source{s.main}, s.rules.files, s.agents.files)
}

// key is the one key of a further file.
func (l *list) key() string { return l.at[len(l.at)-1].Key }

// holding is the further file with one of all, and which one it is there; nil for the
// main file.
func (l *list) holding(i int) (*source, int) {
	for _, f := range l.files {
		if f.first <= i && i < f.first+f.count {
			return f, i - f.first
		}
	}
	return nil, i
}

// place is the file that has one of all, and the path of its name there.
func (s *sources) place(l *list, i int) (*source, keypath.Path) {
	if f, n := l.holding(i); f != nil {
		return f, keypath.Of(l.key(), n, l.id)
	}
	return s.main, keypath.Of(l.at, i, l.id)
}

// places are the lines of the names of all of a list, by name.
func (s *sources) places(l *list, names []string) map[string]string {
	places := make(map[string]string, len(names))
	for i, name := range names {
		f, path := s.place(l, i)
		places[name] = f.name + ":" + strconv.Itoa(find(f.doc, path).Line)
	}
	return places
}

// add takes in a further file. A name in two files is told with both places; one that is
// there twice in one file is Validate's.
func (s *sources) add(l *list, name string, doc *yaml.Node, names []string) error {
	before := l.names
	l.files = append(l.files, &source{name: name, doc: doc, first: len(before), count: len(names)})
	l.names = append(l.names, names...)
	for i, id := range names {
		j := slices.Index(before, id)
		if id == "" || j < 0 {
			continue
		}
		_, path := s.place(l, len(before)+i)
		other, at := s.place(l, j)
		there := find(other.doc, at)
		return problemAt(name, find(doc, path), "%s: another %s has the same %s %q, at %s:%d:%d",
			path, l.one, l.id, id, other.name, there.Line, there.Column)
	}
	return nil
}

// of finds the file that an error is about, the path there, and what the error says in that file:
// an item of a list has another place in it than among all.
// Where the text of the error names the keys, as in rules[12].groups, they are replaced by those
// in that file.
func (s *sources) of(e *keypath.Error) (*source, keypath.Path, error) {
	path := e.Path()
	for _, l := range []*list{&s.rules, &s.agents} {
		n := len(l.at)
		if len(path) <= n || !slices.Equal(path[:n], l.at) {
			continue
		}
		f, i := l.holding(path[n].Index)
		if f == nil {
			break
		}
		here := keypath.Of(l.key(), i)
		local := slices.Concat(here, path[n+1:])
		if said := e.Said(); len(said) > n {
			return f, local, keypath.At(e.Unwrap(), here, said[n+1:])
		}
		return f, local, renumbered(e.Unwrap(), i+1)
	}
	return s.main, path, e
}

// renumbered is an error of a rule without a name, which is called by its number.
func renumbered(err error, number int) error {
	var of *policy.RuleError
	if errors.As(err, &of) && of.Name == "" {
		return &policy.RuleError{Number: number, Err: of.Err}
	}
	return err
}
