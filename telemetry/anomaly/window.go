package anomaly

// parts is how many parts a window has: what happened counts until the part in which it
// did is over and a whole window has followed, less one part.
const parts = 8

// ring counts what happened within a window, of which it holds a count for every slice.
type ring struct {
	at  int64 // the slice that is counted in
	per [parts]uint32
	sum uint32
}

// turn lets go of what has left the window. It is done by who looks or counts, so that nothing has to
// go through all counts by the clock.
func (r *ring) turn(at int64) {
	if at-r.at >= parts {
		*r = ring{at: at}
		return
	}
	for r.at < at {
		r.at++
		r.sum -= r.per[r.at%parts]
		r.per[r.at%parts] = 0
	}
}

// add counts one more and returns how many there are.
func (r *ring) add(at int64) int {
	r.turn(at)
	r.per[r.at%parts]++
	r.sum++
	return int(r.sum)
}

// take back one that was counted in a slice, unless that has left the window, or the counts were
// made anew since and have none there.
func (r *ring) take(slice, at int64) {
	r.turn(at)
	if i := slice % parts; r.at-slice < parts && r.per[i] > 0 {
		r.per[i]--
		r.sum--
	}
}

// tally is what is held of a caller of whom something is counted.
type tally struct {
	ring
	on *episode
}

func (t *tally) count(at int64) int {
	t.turn(at)
	return int(t.sum)
}

func (t *tally) episode() **episode { return &t.on }

// Places that a sketch has: sets of eight, as in a table.
const (
	sketchSets = 32
	places     = sketchSets * ways
)

// sketch counts the different things that happened within a window, in a space that does
// not grow with them. Of each it knows a part of its hash, and when it was last seen. One
// pair in two million is taken for one thing; beyond a hundred some are forgotten too early.
type sketch struct {
	ring                  // things, by the slice in which they were last seen
	tags   [places]uint16 // of the hashes
	stamps [places]uint8  // that slice modulo parts, and 1; 0 for a place that is free
	on     *episode
}

func (s *sketch) episode() **episode { return &s.on }

// turn forgets things whose slice has left the window.
func (s *sketch) turn(at int64) {
	switch gone := at - s.at; {
	case gone <= 0:
		return
	case gone >= parts:
		clear(s.stamps[:])
	default:
		var over [parts + 1]bool
		for slice := s.at + 1; slice <= at; slice++ {
			over[slice%parts+1] = true
		}
		for i, stamp := range s.stamps {
			if over[stamp] {
				s.stamps[i] = 0
			}
		}
	}
	s.ring.turn(at)
}

// add counts a thing and returns how many there are. One that is known moves to the slice of now, so
// that it counts for as long as it is seen.
func (s *sketch) add(hash uint64, at int64) int {
	s.turn(at)
	i, slot := s.place(hash), s.at%parts
	if old := s.stamps[i]; old != 0 {
		s.per[old-1]--
		s.sum--
	}
	s.tags[i], s.stamps[i] = tagOf(hash), uint8(slot)+1 //nolint:gosec // the number of a part
	s.per[slot]++
	s.sum++
	return int(s.sum)
}

// place finds where a thing is, or is to be: in a free place, or in that of another which
// was not seen for longest.
func (s *sketch) place(hash uint64) int {
	tag, from := tagOf(hash), int(hash%sketchSets)*ways
	best, rank := from, int64(-1)
	for i := from; i < from+ways; i++ {
		stamp := s.stamps[i]
		age := int64(parts) // of a free place
		if stamp != 0 {
			if s.tags[i] == tag {
				return i
			}
			age = (s.at - int64(stamp-1) + parts) % parts
		}
		if age > rank {
			best, rank = i, age
		}
	}
	return best
}

// tagOf is the part of a hash that a place keeps. It is not the part by which the place was chosen.
func tagOf(hash uint64) uint16 { return uint16(hash >> 48) }

func (s *sketch) count(at int64) int {
	s.turn(at)
	return int(s.sum)
}
