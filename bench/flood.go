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
	errs := make([]error, len(streams))
	var wg sync.WaitGroup
	for i, s := range streams {
		_ = s.conn.SetDeadline(time.Now().Add(l.options.time + 30*time.Second))
		wg.Go(func() {
			errs[i] = s.rest(nil)
			n.Add(int64(s.n))
		})
	}
	wg.Wait()
	f, err := m.stop(int(n.Load()))
	if err != nil {
		return nil, err
	}
	f["lost"], err = l.lost(errs)
	return f, err
}
