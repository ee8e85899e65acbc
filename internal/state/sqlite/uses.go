package sqlite

import (
	"maps"
	"sync"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// mostUses bounds what waits to be written down. Above it uses are not noted; the next
// of the same record is.
const mostUses = 100_000

// uses are records that were used since that was last written down. A file that says
// who used what and when needs not be right to the second: a record's time is noted
// when it is a grain old (a minute, less if the retention is short), and a record lives
// for a grain more than its retention. A crash forgets what was not yet written.
type uses struct {
	retention time.Duration
	grain     time.Duration // how old the time of the last use may be

	mu  sync.Mutex
	due map[use]int64 // Unix seconds
}

// use names a record, or with kind 0 a step.
type use struct {
	kind                 state.Kind
	agent, id, extension string
}

// newUses bounds the writes that uses cost: a sixteenth of the retention, between a second and a
// minute, is how exact the time of the last use is.
func newUses(retention time.Duration) *uses {
	return &uses{
		retention: retention, grain: min(max(retention/16, time.Second), time.Minute), due: make(map[use]int64),
	}
}

// note says that a record was used at a second of Unix time.
func (u *uses) note(k use, at int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	// One that waits already costs no more room.
	if _, ok := u.due[k]; ok || len(u.due) < mostUses {
		u.due[k] = at
	}
}

// latest is when something was used of whose use the file knows.
func (u *uses) latest(k use, written int64) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return max(u.due[k], written)
}

// all is a copy of what waits to be written down.
func (u *uses) all() map[use]int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return maps.Clone(u.due)
}

// written forgets what stands in the file by now.
func (u *uses) written(done map[use]int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	// What was used again since has another second, and stays.
	maps.DeleteFunc(u.due, func(k use, at int64) bool { return done[k] == at })
}

// live reports whether what was last used at a second that the file names is still
// kept, and if so notes that it is used now.
func (u *uses) live(k use, written int64, now time.Time) bool {
	second, grain := now.Unix(), int64(u.grain/time.Second)
	// The file says that it was used within a grain: nothing to note, nothing to look up. That is the
	// path of nearly every call.
	if second-written < grain {
		return true
	}
	if u.over(written, now) && u.over(u.latest(k, written), now) {
		return false
	}
	u.note(k, second)
	return true
}

// over reports whether what was last used at a second of Unix time is kept no longer.
func (u *uses) over(used int64, now time.Time) bool { return used < u.horizon(now) }

// horizon is the earliest second whose uses still count.
func (u *uses) horizon(now time.Time) int64 {
	// A grain more than the retention, as a use in that time may not have been noted.
	return now.Unix() - int64((u.retention+u.grain)/time.Second)
}
