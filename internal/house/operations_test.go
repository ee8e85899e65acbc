package house_test

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// operations is the page that is read when something does not work.
func operations(t *testing.T) string {
	t.Helper()
	return document(t, "docs/operations.md")
}

func document(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// measurements are where docs/performance.md has what an entry of the table of costs names:
// the heading, the row and the column of its table.
var measurements = map[string][3]string{
	"`unary`, gateway, CPU":            {"### unary\n", "gateway", "CPU µs (×)"},
	"`unary`, gateway-sqlite, CPU":     {"### unary\n", "gateway-sqlite", "CPU µs (×)"},
	"`growth-streams`, 9,000, CPU":     {"### growth-streams\n", "9,000", "CPU µs (×)"},
	"`growth-streams`, 9,000, to open": {"### growth-streams\n", "9,000", "CPU µs to open"},
	"`growth-streams`, 9,000, memory":  {"### growth-streams\n", "9,000", "KiB/stream"},
	"`unary`, gateway, RSS":            {"### unary\n", "gateway", "RSS MiB (×)"},
}

// TestSizing holds what docs/operations.md reckons with to what was measured, and does the
// arithmetic of its table.
func TestSizing(t *testing.T) {
	t.Parallel()
	page, measured := operations(t), document(t, "docs/performance.md")
	var costs []float64
	for _, row := range table(t, page, "| one | costs | measured |")[1:] {
		at, ok := measurements[row[2]]
		if !ok {
			t.Fatalf("%q is not known to be measured", row[2])
		}
		cost, is := figure(t, row[1]), measure(t, measured, at)
		if math.Abs(cost/is-1) > .25 {
			t.Errorf("a %s costs %v by the page, and %v by docs/performance.md, %s", row[0], cost, is, row[2])
		}
		costs = append(costs, cost)
	}
	if len(costs) != len(measurements) {
		t.Fatalf("%d costs", len(costs))
	}
	rows := table(t, page, "| replica | calls/s |")[1:]
	for n, row := range rows {
		var v []float64
		for _, text := range row[1:] {
			v = append(v, figure(t, text))
		}
		want := needs(costs, [5]float64(v))
		if replicas, _, ok := strings.Cut(row[0], " of these"); ok {
			want = needs(costs, [5]float64(figures(t, rows[n-1][1:])))
			for i := range want {
				want[i] *= figure(t, replicas)
			}
		}
		for i, what := range []string{"processors", "memory", "open files"} {
			if math.Abs(v[5+i]-want[i]) > .02*want[i]+.01 {
				t.Errorf("%s: %v %s, not %.2f", row[0], v[5+i], what, want[i])
			}
		}
	}
	if len(rows) < 4 {
		t.Errorf("only %d rows", len(rows))
	}
}

// needs are the processors, the MiB and the open files for calls, tasks, streams, events and
// beginnings.
func needs(costs []float64, load [5]float64) [3]float64 {
	calls, tasks, streams, events, begun := load[0], load[1], load[2], load[3], load[4]
	memory := costs[5] + streams*costs[4]/1024
	if streams > 0 {
		memory += 256
	}
	return [3]float64{
		(calls*costs[0] + tasks*costs[1] + events*costs[2] + begun*costs[3]) / 1e6 / .6,
		memory * 1.25, 2*streams + 2*(calls+tasks),
	}
}

// table is the rows of one whose head begins like this, that one first.
func table(t *testing.T, text, head string) (rows [][]string) {
	t.Helper()
	_, rest, ok := strings.Cut(text, head)
	if !ok {
		t.Fatalf("no table %q", head)
	}
	for line := range strings.Lines(head + rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "| -") {
			continue
		}
		var row []string
		for part := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			row = append(row, strings.TrimSpace(part))
		}
		rows = append(rows, row)
	}
	return rows
}

// measure is a cell of a table below a heading.
func measure(t *testing.T, text string, at [3]string) float64 {
	t.Helper()
	_, rest, ok := strings.Cut(text, at[0])
	_, rest, has := strings.Cut(rest, "\n| ")
	if !ok || !has {
		t.Fatalf("nothing below %q", at[0])
	}
	rows := table(t, "| "+rest, "| ")
	column := slices.Index(rows[0], at[2])
	for _, row := range rows {
		if row[0] == at[1] && column > 0 {
			return figure(t, row[column])
		}
	}
	t.Fatalf("no row %q with %q below %q", at[1], at[2], at[0])
	return 0
}

var firstFigure = regexp.MustCompile(`^[\d,]+(\.\d+)?`)

func figure(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(strings.ReplaceAll(firstFigure.FindString(text), ",", ""), 64)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}

func figures(t *testing.T, texts []string) (list []float64) {
	t.Helper()
	for _, text := range texts {
		list = append(list, figure(t, text))
	}
	return list
}

// TestEveryAlertIsExplained: docs/operations.md says of each alert what to look at, and of
// nothing else; and the metrics it names are there.
func TestEveryAlertIsExplained(t *testing.T) {
	t.Parallel()
	page := operations(t)
	var said []string
	for _, row := range table(t, page, "| alert | first |")[1:] {
		said = append(said, strings.Split(row[0], ", ")...)
	}
	var alerts []string
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(document(t, "deploy/prometheus/rules.yml"), -1) {
		alerts = append(alerts, m[1])
	}
	slices.Sort(said)
	slices.Sort(alerts)
	if !slices.Equal(said, alerts) || len(alerts) < 20 {
		t.Errorf("the page has %q, rules.yml %q", said, alerts)
	}
	metrics := document(t, "docs/metrics.md")
	for _, name := range regexp.MustCompile(`a2a_gateway_\w+`).FindAllString(page, -1) {
		if !strings.Contains(metrics, fmt.Sprintf("| `%s` |", name)) {
			t.Errorf("there is no metric %s", name)
		}
	}
}
