package main

// guards is what it costs to look for secrets and personal data in a message and its answer, relative to
// the same gateway without guards. Nothing is found.
var guards = workload{
	name: "guards", unit: "request", base: gateway.name,
	subjects: []string{gateway.name, gatewayGuards.name},
	what:     "SendMessage through guards for secrets and personal data, HTTP/1.1 with TLS, closed loop",
	columns: []column{
		cpuColumn,
		{key: "cpu", title: "added µs", decimals: 1, beside: added},
		rateColumn,
	},
	round: closedLoop,
}
