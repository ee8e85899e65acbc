package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// floodStreams are at full speed at once.
const floodStreams = 4

// flood is what an event costs when there are always more: an agent that replays,
// or one that is fast.
var flood = workload{
	name: "flood", unit: "event", streams: true,
	what: "a few streams with events as fast as they pass, HTTP/1.1 with TLS",
	columns: []column{
		{key: "cpu", title: "CPU µs", decimals: 3, beside: ratio},
		rateColumn, rssColumn, lostColumn,
	},
	round: fullSpeed,
}

func fullSpeed(l *lane) (figures, error) {
	m, err := l.meter()
	if err != nil {
		return nil, err
	}
	streams, err := l.openAll(floodStreams, 32<<10, textFlood(l.options.time))
	if err != nil {
		return nil, err
	}
	defer closeAll(streams)
	var n atomic.Int64
	errs := inParallel(len(streams), func(i int) error {
		s := streams[i]
		_ = s.conn.SetDeadline(time.Now().Add(l.options.time + 30*time.Second))
		err := s.rest(nil)
		n.Add(int64(s.n))
		return err
	})
	f, err := m.stop(int(n.Load()))
	if err != nil {
		return nil, err
	}
	f["lost"], err = l.lost(errs)
	return f, err
}

// inParallel does something n times at once, and returns the error of each.
func inParallel(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errs
}
