package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/rogpeppe/go-internal/testscript"
)

// cmdLogged waits for a line of the gateway's log that has every given word, and
// prints its message: logged WORD….
func cmdLogged(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	var found string
	has := func() bool {
		for line := range strings.Lines(w.gateway.logged()) {
			if !slices.ContainsFunc(args, func(word string) bool { return !strings.Contains(line, word) }) {
				found = line
				return true
			}
		}
		return false
	}
	if neg {
		if has() {
			ts.Fatalf("logged: %s", found)
		}
		return
	}
	if !eventually(patience, has) {
		ts.Fatalf("not logged\n%s", w.gateway.logged())
	}
	_, _ = io.WriteString(ts.Stdout(), w.steady(found))
}

// cmdMetric waits until the sum of the series that have the labels is VALUE:
// metric NAME{label="value",…} VALUE, NAME without the prefix a2a_gateway_.
func cmdMetric(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 2 {
		ts.Fatalf("usage: metric NAME{LABELS} VALUE")
	}
	name, labels, _ := strings.Cut(strings.TrimSuffix(args[0], "}"), "{")
	var wanted []string
	if labels != "" {
		wanted = strings.Split(labels, ",")
	}
	want, err := strconv.ParseFloat(args[1], 64)
	ts.Check(err)
	var got float64
	if !eventually(patience, func() bool {
		got = scrape(ts, worldOf(ts).gateway, name, wanted...)
		return got == want
	}) {
		ts.Fatalf("%s is %v, not %v", args[0], got, want)
	}
}

// scrape sums the series of a metric that have every given label.
func scrape(ts *testscript.TestScript, p *process, name string, labels ...string) float64 {
	resp, err := http.Get(p.status + "/metrics") //nolint:noctx // a scrape of our own
	ts.Check(err)
	defer resp.Body.Close() // only read from
	sum := 0.0
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		series, value, _ := strings.Cut(in.Text(), " ")
		base, have, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		if base != "a2a_gateway_"+name {
			continue
		}
		if slices.ContainsFunc(labels, func(l string) bool { return !strings.Contains(","+have+",", ","+l+",") }) {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		ts.Check(err)
		sum += v
	}
	return sum
}

// cmdAudit prints fields of the audit record, a line per record:
// audit [-type TYPE] FIELD…. TYPE is call unless said; "-" stands for a field
// that a record does not have.
func cmdAudit(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w, kind := worldOf(ts), "call"
	if len(args) > 1 && args[0] == "-type" {
		kind, args = args[1], args[2:]
	}
	dir := filepath.Join(w.dir, "data", "audit")
	var records []map[string]any
	eventually(patience, func() bool { // a record may follow its answer by a moment
		records = auditRecords(ts, dir)
		return count(records, "call") >= int(w.sent.Load())
	})
	_ = ts.Stdout() // empty where there is no record, not what was there before
	for _, r := range records {
		if r["type"] != kind {
			continue
		}
		var fields []string
		for _, name := range args {
			value := "-"
			if v, ok := r[name]; ok {
				value = plain(v)
			}
			fields = append(fields, name+"="+value)
		}
		_, _ = fmt.Fprintln(ts.Stdout(), w.steady(strings.Join(fields, " ")))
	}
}

// plain is a value as it is read best: text without quotes, the rest as JSON.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func auditRecords(ts *testscript.TestScript, dir string) []map[string]any {
	files, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	ts.Check(err)
	slices.Sort(files)
	var records []map[string]any
	for _, f := range files {
		data, err := os.ReadFile(f)
		ts.Check(err)
		for line := range bytes.Lines(data) {
			var r map[string]any
			if json.Unmarshal(line, &r) == nil { // the last line may be half written
				records = append(records, r)
			}
		}
	}
	return records
}

func count(records []map[string]any, kind string) int {
	n := 0
	for _, r := range records {
		if r["type"] == kind {
			n++
		}
	}
	return n
}
