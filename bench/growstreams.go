package main

import (
	"fmt"
	"time"
)

// eventsEach is how many events all streams together have in a second, however many there
// are: what grows is only how many they are spread over.
const eventsEach = 1000

// growthStreams is how an event fares among many streams.
var growthStreams = workload{
	name: "growth-streams", unit: "event", rounds: 2,
	what: fmt.Sprintf("%d events a second on all streams together, by how many are open, HTTP/1.1 with TLS", eventsEach),
	columns: []column{
		cpuColumn,
		{key: "p50", title: "delay p50 µs"},
		{key: "p99", title: "delay p99 µs"},
		{key: "kib", title: "KiB/stream", decimals: 1},
		{key: "open", title: "CPU µs to open"},
		rssColumn, lostColumn,
	},
	growth: &growth{
		of: "streams", sizes: []int{1, 10, 100, 1000, 9000, 20_000}, most: mostStreams,
		settle: manyStreams, round: (*grown).stream,
	},
}

// mostStreams is how many there are descriptors for.
func mostStreams() int { return idleCount(many, descriptors()) }

func manyStreams(st *stage, _ int, _ *gatewaySettings) (crowd, error) {
	l := &lane{stage: st, subject: gateway}
	return crowd{each: []shot{{gateway.path, l.header(), l.unaryCall()}}}, nil
}

// stream opens the streams, lets each have its first event, and measures those that
// follow.
func (g *grown) stream() (figures, error) {
	before, err := g.running.rss()
	if err != nil {
		return nil, err
	}
	m, err := g.meter()
	if err != nil {
		return nil, err
	}
	pause := time.Second * time.Duration(g.n) / eventsEach
	streams, err := g.openAll(g.n, 1<<10, textEvents(pause))
	if err != nil {
		return nil, err
	}
	defer closeAll(streams)
	opened, err := m.stop(g.n)
	if err != nil {
		return nil, err
	}
	f, err := g.events(streams, pause)
	if err != nil || g.n < fewest {
		return f, err
	}
	f["open"] = opened["cpu"]
	if !g.opened { // later there is memory that is used again
		g.opened, f["kib"] = true, (f["rss"]*1024-float64(before))/float64(g.n)
	}
	return f, nil
}
