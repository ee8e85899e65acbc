package config

import (
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// find follows a path from the document's root and returns the deepest node there is: what is
// missing is a mistake of the mapping that lacks it.
//
//	policy.rules[3].groups, where rule 3 has no groups  →  the mapping of rule 3
//
// It never returns nil: the root is the node of a path of which nothing is there.
func find(n *yaml.Node, path keypath.Path) *yaml.Node {
	if n.Kind == yaml.DocumentNode && len(n.Content) > 0 {
		n = n.Content[0]
	}
	for _, step := range path {
		next := within(n, step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

// within is the node that one step leads to, nil where there is none.
func within(n *yaml.Node, step keypath.Step) *yaml.Node {
	if n == nil {
		return nil
	}
	// A step is either a key of a mapping or an index of a list.
	if !step.Item {
		return child(n, step.Key)
	}
	if n = target(n); n.Kind == yaml.SequenceNode && step.Index < len(n.Content) {
		return n.Content[step.Index]
	}
	return nil
}

// child is the value of a key, also of one merged in by <<. What the mapping says itself
// counts before what it merges in, wherever the << stands.
// Nil where there is none, or where n is no mapping.
func child(n *yaml.Node, key string) *yaml.Node {
	n = target(n)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			return child(n.Content[i+1], key)
		}
	}
	return nil
}
