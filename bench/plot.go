package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Measures of a plot, in pixels. Its colours are between black and white, to be read on
// both.
const (
	plotWidth, plotHeight = 560, 260
	plotLeft, plotRight   = 52, 16
	plotTop, plotBottom   = 40, 44

	plotInk  = "#808080"
	plotLine = "#3d85c6"
	plotMore = "#d98a2b"
)

// series is one line of a plot.
type series struct {
	name   string // "" for the only one
	colour string
	at     []float64 // sizes
	values []float64
}

// series are those of a growing workload: CPU by size.
func (r *record) series(w workload) []series {
	var all []series
	for _, c := range w.columns {
		if c.decimals == 0 || c.beside != ratio || c.key == "rss" {
			continue
		}
		s := series{name: strings.TrimSpace(strings.TrimSuffix(c.title, cpuColumn.title)), colour: []string{plotLine, plotMore}[len(all)%2]}
		for _, n := range w.growth.sizes {
			if row := r.row(w.name, fmt.Sprint(n)); row != nil && row.Figures[c.key] != nil {
				s.at, s.values = append(s.at, float64(n)), append(s.values, median(row.Figures[c.key]))
			}
		}
		if len(s.at) > 1 {
			all = append(all, s)
		}
	}
	return all
}

// plot draws CPU by size, the sizes in steps of equal ratios; "" for a workload that did
// not run at two sizes.
func (r *record) plot(w workload) string {
	all := r.series(w)
	if len(all) == 0 {
		return ""
	}
	most, last := 0.0, 1.0
	for _, s := range all {
		most, last = max(most, slices.Max(s.values)), max(last, s.at[len(s.at)-1])
	}
	step := niceStep(most * 1.1)
	top := math.Ceil(most*1.1/step) * step
	x := func(n float64) float64 {
		return plotLeft + (plotWidth-plotLeft-plotRight)*math.Log(n)/math.Log(last)
	}
	y := func(v float64) float64 { return plotHeight - plotBottom - (plotHeight-plotTop-plotBottom)*v/top }
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%[1]d" height="%[2]d" font-family="sans-serif" font-size="12" fill="%[3]s">`+"\n",
		plotWidth, plotHeight, plotInk)
	_, _ = fmt.Fprintf(&b, "<title>CPU µs per %s by %s</title>\n", w.unit, w.growth.of)
	text(&b, plotLeft, 20, "start", fmt.Sprintf("CPU µs per %s by number of %s", w.unit, w.growth.of))
	for v := 0.0; v <= top; v += step {
		_, _ = fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="%s" stroke-opacity=".35"/>`+"\n", plotLeft, y(v), plotWidth-plotRight, plotInk)
		text(&b, plotLeft-8, y(v)+4, "end", number(v, 0))
	}
	for _, n := range all[0].at {
		text(&b, x(n), plotHeight-plotBottom+18, "middle", number(n, 0))
	}
	for i, s := range all {
		s.draw(&b, x, y)
		if s.name != "" || len(all) > 1 {
			_, _ = fmt.Fprintf(&b, `<g fill="%s">`, s.colour)
			text(&b, plotLeft+float64(i)*120, plotHeight-8, "start", map[bool]string{true: "in turn", false: s.name}[s.name == ""])
			b.WriteString("</g>\n")
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func text(b *strings.Builder, x, y float64, anchor, s string) {
	_, _ = fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, s)
}

// draw makes a line with its points.
func (s series) draw(b *strings.Builder, x, y func(float64) float64) {
	var path strings.Builder
	for i, n := range s.at {
		_, _ = fmt.Fprintf(&path, "%s%.1f %.1f", map[bool]string{true: "M", false: "L"}[i == 0], x(n), y(s.values[i]))
		_, _ = fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x(n), y(s.values[i]), s.colour)
	}
	_, _ = fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path.String(), s.colour)
}

// niceStep divides what there is into about four, at round numbers.
func niceStep(most float64) float64 {
	step := math.Pow(10, math.Floor(math.Log10(most/4)))
	for _, times := range []float64{1, 2, 2.5, 5, 10} {
		if most/(step*times) <= 5 {
			return step * times
		}
	}
	return step * 10
}
