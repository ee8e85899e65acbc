package main

import (
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// growthCallers are callers who are there at once, each with a token of its own, which is
// verified in its first call.
var growthCallers = workload{
	name: "growth-callers", unit: "request", rounds: growthRounds,
	what:    "SendMessage by callers in turn, by how many there are at once, each with a token of its own",
	columns: append([]column{cpuColumn}, growthColumns...),
	growth:  &growth{of: "callers", sizes: []int{1, 10, 100, 1000, 10_000}, settle: manyCallers},
}

func manyCallers(st *stage, n int, _ *gatewaySettings) (crowd, error) {
	l := &lane{stage: st, subject: gateway}
	shots, err := l.callers(n, func(i int) (name, value string, err error) {
		token, err := st.issuer.Issue("caller-"+fleetName(i), demo.IssueOptions{Groups: []string{"finance"}, Scopes: []string{"billing.read"}})
		return "Authorization", "Bearer " + token, err
	})
	return crowd{each: shots}, err
}
