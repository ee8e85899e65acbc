package main

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// pause is between two events of an active stream.
const pause = time.Second

// active is a fleet at work: many streams, each with an event now and then, which
// has to pass at once.
var active = workload{
	name: "active", unit: "event", rounds: 3, streams: true,
	what: "many streams with one event a second each, HTTP/1.1 with TLS",
	columns: []column{
		cpuColumn,
		{key: "p50", title: "delay p50 µs", beside: ratio},
		{key: "p99", title: "delay p99 µs", beside: ratio},
		rssColumn, lostColumn,
	},
	round: activeStreams,
}

func activeStreams(l *lane) (figures, error) {
	streams, err := l.openAll(l.options.streams, 1<<10, textEvents(pause))
	if err != nil {
		return nil, err
	}
	defer closeAll(streams)
	return l.events(streams, pause)
}

// events measures what passes on the streams, and ends them.
func (l *lane) events(streams []*stream, pause time.Duration) (figures, error) {
	long := max(2*l.options.time, 2*pause)
	d := &delays{}
	ended := d.follow(streams, time.Now().Add(pause+long+30*time.Second))
	wait(l.ctx, pause) // every stream has its phase
	m, err := l.meter()
	if err != nil {
		return nil, err
	}
	d.counting.Store(true)
	wait(l.ctx, long)
	d.counting.Store(false)
	f, err := m.stop(int(d.n.Load()))
	if err := errors.Join(err, l.endStreams(), l.ctx.Err()); err != nil {
		return nil, err
	}
	if f["lost"], err = l.lost(ended()); err != nil {
		return nil, err
	}
	f.latencies(slices.Concat(d.all...))
	return f, nil
}

// delays are the times between the agent's writing of an event and its arrival.
type delays struct {
	counting atomic.Bool
	n        atomic.Int64
	all      [][]time.Duration // of each stream
}

// follow reads all streams; the function it returns waits for their ends, and says what is wrong with each.
func (d *delays) follow(streams []*stream, deadline time.Time) (ended func() []error) {
	d.all = make([][]time.Duration, len(streams))
	errs := make([]error, len(streams))
	var wg sync.WaitGroup
	for i, s := range streams {
		_ = s.conn.SetDeadline(deadline)
		wg.Go(func() {
			errs[i] = s.rest(func(data []byte) {
				if at, ok := sentAt(data); ok && d.counting.Load() {
					d.n.Add(1)
					d.all[i] = append(d.all[i], time.Since(at))
				}
			})
		})
	}
	return func() []error {
		wg.Wait()
		return errs
	}
}
