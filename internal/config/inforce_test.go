package config

import (
	"os"
	"reflect"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
)

// TestInForce: settings that are looked at where they lie have every key and value that a document of
// them would have.
func TestInForce(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(examplePath, data, environment)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := doc.Encode(c); err != nil {
		t.Fatal(err)
	}
	written := 0
	var compare func(n *yaml.Node, s setting, path keypath.Path)
	compare = func(n *yaml.Node, s setting, path keypath.Path) {
		for i, item := range n.Content {
			step := keypath.Step{Index: i, Item: true}
			if n.Kind == yaml.MappingNode {
				if i%2 == 0 {
					continue
				}
				step = keypath.Step{Key: n.Content[i-1].Value}
			}
			if !s.isBytes() {
				compare(item, s.at(step), extend(path, step))
			}
		}
		if n.Kind != yaml.ScalarNode {
			return
		}
		written++
		value, _ := s.text()
		null := n.ShortTag() == "!!null"
		if null && value != "" || !null && value != n.Value {
			t.Errorf("%s: %q, and in a document %q", path, value, n.Value)
		}
	}
	compare(&doc, inForce(reflect.ValueOf(c)), nil)
	if written < 800 {
		t.Errorf("%d values of the example were compared", written)
	}
}
