package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sample is a run with figures that can be reckoned in the head.
func sample() *record {
	r := &record{
		Date: time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC), Commit: "abc",
		Machine:  machine{CPU: "cpu", Cores: 2, Kernel: "6.1", OS: "linux/amd64"},
		Settings: settings{Rounds: 3, Time: "2s", Connections: 64, Rate: 1000, Streams: 1000, Idle: 10_000},
		Versions: map[string]string{"nginx": "1.22.1"},
		LeftOut:  map[string]string{"caddy": "caddy is not here: build caddy: exit status 1\nmore"},
	}
	for i := range 3 {
		slow := float64(i + 1) // the machine was slower in each round
		r.add("unary", "direct", figures{"p50": 50 * slow, "rate": 20_000 / slow})
		r.add("unary", "floor", figures{"cpu": 100 * slow, "p50": 200 * slow, "rate": 10_000 / slow})
		r.add("unary", "gateway", figures{"cpu": 60 * slow, "p50": 150 * slow, "rate": 12_345 / slow})
		r.add("rate", "direct", figures{"p50": 50 * slow})
		r.add("rate", "gateway", figures{"p50": 150 * slow})
	}
	return r
}

func TestRelative(t *testing.T) {
	t.Parallel()
	r := sample()
	if got := r.relative(unary, "gateway", cpuColumn); len(got) != 3 || got[0] != 0.6 || got[2] != 0.6 {
		t.Errorf("%v: ratios are to be within a round", got)
	}
	if got := r.relative(unary, "direct", cpuColumn); got != nil {
		t.Errorf("direct has %v of the floor's CPU", got)
	}
	if got := r.relative(rate, "gateway", column{key: "p50", beside: added}); median(got) != 200 {
		t.Errorf("%v over direct", got)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := sample().text(&out); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2026-11-22 15:04 UTC, commit abc; cpu, 2 cores, Linux 6.1",
		"nginx 1.22.1", "caddy left out: caddy is not here: build caddy: exit status 1\n",
		"120.0 (0.60)", "6,172 (1.23)", "+200", "–",
	}
	for _, s := range want {
		if !strings.Contains(out.String(), s) {
			t.Errorf("no %q in\n%s", s, out.String())
		}
	}
	if strings.Contains(out.String(), "more") || strings.Contains(out.String(), "flood") {
		t.Errorf("what did not run is in\n%s", out.String())
	}
}

func TestBenchmarks(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := sample().benchmarks(&out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "BenchmarkUnary/gateway 1 0.6000 cpu/floor\n"); n != 3 {
		t.Errorf("%d lines of three rounds in\n%s", n, out.String())
	}
	for _, unit := range []string{"Unit cpu/floor better=lower\n", "Unit rate/floor better=higher\n"} {
		if strings.Count(out.String(), unit) != 1 {
			t.Errorf("%q not once in\n%s", unit, out.String())
		}
	}
	if strings.Contains(out.String(), "Unary/floor") {
		t.Error("the base is compared with itself")
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]float64{"0.0": 0, "999.9": 999.9, "1,000.0": 999.96, "1,234,567.8": 1_234_567.8, "-12,345.0": -12_345} {
		if got := number(v, 1); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		v    []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 2, 9}, 3}} {
		if got := median(test.v); got != test.want {
			t.Errorf("%v: %v, want %v", test.v, got, test.want)
		}
	}
}

// TestKept: a record comes back as it was, and the newest is found.
func TestKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "performance")
	older, newer := sample(), sample()
	newer.Date = older.Date.Add(time.Hour)
	for name, r := range map[string]*record{"b.json": older, "a.json": newer} {
		if err := r.save(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	page := dir + ".md"
	if err := os.WriteFile(page, []byte("# Page\n"+beginGlance+"\nstale\n"+endGlance+"\n"+beginResults+"\nold\n"+endResults+"\nrest\n"+beginGoals+"\n"+endGoals+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := document(page); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	has(t, string(made), []string{
		"# Page\n", "\nrest\n", "(performance/a.json)", "2026-11-22 16:04 UTC", "### unary", "| gateway | 120.0 (0.60) | 6,172 (1.23) |",
	}, []string{"\nold\n", "\nstale\n"})
	var out, again bytes.Buffer
	if err := recorded(dir, func(r *record) error { return r.text(&out) }); err != nil {
		t.Fatal(err)
	}
	if err := newer.text(&again); err != nil {
		t.Fatal(err)
	}
	if out.String() != again.String() {
		t.Errorf("%s is not %s", out.String(), again.String())
	}
}

func TestFill(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"", beginResults, endResults + beginResults + "\n"} {
		if _, err := fill(page, beginResults, endResults, "x"); err == nil {
			t.Errorf("%q has a place for results", page)
		}
	}
}

// TestPage: the page shows the newest run that is recorded beside it.
func TestPage(t *testing.T) {
	t.Parallel()
	const page = "../docs/performance.md"
	made, err := documented(page)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range made {
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is stale: run go run -C bench . -docs ../docs/performance.md (%v)", path, err)
		}
	}
	plots, err := filepath.Glob(strings.TrimSuffix(page, ".md") + "/*.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range plots {
		if _, shown := made[path]; !shown {
			t.Errorf("%s is shown nowhere", path)
		}
	}
}
