package config

import (
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestSchemaOfDocuments holds the schema to every configuration that there is in documents,
// deployments and scripts, whole or in part: it takes what the loader takes, and no key or
// shape that the loader refuses.
func TestSchemaOfDocuments(t *testing.T) {
	testenv.Long(t, "every configuration in the documents is validated")
	t.Parallel()
	s, found := compiled(t), 0
	for name, text := range configurations(t) {
		doc, err := document(name, []byte(text))
		if err != nil || !isConfiguration(doc) {
			continue
		}
		found++
		if err := expand(name, doc, func(string) (string, bool) { return "", false }); err != nil {
			continue // a reference without a value, whose type nobody knows
		}
		var value any
		if yaml.Load([]byte(text), &value) != nil {
			continue // a key twice, which an editor knows from YAML
		}
		shape := checkShape(name, "", doc.Content[0], reflect.TypeFor[Config]())
		_, refused := Parse(name, []byte(text), environment)
		switch err := s.Validate(value); {
		case err != nil && refused == nil:
			t.Errorf("%s: the loader takes what the schema refuses: %v", name, err)
		case err == nil && len(shape.errs) > 0:
			t.Errorf("%s: the schema takes what the loader refuses: %v", name, shape.errs)
		}
	}
	if found < 400 {
		t.Errorf("only %d configurations", found)
	}
}

// isConfiguration tells configurations, also in part and with a mistake in a key, from other
// YAML.
func isConfiguration(doc *yaml.Node) bool {
	known, hits := fields(reflect.TypeFor[Config]()), 0
	for i := 0; i < len(doc.Content[0].Content); i += 2 {
		if known[doc.Content[0].Content[i].Value] != nil {
			hits++
		}
	}
	return hits > 0 && 2*hits >= len(doc.Content[0].Content)/2
}

var fenced = regexp.MustCompile("(?s)```yaml\n(.*?)```\n")

// configurations are texts by where they are: those that examples leave sections out of are
// completed.
func configurations(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, root := range []string{"../../docs", "../../deploy", "../../cmd/a2a-gateway/testdata", "testdata", "../../README.md", examplePath} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.Name() == "node_modules":
				return filepath.SkipDir
			}
			switch filepath.Ext(path) {
			case ".yaml":
				texts[path] = string(read(t, path))
			case ".txtar":
				for _, f := range txtar.Parse(read(t, path)).Files {
					if strings.HasSuffix(f.Name, ".yaml") {
						texts[path+" "+f.Name] = string(f.Data)
					}
				}
			case ".md":
				all := string(read(t, path))
				for _, m := range fenced.FindAllStringSubmatchIndex(all, -1) {
					line := 1 + strings.Count(all[:m[2]], "\n")
					texts[path+":"+strconv.Itoa(line)] = completed(all[m[2]:m[3]])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}

// completed is an example with the sections that it leaves out.
func completed(text string) string {
	for _, e := range elsewhere {
		if !strings.Contains("\n"+text, "\n"+e.key+":") {
			text += e.text
		}
	}
	return text
}
