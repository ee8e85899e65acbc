package frameworks_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var update = flag.Bool("update", false, "write what was found into docs/interop.md")

// document collects what is found, for the table in docs/interop.md.
type document struct {
	mu   sync.Mutex // guards rows
	rows []row
}

// row is a framework in it.
type row struct {
	framework     framework
	version       string
	agent, client result
}

func (d *document) add(r row) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rows = append(d.rows, r)
}

const head = `## Frameworks

The tests run agents and clients of each framework as the framework's own documentation shows them; the name links to a page that
shows how. A neutral client calls each framework's agent: it sends a message, streams, takes two turns, gets and cancels a task, sends a
file and makes the agent fail. Each framework's client does what it can of that with a neutral agent. Each step runs directly, through the
gateway, and through the gateway between two versions. "16 of 16" counts the steps with the same result as without the gateway. A step
that fails directly has to fail the same way through the gateway. Letters refer to the notes below.

| framework | version | its agent speaks | as agent | as client | what one has to set |
| --- | --- | --- | --- | --- | --- |
`

// section is the part of the page that these tests write.
func (d *document) section() string {
	slices.SortFunc(d.rows, func(a, b row) int { return cmp.Compare(a.framework.id, b.framework.id) })
	var table, notes strings.Builder
	var numbered []string
	for _, r := range d.rows {
		f := r.framework
		letters := func(r result) string {
			if r.compared == 0 {
				return ""
			}
			text := fmt.Sprintf("%d of %d", r.same, r.compared)
			var mine []string
			slices.Sort(r.used)
			for _, key := range slices.Compact(r.used) {
				i := slices.Index(numbered, r.notes[key])
				if i < 0 {
					i = len(numbered)
					numbered = append(numbered, r.notes[key])
				}
				mine = append(mine, letter(i))
			}
			slices.Sort(mine)
			if mine = slices.Compact(mine); len(mine) > 0 {
				text += " (" + strings.Join(mine, ", ") + ")"
			}
			return text
		}
		fmt.Fprintf(&table, "| [%s](integrations/%s.md) | %s | %s | %s | %s | %s |\n",
			f.name, f.page, r.version, f.speaks, letters(r.agent), letters(r.client), f.needs)
	}
	for i, n := range numbered {
		fmt.Fprintf(&notes, "- %s: %s\n", letter(i), n)
	}
	return head + table.String() + "\n" + notes.String()
}

func letter(i int) string {
	if i >= 26 {
		return letter(i/26-1) + letter(i%26)
	}
	return string(rune('a' + i))
}

// check compares the page with what was found, or writes it.
func (d *document) check(t *testing.T) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", "interop.md")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, was, after := parts(string(page))
	is := d.section() + "\n"
	if was == is {
		return
	}
	if !*update {
		t.Errorf("docs/interop.md has other results than were found; `make frameworks UPDATE=-update` writes them:\n%s", is)
		return
	}
	if err := os.WriteFile(file, []byte(before+is+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// parts are what is before the section about frameworks, it, and what is after it.
func parts(page string) (before, section, after string) {
	start := strings.Index(page, "## Frameworks\n")
	if start < 0 {
		start = strings.Index(page, "## ")
		return page[:start], "", page[start:]
	}
	next := strings.Index(page[start+3:], "\n## ")
	return page[:start], page[start : start+3+next+1], page[start+3+next+1:]
}
