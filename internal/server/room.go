package server

// room is how many connections there may be.
type room struct {
	most  int    // that are served
	told  int    // more that are answered 503, for every one of them takes a descriptor
	limit string // whose key says so
}

// kept is how many descriptors are for files, sockets and what agents are asked beside
// calls.
const kept = 64

// permitted is how many descriptors there may be, of those that the system permits; 0 for
// any number.
func (l *Limits) permitted(bySystem int) int {
	if l.Descriptors > 0 && (bySystem == 0 || l.Descriptors < bySystem) {
		return l.Descriptors
	}
	return bySystem
}

// room is what the limits and the descriptors of the process leave.
func (l Limits) room(permitted int) room {
	r := room{l.Connections, reserve, "connections"}
	permitted = l.permitted(permitted)
	if permitted == 0 {
		return r
	}
	free := max(permitted-kept, 4)
	told := min(reserve, free/4)
	if most := (free - told) / 2; most < r.most {
		r = room{most, told, "descriptors"}
	}
	return r
}
