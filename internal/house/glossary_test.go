package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"
)

// glossaryRow is a term, what it means, the page about it and the package that owns it.
var glossaryRow = regexp.MustCompile("(?m)^\\| (.+) \\| (.+) \\| \\[[^]]+\\]\\(([^)]+)\\) \\| `([a-z0-9/]+)` \\|$")

// TestGlossary: every term has a page that is there and a package that is, and terms are
// found by the alphabet.
func TestGlossary(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/glossary.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, section := range strings.Split(string(text), "\n## ")[1:] {
		rows := glossaryRow.FindAllStringSubmatch(section, -1)
		if want := strings.Count(section, "\n| ") - 2; len(rows) != want {
			t.Errorf("%d of %d rows of a section are a term with its page and package: %.40q", len(rows), want, section)
		}
		var terms []string
		for _, row := range rows {
			terms = append(terms, strings.ToLower(strings.Trim(row[1], "`")))
			page, _, _ := strings.Cut(row[3], "#") // that the heading is there, TestDocumentsPointAtWhatExists knows
			if _, err := os.Stat(filepath.Join("docs", page)); err != nil {
				t.Errorf("%s: no page %s", row[1], row[3])
			}
			if floorOf(row[4]) < 0 {
				t.Errorf("%s: no package %s", row[1], row[4])
			}
		}
		if !sort.StringsAreSorted(terms) {
			t.Errorf("not by the alphabet: %q", terms)
		}
	}
}
