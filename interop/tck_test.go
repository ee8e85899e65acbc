package interop_test

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTCK runs the official TCK, of a checkout that is not ours, on agents of three SDKs,
// direct and through the gateway. A test whose result differs three times, and not as
// docs/tck.md says, fails.
func TestTCK(t *testing.T) {
	checkout := os.Getenv("A2A_GATEWAY_TEST_TCK")
	if checkout == "" {
		t.Skip("run by `make tck TCK=DIR`")
	}
	if lacking := missing([]string{tckPython}); lacking != "" {
		t.Fatalf("it needs %s; run interop/setup-tck", lacking)
	}
	kit := tckOf(t, checkout)
	reasons := tckReasons(t)
	for _, id := range kit.agents {
		if !selected(id) {
			continue
		}
		t.Run(id, func(t *testing.T) {
			direct := kit.start(t, id)
			through := startTCKGateway(t, kit.version, direct).url
			for _, transport := range kit.transports {
				kit.compare(t, id, transport, direct, through, reasons)
			}
		})
	}
}

// start starts an agent, and gives the base of its card.
func (k kit) start(t *testing.T, id string) string {
	t.Helper()
	if strings.HasPrefix(id, "go-") {
		return startGoForTCK(t, k.version)
	}
	all := sdks()
	s := all[slices.IndexFunc(all, func(s sdk) bool { return s.id == id })]
	if lacking := missing(s.needs); lacking != "" {
		t.Fatalf("it needs %s; run interop/setup", lacking)
	}
	return startProgram(t, nil, s.agent...).URL
}

// selected says whether A2A_INTEROP_ONLY leaves an agent.
func selected(id string) bool {
	only := strings.Fields(os.Getenv("A2A_INTEROP_ONLY"))
	return len(only) == 0 || slices.Contains(only, id)
}

const tckPython = "python/.venv-tck/bin/python"

// longestRun bounds a run of the TCK: its calls over gRPC wait for as long as an agent takes.
const longestRun = 15 * time.Minute

// kit is a checkout of the TCK, which is of one line.
type kit struct {
	dir, version string
	agents       []string // the ids of the SDKs whose agents it can talk to
	address      string   // the option that says where an agent is
	options      []string
	transports   []string // what a run is of; the TCK for 1.0 does all in one
	tests        map[string][]string
}

// tckOf finds out of which line a checkout is.
func tckOf(t *testing.T, dir string) kit {
	t.Helper()
	there := func(tests string) bool { return missing([]string{filepath.Join(dir, tests)}) == "" }
	all := []string{"tests/mandatory", "tests/optional"}
	switch {
	case there("tests/compatibility"):
		return kit{
			dir: dir, version: "1.0", agents: []string{"go-v1", "python-v1", "js-v1"},
			address: "--sut-host=", transports: []string{"all"},
			tests: map[string][]string{"all": {"tests/compatibility"}},
		}
	case there("tests/mandatory"):
		return kit{
			dir: dir, version: "0.3", agents: []string{"go-v03", "python-v03", "js-v03"},
			address: "--sut-url=", options: []string{"--test-scope=all"}, transports: []string{"jsonrpc", "rest"},
			// What is in mandatory/jsonrpc is about that transport, whatever the run is of. Over gRPC
			// the TCK for 0.3 reaches only agents whose card has an absolute URL for it, which no SDK's has.
			tests: map[string][]string{
				"jsonrpc": all,
				"rest":    {"tests/mandatory/protocol", "tests/optional"},
			},
		}
	}
	t.Fatalf("%s is no checkout of the TCK: it has neither tests/compatibility (1.0) nor tests/mandatory (0.3)", dir)
	return kit{}
}

// result is what came of a test.
type result struct{ outcome, message string }

// compare runs the TCK on both, and what differs again, as an agent does not do
// everything in the same order each time.
func (k kit) compare(t *testing.T, agent, transport, direct, through string, reasons []tckReason) {
	t.Helper()
	tests := k.tests[transport]
	for range 3 {
		one := k.run(t, transport, direct, tests)
		other := k.run(t, transport, through, tests)
		t.Logf("%s, %s: %d tests, directly %s, through the gateway %s", agent, transport, len(one), outcomes(one), outcomes(other))
		tests = nil
		for _, test := range slices.Sorted(maps.Keys(one)) {
			if other[test].outcome != one[test].outcome {
				tests = append(tests, test)
			}
		}
		explained, rest := k.explain(agent, tests, one, other, reasons)
		if tests = rest; len(tests) == 0 {
			t.Logf("%s, %s: %d with another result that docs/tck.md explains", agent, transport, explained)
			return
		}
		t.Logf("%s, %s: %d tests with another result:\n%s", agent, transport, len(tests), differences(tests, one, other))
	}
	t.Errorf("%s, %s: not explained in docs/tck.md:\n  %s", agent, transport, strings.Join(tests, "\n  "))
}

// outcomes counts results, as "217 passed, 24 failed, 24 skipped".
func outcomes(results map[string]result) string {
	counts := map[string]int{}
	for _, r := range results {
		counts[r.outcome]++
	}
	var parts []string
	for _, outcome := range []string{"passed", "failed", "error", "skipped"} {
		if counts[outcome] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[outcome], outcome))
		}
	}
	return strings.Join(parts, ", ")
}

// explain counts the differences that have a reason, and gives the others.
func (k kit) explain(agent string, tests []string, one, other map[string]result, reasons []tckReason) (explained int, rest []string) {
	for _, test := range tests {
		if slices.ContainsFunc(reasons, func(r tckReason) bool {
			return r.explains(k.version, agent, test, one[test].outcome, other[test].outcome)
		}) {
			explained++
		} else {
			rest = append(rest, test)
		}
	}
	return explained, rest
}

// differences are lines about tests, with the TCK's own words.
func differences(tests []string, one, other map[string]result) string {
	var lines strings.Builder
	for _, test := range tests {
		fmt.Fprintf(&lines, "  %s: %s, through the gateway %s\n", test, one[test].outcome, other[test].outcome)
		for _, r := range []result{one[test], other[test]} {
			if r.message != "" {
				fmt.Fprintf(&lines, "    %s: %.600s\n", r.outcome, strings.Join(strings.Fields(r.message), " "))
			}
		}
	}
	return lines.String()
}

// run runs tests against an agent and gives their results by pytest's ids.
func (k kit) run(t *testing.T, transport, url string, tests []string) map[string]result {
	t.Helper()
	python, err := filepath.Abs(tckPython)
	if err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(t.TempDir(), "report.xml")
	args := slices.Concat([]string{"-m", "pytest"}, tests, k.options, []string{
		k.address + url, "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", "--junitxml=" + report,
	})
	if transport != "all" {
		args = append(args, "--transports="+transport)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longestRun)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, args...) //nolint:gosec // the commands above
	cmd.Dir = k.dir
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput() // it fails if a test does
	results := readReport(t, report)
	if ctx.Err() != nil {
		t.Fatalf("the TCK did not end within %s: a call to %s is not answered", longestRun, url)
	}
	if len(results) == 0 {
		t.Fatalf("the TCK ran no test: %v\n%s", err, out)
	}
	return results
}

// readReport reads a report of pytest in JUnit's form.
func readReport(t *testing.T, file string) map[string]result {
	t.Helper()
	type reason struct {
		Message string `xml:"message,attr"`
	}
	var report struct {
		Tests []struct {
			File    string  `xml:"file,attr"`
			Class   string  `xml:"classname,attr"`
			Name    string  `xml:"name,attr"`
			Failure *reason `xml:"failure"`
			Error   *reason `xml:"error"`
			Skipped *reason `xml:"skipped"`
		} `xml:"testsuite>testcase"`
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	if err := xml.Unmarshal(data, &report); err != nil {
		t.Fatal(err)
	}
	results := map[string]result{}
	for _, test := range report.Tests {
		module := strings.ReplaceAll(strings.TrimSuffix(test.File, ".py"), "/", ".")
		class := strings.ReplaceAll(strings.TrimPrefix(test.Class, module), ".", "::")
		r := result{outcome: "passed"}
		for outcome, why := range map[string]*reason{"failed": test.Failure, "error": test.Error, "skipped": test.Skipped} {
			if why != nil {
				r = result{outcome, why.Message}
			}
		}
		results[test.File+class+"::"+test.Name] = r
	}
	return results
}
