package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestGrowth runs each workload at its smallest sizes.
func TestGrowth(t *testing.T) {
	testenv.Long(t, "every size is run")
	t.Parallel()
	o := small()
	o.growth, o.largest = true, 10
	rec := measured(t, o)
	for _, w := range workloads {
		for _, name := range w.names() {
			row, want := rec.row(w.name, name), w.growth != nil && (name == "1" || name == "10")
			if (row != nil) != want {
				t.Errorf("%s: %s: %v", w.name, name, row)
			}
			if row != nil && (median(row.Figures["rate"]) <= 0 || median(row.Figures["rss"]) <= 0) {
				t.Errorf("%s: %s: %v", w.name, name, row.Figures)
			}
		}
	}
	var out bytes.Buffer
	if err := rec.text(&out); err != nil {
		t.Fatal(err)
	}
	t.Logf("figures of a run that is far too short:\n%s", out.String())
}

// grownSample is a run in which calls cost a little more with more agents.
func grownSample() *record {
	r := sample()
	r.Rows = nil
	for range 2 {
		for name, cpu := range map[string]float64{"1": 50, "10": 52, "10000": 55} {
			r.add("growth-agents", name, figures{"cpu": cpu, "single": cpu + 10, "rss": cpu})
		}
		r.add("growth-rules", "1", figures{"cpu": 50})
	}
	return r
}

func TestGrowthIsPrinted(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := grownSample().text(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"55.0 (1.10)", "65.0 (1.08)", "10,000", "+0.51", "≤ 1.20 × at 1", "1.10 × at 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := grownSample().benchmarks(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "BenchmarkGrowth-agents/10000 1 1.1000 cpu/1\n"); n != 2 {
		t.Errorf("%d lines of two rounds in\n%s", n, out.String())
	}
}

// TestPlot: it is XML, and has what was measured in it.
func TestPlot(t *testing.T) {
	t.Parallel()
	plot := grownSample().plot(growthAgents)
	for d := xml.NewDecoder(strings.NewReader(plot)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, plot)
		}
	}
	for _, want := range []string{">10,000</text>", ">in turn</text>", ">one agent</text>", "CPU µs per request by number of agents"} {
		if !strings.Contains(plot, want) {
			t.Errorf("no %q in\n%s", want, plot)
		}
	}
	if n := strings.Count(plot, "<circle"); n != 6 {
		t.Errorf("%d points of two lines with three each", n)
	}
	if plot := grownSample().plot(growthRules); plot != "" {
		t.Errorf("one size is drawn: %s", plot)
	}
}

func TestNiceStep(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ most, want float64 }{{50, 10}, {100, 20}, {110, 25}, {1, 0.2}, {1500, 500}} {
		if got := niceStep(test.most); got != test.want {
			t.Errorf("%v: %v, want %v", test.most, got, test.want)
		}
	}
}

// TestGoals: each is told from the others, and is judged by the same round.
func TestGoals(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, g := range goals() {
		line := g.workload.name + g.figure() + g.amount(g.limit)
		if seen[line] || !slices.Contains(g.workload.names(), g.subject) {
			t.Errorf("%s: twice, or of nobody", line)
		}
		seen[line] = true
	}
	r := sample()
	for i := range 3 {
		r.add("file", "direct", figures{"p50": 1000})
		r.add("file", "floor", figures{"p50": 3000, "cpu": 1000})
		r.add("file", "gateway", figures{"p50": 3600, "cpu": 1200})
		r.add("unary", "gateway", figures{"rss": 59.5, "rest": 33})
		r.add("unary", "gateway-sqlite", figures{"cpu": 90 * float64(i+1)})
		r.add("unary-one", "gateway", figures{"cpu": 100})
		r.add("unary-one", "gateway-sqlite", figures{"cpu": 139})
		r.add("start", "gateway", figures{"ready": 0.31, "size": 39.9})
		r.add("idle", "gateway", figures{"kib": 20.5 + float64(i)})
		r.add("translation", "gateway", figures{"cpu": 50})
		r.add("translation", "gateway-0.3-to-1.0", figures{"cpu": 57})
	}
	var got []string
	for _, line := range judged(false, r)[1:] {
		got = append(got, strings.Join(line, "; "))
	}
	want := []string{
		"unary; CPU per request; ≤ 0.75 × floor; 0.60 × floor; yes",
		"unary; CPU per request, gateway-sqlite; ≤ 1.30 × gateway; 1.50 × gateway; no",
		"unary; resident memory after load; ≤ 60.0 MiB; 59.5 MiB; yes",
		"unary; resident memory before the first call; ≤ 35.0 MiB; 33.0 MiB; yes",
		"unary-one; CPU per request, gateway-sqlite; ≤ 1.40 × gateway; 1.39 × gateway; yes",
		"rate; p50; ≤ 150 µs over direct; 200 µs over direct; no",
		"idle; memory of a stream; ≤ 18.0 KiB; 21.5 KiB; no",
		"file; CPU per request; ≤ 1.40 × floor; 1.20 × floor; yes",
		"file; p50 over direct; ≤ 1.20 × floor; 1.30 × floor; no",
		"translation; CPU per request, gateway-0.3-to-1.0; ≤ 10 µs over gateway; 7 µs over gateway; yes",
		"start; ready after; ≤ 0.30 s; 0.31 s; no",
		"start; stripped program; ≤ 40.0 MB; 39.9 MB; yes",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := len(judged(true, r)); n != len(goals())+1 {
		t.Errorf("%d lines of %d goals", n, len(goals()))
	}
}

// TestKeyFile: the gateway's own commands read it, and write the same.
func TestKeyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := writeKeys(path, 3); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := apikey.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := keys.List()
	if err != nil || len(list) != 3 || list[2].ID != "key-2" || list[2].Groups[0] != "finance" {
		t.Fatalf("%+v, %v", list, err)
	}
	id, _, err := keys.Create(apikey.Spec{ID: "last"})
	if err == nil {
		err = keys.Revoke(id)
	}
	after, readErr := os.ReadFile(path)
	if err := errors.Join(err, readErr); err != nil || string(after) != string(before) {
		t.Errorf("%v: the form is another one:\n%s\nwant\n%s", err, before, after)
	}
}

// TestSizes: what is too large for this machine is left out, and it is said why.
func TestSizes(t *testing.T) {
	t.Parallel()
	few := growthStreams
	g := *few.growth
	g.most = func() int { return 1000 }
	few.growth = &g
	for largest, want := range map[int][]int{0: {1, 10, 100, 1000}, 10: {1, 10}, 5000: {1, 10, 100, 1000}} {
		st := &stage{options: options{largest: largest}, progress: io.Discard, leftOut: map[string]string{}}
		if got := st.reachable(few); !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", largest, got, want)
		}
		if _, out := st.leftOut["growth-streams 9000"]; out != (largest == 0) {
			t.Errorf("%d: left out: %v", largest, st.leftOut)
		}
	}
}

// TestKinds: the newest run of each kind is found, in one file or two.
func TestKinds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, both, grown := sample(), sample(), grownSample()
	both.Date, grown.Date = old.Date.Add(time.Hour), old.Date.Add(2*time.Hour)
	both.Rows = append(both.Rows, grown.Rows...)
	wants := func(want ...string) {
		t.Helper()
		got, err := newest(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i] = filepath.Base(got[i])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, step := range []struct {
		name string
		r    *record
		want []string
	}{{"old.json", old, []string{"old.json"}}, {"both.json", both, []string{"both.json"}}, {"grown.json", grown, []string{"both.json", "grown.json"}}} {
		if err := step.r.save(filepath.Join(dir, step.name)); err != nil {
			t.Fatal(err)
		}
		wants(step.want...)
	}
}
