package main

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Between these lines of a page stands what a run comes to, for who wants to know no more.
const (
	beginGlance = "<!-- at a glance: go run -C bench . -docs ../docs/performance.md -->"
	endGlance   = "<!-- end of at a glance -->"
)

// glancePlot is the file of the picture, beside the records.
const glancePlot = "at-a-glance.svg"

// criterion is one thing that proxies are chosen by, made of a figure.
type criterion struct {
	title string
	short string // above the bars
	of    func(r *record, subject string) (float64, bool)
}

// criteria are in the words of who runs a proxy: how many calls a core takes, what callers wait for, how
// many streams fit.
var criteria = []criterion{
	{
		"calls a second and core", "calls a second and core, HTTP/1.1 with TLS",
		func(r *record, subject string) (float64, bool) { return r.inverse(unary.name, subject, "cpu", 1e6) },
	},
	{
		"added latency, µs", "latency that is added at 1,000 calls a second, median, µs (less is better)",
		func(r *record, subject string) (float64, bool) {
			for _, c := range rate.columns {
				if c.key == "p50" && c.beside == added {
					v := r.relative(rate, subject, c)
					return median(v), len(v) > 0
				}
			}
			return 0, false
		},
	},
	{
		"open streams per GiB", "idle streams of events per GiB of memory, with TLS",
		func(r *record, subject string) (float64, bool) { return r.inverse(idle.name, subject, "kib", 1<<20) },
	},
}

// inverse is how many times a figure fits into something.
func (r *record) inverse(workload, subject, key string, into float64) (float64, bool) {
	row := r.row(workload, subject)
	if row == nil || median(row.Figures[key]) <= 0 {
		return 0, false
	}
	return into / median(row.Figures[key]), true
}

// compared are the subjects of a run that have figures for most of the criteria.
func (r *record) compared() (names []string) {
	for _, name := range r.names(unary) {
		have := 0
		for _, c := range criteria {
			if _, ok := c.of(r, name); ok {
				have++
			}
		}
		if have*2 > len(criteria) && name != direct.name {
			names = append(names, name)
		}
	}
	return names
}

// glance is the picture and the table, "" for a run without.
func (r *record) glance(folder string) string {
	names := r.compared()
	if len(names) == 0 {
		return ""
	}
	lines := [][]string{{"proxy"}}
	for _, c := range criteria {
		lines[0] = append(lines[0], c.title)
	}
	for _, name := range names {
		line := []string{name}
		for _, c := range criteria {
			cell := "–"
			if v, ok := c.of(r, name); ok {
				cell = number(v, 0)
			}
			line = append(line, cell)
		}
		lines = append(lines, line)
	}
	return fmt.Sprintf("\n![Calls a second and core, added latency and open streams per GiB, of each proxy](%s/%s)\n\n%s\n",
		folder, glancePlot, grid(lines, "---:"))
}

// Measures of the picture, in pixels.
const (
	barHeight, barGap = 14, 6
	barLeft           = 110
	panelHead         = 34
)

// glancePicture draws the criteria as bars, "" for a run without.
func (r *record) glancePicture() string {
	names := r.compared()
	if len(names) == 0 {
		return ""
	}
	panel := panelHead + len(names)*(barHeight+barGap)
	height := len(criteria)*panel + barGap
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="sans-serif" font-size="12" fill="%[3]s">`+"\n",
		plotWidth, height, plotInk)
	b.WriteString("<title>The gateway beside other proxies</title>\n")
	for i, c := range criteria {
		c.draw(&b, r, names, float64(i*panel))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws one criterion below a line.
func (c criterion) draw(b *strings.Builder, r *record, names []string, top float64) {
	text(b, 0, top+22, "start", c.short)
	most := 0.0
	for _, name := range names {
		v, _ := c.of(r, name)
		most = max(most, v)
	}
	for i, name := range names {
		y := top + panelHead + float64(i*(barHeight+barGap))
		text(b, barLeft-8, y+barHeight-3, "end", name)
		v, ok := c.of(r, name)
		if !ok {
			text(b, barLeft, y+barHeight-3, "start", "not measured")
			continue
		}
		colour, opacity := plotInk, ".5"
		if strings.HasPrefix(name, gateway.name) {
			colour, opacity = plotLine, "1"
		}
		width := (plotWidth - barLeft - 70) * max(v, 0) / most
		_, _ = fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s" fill-opacity="%s"/>`+"\n", barLeft, y, width, barHeight, colour, opacity)
		text(b, barLeft+width+6, y+barHeight-3, "start", number(v, 0))
	}
}

// addGlance fills in the newest run that has figures for it, and its picture.
func addGlance(text, page string, runs []*record, made map[string]string) (string, error) {
	dir, shown := strings.TrimSuffix(page, ".md"), noResults
	for _, r := range runs {
		if s := r.glance(filepath.Base(dir)); s != "" {
			shown, made[filepath.Join(dir, glancePlot)] = s, r.glancePicture()
			break
		}
	}
	return fill(text, beginGlance, endGlance, shown)
}
