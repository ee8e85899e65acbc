package limits

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// Exceeded is the error of Admit when a limit is reached.
type Exceeded struct {
	Name      string        // the limit's
	Reason    string        // what it bounds, in words that a caller may read
	After     time.Duration // when to come back; 0 when nobody can say
	Size      bool          // the call itself is too large (bytes); it will not succeed later
	Standings []Standing
}

// Error is for the log.
func (e *Exceeded) Error() string { return "limit " + e.Name + ": " + e.Reason }

// ErrUnavailable says that a limit could not be counted: with onLoss deny because the
// store cannot be reached, otherwise because this gateway has no room for more counts.
var ErrUnavailable = errors.New("the limits cannot be counted")

// Units of Standing, as the registry of draft-ietf-httpapi-ratelimit-headers has them.
// Tasks are none of it.
const (
	unitCalls = "concurrent-requests"
	unitTasks = "open-tasks"
)

// tooLarge is the reason of a limit of bytes, which is exceeded by the call alone.
const tooLarge = "the request is too large"

// reason says what a bound bounds, and nothing of who else it counts.
func (b *bound) reason() string {
	switch b.what {
	case boundRate:
		return "too many calls in a short time"
	case boundQuota:
		return "the calls of this " + b.per + " are used up"
	case boundConcurrency:
		return "too many calls at the same time"
	}
	return "too many open tasks"
}

// exceeded is the refusal of draws of which at least one had not enough: in the name of
// the first, to come back when all have.
func (a *admission) exceeded(got []state.Drawn) *Exceeded {
	e := &Exceeded{Standings: a.standings(got)}
	for i, g := range got {
		if g.OK || a.draws[i].Soft {
			continue
		}
		// The caller is told of one limit, and of a time when none of them is in the way.
		if e.Name == "" {
			e.Name, e.Reason = a.uses[i].of.src.Name, a.uses[i].reason()
		}
		e.After = max(e.After, g.Wait)
	}
	return e
}

// standings are those of the bounds that show themselves, the fullest first: of those that
// count what is the caller's, not what everybody does.
func (a *admission) standings(got []state.Drawn) []Standing {
	if !a.limiter.shows {
		return nil
	}
	var list []Standing
	for i, g := range got { // none where nothing was counted
		b := a.uses[i]
		if !b.of.shadow && a.draws[i].Limit == b.max && a.who.known(b.of.parts) {
			if list == nil {
				list = make([]Standing, 0, len(got)-i)
			}
			list = append(list, b.standing(g, a.now))
		}
	}
	// Clients that read one entry read the first: it is the one that will refuse them first.
	if len(list) > 1 {
		slices.SortStableFunc(list, func(a, b Standing) int {
			return cmp.Compare(float64(a.Left)/float64(a.Most), float64(b.Left)/float64(b.Most))
		})
	}
	return list
}

// standing is what a draw has left of a bound, for the headers of the answer.
func (b *bound) standing(got state.Drawn, now time.Time) Standing {
	s := Standing{Name: b.shown, Limit: b.max, Most: b.max, Left: got.Left, Reset: got.Reset}
	switch b.what {
	case boundRate:
		s.Limit, s.Window = b.units, b.window
	case boundQuota:
		s.Window = b.span(now)
	case boundConcurrency:
		s.Unit = unitCalls
	default:
		s.Unit = unitTasks
	}
	return s
}
