package schema

import (
	"fmt"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Source is a schema as the configuration has it: the path of a JSON file, or the
// schema itself, written as YAML. The zero Source is none.
type Source struct {
	File   string // path; relative to the configuration file
	Inline []byte // JSON
}

// IsZero reports whether there is no schema.
func (s Source) IsZero() bool { return s.File == "" && s.Inline == nil }

// UnmarshalYAML reads a text, which is a path, or a mapping, which is the schema.
func (s *Source) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch {
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null":
		*s = Source{}
	case n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && n.Value != "":
		*s = Source{File: n.Value}
	case n.Kind == yaml.MappingNode:
		var inline secret.JSON
		if err := inline.UnmarshalYAML(n); err != nil {
			return err
		}
		*s = Source{Inline: inline}
	default:
		return fmt.Errorf("line %d: want the path of a JSON file, or a schema as a mapping", n.Line)
	}
	return nil
}
