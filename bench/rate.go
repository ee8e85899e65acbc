package main

// rate is how long callers wait at a load that everything here can carry. In a closed
// loop whoever is slow is asked less, and its latency says little.
var rate = workload{
	name: "rate", unit: "request", round: openLoop,
	what: "SendMessage at a fixed rate, HTTP/1.1 with TLS, open loop",
	columns: []column{
		{key: "p50", title: "p50 µs"},
		{key: "p50", title: "added", beside: added},
		{key: "p99", title: "p99 µs"},
		{key: "p99", title: "added", beside: added},
		cpuColumn,
	},
}

func openLoop(l *lane) (figures, error) {
	c := l.client(l.options.connections, l.unaryCall())
	defer c.close()
	if err := c.warm(l.ctx); err != nil {
		return nil, err
	}
	m, err := l.meter()
	if err != nil {
		return nil, err
	}
	latencies, err := c.open(l.ctx, l.options.rate, l.options.time)
	if err != nil {
		return nil, err
	}
	f, err := m.stop(len(latencies))
	if err == nil {
		f.latencies(latencies)
	}
	return f, err
}
