package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/keypath"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// number is a number of the example.
type number struct {
	at    *yaml.Node
	path  keypath.Path
	key   string
	told  bool // a 0 is told from a key that was left out
	timed bool // it is a duration
}

// numbers lists the numbers of a document.
func numbers(n *yaml.Node, t reflect.Type, path keypath.Path, key string) []number {
	told := t.Kind() == reflect.Pointer
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var list []number
	switch {
	case readsItself(t):
	case n.Kind == yaml.ScalarNode && isNumber(t):
		return []number{{n, path, key, told, t == reflect.TypeFor[quantity.Duration]()}}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			list = append(list, numbers(n.Content[i+1], fields(t)[name], extend(path, keypath.Step{Key: name}), under(key, name))...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			list = append(list, numbers(n.Content[i+1], reflect.PointerTo(t.Elem()), extend(path, keypath.Step{Key: name}), key)...)
		}
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		for i, item := range n.Content {
			list = append(list, numbers(item, reflect.PointerTo(t.Elem()), extend(path, keypath.Step{Index: i, Item: true}), key)...)
		}
	}
	return list
}

// withZero is the example with 0 in the place of a number.
func (n *number) withZero(example string) string {
	lines := strings.Split(example, "\n")
	line, at := lines[n.at.Line-1], n.at.Column-1
	zero := "0"
	if n.timed {
		zero = "0s"
	}
	lines[n.at.Line-1] = line[:at] + zero + strings.TrimPrefix(line[at:], n.at.Value)
	return strings.Join(lines, "\n")
}

// TestNoZeroIsTakenForNothing: whichever key of the configuration is a number, a 0 that is
// written there is kept, or it is refused or warned of by the name of the key.
func TestNoZeroIsTakenForNothing(t *testing.T) {
	testenv.Long(t, "the configuration is loaded once for each number in it")
	testenv.Alone(t, "the configuration is loaded once for each number in it")
	t.Parallel()
	data, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Load(data, &doc); err != nil {
		t.Fatal(err)
	}
	kept, seen := map[string]bool{}, map[string]bool{}
	all := numbers(doc.Content[0], reflect.TypeFor[Config](), nil, "")
	if len(all) < 150 {
		t.Fatalf("only %d numbers found in the example: is the walk broken?", len(all))
	}
	for _, n := range all {
		if seen[n.key] {
			continue // one of a list is like another
		}
		seen[n.key] = true
		c, err := Parse("config.example.yaml", []byte(n.withZero(string(data))), func(string) (string, bool) { return "", false })
		name := n.key[strings.LastIndex(n.key, ".")+1:]
		switch {
		case err != nil && strings.Contains(err.Error(), name):
		case err != nil:
			t.Errorf("%s: 0 is refused without a word about it: %v", n.path, err)
		case slices.ContainsFunc(c.Doubts(), func(text string) bool { return strings.HasPrefix(text, n.path.String()+": 0") }):
		case n.told, noughts()[n.key]:
			kept[n.key] = true
		default:
			t.Errorf("%s: 0 is neither kept nor refused nor warned of", n.path)
		}
	}
	for key := range noughts() {
		if !kept[key] {
			t.Errorf("%s is no number whose 0 is kept", key)
		}
	}
}

// TestZerosOfFurtherFiles: the files that a configuration names are looked at like itself.
func TestZerosOfFurtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config.yaml": "server: {publicURL: 'http://localhost'}\nauthn: {anonymous: true}\npolicy: {files: [r.yaml]}\nfleet: {files: [a.yaml]}\n",
		"r.yaml":      "rules: [{name: x, effect: allow, authentication: {acr: [gold], maxAge: 0s}}]\n",
		"a.yaml":      "agents: [{id: a, card: 'http://127.0.0.1:1/card', connections: 0}]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		filepath.Join(dir, "r.yaml") + ": rules[0].authentication.maxAge: 0s counts as if the key were left out",
		filepath.Join(dir, "a.yaml") + ": agents[0].connections: 0 counts as if the key were left out",
	}
	if !slices.Equal(c.Zeros, want) {
		t.Errorf("%q", c.Zeros)
	}
}

// TestZeroForms: a 0 is one however it is written.
func TestZeroForms(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"0", "0s", "0m", "0h0m0s", "00s", "-0", "0.0", "0 KiB", "0x0", "0_0"} {
		if !zero.MatchString(form) {
			t.Errorf("%s is not seen to be 0", form)
		}
	}
	for _, form := range []string{"", "1", "10", "0.5", "0x1", "1s", "0h1m", "s"} {
		if zero.MatchString(form) {
			t.Errorf("%s is taken for 0", form)
		}
	}
}
