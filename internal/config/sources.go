package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/policy"
)

// sources are the files that a configuration was read from, for errors to say where.
type sources struct {
	main   *source
	files  []*source // with rules, in their order
	agents []*source // with agents, in their order
}

// source is one file.
type source struct {
	name  string
	doc   *yaml.Node
	first int // of its rules or agents, in Policy.Rules or Agents
	count int
}

// all lists the files, the main one first.
func (s *sources) all() []*source { return slices.Concat([]*source{s.main}, s.files, s.agents) }

// add takes in a file with rules. Rules of the same name in two files are told with both
// places; those within one file are the policy's.
func (s *sources) add(f *source, rules, before []policy.Rule) error {
	s.files = append(s.files, f)
	for i, r := range rules {
		j := slices.IndexFunc(before, func(b policy.Rule) bool { return b.Name == r.Name })
		if r.Name == "" || j < 0 {
			continue
		}
		other, at := s.holding(j)
		there := find(other.doc, s.rule(other, at))
		path := s.rule(f, i)
		return problemAt(f.name, find(f.doc, path), "%s: another rule has the same name %q, at %s:%d:%d",
			spell(path), r.Name, other.name, there.Line, there.Column)
	}
	return nil
}

// rule is the path of the name of a rule of a file.
func (s *sources) rule(f *source, i int) []string {
	path := []string{"policy", "rules", strconv.Itoa(i), "name"}
	if f != s.main {
		path = path[1:]
	}
	return path
}

// holding is the file of a rule of Policy.Rules, and which one it is there.
func (s *sources) holding(i int) (*source, int) {
	for _, f := range s.files {
		if f.first <= i && i < f.first+f.count {
			return f, i - f.first
		}
	}
	return s.main, i
}

// of finds the file that an error is about, and what it says, in the words of that file.
func (s *sources) of(path []string, text string) (f *source, at []string, said string) {
	if f, at := s.ofAgent(path); f != nil {
		return f, at, text
	}
	i := -1
	label := rule.FindStringSubmatch(text)
	switch {
	case len(path) > 2 && path[0] == "policy" && path[1] == "rules":
		i, _ = strconv.Atoi(path[2])
	case len(path) == 1 && path[0] == "policy" && label != nil:
		i = s.labelled(label[1])
	}
	f, n := s.holding(i)
	if f == s.main {
		return f, path, text
	}
	if len(path) > 2 {
		return f, append([]string{"rules", strconv.Itoa(n)}, path[3:]...), text
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
	for _, f := range slices.Backward(s.files) {
		list := child(f.doc.Content[0], "rules")
		if found := ruleNode(list, label); found != nil {
			return f.first + max(slices.Index(target(list).Content, found), 0)
		}
	}
	return -1
}
