package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// decisionHead is how the page of a decision begins: its number, what is done, and whether
// it still is.
var decisionHead = regexp.MustCompile(`\A# (\d{4}): ([A-Z].+)\n\nStatus: (accepted|superseded by \[\d{4}\]\([^)]+\))(; .+)?\.\n\n## Context\n`)

// TestDecisions: every decision says its status, and the list has its title.
func TestDecisions(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("docs/decisions/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("docs/decisions/0*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no decisions", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		head := decisionHead.FindSubmatch(text)
		name := filepath.Base(page)
		if head == nil || !strings.HasPrefix(name, string(head[1])) {
			t.Errorf("%s does not begin with its number, title, status and context", page)
			continue
		}
		if row := "| [" + string(head[1]) + "](" + name + ") | " + string(head[2]) + " |\n"; !strings.Contains(string(list), row) {
			t.Errorf("docs/decisions/README.md has no row %s", row)
		}
	}
}
