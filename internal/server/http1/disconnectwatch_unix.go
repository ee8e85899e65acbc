//go:build unix

package http1

import (
	"errors"
	"syscall"
)

// hungUp reports whether a socket has come to its end, with nothing left to read. It reads
// nothing.
func hungUp(raw syscall.RawConn) (gone bool) {
	err := raw.Control(func(fd uintptr) {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT) //nolint:gosec // descriptors are small
		gone = n == 0 && err == nil || err != nil && !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EINTR)
	})
	return gone || err != nil
}
