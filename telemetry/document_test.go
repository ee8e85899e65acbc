package telemetry

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

const metricsDocument = "../docs/metrics.md"

// TestMetricsDocument holds docs/metrics.md to the instruments.
func TestMetricsDocument(t *testing.T) {
	t.Parallel()
	want := document(opened(t, io.Discard, nil).Metrics.made)
	if *update {
		if err := os.WriteFile(metricsDocument, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(metricsDocument)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not current; run go test ./telemetry -run TestMetricsDocument -update", metricsDocument)
	}
}

// document is the page about instruments.
func document(made []instrument) string {
	var b strings.Builder
	b.WriteString(`# Metrics

What ` + "`/metrics`" + ` on the status listener serves, and what goes to a collector where the environment asks for that
([telemetry](telemetry.md)). Beside these there are the ` + "`go_`" + ` and ` + "`process_`" + ` metrics of the Go runtime and the process.
This page is made from the code: ` + "`go test ./telemetry -run TestMetricsDocument -update`" + `.

Every label takes its values from a closed set, so that nobody who calls, and no agent, can make a series. A value from
outside its set is counted as ` + "`other`" + `, an absent one as ` + "`none`" + `. Histograms are native ones (bucket factor 1.1) with classic
buckets beside them.

| metric | type | labels | what |
| --- | --- | --- | --- |
`)
	sorted := slices.Clone(made)
	slices.SortFunc(sorted, func(a, b instrument) int { return strings.Compare(a.name, b.name) })
	shared := map[string]label{}
	for _, i := range sorted {
		var labels []string
		for _, l := range i.labels {
			if l.from != "" || closedSet(l.name).values != nil && slices.Equal(closedSet(l.name).values, l.values) {
				shared[l.name] = l
				labels = append(labels, "`"+l.name+"`")
				continue
			}
			labels = append(labels, "`"+l.name+"`: "+strings.Join(l.values, ", "))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", i.name, i.kind, strings.Join(labels, "; "), i.help)
	}
	b.WriteString("\n## Labels\n\nThose whose values are the same wherever the table names no others:\n\n| label | values |\n| --- | --- |\n")
	names := make([]string, 0, len(shared))
	for name := range shared {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		l := shared[name]
		values := l.values
		if l.from != "" {
			values = append([]string{l.from}, values...)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, strings.Join(values, ", "))
	}
	return b.String()
}

// TestEveryLabelIsClosed: a label without a set could have any value.
func TestEveryLabelIsClosed(t *testing.T) {
	t.Parallel()
	for _, i := range opened(t, io.Discard, nil).Metrics.made {
		for _, l := range i.labels {
			if l.from == "" && len(l.values) == 0 {
				t.Errorf("%s: label %s has no closed set", i.name, l.name)
			}
		}
		if i.help == "" {
			t.Errorf("%s has no help", i.name)
		}
	}
}
