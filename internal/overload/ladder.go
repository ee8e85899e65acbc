package overload

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/share"
)

// Limits are what the rungs compare with. 0 switches a measured rung off, but for Memory,
// which has a default.
type Limits struct {
	Memory      int64         // in use; 0 for what GOMEMLIMIT says
	SoftMemory  int64         // 0 for 85 % of Memory
	Descriptors int           // that may be open
	Delay       time.Duration // that work may wait for a processor
}

// Ladder decides on load shedding: it is how much the process has to do, whatever the configuration: it says what may
// begin. The zero value takes on everything that the limits let in, until Watch measures.
type Ladder struct {
	calls   atomic.Int64
	stands  atomic.Uint32 // a set
	ceiling atomic.Int64  // of calls, while descriptors are few; 0 for none
	bodies  atomic.Int64  // bytes of large ones that are held
	room    atomic.Int64  // for those; negative for none, 0 for any
	shares  shares
	callers share.Holders // of calls
	senders share.Holders // of bodies
	latest  atomic.Pointer[Reading]

	restUntil time.Time // refusing for Delay was in vain; whoever measures knows
}

// standing are the rungs that refuse something now.
func (l *Ladder) standing() set { return set(l.stands.Load()) }

// Enter takes a call on, of most that there may be, or says why not. It looks at three
// numbers only: who has too much to do has to say so fast. Each call that was taken on
// needs one Leave.
func (l *Ladder) Enter(most int) error {
	if l.standing().has(Memory) {
		return Memory
	}
	// Counted first and taken back: two callers at the limit cannot both find the last place free.
	n := l.calls.Add(1)
	if n > int64(most) {
		l.calls.Add(-1)
		return Requests
	}
	if ceiling := l.ceiling.Load(); ceiling > 0 && n > ceiling {
		l.calls.Add(-1)
		return Descriptors
	}
	return nil
}

// Leave counts a call out.
func (l *Ladder) Leave() { l.calls.Add(-1) }

// EnterAs counts a call that Enter took on among its caller's, of most that there are: no
// caller may have more than are left for others. It needs one LeaveAs.
func (l *Ladder) EnterAs(caller string, most int) error {
	if !l.callers.Take(caller, 1, int64(most)-l.calls.Load()) {
		return Requests
	}
	return nil
}

// LeaveAs counts it out.
func (l *Ladder) LeaveAs(caller string) { l.callers.Give(caller, 1) }

// Calls is how many have been taken on and not counted out.
func (l *Ladder) Calls() int { return int(l.calls.Load()) }

// Spare says whether there is time for a call of this caller. While work waits too long, it
// refuses as many calls of each as are above the share of everybody.
func (l *Ladder) Spare(caller string) error {
	if !l.shares.counting.Load() {
		return nil
	}
	if !l.shares.admits(caller) {
		l.shares.refused.Add(1)
		return Delay
	}
	return nil
}

// Stream says whether a stream may begin.
func (l *Ladder) Stream() error {
	switch s := l.standing(); {
	case s.has(SoftMemory):
		return SoftMemory
	case s.has(Descriptors):
		return Descriptors
	}
	return nil
}

// Hold takes on a caller's large body of n bytes, which needs one Drop. Large bodies may fill
// half of the memory that is free, as each is copied: many at a time would otherwise take what
// there is before anybody could measure it. Of that no caller may have more than is left for
// others, as bodies may take their time to come.
func (l *Ladder) Hold(caller string, n int64) error {
	if l.standing().has(SoftMemory) {
		return SoftMemory
	}
	room, held := l.room.Load(), l.bodies.Add(n)
	if room == 0 { // for any
		room = math.MaxInt64
	}
	if held > room || !l.senders.Take(caller, n, room-held) {
		l.bodies.Add(-n)
		return SoftMemory
	}
	return nil
}

// Drop lets go of what Hold has taken on.
func (l *Ladder) Drop(caller string, n int64) {
	l.senders.Give(caller, n)
	l.bodies.Add(-n)
}

// Reading is what was measured last.
type Reading struct {
	Used, Soft, Hard int64         // memory in use, and its limits; 0 for none
	Open, Permitted  int           // descriptors; 0 where nobody knows
	Delay            time.Duration // that work has waited for a processor, at least
	Standing         []Rung        // of the measured ones
	Refusing         float64       // share of calls that Delay refuses of late
	Large            int64         // bytes of large bodies that are held
	collected        uint64        // collections there have been
	openKnown        bool
}

// Reading returns the latest, nil before there is one.
func (l *Ladder) Reading() *Reading { return l.latest.Load() }
