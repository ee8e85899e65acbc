package config

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestExtensionValues reads what keys of the operator's hold.
func TestExtensionValues(t *testing.T) {
	t.Parallel()
	c := parsed(t, "extensions")
	e := c.Extensions[0]
	got := map[string]string{}
	for key, value := range e.Defaults {
		got[key] = string(value)
	}
	want := map[string]string{
		"https://example.com/ext/v1": `{"n":12345678901234567890,"x":31,"f":0.5,"t":"2027-03-31","e":"8080","z":null,"l":["yes",true]}`,
		"1":                          `"one"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	const inline = `{"type":"object","properties":{"n":{"maximum":12345678901234567890}}}`
	if string(e.Schemas.Request.Inline) != inline || e.Schemas.Message.File != "testdata/valid/message.json" ||
		string(e.Schemas.Metadata["https://example.com/ext/v1/key"].Inline) != inline {
		t.Errorf("schemas %s", e.Schemas.Request.Inline)
	}
	s := c.Agents[0].Skills[0]
	if string(s.Input.Inline) != inline || s.Output.File == "" || s.Schemas != "report" {
		t.Errorf("skill %+v", s)
	}
}

const extensionFiles = `server: {publicURL: "http://localhost:8080", dataDir: data}
authn: {anonymous: true}
extensions:
  - uri: https://example.com/ext/v1
    specification: docs/ext.md
    digest: sha256:DIGEST
    schemas:
      request: schemas/request.json
      metadata: {https://example.com/ext/v1/key: schemas/shared.json}
  - uri: https://example.com/ext/v2
    status: deprecated
    specification: https://example.com/ext/v2
agents:
  - {id: a, card: "https://127.0.0.1/card", skills: [{id: s, output: schemas/request.json}]}
`

// The digest of "hello\n".
const helloDigest = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

// TestLoadResolvesSchemas finds schemas and specifications beside the file, and
// schemas that they refer to.
func TestLoadResolvesSchemas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	write(t, path, strings.ReplaceAll(extensionFiles, "DIGEST", helloDigest))
	write(t, filepath.Join(dir, "docs", "ext.md"), "hello\n")
	write(t, filepath.Join(dir, "schemas", "request.json"), `{"$ref":"shared.json"}`)
	write(t, filepath.Join(dir, "schemas", "shared.json"), `{"type":"string"}`)
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	e := c.Extensions[0]
	got := []string{
		e.Specification, e.Schemas.Request.File, e.Schemas.Metadata["https://example.com/ext/v1/key"].File,
		c.Agents[0].Skills[0].Output.File, c.Extensions[1].Specification, e.Schemas.Message.File,
	}
	want := []string{
		filepath.Join(dir, "docs/ext.md"), filepath.Join(dir, "schemas/request.json"),
		filepath.Join(dir, "schemas/shared.json"), filepath.Join(dir, "schemas/request.json"), "https://example.com/ext/v2", "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
	warnings, err := c.Check()
	if err != nil {
		t.Error(err)
	}
	if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "/ext/v2") && strings.Contains(w, "deprecated") }) {
		t.Errorf("no warning of the registry in %q", warnings)
	}
	write(t, filepath.Join(dir, "schemas", "shared.json"), `{"type":"strin"}`)
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "config.yaml:8:16: extensions[0].schemas.request: ") ||
		!strings.Contains(err.Error(), "config.yaml:14:") {
		t.Errorf("a broken schema: %v", err)
	}
}

func TestCheckSpecifications(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content, digest string
		wantErr, wantWarning  string
	}{
		{"as it was", "hello\n", helloDigest, "", ""},
		{"changed", "hello!\n", helloDigest, "extensions[0].digest: ", ""},
		{"gone", "", helloDigest, "extensions[0].specification: open ", ""},
		{"no digest", "hello\n", "", "", ""},
		{"gone, no digest", "", "", "", "extensions[0].specification: open "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "config.yaml")
			file := strings.ReplaceAll(extensionFiles, "DIGEST", tt.digest)
			if tt.digest == "" {
				file = strings.ReplaceAll(file, "    digest: sha256:\n", "")
			}
			write(t, path, file)
			write(t, filepath.Join(dir, "schemas", "request.json"), `{"$ref":"shared.json"}`)
			write(t, filepath.Join(dir, "schemas", "shared.json"), `{"type":"string"}`)
			if tt.content != "" {
				write(t, filepath.Join(dir, "docs", "ext.md"), tt.content)
			}
			c, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			warnings, err := c.Check()
			if tt.wantErr == "" && err != nil || tt.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tt.wantErr)) {
				t.Errorf("error %v, want %q", err, tt.wantErr)
			}
			found := slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, "extensions[0].specification: ") })
			if found != (tt.wantWarning != "") {
				t.Errorf("warnings %q, want %q", warnings, tt.wantWarning)
			}
		})
	}
}
