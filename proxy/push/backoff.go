package push

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// tried is how often it was really tried to deliver an item. The queue counts also how
// often it was put back because its target was busy or out of order, so the number of the
// latest attempt stands in front of what that came to.
//
// An item without such a text, or with another one, has not been tried. The queue's own count
// would grow with each time that an item is put back, and would have targets that are busy given
// up.
func tried(it state.Item) int {
	text, ok := strings.CutPrefix(it.Error, "attempt ")
	number, _, found := strings.Cut(text, ": ")
	n, err := strconv.Atoi(number)
	if !ok || !found || err != nil || n < 0 {
		return 0
	}
	return n
}

// failed is what tried reads.
//
// failed writes it: "attempt 3: status 503".
func failed(n int, what string) string { return fmt.Sprintf("attempt %d: %s", n, what) }

// pause is the backoff: how long to wait after the n-th attempt, from 1 on, twice as long each time,
// less up to half by chance, so that what failed together does not come back together.
func (a Attempts) pause(n int) time.Duration {
	longest := a.Longest.Std()
	p := a.First.Std()
	for range n - 1 {
		if p >= longest/2 {
			p = longest
			break
		}
		p *= 2
	}
	p = min(p, longest)
	return p - rand.N(p/2+1) //nolint:gosec // nobody gains by guessing it
}

// after is when to try again: what the target asks for, within Longest, but no sooner
// than the pause; and once more when the time is over.
//
// The target asks by Retry-After (RFC 9110 §10.2.3).
func (a Attempts) after(n int, now, pushed time.Time, asked time.Duration) time.Time {
	p := max(a.pause(n), min(asked, a.Longest.Std()))
	due := now.Add(p)
	if end := pushed.Add(a.For.Std()); due.After(end) && now.Before(end) {
		return end
	}
	return due
}

// over reports whether it has been tried long enough.
func (a Attempts) over(now, pushed time.Time) bool { return !now.Before(pushed.Add(a.For.Std())) }
