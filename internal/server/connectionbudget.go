package server

// connectionBudget is how many connections may be open at once, by server.limits.connections
// and by the file descriptors that the system permits the process (RLIMIT_NOFILE).
type connectionBudget struct {
	served  int    // connections whose requests are handled
	refused int    // more that are answered 503, for every one of them takes a descriptor
	limit   string // the key below server.limits that says so, for the metric of refusals
}

// keptDescriptors is how many descriptors are for files, sockets and what agents are asked
// beside calls.
const keptDescriptors = 64

// permitted is how many descriptors there may be, of those that the system permits; 0 for
// any number.
func (l *Limits) permitted(bySystem int) int {
	if l.Descriptors > 0 && (bySystem == 0 || l.Descriptors < bySystem) {
		return l.Descriptors
	}
	return bySystem
}

// budget is what the limits and the descriptors of the process leave. Of the descriptors that
// are not kept, each connection that is served takes two: its own, and that of its call to an
// agent. One that is refused calls nobody and takes one.
func (l Limits) budget(permitted int) connectionBudget {
	b := connectionBudget{l.Connections, reserve, "connections"}
	permitted = l.permitted(permitted)
	if permitted == 0 {
		return b
	}
	free := max(permitted-keptDescriptors, 4)
	refused := min(reserve, free/4)
	if served := (free - refused) / 2; served < b.served {
		b = connectionBudget{served, refused, "descriptors"}
	}
	return b
}
