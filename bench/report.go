package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// table is one workload's results, ready to print: the first line is the head.
type table struct {
	workload workload
	lines    [][]string
}

// tables are in the order of workloads; those that did not run are left out.
func (r *record) tables() []table {
	var all []table
	for _, w := range workloads {
		w.columns = slices.DeleteFunc(slices.Clone(w.columns), func(c column) bool { return !r.has(w, c) })
		t := table{workload: w, lines: [][]string{{"subject"}}}
		for _, c := range w.columns {
			title := c.title
			if c.beside == ratio {
				title += " (×)"
			}
			t.lines[0] = append(t.lines[0], title)
		}
		if w.growth != nil {
			t.lines[0][0] = w.growth.of
		}
		for _, name := range r.names(w) {
			if row := r.row(w.name, name); row != nil {
				t.lines = append(t.lines, r.line(w, row))
			}
		}
		if len(t.lines) > 1 {
			all = append(all, t)
		}
	}
	return all
}

// has reports whether there is any figure for a column: an older run has none for those that came later.
func (r *record) has(w workload, c column) bool {
	return slices.ContainsFunc(r.Rows, func(row *row) bool { return row.Workload == w.name && len(row.Figures[c.key]) > 0 })
}

func (r *record) line(w workload, of *row) []string {
	line := []string{w.title(of.Subject)}
	for _, c := range w.columns {
		relative := r.relative(w, of.Subject, c)
		v, ok := of.Figures[c.key]
		cell := "–"
		switch {
		case !ok:
		case c.beside == apiece && relative == nil:
		case (c.beside == added || c.beside == apiece) && relative != nil:
			cell = fmt.Sprintf("%+.*f", c.decimals, median(relative))
		case c.beside == ratio && relative != nil:
			cell = fmt.Sprintf("%s (%.2f)", number(median(v), c.decimals), median(relative))
		case c.beside == alone, c.beside == ratio:
			cell = number(median(v), c.decimals)
		}
		line = append(line, cell)
	}
	return line
}

// title is what a row is called.
func (w workload) title(name string) string {
	if n, err := strconv.Atoi(name); err == nil && w.growth != nil {
		return number(float64(n), 0)
	}
	return name
}

// number has a comma between thousands.
func number(v float64, decimals int) string {
	whole, rest, _ := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return sign + whole + rest
}

// heading says what a table shows.
func (t table) heading() string {
	return fmt.Sprintf("%s: %s; per %s, × is to %s", t.workload.name, t.workload.what, t.workload.unit, t.workload.baseline())
}

// about says what ran, when, and on what, in one line each.
func (r *record) about() []string {
	s := r.Settings
	lines := []string{
		fmt.Sprintf("%s, commit %s; %s, %d cores, Linux %s", r.Date.Format("2006-01-02 15:04 UTC"), r.Commit, r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel),
		fmt.Sprintf("at most %d rounds of %s; %d connections, %s requests a second, %s active and %s idle streams; medians",
			s.Rounds, s.Time, s.Connections, number(float64(s.Rate), 0), number(float64(s.Streams), 0), number(float64(s.Idle), 0)),
	}
	var versions []string
	for _, name := range slices.Sorted(maps.Keys(r.Versions)) {
		versions = append(versions, name+" "+r.Versions[name])
	}
	lines = append(lines, strings.Join(versions, "; "))
	for _, name := range slices.Sorted(maps.Keys(r.Notes)) {
		lines = append(lines, name+" "+r.Notes[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.LeftOut)) {
		reason, _, _ := strings.Cut(r.LeftOut[name], "\n")
		lines = append(lines, name+" left out: "+reason)
	}
	return lines
}

// text prints a run for a terminal.
func (r *record) text(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(out, strings.Join(r.about(), "\n"))
	for _, t := range r.tables() {
		_, _ = fmt.Fprintf(out, "\n%s\n", t.heading())
		for _, line := range t.lines {
			_, _ = fmt.Fprintln(w, strings.Join(line, "\t")+"\t")
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if lines := judged(false, r); len(lines) > 1 {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		_, _ = fmt.Fprint(out, "\ngoals\n")
		for _, line := range lines {
			_, _ = fmt.Fprintln(w, strings.Join(line, "\t"))
		}
		return w.Flush()
	}
	return nil
}

// benchmarks prints a run as Go benchmarks, a line a round, for benchstat: ratios to
// the base of the same round, since microseconds compare with nothing that ran at
// another time.
func (r *record) benchmarks(out io.Writer) error {
	var b strings.Builder
	for _, w := range workloads {
		for _, c := range w.columns {
			if c.beside != ratio {
				continue
			}
			better := "lower"
			if c.higher {
				better = "higher"
			}
			unit := c.key + "/" + w.baseline()
			if line := "Unit " + unit + " better=" + better + "\n"; !strings.Contains(b.String(), line) {
				b.WriteString(line)
			}
			for _, name := range r.names(w) {
				if name == w.baseline() {
					continue
				}
				for _, v := range r.relative(w, name, c) {
					_, _ = fmt.Fprintf(&b, "Benchmark%s/%s 1 %.4f %s\n", strings.ToUpper(w.name[:1])+w.name[1:], name, v, unit)
				}
			}
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}
