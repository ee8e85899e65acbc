package frameworks_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPages: the pages of the frameworks have the snippets that the programs run, and the
// settings of the gateway that the tests have.
func TestPages(t *testing.T) {
	t.Parallel()
	for _, f := range frameworks() {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "integrations", f.page+".md"))
		if err != nil {
			t.Error(err)
			continue
		}
		page := string(text)
		if n := strings.Count(page, "\n"); n > 40 {
			t.Errorf("%s has %d lines, more than a page", f.page, n)
		}
		programs := map[string]bool{f.program.agent[len(f.program.agent)-1]: f.speaks != ""}
		if f.calls != "" {
			programs[f.program.client[len(f.program.client)-1]] = true
		}
		for name, there := range programs {
			if f.shown != "" && name == f.program.agent[len(f.program.agent)-1] {
				name = f.shown
			}
			if there && !strings.Contains(page, snippet(t, filepath.Join(f.id, name))) {
				t.Errorf("docs/integrations/%s.md does not have what is between `docs:` and `end` in %s/%s", f.page, f.id, name)
			}
		}
		for line := range strings.Lines(f.set + f.agents) {
			if !strings.Contains(page, strings.TrimSpace(line)) {
				t.Errorf("docs/integrations/%s.md does not say to set %s", f.page, line)
			}
		}
	}
}

// snippet is what a page shows of a program.
func snippet(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?ms)^ *(?:#|//) docs: [^\n]*\n(.*?)^ *(?:#|//) end$`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no part for the documents", file)
	}
	return "\n" + string(found[1]) + "```"
}

// TestIndex: the list of the pages has every framework, with what its programs need.
func TestIndex(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "integrations", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frameworks() {
		row := regexp.MustCompile(`(?m)^\| .*\(` + regexp.QuoteMeta(f.page) + `\.md\).*$`).FindString(string(text))
		if row == "" {
			t.Errorf("docs/integrations/README.md has no row for %s", f.page)
		}
		for _, need := range required(t, f.id) {
			if !strings.Contains(row, need) {
				t.Errorf("%s needs %s, and docs/integrations/README.md does not say so: %s", f.id, need, row)
			}
		}
	}
}

// required are the packages that a framework's programs are said to need, without versions.
func required(t *testing.T, id string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(id, "requirements.in"))
	if errors.Is(err, os.ErrNotExist) {
		return nil // npm's, Cargo's and Maven's files have more than is installed by name
	} else if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), "==")
		names = append(names, name)
	}
	return names
}
