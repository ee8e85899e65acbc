//go:build unix

package http1

import (
	"errors"
	"io"
	"syscall"

	"github.com/a2a-gateway/a2a-gateway/internal/tcpio"
)

// silent reports whether a socket is open and has nothing to read.
//
// EAGAIN is the one good sign: 0 bytes are the peer's end, a byte is an answer to nobody's
// request, and any other error is the connection's.
func silent(fd uintptr) bool {
	var one [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK)
		if !errors.Is(err, syscall.EINTR) {
			return errors.Is(err, syscall.EAGAIN) // anything else is the end, or a byte
		}
	}
}

// waiter waits for a socket to become readable without having a buffer meanwhile, which
// for thousands of silent streams is most of what they would take.
type waiter struct {
	raw syscall.RawConn
	try func(fd uintptr) bool

	large bool // what into is to be

	into []byte
	n    int
	err  error
}

// newWaiter makes the waiter of one descriptor.
// try is called by the runtime's poller when the descriptor is readable. The buffer is taken only
// then, and given back where the wake-up was a false one. The function is made once per
// connection, as a closure per read would be an allocation.
func newWaiter(raw syscall.RawConn) *waiter {
	w := &waiter{raw: raw}
	w.try = func(fd uintptr) bool {
		w.into = newBuffer(w.large)
		n, errno := tcpio.Read(fd, w.into)
		if w.n, w.err = n, nil; errno != 0 {
			w.err = errno
		}
		if errno != syscall.EAGAIN {
			return true
		}
		release(w.into)
		w.into = nil
		return false
	}
	return w
}

// read waits for bytes and returns them in a buffer that is the caller's from then on, a large one where
// much is to come.
func (w *waiter) read(large bool) ([]byte, int, error) {
	w.large, w.into, w.n, w.err = large, nil, 0, nil
	if err := w.raw.Read(w.try); err != nil {
		return nil, 0, err
	}
	b, n, err := w.into, w.n, w.err
	w.into = nil
	switch {
	case err != nil:
		release(b)
		return nil, 0, err
	case n == 0:
		release(b)
		return nil, 0, io.EOF
	}
	return b, n, nil
}
