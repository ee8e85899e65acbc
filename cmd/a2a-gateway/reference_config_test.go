package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// configReference has every key of the configuration, with what is said where it is declared.
func configReference(t *testing.T) string {
	t.Helper()
	mappings, err := config.Reference()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(made("Configuration", "Every key, with what its declaration says of it. [config.example.yaml](../../config.example.yaml) has them all in\n"+
		"their places, with defaults or examples; `a2a-gateway schema` prints a JSON Schema, and `a2a-gateway man` writes\n"+
		"this page as the manual page a2a-gateway.yaml(5).\n\n"+
		"In keys, `[]` is any entry of a list, and `{}` any member of a mapping."))
	for _, m := range mappings {
		title := m.Key
		if title == "" {
			title = "the file"
		}
		fmt.Fprintf(&b, "\n## `%s`\n\n| key | type | |\n| --- | --- | --- |\n", title)
		for _, k := range m.Keys {
			kind, said := k.Type, k.Text
			if k.As != "" {
				kind += ", as in `" + k.As + "`"
			}
			if k.With != "" {
				said = "See `" + k.With + "`."
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, kind, inCell(said))
		}
	}
	return b.String()
}
