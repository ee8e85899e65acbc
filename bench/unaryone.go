package main

// unaryOne is a caller who waits for each answer before the next call. Nothing can be shared with
// other calls then, such as a write to the disk or a transaction, so that what costs the same for one
// as for many shows here.
var unaryOne = workload{
	name: "unary-one", unit: "request", base: gateway.name, columns: unaryColumns,
	subjects: []string{gateway.name, gatewaySQLite.name},
	what:     "SendMessage on one connection, HTTP/1.1 with TLS, closed loop",
	round:    func(l *lane) (figures, error) { return l.loop(1, l.unaryCall()) },
}
