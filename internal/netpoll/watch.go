package netpoll

import (
	"sync/atomic"
	"syscall"
)

// Watch tells when one socket has something to read. It is used by whoever reads the
// socket, one goroutine at a time; Wake and Close may be called by any.
type Watch struct {
	run   func()
	raw   syscall.RawConn
	state atomic.Int32
	ended atomic.Bool // the peer has said that nothing more comes, or the socket is broken
	slow  atomic.Bool // its last run took long: it is run beside the others
	token token
}

// What state says.
const (
	busy    int32 = iota // somebody reads, or will
	stirred              // and something has come meanwhile
	parked               // nobody does
	closed
)

// Of begins to watch a socket, for run to be called as Park says, each time in a goroutine
// that may be kept as long as it takes. Before run waits for something itself it is to call Waits: other
// sockets wait for it otherwise, by 50 ms at most and the first time only. It is nil where sockets cannot
// be watched.
func Of(raw syscall.RawConn, run func()) *Watch {
	w := &Watch{run: run, raw: raw}
	if !poller.add(w) {
		return nil
	}
	return w
}

// Park has run called once as soon as there is something to read, or Wake is called. It is
// for a reader who has read all that there was, as a read that has not filled its buffer
// shows; who is run reads first. It is false, and run is not called, where something may have come since: the
// reader is to look again.
func (w *Watch) Park() bool {
	if w.ended.Load() { // there is no second sign of it
		return false
	}
	if w.state.CompareAndSwap(busy, parked) {
		return true
	}
	w.state.CompareAndSwap(stirred, busy)
	return false
}

// Ended reports whether the peer has said that nothing more comes, or the socket is broken.
// What came before that may not have been read.
func (w *Watch) Ended() bool { return w.ended.Load() }

// Wake ends a wait as if something had come.
func (w *Watch) Wake() {
	if w.state.CompareAndSwap(parked, busy) {
		go w.run()
	}
}

// Close ends the watching, and a wait as Wake does. The socket need not be open.
func (w *Watch) Close() {
	was := w.state.Swap(closed)
	if was != closed {
		poller.remove(w)
	}
	if was == parked {
		go w.run()
	}
}

// stir is called when something has come. It tells whether run is to be called.
func (w *Watch) stir(ended bool) bool {
	if ended {
		w.ended.Store(true)
	}
	for {
		switch w.state.Load() {
		case parked:
			if w.state.CompareAndSwap(parked, busy) {
				return true
			}
		case busy:
			if w.state.CompareAndSwap(busy, stirred) {
				return false
			}
		default:
			return false
		}
	}
}
