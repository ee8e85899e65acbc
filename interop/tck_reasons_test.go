package interop_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tckReason is a row of the table of docs/tck.md: why tests have another result.
type tckReason struct {
	version, agent string // "*" for any
	test           *regexp.Regexp
	direct, other  string // results
}

// explains says whether it is about a difference.
func (r tckReason) explains(version, agent, test, direct, other string) bool {
	fits := func(pattern, s string) bool { return pattern == "*" || pattern == s }
	return fits(r.version, version) && fits(r.agent, agent) && r.test.MatchString(test) &&
		fits(r.direct, direct) && fits(r.other, other)
}

// tckReasons are the rows. In the names of tests a * is any text.
func tckReasons(t *testing.T) []tckReason {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "tck.md"))
	if err != nil {
		t.Fatal(err)
	}
	var reasons []tckReason
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 8 || !strings.Contains(cells[3], "`") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		test := strings.ReplaceAll(regexp.QuoteMeta(cells[3]), `\*`, ".*")
		reasons = append(reasons, tckReason{
			version: cells[1], agent: cells[2], test: regexp.MustCompile("(^|[/:])" + test + "$"), direct: cells[4], other: cells[5],
		})
	}
	if len(reasons) == 0 {
		t.Fatal("docs/tck.md has no table of reasons")
	}
	return reasons
}
