package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
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

// list is what further files may have more of.
type list struct {
	one, id  string   // what one is called, and its member that tells it from the others
	at       []string // where the main file has its own; in a further file, the last is the one key
	patterns []string // where the main file names the further files
	files    []*source
	names    []string // of all in all files, in the order in which they count
}

func newSources(name string, doc *yaml.Node, c *Config) *sources {
	return &sources{
		main: &source{name: name, doc: doc},
		rules: list{
			one: "rule", id: "name", at: []string{"policy", "rules"},
			patterns: []string{"policy", "files"}, names: ruleNames(c.Policy.Rules),
		},
		agents: list{
			one: "agent", id: "id", at: []string{"agents"},
			patterns: []string{"fleet", "files"}, names: c.AgentIDs(),
		},
	}
}

// all lists the files, the main one first.
func (s *sources) all() []*source {
	return slices.Concat([]*source{s.main}, s.rules.files, s.agents.files)
}

// key is the one key of a further file.
func (l *list) key() string { return l.at[len(l.at)-1] }

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
func (s *sources) place(l *list, i int) (*source, []string) {
	if f, n := l.holding(i); f != nil {
		return f, []string{l.key(), strconv.Itoa(n), l.id}
	}
	return s.main, append(slices.Clip(l.at), strconv.Itoa(i), l.id)
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
			spell(path), l.one, l.id, id, other.name, there.Line, there.Column)
	}
	return nil
}

// of finds the file that an error is about, and what it says, in the words of that file.
func (s *sources) of(path []string, text string) (f *source, at []string, said string) {
	for _, l := range []*list{&s.rules, &s.agents} {
		n := len(l.at)
		if len(path) <= n || !slices.Equal(path[:n], l.at) {
			continue
		}
		i, err := strconv.Atoi(path[n])
		if f, i := l.holding(i); f != nil && err == nil {
			return f, slices.Concat([]string{l.key(), strconv.Itoa(i)}, path[n+1:]), text
		}
	}
	label := rule.FindStringSubmatch(text)
	if len(path) != 1 || path[0] != "policy" || label == nil {
		return s.main, path, text
	}
	i := s.labelled(label[1])
	f, n := s.rules.holding(i)
	if f == nil {
		return s.main, path, text
	}
	if rest, ok := strings.CutPrefix(text, fmt.Sprintf("rule %d: ", i+1)); ok {
		text = fmt.Sprintf("rule %d: %s", n+1, rest)
	}
	return f, nil, text
}

// labelled finds the rule that the policy names by its number or its name: of several of
// one name the last, as ruleNode does.
func (s *sources) labelled(label string) int {
	if i, err := strconv.Atoi(label); err == nil {
		return i - 1
	}
	for _, f := range slices.Backward(s.rules.files) {
		list := child(f.doc.Content[0], "rules")
		if found := ruleNode(list, label); found != nil {
			return f.first + max(slices.Index(target(list).Content, found), 0)
		}
	}
	return -1
}
