package netpoll

import (
	"os"
	"sync"
	"syscall"
	"time"
)

// token names a watch to the kernel. Sockets' numbers would not do: they are used again
// while events of the socket before are on their way.
type token struct{ place, turn int32 }

// poller is the process's. It has goroutines only while something is watched.
var poller epoll

// epoll is an instance of it, which lives as long as there is something to watch.
type epoll struct {
	mu     sync.Mutex
	fd     int
	file   *os.File // fd, as the runtime's poller knows it; nil while nothing is watched
	loop   *loop    // waits for it
	places []place
	free   []int32
	n      int   // places taken
	turns  int32 // how often one was
}

// place is where a watch is.
type place struct {
	w    *Watch
	turn int32 // tells it from those that were there before
}

// interest is what is watched for: something to read, and the end of it. An event is told
// of once, without being asked for again (EPOLLET, which syscall has below zero).
const interest = syscall.EPOLLIN | syscall.EPOLLRDHUP | 1<<31

// add watches for w; false where that cannot be done.
func (e *epoll) add(w *Watch) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.file == nil && !e.open() {
		return false
	}
	w.token = e.take(w)
	var err error
	failed := w.raw.Control(func(fd uintptr) {
		err = syscall.EpollCtl(e.fd, syscall.EPOLL_CTL_ADD, int(fd), //nolint:gosec // descriptors are small
			&syscall.EpollEvent{Events: interest, Fd: w.token.place, Pad: w.token.turn})
	})
	if failed != nil || err != nil {
		e.leave(w.token)
		return false
	}
	return true
}

// remove watches for w no more.
func (e *epoll) remove(w *Watch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	// One that is closed the kernel has forgotten by itself.
	_ = w.raw.Control(func(fd uintptr) {
		_ = syscall.EpollCtl(e.fd, syscall.EPOLL_CTL_DEL, int(fd), nil) //nolint:gosec // descriptors are small
	})
	e.leave(w.token)
}

// take finds a place for a watch. turns tells it from the one that was there before, of which an event
// may still be on its way.
func (e *epoll) take(w *Watch) token {
	at := int32(len(e.places)) //nolint:gosec // bounded by descriptors
	if n := len(e.free); n > 0 {
		at, e.free = e.free[n-1], e.free[:n-1]
	} else {
		e.places = append(e.places, place{})
	}
	e.n++
	e.turns++
	e.places[at] = place{w, e.turns}
	return token{at, e.turns}
}

// leave gives a place back; with the last one the epoll is closed.
func (e *epoll) leave(t token) {
	e.places[t.place].w = nil
	e.free = append(e.free, t.place)
	if e.n--; e.n == 0 {
		e.close()
	}
}

// open makes the epoll, and a loop that waits in the runtime's own poller for it to have events.
// false where the system has no descriptor left.
func (e *epoll) open() bool {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	file := polled(fd)
	if file == nil {
		return false
	}
	e.fd, e.file, e.loop = fd, file, newLoop(e)
	current.Store(e.loop)
	go e.loop.lead(0, file)
	return true
}

// polled is a descriptor of an epoll that the runtime's poller waits for; nil, and the descriptor is
// closed, where it cannot.
func polled(fd int) *os.File {
	if syscall.SetNonblock(fd, true) != nil {
		_ = syscall.Close(fd)
		return nil
	}
	file := os.NewFile(uintptr(fd), "epoll") //nolint:gosec // descriptors are not below zero
	if file.SetReadDeadline(time.Time{}) != nil {
		_ = file.Close()
		return nil
	}
	return file
}

// pass gives the epoll of a loop another descriptor, for the goroutine that is to wait from now on: the one
// before has the other in use. It is nil where there is none, or the loop is not the epoll's any more, which
// closed then says.
func (e *epoll) pass(l *loop) (file *os.File, closed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.loop != l {
		return nil, true
	}
	fd, _, failed := syscall.RawSyscall(syscall.SYS_FCNTL, uintptr(e.fd), syscall.F_DUPFD_CLOEXEC, 0) //nolint:gosec // likewise
	if failed != 0 {
		return nil, false
	}
	if file = polled(int(fd)); file != nil { //nolint:gosec // likewise
		e.fd, e.file = int(fd), file //nolint:gosec // likewise
	}
	return file, false
}

// close has the loop end. It may be called by what the loop runs, while the file is in use; Close would wait
// for itself.
func (e *epoll) close() {
	go func(f *os.File) { _ = f.Close() }(e.file)
	current.Store(nil)
	e.file, e.loop, e.places, e.free = nil, nil, nil, nil
}

// stirred appends those watches that are to be run.
func (e *epoll) stirred(all []*Watch, events []syscall.EpollEvent) []*Watch {
	const end = syscall.EPOLLRDHUP | syscall.EPOLLHUP | syscall.EPOLLERR
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range events {
		ev := &events[i]
		if int(ev.Fd) >= len(e.places) {
			continue
		}
		if p := e.places[ev.Fd]; p.w != nil && p.turn == ev.Pad && p.w.stir(ev.Events&end != 0) {
			all = append(all, p.w)
		}
	}
	return all
}
