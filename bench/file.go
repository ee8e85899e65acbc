package main

// fileSize is before base64, which makes it a third more.
const fileSize = 1 << 20

// file is a message with a part of 1 MiB: whoever copies the body pays here.
var file = workload{
	name: "file", unit: "request",
	what: "SendMessage with a file of 1 MiB in it, HTTP/1.1 with TLS, closed loop",
	columns: []column{
		cpuColumn, rateColumn,
		{key: "p50", title: "p50 µs"},
		{key: "p50", title: "added", beside: added},
		rssColumn,
	},
	round: func(l *lane) (figures, error) {
		return l.loop(min(l.options.connections, 8), fileCall(fileSize))
	},
}
