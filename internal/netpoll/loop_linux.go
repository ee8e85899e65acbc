package netpoll

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Bounds of what is done at once.
const (
	mostEvents = 128
	mostInLoop = 8 // watches of one wait that the loop runs itself; others may be run on other processors
	mostIdle   = 8 // goroutines that wait for something to run
	// quickRun is how long a run takes that waits for nothing, with room for a busy machine. What took longer
	// is run beside the others the next time.
	quickRun = 200 * time.Microsecond
	// patience is after how long another goroutine takes the loop over from a run that has not said that it
	// waits (Waits). It is looked after by a timer, which costs a wake-up each time.
	patience = 50 * time.Millisecond
)

// loop waits for events and runs watches, in one goroutine at a time, which is its leader.
//
// Most runs read, judge and write an event and wait for nothing: to hand each to another goroutine has a
// second thread woken for it, which costs as much as half the rest. A run that does wait loses
// the lead, and goes on by itself.
type loop struct {
	epoll *epoll
	ready chan *Watch   // for goroutines that have run something before
	idle  chan struct{} // has room for as many of them as may wait

	mu      sync.Mutex
	leader  int      // who leads: every one has a number of its own
	due     []*Watch // to be run by the leader, the last first
	running *Watch   // what the leader runs; nil while it waits
	began   time.Time
	runs    uint64 // how many it has begun
	seen    uint64 // runs, when the timer was set
	timer   *time.Timer
	set     bool // the timer is
}

func newLoop(e *epoll) *loop {
	return &loop{epoll: e, ready: make(chan *Watch), idle: make(chan struct{}, mostIdle)}
}

// lead waits and runs until another leads, or the epoll is closed, which closes file.
//
// The runtime tells of each event once, and forgets what it has told of when another read begins. So what has
// come is run within one read: that would have to look first whether anything has come, each time.
func (l *loop) lead(leader int, file *os.File) {
	defer file.Close() // nothing was written
	events, leads := make([]syscall.EpollEvent, mostEvents), true
	raw, err := file.SyscallConn()
	if err == nil {
		_ = raw.Read(func(fd uintptr) bool {
			leads, err = l.turn(int(fd), events, leader) //nolint:gosec // descriptors are small
			return !leads || err != nil
		})
	}
	if leads && l.work(leader) { // what was due when it was closed
		close(l.ready)
	}
}

// turn runs what has come, until there is nothing more to tell of.
func (l *loop) turn(fd int, events []syscall.EpollEvent, leader int) (leads bool, err error) {
	for {
		n, err := poll(fd, events)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return true, err
		}
		l.gather(events[:max(n, 0)])
		if !l.work(leader) {
			return false, nil
		}
		if err == nil && n < len(events) {
			return true, nil
		}
	}
}

// poll takes what has come. It does not wait, so that the scheduler need not hear of it: see package tcpio.
func poll(fd int, events []syscall.EpollEvent) (int, error) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(fd), uintptr(unsafe.Pointer(&events[0])), //nolint:gosec // as syscall.EpollWait
		uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil //nolint:gosec // at most len(events)
}

// work runs what is due; false where another leads meanwhile.
func (l *loop) work(leader int) bool {
	for {
		w, leads := l.next(leader)
		if w == nil {
			return leads
		}
		w.run()
	}
}

// next is what the leader is to run; nil where it is to wait. leads is false for who leads no more.
func (l *loop) next(leader int) (w *Watch, leads bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leader != leader {
		return nil, false
	}
	n := len(l.due)
	if l.running == nil && n == 0 {
		return nil, true
	}
	now := time.Now()
	if l.running != nil {
		l.running.slow.Store(now.Sub(l.began) > quickRun)
	}
	if n > 0 {
		w, l.due[n-1] = l.due[n-1], nil
		l.due, l.began = l.due[:n-1], now
		l.runs++
		l.supervise()
	}
	l.running = w
	return w, true
}

// gather takes what has come. What has taken long before, and what is more than one goroutine should
// do, is handed to others.
func (l *loop) gather(events []syscall.EpollEvent) {
	l.due = l.epoll.stirred(l.due, events) // the leader's alone while it runs nothing
	for i, n := len(l.due)-1, 0; i >= 0; i-- {
		if w := l.due[i]; w.slow.Load() || n == mostInLoop {
			l.due[i] = l.due[len(l.due)-1]
			l.due[len(l.due)-1] = nil
			l.due = l.due[:len(l.due)-1]
			l.hand(w)
		} else {
			n++
		}
	}
}

// supervise has somebody see in a while whether the leader still runs the same.
func (l *loop) supervise() {
	if l.set {
		return
	}
	l.set, l.seen = true, l.runs
	if l.timer == nil {
		l.timer = time.AfterFunc(patience, l.inspect)
		return
	}
	l.timer.Reset(patience)
}

// inspect takes the lead from a run that has lasted since the timer was set.
func (l *loop) inspect() {
	l.mu.Lock()
	l.set = false
	lead := func() {} // the next run is seen after again
	switch {
	case l.running == nil:
	case l.runs != l.seen:
		l.supervise()
	default:
		lead = l.depose()
	}
	l.mu.Unlock()
	lead()
}

// depose takes the lead from what is run now, for the goroutine that calls lead; l is locked. Where there is no
// descriptor left to wait with, the run keeps the lead: it may end yet.
func (l *loop) depose() (lead func()) {
	file, closed := l.epoll.pass(l)
	if file == nil && !closed {
		l.supervise()
		return func() {}
	}
	l.running.slow.Store(true)
	l.running = nil
	l.leader++
	leader := l.leader
	if !closed {
		return func() { l.lead(leader, file) }
	}
	return func() {
		if l.work(leader) {
			close(l.ready)
		}
	}
}

// Waits is called by who is about to wait for something else than a processor: if a Watch is run in the
// goroutine, another goroutine waits for events from now on. It is as well called where none is.
func Waits() {
	l := current.Load()
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil {
		go l.depose()()
	}
}

// current is the loop of the poller, nil while nothing is watched.
var current atomic.Pointer[loop]

// hand has another goroutine run a watch.
func (l *loop) hand(w *Watch) {
	select {
	case l.ready <- w:
	default:
		go l.serve(w)
	}
}

// serve runs one watch after the other: a goroutine whose stack has grown already is
// cheaper than a new one. One that is not slow any more goes back to the loop.
func (l *loop) serve(w *Watch) {
	for w != nil {
		began := time.Now()
		w.run()
		w.slow.Store(time.Since(began) > quickRun)
		select {
		case l.idle <- struct{}{}:
		default:
			return // others wait already
		}
		w = <-l.ready
		<-l.idle
	}
}
