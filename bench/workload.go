package main

import (
	"slices"
	"strconv"
	"time"
)

// workload is one kind of traffic. To add one, write a file with it and put it
// into workloads.
type workload struct {
	name string
	what string // one line for people
	unit string // what is counted: request, event, stream
	h2   bool
	// plain takes TLS away between load generator and proxy.
	plain bool
	// streams wants answers with events, as they come.
	streams bool
	// fresh gives every round processes of its own, so that memory which was taken
	// before is not taken for the round's.
	fresh bool
	// rounds is how many there are at most; 0 for as many as were asked for.
	rounds int
	// subjects takes part; nil for every one that is not made for other workloads.
	subjects []string
	// growth measures the gateway at several sizes, in place of subjects and of round.
	growth *growth
	// base is the subject that ratios are to; "" for the floor.
	base    string
	columns []column
	// round does the work once through one subject.
	round func(*lane) (figures, error)
	// alone does it once in place of round, through a gateway that it starts itself.
	alone func(*stage) (figures, error)
}

// workloads in the order in which they run and are printed.
var workloads = []workload{
	unary, unaryOne, unaryH2, rate, active, idle, idlePlain, idleH2, flood, file, grpcUnary, grpcStream, translation, guards, start,
	growthAgents, growthRules, growthSkills, growthKeys, growthCallers, growthStreams,
}

// figures are what a round measured, by the key of a column.
type figures map[string]float64

// column is one figure of a workload, and how it is printed.
type column struct {
	key      string
	title    string
	decimals int
	higher   bool     // more is better
	beside   relation // what is printed beside the figure
}

// relation is what a figure is compared with.
type relation int

const (
	alone  relation = iota // with nothing
	ratio                  // with the workload's base: × 1.00
	added                  // with direct, or the base where there is no direct: + 100
	apiece                 // with the smallest size, by what there is more of
)

// Columns that several workloads have.
var (
	cpuColumn  = column{key: "cpu", title: "CPU µs", decimals: 1, beside: ratio}
	rateColumn = column{key: "rate", title: "per second", higher: true, beside: ratio}
	p50Column  = column{key: "p50", title: "p50 µs", beside: ratio}
	p99Column  = column{key: "p99", title: "p99 µs", beside: ratio}
	rssColumn  = column{key: "rss", title: "RSS MiB", decimals: 1, beside: ratio}
)

func (w workload) through(s subject) bool {
	return w.growth == nil && (w.subjects == nil || slices.Contains(w.subjects, s.name)) &&
		(s.workloads == nil || slices.Contains(s.workloads, w.name)) &&
		!slices.ContainsFunc(w.needs(), func(a ability) bool { return slices.Contains(s.cannot, a) })
}

// needs is what a subject has to be able to. TLS is not among it: who cannot is measured without, and
// a note says so.
func (w workload) needs() []ability {
	var needs []ability
	for a, needed := range map[ability]bool{
		canHTTP2: w.h2, canPlain: w.plain, canStreams: w.streams, canFiles: w.name == file.name,
	} {
		if needed {
			needs = append(needs, a)
		}
	}
	return needs
}

// baseline is the name of the subject that ratios are to.
func (w workload) baseline() string {
	switch {
	case w.growth != nil:
		return strconv.Itoa(w.growth.sizes[0])
	case w.base == "":
		return floor.name
	}
	return w.base
}

// names are those of its rows, in the order in which they are printed.
func (w workload) names() []string {
	if w.growth != nil {
		return w.growth.subjects()
	}
	var names []string
	for _, s := range subjects {
		names = append(names, s.name)
	}
	return names
}

// lane is one subject in one round of a workload.
type lane struct {
	*stage
	workload workload
	subject  subject
	running  *running
}

// meter measures what the proxy's processes take from now on.
type meter struct {
	lane  *lane
	cpu   time.Duration
	began time.Time
}

func (l *lane) meter() (*meter, error) {
	cpu, err := l.running.cpu()
	return &meter{lane: l, cpu: cpu, began: time.Now()}, err
}

// stop is what n units took. What runs in no process of its own, direct, has no
// CPU time and no memory.
func (m *meter) stop(n int) (figures, error) {
	took := time.Since(m.began)
	f := figures{"rate": float64(n) / took.Seconds()}
	if m.lane.running.pid == 0 {
		return f, nil
	}
	cpu, err := m.lane.running.cpu()
	if err != nil {
		return nil, err
	}
	rss, err := m.lane.running.rss()
	if err != nil {
		return nil, err
	}
	f["cpu"] = float64((cpu - m.cpu).Nanoseconds()) / 1000 / float64(max(n, 1))
	f["rss"] = float64(rss) / 1024
	return f, nil
}

// latencies adds the median and the 99th percentile of v, which it sorts.
func (f figures) latencies(v []time.Duration) {
	if len(v) == 0 {
		return
	}
	slices.Sort(v)
	f["p50"] = float64(v[len(v)/2].Nanoseconds()) / 1000
	f["p99"] = float64(v[len(v)*99/100].Nanoseconds()) / 1000
}
