package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// manPages are those that `man` writes.
func manPages(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "man")
	root := Root("test")
	root.SetArgs([]string{"man", "--dir", dir})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestConfigManual holds a2a-gateway.yaml(5), as a reader sees it, to the JSON Schema: each
// mapping has a part of the page with exactly its keys, and what is said of them.
func TestConfigManual(t *testing.T) {
	testenv.Long(t, "the manual of the configuration is formatted")
	t.Parallel()
	dir := manPages(t)
	page := formatted(t, filepath.Join(dir, configPage))
	for _, part := range []string{"\nNAME\n", "\nDESCRIPTION\n", "\nKEYS\n", "\nSEE ALSO\n"} {
		if !strings.Contains(page, part) {
			t.Errorf("no part%sin\n%.2000s", strings.ReplaceAll(part, "\n", " "), page)
		}
	}
	shown := map[string]bool{} // the keys of a part
	for _, part := range regexp.MustCompile(`(?m)^   \S.*\n`).Split(page, -1) {
		var keys []string
		for _, m := range regexp.MustCompile(`(?m)^ {7}(\S+) \(`).FindAllStringSubmatch(part, -1) {
			keys = append(keys, m[1][strings.LastIndexByte(m[1], '.')+1:])
		}
		slices.Sort(keys)
		shown[strings.Join(keys, " ")] = true
	}
	words := strings.Join(strings.Fields(page), " ")
	for name, mapping := range schemaMappings(t) {
		var keys []string
		for key, said := range mapping {
			keys = append(keys, key)
			if !strings.Contains(words, strings.Join(strings.Fields(said), " ")) {
				t.Errorf("%s: what is said of %s is not in the page: %s", name, key, said)
			}
		}
		slices.Sort(keys)
		if all := strings.Join(keys, " "); !shown[all] {
			t.Errorf("%s: no part of the page has its keys, %s", name, all)
		}
	}
}

// TestManualPages has every page formatted, without a complaint of the formatter.
func TestManualPages(t *testing.T) {
	testenv.Long(t, "every manual page is formatted")
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(manPages(t), "*"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if text := formatted(t, page); len(text) < 200 {
			t.Errorf("%s: %q", page, text)
		}
	}
}

// formatted is a page as man(1) shows it, on lines wide enough that no key is broken.
func formatted(t *testing.T, page string) string {
	t.Helper()
	groff, err := exec.LookPath("groff")
	if err != nil {
		testenv.Missing(t, "pages are formatted with groff: %v", err)
	}
	var complaints strings.Builder
	cmd := exec.Command(groff, "-man", "-Kutf8", "-ww", "-Tutf8", "-P-cbou", "-rLL=180n", page) //nolint:gosec // a page of ours
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil || complaints.Len() > 0 {
		t.Errorf("%s: %v %s", page, err, complaints.String())
	}
	return string(out)
}

// schemaMappings are what the JSON Schema says of each mapping's keys.
func schemaMappings(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := config.Schema()
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Definitions map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	mappings := map[string]map[string]string{}
	for name, d := range schema.Definitions {
		for key, property := range d.Properties {
			if mappings[name] == nil {
				mappings[name] = map[string]string{}
			}
			mappings[name][key] = property.Description
		}
	}
	return mappings
}

// TestRoff prints texts that troff would read otherwise.
func TestRoff(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`.so /etc/hosts`, `'so /etc/hosts`, `a \fBkey\fR \n(.$`, "--flag ‘x’ 'x' `x` ^ ~ \"x\" …", `{"a": 1}`} {
		page := filepath.Join(t.TempDir(), "page.5")
		if err := os.WriteFile(page, []byte(configManualBegin+roff(text)+"\n"+configManualEnd), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := formatted(t, page); !strings.Contains(got, " "+text+"\n") {
			t.Errorf("%s: got\n%s", text, got)
		}
	}
}
