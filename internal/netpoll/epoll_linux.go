package netpoll

import (
	"errors"
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
	places []place
	free   []int32
	n      int           // places taken
	turns  int32         // how often one was
	ready  chan *Watch   // for goroutines that have run something before
	idle   chan struct{} // has room for as many of them as may wait
}

// place is where a watch is.
type place struct {
	w    *Watch
	turn int32 // tells it from those that were there before
}

// Bounds of what is done at once.
const (
	mostEvents = 128
	mostIdle   = 8 // goroutines that wait for something to run
)

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

// open makes the epoll, and a goroutine that waits in the runtime's own poller for it to have events.
// false where the system has no descriptor left.
func (e *epoll) open() bool {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return false
	}
	if syscall.SetNonblock(fd, true) != nil {
		_ = syscall.Close(fd)
		return false
	}
	e.fd, e.file = fd, os.NewFile(uintptr(fd), "epoll") //nolint:gosec // descriptors are not below zero
	e.ready, e.idle = make(chan *Watch), make(chan struct{}, mostIdle)
	raw, err := e.file.SyscallConn()
	if err != nil || e.file.SetReadDeadline(time.Time{}) != nil { // the runtime does not poll it
		e.close()
		return false
	}
	// The channels are given along: a later epoll has others.
	go e.wait(raw, e.ready, e.idle)
	return true
}

// close has the goroutines end.
func (e *epoll) close() {
	_ = e.file.Close() // wait then ends, and has the others end
	e.file, e.places, e.free = nil, nil, nil
}

// wait hands out what has something to read.
func (e *epoll) wait(raw syscall.RawConn, ready chan *Watch, idle chan struct{}) {
	defer close(ready)
	events := make([]syscall.EpollEvent, mostEvents)
	var due []*Watch
	for {
		n := 0
		err := raw.Read(func(fd uintptr) bool {
			var err error
			n, err = syscall.EpollWait(int(fd), events, 0) //nolint:gosec // descriptors are small
			return n > 0 || err != nil && !errors.Is(err, syscall.EINTR)
		})
		if err != nil {
			return // it was closed
		}
		due = e.due(due[:0], events[:max(n, 0)])
		for i, w := range due {
			due[i] = nil
			select {
			case ready <- w:
			default:
				go serve(w, ready, idle)
			}
		}
	}
}

// due appends those watches that are to be run.
func (e *epoll) due(all []*Watch, events []syscall.EpollEvent) []*Watch {
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

// serve runs one watch after the other: a goroutine whose stack has grown already is
// cheaper than a new one.
func serve(w *Watch, ready chan *Watch, idle chan struct{}) {
	for w != nil {
		w.run()
		select {
		case idle <- struct{}{}:
		default:
			return // others wait already
		}
		w = <-ready
		<-idle
	}
}
