package audit

import (
	"errors"
	"time"

	"github.com/a2a-gateway/a2a-gateway/audit/segment"
)

// errDays is about days that were asked for the wrong way round.
var errDays = errors.New("the last day is before the first: it ends before it begins")

// period is the days whose files are verified, YYYY-MM-DD as the names of files have them, in UTC; ""
// for no bound.
type period struct{ first, last string }

// periodOf is the days from one time to another, of which zero times are no bounds.
func periodOf(from, to time.Time) (p period, err error) {
	if !from.IsZero() {
		p.first = segment.DayOf(from)
	}
	if !to.IsZero() {
		p.last = segment.DayOf(to)
	}
	if p.last != "" && p.last < p.first {
		return p, errDays
	}
	return p, nil
}

// bounded reports whether any files may be left out.
func (p period) bounded() bool { return p != period{} }

// before reports whether a file is of a day before these. Of a name that is none that is not known,
// and it counts as one of these.
func (p period) before(file string) bool {
	n, ok := segment.ParseName(file)
	return ok && n.Day < p.first
}

// after reports whether a file is of a day after these.
func (p period) after(n segment.Name) bool { return p.last != "" && n.Day > p.last }
