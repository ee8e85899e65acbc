package main

import "slices"

var unaryColumns = []column{cpuColumn, rateColumn, p50Column, p99Column, rssColumn}

// unary is the hot path: one call, one answer, one in flight on each of so many
// kept-alive connections.
var unary = workload{
	name: "unary", unit: "request", round: restThenLoop,
	columns: append(slices.Clone(unaryColumns), column{key: "rest", title: "at rest MiB", decimals: 1, beside: ratio}),
	what:    "SendMessage, HTTP/1.1 with TLS, closed loop",
}

// unaryH2 is the same over HTTP/2, on as few connections as the client likes.
var unaryH2 = workload{
	name: "unary-h2", unit: "request", columns: unaryColumns, round: closedLoop, h2: true,
	what: "SendMessage, HTTP/2 with TLS, closed loop",
}

// restThenLoop looks at what a process takes before it is called, and calls it.
func restThenLoop(l *lane) (figures, error) {
	rest, known, err := l.running.atRest(l.ctx)
	if err != nil {
		return nil, err
	}
	f, err := closedLoop(l)
	if err == nil && known {
		f["rest"] = rest
	}
	return f, err
}

func closedLoop(l *lane) (figures, error) {
	return l.loop(l.options.connections, l.unaryCall())
}

// loop measures a closed loop of one call.
func (l *lane) loop(connections int, body []byte) (figures, error) {
	return l.closed(l.client(connections, body))
}

// closed measures a closed loop of a client, which it closes.
func (l *lane) closed(c *client) (figures, error) {
	defer c.close()
	if err := c.warm(l.ctx); err != nil {
		return nil, err
	}
	m, err := l.meter()
	if err != nil {
		return nil, err
	}
	latencies, err := c.closed(l.ctx, l.options.time)
	if err != nil {
		return nil, err
	}
	f, err := m.stop(len(latencies))
	if err == nil {
		f.latencies(latencies)
	}
	return f, err
}
