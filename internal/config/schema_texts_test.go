package config

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

const (
	modulePath = "github.com/a2a-gateway/a2a-gateway/"
	textsPath  = "schema_texts.json"
)

// TestSchemaTexts holds the descriptions of the schema to the comments they are made from,
// and names each key that has none.
func TestSchemaTexts(t *testing.T) {
	t.Parallel()
	g := &textGatherer{t: t, comments: map[string]comment{}, read: map[string]bool{}, texts: map[string]keyText{}}
	var example yaml.Node
	if err := yaml.Load(read(t, examplePath), &example); err != nil {
		t.Fatal(err)
	}
	g.gather(reflect.TypeFor[Config](), example.Content[0])
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(g.texts); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(textsPath, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(want.Bytes(), read(t, textsPath)) {
		t.Errorf("%s is not what declarations and %s say; run go test ./internal/config -run TestSchemaTexts -update, "+
			"then go test ./cmd/a2a-gateway -run TestReference -update", textsPath, examplePath)
	}
}

// textGatherer walks the types of the configuration beside the example.
type textGatherer struct {
	t        *testing.T
	comments map[string]comment // by package path, type and field
	read     map[string]bool    // packages
	texts    map[string]keyText // of every key
}

// comment is what is said of a field: above or behind it, or else above an earlier one, for
// several.
type comment struct {
	text string
	own  bool
}

// gather takes the texts of one type and of those within. n is an example of it, or nil.
func (g *textGatherer) gather(of reflect.Type, n *yaml.Node) {
	switch of = pointed(of); {
	case of.Kind() == reflect.Slice:
		for _, item := range items(n) {
			g.gather(of.Elem(), item)
		}
	case of.Kind() == reflect.Map:
		for _, value := range values(n) {
			g.gather(of.Elem(), value)
		}
	case of.Kind() == reflect.Struct && hasKeys(of):
		g.keys(of, of, n)
	}
}

// keys takes the texts of a struct's keys, and those of inlined structs, as keys of owner.
func (g *textGatherer) keys(owner, of reflect.Type, n *yaml.Node) {
	for f := range of.Fields() {
		key, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if strings.Contains(options, "inline") {
			g.keys(owner, pointed(f.Type), n)
			continue
		}
		if key == "" || key == "-" {
			continue
		}
		var value *yaml.Node
		if n != nil && n.Kind == yaml.MappingNode {
			value = child(n, key)
		}
		name := definition(owner) + "." + key
		text, met := g.texts[name]
		if !met {
			said := g.comment(of, f.Name)
			text.Description = said.text
			if said.own {
				text.Default = defaultOf(said.text, f)
			}
			if text.Description == "" {
				g.t.Errorf("%s: the key %s has no description: write a comment above the field %s.%s", name, key, definition(of), f.Name)
			}
		}
		if e := exampleOf(value, f.Type); text.Example == nil && e != nil && !reflect.DeepEqual(e, text.Default) {
			text.Example = e
		}
		g.texts[name] = text
		if !met || value != nil {
			g.gather(f.Type, value)
		}
	}
}

// items are those of a list, or one that is not there.
func items(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return []*yaml.Node{nil}
	}
	return n.Content
}

// values are those of a mapping, or one that is not there.
func values(n *yaml.Node) []*yaml.Node {
	if n == nil || n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return []*yaml.Node{nil}
	}
	var list []*yaml.Node
	for i := 1; i < len(n.Content); i += 2 {
		list = append(list, n.Content[i])
	}
	return list
}

// exampleOf is a value of config.example.yaml that fits on a line. Secrets are none.
func exampleOf(n *yaml.Node, t reflect.Type) any {
	if n == nil || pointed(t) == reflect.TypeFor[secret.Value]() || n.Kind == yaml.MappingNode {
		return nil
	}
	var v any
	if err := n.Load(&v); err != nil {
		return nil
	}
	if text, err := json.Marshal(v); err != nil || len(text) > 120 || bytes.Contains(text, []byte(`{"`)) {
		return nil
	}
	return v
}

// A default that is one value, not a sentence about it: behind the word, or before it, where the values
// are enumerated.
var (
	defaulted = regexp.MustCompile(`\b[Dd]efault:? ("[^"]*"|\[[^\]]*\]|[^\s,;:"\[$]+?)([.;:)]( |$)|$|, (at|so|more|which) )`)
	marked    = regexp.MustCompile(`"?([\w/+.-]+)"?,? \(?(?:the )?default[,;:)]`)
)

// defaultOf is the default that a description tells, where it is a value of the type.
func defaultOf(description string, f reflect.StructField) any {
	t := pointed(f.Type)
	if m := defaulted.FindStringSubmatch(description); m != nil {
		if slices.Contains([]string{"none", "never", "nobody", "any", "anything", "all"}, m[1]) {
			return nil
		}
		return valueOf(m[1], t)
	}
	m := marked.FindStringSubmatch(description)
	if m == nil || t.Kind() == reflect.String && !slices.Contains(strings.Split(f.Tag.Get("jsonschema"), ","), "enum="+m[1]) {
		return nil
	}
	return valueOf(m[1], t)
}

// valueOf is a value as YAML has it, nil where it is none of the type.
func valueOf(text string, t reflect.Type) any {
	if err := yaml.Load([]byte(text), reflect.New(t).Interface()); err != nil {
		return nil
	}
	var v any
	if err := yaml.Load([]byte(text), &v); err != nil {
		return nil
	}
	if _, isText := v.(string); t.Kind() == reflect.String && !isText {
		return nil
	}
	return v
}

// comment finds what is said of a field in its source.
func (g *textGatherer) comment(of reflect.Type, field string) comment {
	if !g.read[of.PkgPath()] {
		g.read[of.PkgPath()] = true
		g.source(of.PkgPath())
	}
	return g.comments[of.PkgPath()+"."+of.Name()+"."+field]
}

// source reads the comments of a package's structs.
func (g *textGatherer) source(path string) {
	files, err := filepath.Glob(filepath.Join("../..", strings.TrimPrefix(path, modulePath), "*.go"))
	if err != nil || len(files) == 0 {
		g.t.Errorf("there is no source of %s: %v", path, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			g.t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if fields, ok := spec.Type.(*ast.StructType); ok {
				g.structure(path+"."+spec.Name.Name, fields)
			}
			return false
		})
	}
}

// structure reads those of one struct. A comment is that of the keys behind it too, until the
// next comment.
func (g *textGatherer) structure(name string, fields *ast.StructType) {
	latest := ""
	for _, f := range fields.Fields.List {
		said := strings.Join(strings.Fields(f.Doc.Text()+" "+f.Comment.Text()), " ")
		own := said != ""
		if own {
			latest = said
		}
		for _, id := range f.Names {
			g.comments[name+"."+id.Name] = comment{latest, own}
		}
	}
}
