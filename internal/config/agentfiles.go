package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/proxy"
)

// agentDocument is the whole of a file with agents.
type agentDocument struct {
	Agents []proxy.AgentConfig `yaml:"agents"`
}

// readAgents adds the agents of the files that fleet.files names, in the order of the
// patterns and then of the names, to those of the main file.
func (c *Config) readAgents(s *sources, dir string, lookup func(string) (string, bool)) error {
	if len(c.Fleet.Files) == 0 {
		return nil
	}
	paths, err := s.filesOf(c.Fleet.Files, dir, "agents", "fleet", "files")
	if err != nil {
		return err
	}
	sums := make([]fileSum, 0, len(paths))
	var errs []error
	for _, path := range paths {
		data, err := readFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("read agents: %w", err))
			continue
		}
		sums = append(sums, fileSum{path, sha256.Sum256(data)})
		doc, agents, err := parseAgents(path, data, lookup)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f := &source{name: path, doc: doc, first: len(c.Agents), count: len(agents)}
		errs = append(errs, s.enlist(f, agents, c.Agents))
		c.Agents = append(c.Agents, agents...)
	}
	c.Sum = sumOf(c.Sum, sums)
	return errors.Join(errs...)
}

// parseAgents reads one file with agents, as strictly as the configuration itself.
func parseAgents(name string, data []byte, lookup func(string) (string, bool)) (*yaml.Node, []proxy.AgentConfig, error) {
	doc, err := document(name, data)
	if err != nil {
		return nil, nil, err
	}
	if err := expand(name, doc, lookup); err != nil {
		return nil, nil, err
	}
	var d agentDocument
	dir := filepath.Dir(name)
	s := checkShape(name, dir, doc.Content[0], reflect.TypeFor[agentDocument]())
	if err := doc.Load(&d, yaml.WithKnownFields()); err != nil {
		s.errs = append(s.errs, located(name, err, s))
	}
	if len(s.errs) == 0 && child(doc.Content[0], "agents") == nil {
		s.errs = append(s.errs, problemAt(name, doc.Content[0], "want the key agents, with a list of agents"))
	}
	for i := range d.Agents {
		resolveAgent(&d.Agents[i], func(path *string) {
			if *path != "" && !filepath.IsAbs(*path) {
				*path = filepath.Join(dir, *path)
			}
		})
	}
	return doc, d.Agents, errors.Join(s.errs...)
}

// enlist takes in a file with agents. An id in two files is told with both places; one
// that is twice in one file is Validate's.
func (s *sources) enlist(f *source, agents, before []proxy.AgentConfig) error {
	s.agents = append(s.agents, f)
	for i := range agents {
		id := agents[i].ID
		j := slices.IndexFunc(before, func(b proxy.AgentConfig) bool { return b.ID == id })
		if id == "" || j < 0 {
			continue
		}
		path := []string{"agents", strconv.Itoa(i), "id"}
		other, at := s.ofAgent([]string{"agents", strconv.Itoa(j), "id"})
		if other == nil {
			other, at = s.main, []string{"agents", strconv.Itoa(j), "id"}
		}
		there := find(other.doc, at)
		return problemAt(f.name, find(f.doc, path), "%s: another agent has the same id %q, at %s:%d:%d",
			spell(path), id, other.name, there.Line, there.Column)
	}
	return nil
}

// ofAgent is the file with agents that a path leads into, and the path there; nil for the
// main file.
func (s *sources) ofAgent(path []string) (f *source, at []string) {
	if len(path) < 2 || path[0] != "agents" {
		return nil, nil
	}
	i, err := strconv.Atoi(path[1])
	if err != nil {
		return nil, nil
	}
	for _, f := range s.agents {
		if f.first <= i && i < f.first+f.count {
			return f, slices.Concat([]string{"agents", strconv.Itoa(i - f.first)}, path[2:])
		}
	}
	return nil, nil
}
