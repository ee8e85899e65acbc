package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// ruleDocument is the whole of a file with rules.
type ruleDocument struct {
	Rules []policy.Rule `yaml:"rules"`
}

// agentDocument is the whole of a file with agents.
type agentDocument struct {
	Agents []agents.Config `yaml:"agents"`
}

// further reads the files that a configuration names for more of its lists.
// lookup finds variables of the environment, as for the main file.
type further struct {
	*Config

	sources *sources
	dir     string // that patterns are relative to
	lookup  func(string) (string, bool)
}

// read adds what the files have that patterns of the main file name, in the order of the
// patterns and then of the names. take decodes a document and says what its ids are.
func (r *further) read(l *list, patterns []string, take func(name string, doc *yaml.Node) ([]string, error)) error {
	if len(patterns) == 0 {
		return nil
	}
	paths, err := r.sources.filesOf(l, patterns, r.dir)
	if err != nil {
		return err
	}
	sums := make([]fileSum, 0, len(paths))
	var errs []error
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("read %s: %w", l.key(), err))
			continue
		}
		// A file with a mistake counts in the sum as well: it is read again when it changes.
		sums = append(sums, fileSum{path, sha256.Sum256(data)})
		errs = append(errs, r.file(l, path, data, take))
	}
	r.Sum = sumOf(r.Sum, sums)
	return errors.Join(errs...)
}

// file reads one file, as strictly as the configuration itself: a file of rules with a key that
// nobody reads would be a rule that nobody applies.
func (r *further) file(l *list, name string, data []byte, take func(string, *yaml.Node) ([]string, error)) error {
	doc, err := document(name, data)
	if err != nil {
		return err
	}
	if err := expand(name, doc, r.lookup); err != nil {
		return err
	}
	names, err := take(name, doc)
	if err != nil {
		return err
	}
	// A file without the key is refused: it is a file that somebody meant for something else.
	if child(doc.Content[0], l.key()) == nil {
		return problemAt(name, doc.Content[0], "want the key %[1]s, with a list of %[1]s", l.key())
	}
	return r.sources.add(l, name, doc, names)
}

// takeRules adds the rules of one file behind those that there are. Their order decides nothing,
// since a deny rule that matches wins wherever it stands; lists and traces show it.
func (r *further) takeRules(name string, doc *yaml.Node) ([]string, error) {
	var d ruleDocument
	err := decode(name, filepath.Dir(name), doc, &d)
	r.Policy.Rules = append(r.Policy.Rules, d.Rules...)
	return ruleNames(d.Rules), err
}

// ruleNames are the names of rules, "" for one without.
func ruleNames(rules []policy.Rule) []string {
	names := make([]string, len(rules))
	for i := range rules {
		names[i] = rules[i].Name
	}
	return names
}

// takeAgents adds the agents of one file. Paths in it are relative to that file, as those of the
// configuration are to it, so that a directory of agents can be moved as a whole.
func (r *further) takeAgents(name string, doc *yaml.Node) ([]string, error) {
	var d agentDocument
	dir := filepath.Dir(name)
	err := decode(name, dir, doc, &d)
	readPaths(&d, absolute(dir))
	r.Agents = append(r.Agents, d.Agents...)
	return r.AgentIDs()[len(r.Agents)-len(d.Agents):], err
}
