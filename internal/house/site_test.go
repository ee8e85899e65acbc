package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSiteNavigation: every page that users read can be reached from the site's sidebar, and
// every recipe and tutorial from the index of its folder.
func TestSiteNavigation(t *testing.T) {
	t.Parallel()
	config, err := os.ReadFile("docs/.vitepress/config.mjs")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, folder := range []string{"", "recipes", "tutorials", "reference"} {
		pages, err := filepath.Glob(filepath.Join("docs", folder, "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		index, err := os.ReadFile(filepath.Join("docs", folder, "README.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, page := range pages {
			name := strings.TrimSuffix(filepath.Base(page), ".md")
			if name == "README" {
				continue
			}
			found++
			if link := "'/" + strings.TrimPrefix(folder+"/"+name, "/") + "'"; !strings.Contains(string(config), link) {
				t.Errorf("docs/.vitepress/config.mjs does not lead to %s", page)
			}
			if !strings.Contains(string(index), "("+name+".md") {
				t.Errorf("%s does not lead to %s", filepath.Join("docs", folder, "README.md"), page)
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d pages: is the test looking in the right place?", found)
	}
}
