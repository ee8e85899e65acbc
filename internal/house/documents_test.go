package house_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated tables of docs/threat-model.md and docs/design.md")

const threatModel = "docs/threat-model.md"

// threatTest is a test named after a row: TestL05_MoreThanOneCredential.
var threatTest = regexp.MustCompile(`(?m)^func (Test([LAR])(\d+)_\w+)\(\w+ \*testing\.T\)`)

// threatRow is a row of the table: | L05 | attack | what holds | tests |.
var threatRow = regexp.MustCompile(`^\| ([LAR]\d\d) \|(.*)\|([^|]*)\|$`)

// TestThreatModel holds the document to the tests: every row names exactly the
// tests that prove it, and every such test has a row. Rows of attacks (L, A)
// without a test are open; a figure (R) stands there only with one.
func TestThreatModel(t *testing.T) {
	t.Parallel()
	tests := threatTests(t)
	text, err := os.ReadFile(threatModel)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	rows := map[string]bool{}
	for i, line := range lines {
		m := threatRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		id := m[1]
		if rows[id] {
			t.Errorf("%s: row %s is there twice", threatModel, id)
		}
		rows[id] = true
		proof := "open"
		if len(tests[id]) > 0 {
			proof = strings.Join(tests[id], ", ")
		} else if id[0] == 'R' {
			t.Errorf("%s: row %s has no test", threatModel, id)
		}
		lines[i] = fmt.Sprintf("| %s |%s| %s |", id, m[2], proof)
		if lines[i] != line && !*update {
			t.Errorf("%s: row %s should say %s; run go test ./internal/house -run TestThreatModel -update", threatModel, id, proof)
		}
	}
	for id, names := range tests {
		if !rows[id] {
			t.Errorf("%s has no row %s for %s", threatModel, id, strings.Join(names, ", "))
		}
	}
	for _, family := range []struct {
		letter string
		last   int
	}{{"L", 47}, {"A", 28}} {
		for n := 1; n <= family.last; n++ {
			if id := fmt.Sprintf("%s%02d", family.letter, n); !rows[id] {
				t.Errorf("%s lacks row %s", threatModel, id)
			}
		}
	}
	if *update {
		if err := os.WriteFile(threatModel, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// threatTests finds the tests by row, each as `TestName` (package).
func threatTests(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	total := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(path):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range threatTest.FindAllStringSubmatch(string(source), -1) {
			id := m[2] + fmt.Sprintf("%02s", strings.TrimLeft(m[3], "0"))
			name := fmt.Sprintf("`%s` (%s)", m[1], filepath.ToSlash(filepath.Dir(path)))
			found[id] = append(found[id], name)
			total++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total < 100 {
		t.Fatalf("only %d tests are named after threats: is the test looking in the right place?", total)
	}
	for _, names := range found {
		slices.Sort(names)
	}
	return found
}

// sharedTable is the table of what all share.
var sharedTable = regexp.MustCompile(`(?s)<!-- shared -->\n(.*?)<!-- end of shared -->`)

// namedTest is how a test is named in a document: `TestName` (package).
var namedTest = regexp.MustCompile("^`(Test\\w+)` \\(([\\w/-]+)\\)$")

// TestThreatModelShared: everything that all share has a bound, an answer to what one can take
// of it, and tests that are there.
func TestThreatModelShared(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(threatModel)
	if err != nil {
		t.Fatal(err)
	}
	table := sharedTable.FindStringSubmatch(string(text))
	if table == nil {
		t.Fatalf("%s has no table of what is shared", threatModel)
	}
	rows := strings.Split(strings.TrimSpace(table[1]), "\n")[2:]
	if len(rows) < 30 {
		t.Fatalf("only %d rows: is the test looking in the right place?", len(rows))
	}
	for _, row := range rows {
		cells := strings.Split(strings.Trim(row, "|"), " |")
		if len(cells) != 5 || slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }) {
			t.Errorf("%s: want five cells: %s", threatModel, row)
			continue
		}
		for name := range strings.SplitSeq(strings.TrimSpace(cells[4]), ", ") {
			m := namedTest.FindStringSubmatch(name)
			if m == nil || !declares(t, m[2], m[1]) {
				t.Errorf("%s: there is no test %s: %s", threatModel, name, cells[0])
			}
		}
	}
}

// declares reports whether a package has a test of that name.
func declares(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(source), "\nfunc "+name+"(")
	})
}

// link is what a document points at inside the tree: a Markdown link, or a
// script by name.
var link = regexp.MustCompile("\\]\\(([^)#]*)(?:#([^)]*))?\\)|`(\\w+\\.txtar)`")

// TestDocumentsPointAtWhatExists follows the links of every document, down to the
// headings that they name, and the names of scripts.
func TestDocumentsPointAtWhatExists(t *testing.T) {
	t.Parallel()
	checked, headings := 0, map[string][]string{} // of a document; many links lead to the same
	for _, doc := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(prose(t, doc), -1) {
			path := doc
			switch {
			case m[3] != "":
				path = filepath.Join("cmd/a2a-gateway/testdata", m[3])
			case strings.Contains(m[1], ":"):
				continue // elsewhere
			case m[1] != "":
				path = filepath.Join(filepath.Dir(doc), m[1])
			}
			checked++
			ofDocument := m[2] != "" && strings.HasSuffix(path, ".md")
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s points at %s: %v", doc, m[0], err)
				continue
			} else if ofDocument && headings[path] == nil {
				headings[path] = anchors(t, path)
			}
			if ofDocument && !slices.Contains(headings[path], m[2]) {
				t.Errorf("%s points at %s, but %s has no such heading", doc, m[0], path)
			}
		}
	}
	if checked < 200 {
		t.Fatalf("only %d references were checked: is the test looking in the right place?", checked)
	}
}

// documents are all there are.
func documents(t *testing.T) (docs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skipped(path):
			return fs.SkipDir
		case strings.HasSuffix(path, ".md"):
			docs = append(docs, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

var (
	fenced = regexp.MustCompile("(?ms)^[ \\t]*```.*?^[ \\t]*```[ \\t]*$")
	title  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	target = regexp.MustCompile(`\]\([^)]*\)`)
	noSlug = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// prose is a document without its blocks of code.
func prose(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}

// anchors are what the headings of a document are called in links.
func anchors(t *testing.T, path string) (names []string) {
	t.Helper()
	times := map[string]int{}
	for _, m := range title.FindAllStringSubmatch(prose(t, path), -1) {
		name := strings.ToLower(noSlug.ReplaceAllString(target.ReplaceAllString(m[1], ""), ""))
		name = strings.ReplaceAll(strings.TrimSpace(name), " ", "-")
		if n := times[name]; n > 0 {
			names = append(names, fmt.Sprintf("%s-%d", name, n))
		} else {
			names = append(names, name)
		}
		times[name]++
	}
	return names
}

// TestDesignHasTheFloors compares the first table of docs/design.md with the one that
// TestLayers uses; -update writes it.
func TestDesignHasTheFloors(t *testing.T) {
	t.Parallel()
	const name, head = "docs/design.md", "| floor | packages |\n| --- | --- |\n"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	_, after, ended := strings.Cut(rest, "\n\n")
	if !found || !ended {
		t.Fatalf("%s: no table of floors", name)
	}
	var table strings.Builder
	for i, floor := range floors {
		fmt.Fprintf(&table, "| %d | `%s` |\n", i, strings.Join(floor, "`, `"))
		for _, path := range floor {
			if _, err := os.Stat(path); err != nil {
				t.Errorf("floor %d: %v", i, err)
			}
		}
	}
	want := before + head + table.String() + "\n" + after
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil { //nolint:gosec // a page for all to read
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s does not list the floors: go test ./internal/house -run TestDesignHasTheFloors -update", name)
	}
}
