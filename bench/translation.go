package main

// translation is what it costs when caller and agent speak different versions,
// relative to the same gateway when they speak the same. Proxies do not translate.
var translation = workload{
	name: "translation", unit: "request", base: gateway.name,
	subjects: []string{gateway.name, gateway03.name, gateway10.name},
	what:     "SendMessage between A2A 0.3 and 1.0, HTTP/1.1 with TLS, closed loop",
	columns: []column{
		cpuColumn,
		{key: "cpu", title: "added µs", decimals: 1, beside: added},
		rateColumn,
	},
	round: closedLoop,
}
