package main

import (
	"errors"
	"io"
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
		rateColumn, rssColumn,
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
			read := 0
			for errs[i] == nil {
				_, errs[i] = s.event()
				read++
			}
			n.Add(int64(read))
			if errors.Is(errs[i], io.EOF) {
				errs[i] = nil
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return m.stop(int(n.Load()))
}
