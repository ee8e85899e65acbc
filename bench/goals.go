package main

import (
	"fmt"
	"slices"
	"strconv"
)

// goal is a figure of the gateway's that is to be no more than a limit.
type goal struct {
	workload workload
	subject  string
	key      string // of the figure
	text     string // the figure for people
	to       comparison
	base     string // what it is compared with; "" for the workload's own base
	limit    float64
	unit     string
}

// comparison is how a goal is compared with its base.
type comparison int

const (
	times    comparison = iota // as a ratio
	over                       // by what it is more
	itself                     // not at all
	overBoth                   // what it is over direct, as a ratio to what the base is over direct
)

// goals in the order in which they are printed.
func goals() []goal {
	gw := gateway.name
	list := []goal{
		{workload: unary, subject: gw, key: "cpu", text: "CPU per request", limit: 0.75},
		{workload: unaryH2, subject: gw, key: "cpu", text: "CPU per request", limit: 0.85},
		{workload: unary, subject: gw, key: "cpu", text: "CPU per request", base: nginx.name, limit: 1.8},
		{workload: unary, subject: gw, key: "cpu", text: "CPU per request", base: haproxyJWT.name, limit: 0.40},
		{workload: unary, subject: gw, key: "cpu", text: "CPU per request", base: caddy.name, limit: 0.40},
		{workload: unary, subject: gatewaySQLite.name, key: "cpu", text: "CPU per request", base: gw, limit: 1.3},
		{workload: unary, subject: gw, key: "rss", text: "resident memory after load", to: itself, limit: 60, unit: "MiB"},
		{workload: unary, subject: gw, key: "rest", text: "resident memory before the first call", to: itself, limit: 35, unit: "MiB"},
		{workload: unaryOne, subject: gatewaySQLite.name, key: "cpu", text: "CPU per request", limit: 1.4},
		{workload: rate, subject: gw, key: "p50", text: "p50", to: over, base: direct.name, limit: 150, unit: "µs"},
		{workload: rate, subject: gw, key: "p99", text: "p99", to: over, base: direct.name, limit: 300, unit: "µs"},
		{workload: idlePlain, subject: gw, key: "kib", text: "memory of a stream", to: itself, limit: 10, unit: "KiB"},
		{workload: idle, subject: gw, key: "kib", text: "memory of a stream", to: itself, limit: 18, unit: "KiB"},
		{workload: idleH2, subject: gw, key: "kib", text: "memory of a stream", to: itself, limit: 20, unit: "KiB"},
		{workload: active, subject: gw, key: "cpu", text: "CPU per event", limit: 1},
		{workload: flood, subject: gw, key: "cpu", text: "CPU per event", limit: 1},
		{workload: file, subject: gw, key: "cpu", text: "CPU per request", limit: 1.4},
		{workload: file, subject: gw, key: "p50", text: "p50 over direct", to: overBoth, limit: 1.2},
		{workload: grpcUnary, subject: gw, key: "cpu", text: "CPU per request", limit: 1},
		{workload: grpcStream, subject: gw, key: "cpu", text: "CPU per event", limit: 1},
		{workload: translation, subject: gateway03.name, key: "cpu", text: "CPU per request", to: over, limit: 10, unit: "µs"},
		{workload: translation, subject: gateway10.name, key: "cpu", text: "CPU per request", to: over, limit: 10, unit: "µs"},
		{workload: guards, subject: gatewayGuards.name, key: "cpu", text: "CPU per request and answer", to: over, limit: 10, unit: "µs"},
		{workload: start, subject: gw, key: "ready", text: "ready after", to: itself, limit: 0.3, unit: "s"},
		{workload: start, subject: gw, key: "size", text: "stripped program", to: itself, limit: 40, unit: "MB"},
		{workload: start, subject: gw, key: "minimal", text: "stripped program without add-ons", to: itself, limit: 20, unit: "MB"},
		{workload: growthAgents, key: "single", text: "CPU per request to one agent", limit: mostGrowth},
	}
	for _, w := range []workload{growthAgents, growthRules, growthSkills, growthKeys, growthCallers} {
		list = append(list, goal{workload: w, key: "cpu", text: "CPU per request", limit: mostGrowth})
	}
	for i, g := range list {
		if g.base == "" {
			list[i].base = g.workload.baseline()
		}
		if grown := g.workload.growth; grown != nil {
			list[i].subject = strconv.Itoa(grown.sizes[len(grown.sizes)-1])
		}
	}
	return list
}

// mostGrowth is how much a call may cost at the largest size, relative to the smallest.
const mostGrowth = 1.2

// measured is the median of the rounds; false where a run has not all that it takes.
func (g *goal) measured(r *record) (float64, bool) {
	of, to, zero := r.row(g.workload.name, g.subject), r.row(g.workload.name, g.base), r.row(g.workload.name, direct.name)
	if of == nil || g.to != itself && to == nil || g.to == overBoth && zero == nil {
		return 0, false
	}
	var v []float64
	for i, a := range of.Figures[g.key] {
		b, at := value(to, g.key, i), value(zero, g.key, i)
		switch {
		case g.to == itself:
			v = append(v, a)
		case b == 0:
		case g.to == over:
			v = append(v, a-b)
		case g.to == overBoth && b > at:
			v = append(v, (a-at)/(b-at))
		case g.to == times:
			v = append(v, a/b)
		}
	}
	return median(v), len(v) > 0
}

func value(r *row, key string, round int) float64 {
	if r == nil || round >= len(r.Figures[key]) {
		return 0
	}
	return r.Figures[key][round]
}

// figure says what the goal is about.
func (g *goal) figure() string {
	subject := g.workload.title(g.subject)
	if g.workload.growth != nil {
		return fmt.Sprintf("%s, %s %s", g.text, subject, g.workload.growth.of)
	}
	if g.subject == gateway.name {
		return g.text
	}
	return g.text + ", " + subject
}

// amount is a value of the goal's with what it is relative to.
func (g *goal) amount(v float64) string {
	switch g.to {
	case over:
		return fmt.Sprintf("%s %s over %s", number(v, 0), g.unit, g.base)
	case itself:
		decimals := 1
		if g.limit < 1 {
			decimals = 2 // else what is a little too much would read as the limit
		}
		return fmt.Sprintf("%s %s", number(v, decimals), g.unit)
	case times, overBoth:
	}
	if g.workload.growth != nil {
		return fmt.Sprintf("%.2f × at %s", v, g.workload.title(g.base))
	}
	return fmt.Sprintf("%.2f × %s", v, g.base)
}

// judged is a table of the goals, and of what runs made of them. Those that none has
// measured have a dash in it, or are left out.
func judged(all bool, runs ...*record) [][]string {
	lines := [][]string{{"workload", "figure", "goal", "measured", "met"}}
	for _, g := range goals() {
		line := []string{g.workload.name, g.figure(), "≤ " + g.amount(g.limit), "–", "–"}
		found := slices.ContainsFunc(runs, func(r *record) bool {
			v, ok := g.measured(r)
			if ok {
				line[3], line[4] = g.amount(v), map[bool]string{true: "yes", false: "no"}[v <= g.limit]
			}
			return ok
		})
		if found || all {
			lines = append(lines, line)
		}
	}
	return lines
}
