package config

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// Show is a configuration as it is in force, defaults included and secrets not: neither
// those of keys that are for secrets, nor what URLs hold of them.
// Keys for secrets hide their values themselves when they are encoded (secret.Value); the console
// and the verb validate show the result.
func (c *Config) Show() (jsontext.Value, error) {
	var root yaml.Node
	if err := root.Encode(c); err != nil {
		return nil, fmt.Errorf("show the configuration: %w", err)
	}
	hideURLs(&root)
	var text secret.JSON
	if err := text.UnmarshalYAML(&root); err != nil {
		return nil, fmt.Errorf("show the configuration: %w", err)
	}
	return jsontext.Value(text), nil
}

// hideURLs takes from URLs what may be a secret: users, queries and fragments. It goes by what reads
// as a URL, in keys of any type, since a password in the wrong place is still one.
func hideURLs(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode {
		if u := secret.URL(n.Value); strings.Contains(n.Value, "://") && u.String() != n.Value {
			n.Value = u.String()
		}
		return
	}
	for _, part := range n.Content {
		hideURLs(part)
	}
}
