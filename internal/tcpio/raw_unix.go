//go:build unix && (!linux || race)

package tcpio

import (
	"errors"
	"syscall"
)

// Read reads what has come on a socket, whose descriptor must not block; EAGAIN says that nothing has.
func Read(fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, err := syscall.Read(int(fd), p)
		var errno syscall.Errno
		switch {
		case err == nil:
			return n, 0
		case !errors.As(err, &errno):
			return 0, syscall.EIO
		case errno != syscall.EINTR:
			return 0, errno
		}
	}
}
