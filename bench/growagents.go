package main

// growthAgents is a fleet. Calls go to one agent of it, and to all in turn: then each has
// a connection of its own, and what the gateway knows of it has to come from memory.
var growthAgents = workload{
	name: "growth-agents", unit: "request", rounds: growthRounds,
	what: "SendMessage to agents in turn, and to one of them, by how many are configured",
	columns: append([]column{
		cpuColumn, {key: "single", title: "one agent CPU µs", decimals: 1, beside: ratio},
	}, growthColumns...),
	growth: &growth{of: "agents", sizes: []int{1, 10, 100, 1000, 10_000}, settle: manyAgents},
}

// growthRounds is how many rounds growing things have at most.
const growthRounds = 3

func manyAgents(st *stage, n int, s *gatewaySettings) (crowd, error) {
	s.agents = n
	l := &lane{stage: st, subject: gateway}
	header, body := l.header(), l.unaryCall()
	var c crowd
	for i := range n {
		c.each = append(c.each, shot{"/agents/" + fleetName(i), header, body})
	}
	c.single = c.each[n/2 : n/2+1]
	return c, nil
}
