package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Between these lines of a page stands what is made from a record.
const (
	beginResults = "<!-- results: go run -C bench . -docs ../docs/performance.md -->"
	endResults   = "<!-- end of results -->"
)

// Between these stand the goals.
const (
	beginGoals = "<!-- goals: go run -C bench . -docs ../docs/performance.md -->"
	endGoals   = "<!-- end of goals -->"
)

// document writes the newest records of the folder docs/performance into the page
// docs/performance.md, and plots beside them.
func document(page string) error {
	made, err := documented(page)
	if err != nil {
		return err
	}
	for path, content := range made {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { // no secret
			return err
		}
	}
	return nil
}

// documented is the page with the newest records in it, or word that there are none, and
// the plots that it shows, by path.
func documented(page string) (map[string]string, error) {
	content, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	dir, results, made := strings.TrimSuffix(page, ".md"), noResults, map[string]string{}
	paths, err := newest(dir)
	if err != nil {
		return nil, err
	}
	var runs []*record
	for i, path := range paths {
		r, err := load(path)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			results = ""
		}
		results += r.markdown(filepath.Base(path))
		for _, w := range workloads {
			if plot := r.drawn(w); plot != "" {
				made[filepath.Join(dir, w.name+".svg")] = plot
			}
		}
		runs = append(runs, r)
	}
	text, err := fill(string(content), beginResults, endResults, results)
	if err == nil {
		text, err = fill(text, beginGoals, endGoals, "\n"+grid(judged(true, runs...), ":---")+"\n")
	}
	if err == nil {
		text, err = addGlance(text, page, runs, made)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	made[page] = text
	return made, nil
}

const noResults = "\nNo run is recorded yet.\n\n"

// fill puts something between two lines of a page.
func fill(page, begin, end, results string) (string, error) {
	before, rest, ok := strings.Cut(page, begin+"\n")
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return "", fmt.Errorf("no line %q, or none %q after it", begin, end)
	}
	return before + begin + "\n" + results + end + after, nil
}

// grid is a table of Markdown; the first line is its head. The first column is at the left,
// others are as align says.
func grid(lines [][]string, align string) string {
	var b strings.Builder
	for i, line := range lines {
		_, _ = fmt.Fprintf(&b, "| %s |\n", strings.Join(line, " | "))
		if i == 0 {
			b.WriteString("| --- |" + strings.Repeat(" "+align+" |", len(line)-1) + "\n")
		}
	}
	return b.String()
}

// markdown is a run for a page that stands beside the folder of records.
func (r *record) markdown(name string) string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, "\nMeasured in one run, [all figures](performance/%s):\n\n", name)
	for _, line := range r.about() {
		_, _ = fmt.Fprintf(&b, "- %s\n", line)
	}
	for _, t := range r.tables() {
		_, _ = fmt.Fprintf(&b, "\n### %s\n\n%s; per %s, × is to %s.\n\n", t.workload.name, t.workload.what, t.workload.unit, t.workload.baseline())
		if r.drawn(t.workload) != "" {
			_, _ = fmt.Fprintf(&b, "![CPU per %s by number of %s](performance/%s.svg)\n\n", t.workload.unit, t.workload.growth.of, t.workload.name)
		}
		b.WriteString(grid(t.lines, "---:"))
	}
	b.WriteString("\n")
	return b.String()
}

// drawn is the plot of a workload, "" for one that has none.
func (r *record) drawn(w workload) string {
	if w.growth == nil {
		return ""
	}
	return r.plot(w)
}

// recorded does something with a record, or with the newest ones of a folder.
func recorded(path string, do func(*record) error) error {
	paths := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if paths, err = newest(path); err != nil {
			return err
		}
		if len(paths) == 0 {
			return fmt.Errorf("no run is recorded in %s", path)
		}
	}
	for _, path := range paths {
		r, err := load(path)
		if err != nil {
			return err
		}
		if err := do(r); err != nil {
			return err
		}
	}
	return nil
}
