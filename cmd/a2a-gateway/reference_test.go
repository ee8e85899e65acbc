package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2a-gateway/a2a-gateway/internal/cli"
)

// TestReference holds docs/reference to the code it is made from.
func TestReference(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*testing.T) string{
		"cli.md": commandReference, "config.md": configReference, "admin-api.md": adminReference,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, want := filepath.Join("../../docs/reference", name), strings.ReplaceAll(write(t), "\n\n\n", "\n\n")
			if *update {
				if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != want {
				t.Errorf("%s is not what the code says; run go test ./cmd/a2a-gateway -run TestReference -update, and read the diff", path)
			}
		})
	}
}

// made is what every page begins with.
func made(title, from string) string {
	return "# " + title + "\n\n<!-- Made by TestReference; a change here is lost. -->\n\n" + from + "\n"
}

// inCell makes a text fit into a cell of a table.
func inCell(s string) string {
	s = strings.NewReplacer("|", "\\|", "<", "&lt;", "{{", "{ {").Replace(s)
	return strings.Join(strings.Fields(s), " ")
}

// commandReference has every verb, with its flags.
func commandReference(*testing.T) string {
	var b strings.Builder
	b.WriteString(made("Command line", "Every verb and every flag. Exit codes: 0 done, 1 a check failed or serving did, 2 wrong usage or\n"+
		"configuration. `a2a-gateway man` writes the same as manual pages, `a2a-gateway completion` a script for your shell."))
	commandPage(&b, cli.Root(version()))
	return b.String()
}

func commandPage(b *strings.Builder, c *cobra.Command) {
	if c.HasParent() {
		fmt.Fprintf(b, "\n## %s\n\n%s.\n\n", c.CommandPath(), c.Short)
		if c.Long != "" {
			// Lines of a command's own text are laid out by hand.
			fmt.Fprintf(b, "```text\n%s\n```\n\n", c.Long)
		}
		if c.Runnable() && !c.DisableFlagsInUseLine { // one that only holds others prints its help
			fmt.Fprintf(b, "Usage: `%s`\n", c.UseLine())
		}
		if c.Example != "" {
			fmt.Fprintf(b, "\n```text\n%s\n```\n", c.Example)
		}
		first := true
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if first {
				b.WriteString("\n| flag | | default |\n| --- | --- | --- |\n")
				first = false
			}
			value, what := pflag.UnquoteUsage(f)
			name := strings.TrimSpace("--" + f.Name + " " + value)
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			fallback := f.DefValue
			if fallback == "[]" || fallback == "false" || fallback == "0" || fallback == "0s" {
				fallback = ""
			}
			if fallback != "" {
				fallback = "`" + fallback + "`"
			}
			fmt.Fprintf(b, "| `%s` | %s | %s |\n", name, inCell(what), fallback)
		})
	}
	for _, sub := range c.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			commandPage(b, sub)
		}
	}
}

// openAPI is what the page needs of the document.
type openAPI struct {
	Paths map[string]map[string]struct {
		Summary, Description, OperationID string
		Parameters                        []struct {
			Name, In, Description string
			Required              bool
			Schema                apiSchema
		}
		RequestBody struct {
			Content map[string]struct{ Schema apiSchema }
		}
		Responses map[string]struct {
			Description string
			Content     map[string]struct{ Schema apiSchema }
		}
	}
	Components struct{ Schemas map[string]apiSchema }
}

type apiSchema struct {
	Ref         string `json:"$ref"`
	Type        any
	Format      string
	Description string
	Enum        []any
	Items       *apiSchema
	AllOf       []apiSchema
	Properties  map[string]apiSchema
	Required    []string
}

// kind says a schema in a few words.
func (s *apiSchema) kind() string {
	switch {
	case s.Ref != "":
		name := s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case len(s.AllOf) > 0:
		return s.AllOf[0].kind()
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case len(s.Enum) > 0:
		values := make([]string, len(s.Enum))
		for i, v := range s.Enum {
			values[i] = fmt.Sprintf("`%v`", v)
		}
		return strings.Join(values, ", ")
	}
	var types []string
	if several, ok := s.Type.([]any); ok {
		for _, one := range several {
			types = append(types, fmt.Sprint(one))
		}
	} else if s.Type != nil {
		types = append(types, fmt.Sprint(s.Type))
	}
	return cmp.Or(strings.Join(append(types, strings.Fields(s.Format)...), ", "), "any")
}

// adminReference has every operation of the admin API, and every document.
func adminReference(t *testing.T) string {
	text, err := os.ReadFile("../../internal/console/ui/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var api openAPI
	if err := json.Unmarshal(text, &api); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(made("Admin API", "Every operation on the admin listener, made from its OpenAPI document, `/api/v1/openapi.json`.\n"+
		"[Administration](../admin.md) says who may use it and how.\n\n## Operations"))
	for _, path := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[path])) {
			op := api.Paths[path][method]
			fmt.Fprintf(&b, "\n### `%s %s`\n\n", strings.ToUpper(method), path)
			fmt.Fprintf(&b, "%s\n", cmp.Or(inCell(op.Description), inCell(op.Summary), op.OperationID))
			if len(op.Parameters) > 0 {
				b.WriteString("\n| parameter | in | type | |\n| --- | --- | --- | --- |\n")
			}
			for _, p := range op.Parameters {
				fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", p.Name, p.In, p.Schema.kind(), inCell(p.Description))
			}
			for _, kind := range slices.Sorted(maps.Keys(op.RequestBody.Content)) {
				body := op.RequestBody.Content[kind].Schema
				fmt.Fprintf(&b, "\nTakes %s as `%s`.\n", body.kind(), kind)
			}
			b.WriteString("\n| status | | answer |\n| --- | --- | --- |\n")
			for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
				var kinds []string
				for _, kind := range slices.Sorted(maps.Keys(op.Responses[status].Content)) {
					body := op.Responses[status].Content[kind].Schema
					kinds = append(kinds, body.kind())
				}
				fmt.Fprintf(&b, "| %s | %s | %s |\n", status, inCell(op.Responses[status].Description), strings.Join(kinds, ", "))
			}
		}
	}
	b.WriteString("\n## Documents\n")
	for _, name := range slices.Sorted(maps.Keys(api.Components.Schemas)) {
		s := api.Components.Schemas[name]
		fmt.Fprintf(&b, "\n### %s\n\n", name)
		if s.Description != "" {
			fmt.Fprintf(&b, "%s\n\n", inCell(s.Description))
		}
		if len(s.Properties) == 0 {
			fmt.Fprintf(&b, "%s\n", s.kind())
			continue
		}
		b.WriteString("| member | type | |\n| --- | --- | --- |\n")
		for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[member]
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", member, p.kind(), inCell(p.Description))
		}
	}
	return b.String()
}
