package overload

// Rung is what has run out, and the error of a call that was shed for it: the name
// of the key below server.limits.
type Rung string

// The rungs. All but Requests and Streams, which are counted, are measured and stand until
// a measurement says otherwise.
const (
	Delay       Rung = "delay"
	SoftMemory  Rung = "softMemory"
	Memory      Rung = "memory"
	Requests    Rung = "requests"
	Streams     Rung = "streams"
	Descriptors Rung = "descriptors"
)

func (r Rung) Error() string {
	return "the gateway has too much to do (server.limits." + string(r) + ")"
}

// Measured are the rungs that can stand, from the first that is felt to the last.
func Measured() []Rung { return measured[:] }

var measured = [...]Rung{Delay, SoftMemory, Memory, Descriptors}

// set is which of the measured rungs stand.
type set uint32

func (s set) has(r Rung) bool { return s&bit(r) != 0 }

func (s set) with(r Rung, stands bool) set {
	if stands {
		return s | bit(r)
	}
	return s &^ bit(r)
}

func bit(r Rung) set {
	for i, m := range measured {
		if m == r {
			return 1 << i
		}
	}
	return 0
}

// list is nil for none.
func (s set) list() (all []Rung) {
	for _, r := range measured {
		if s.has(r) {
			all = append(all, r)
		}
	}
	return all
}
