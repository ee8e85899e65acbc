package metrics

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

	"github.com/prometheus/client_golang/prometheus"
)

var update = flag.Bool("update", false, "rewrite docs/metrics.md")

const metricsDocument = "../../docs/metrics.md"

// instruments are those of a fresh registry.
func instruments() []instrument { return New(prometheus.NewRegistry(), false, "test").made }

// TestMetricsDocument holds docs/metrics.md to the instruments.
func TestMetricsDocument(t *testing.T) {
	t.Parallel()
	want := document(instruments())
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
		t.Errorf("%s is not current; run go test ./telemetry/metrics -run TestMetricsDocument -update", metricsDocument)
	}
}

// document is the page about instruments.
func document(made []instrument) string {
	var b strings.Builder
	b.WriteString(`# Metrics

What ` + "`/metrics`" + ` on the status listener serves, and what goes to a collector where the environment asks for that
([telemetry](telemetry.md)). Beside these there are the ` + "`go_`" + ` and ` + "`process_`" + ` metrics of the Go runtime and the process.
This page is made from the code: ` + "`go test ./telemetry/metrics -run TestMetricsDocument -update`" + `.

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
	for _, i := range instruments() {
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

// source is the text of the package without its tests.
func source(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// TestMetricIsDeclaredOnce holds what docs/design.md says of adding a metric: its name is in
// one place, the tag of its field, and the field is what counts it. A field that nothing
// but its declaration names would always show 0, and one that is named in many places has
// no place of its own.
func TestMetricIsDeclaredOnce(t *testing.T) {
	t.Parallel()
	text := source(t)
	declared := regexp.MustCompile("(?m)^\t([A-Z]\\w*) +\\S+ +`metric:\"([a-z_]+)").FindAllStringSubmatch(text, -1)
	if made := instruments(); len(declared) != len(made) {
		t.Errorf("%d metrics are declared and %d made", len(declared), len(made))
	}
	for _, d := range declared {
		field, name := d[1], d[2]
		if n := len(regexp.MustCompile(`"`+name+`\b`).FindAllString(text, -1)); n != 1 {
			t.Errorf("%s is named in %d places, want its declaration only", name, n)
		}
		// Fields of two topics may have one name; what a topic's own are is the compiler's.
		if !regexp.MustCompile(`\.` + field + `\b`).MatchString(text) {
			t.Errorf("%s: nothing counts it", name)
		}
	}
}

// TestMetricsAreNamedInOneFile: the name of a metric stands in its declaration, and in no other
// file of the program. What another file needs of a metric it gets from a method of its topic.
func TestMetricsAreNamedInOneFile(t *testing.T) {
	t.Parallel()
	named := regexp.MustCompile(`\b` + prefix + `[a-z0-9_]+`)
	known := map[string]bool{}
	for _, i := range instruments() {
		known[i.name] = true
	}
	declared, files := map[string][]string{}, 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, m := range regexp.MustCompile(`metric:"([a-z0-9_]+)`).FindAllStringSubmatch(string(text), -1) {
			declared[prefix+m[1]] = append(declared[prefix+m[1]], path)
		}
		for _, name := range named.FindAllString(string(text), -1) {
			if known[name] {
				t.Errorf("%s names %s", path, name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 500 {
		t.Errorf("only %d files were read", files)
	}
	for name := range known {
		if len(declared[name]) != 1 {
			t.Errorf("%s is declared in %q", name, declared[name])
		}
	}
}
