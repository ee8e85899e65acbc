package config

import (
	"encoding"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

const examplePath = "../../config.example.yaml"

// TestExampleHasEveryKey walks the Go types: a key that is not in the example
// is not documented.
func TestExampleHasEveryKey(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Load(data, &doc); err != nil {
		t.Fatal(err)
	}
	have, want, open := map[string]bool{}, map[string]bool{}, map[string]bool{}
	declared(reflect.TypeFor[Config](), "", want, open)
	present(doc.Content[0], "", have, open)
	if len(want) < 90 {
		t.Fatalf("only %d keys found in the types: is the walk broken?", len(want))
	}
	for key := range want {
		if !have[key] {
			t.Errorf("config.example.yaml lacks %s", key)
		}
	}
	for key := range have {
		if !want[key] {
			t.Errorf("config.example.yaml has %s, which no type declares", key)
		}
	}
}

// present collects the paths of all mapping keys but those below an open one; list
// items share their list's.
func present(n *yaml.Node, path string, keys, open map[string]bool) {
	switch {
	case open[path]:
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := path + "." + n.Content[i].Value
			keys[key] = true
			present(n.Content[i+1], key, keys, open)
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			present(item, path, keys, open)
		}
	}
}

// declared collects the paths of all keys that the types have. Below an open one the
// operator chooses.
func declared(t reflect.Type, path string, keys, open map[string]bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if option == "inline" {
			declared(f.Type, path, keys, open)
			continue
		}
		key := path + "." + name
		keys[key] = true
		inner := f.Type
		for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		open[key] = inner.Kind() == reflect.Map || readsItself(inner)
		_, text := reflect.New(inner).Interface().(encoding.TextUnmarshaler)
		if inner.Kind() == reflect.Struct && !text && inner != reflect.TypeFor[secret.Value]() && !open[key] {
			declared(inner, key, keys, open)
		}
	}
}

// TestExampleLoads makes sure that what is documented is also accepted.
func TestExampleLoads(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("config.example.yaml", data, func(string) (string, bool) { return "", false })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"billing"}, c.AgentIDs()); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
}

// TestExampleShowsDefaults compares the example with what an empty section
// becomes, where the example claims to show the default.
func TestExampleShowsDefaults(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("config.example.yaml", data, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	bare := Config{}
	bare.Server.Defaults()
	if diff := cmp.Diff(bare.Server.Limits, c.Server.Limits); diff != "" {
		t.Errorf("server.limits (-default +example):\n%s", diff)
	}
	if diff := cmp.Diff(bare.Server.Timeouts, c.Server.Timeouts); diff != "" {
		t.Errorf("server.timeouts (-default +example):\n%s", diff)
	}
}
