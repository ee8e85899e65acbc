//go:build linux || darwin

package doctorcmd

import (
	"math"
	"syscall"
)

// writable asks the system whether this user may write to a file or a directory, without trying.
func writable(path string) error {
	const write = 2 // W_OK of access(2)
	return syscall.Access(path, write)
}

// space is how many bytes are free on the disk that has a path.
func space(path string) (free uint64, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return 0, false
	}
	return s.Bavail * uint64(s.Bsize), true //nolint:gosec // it is signed on one system, and narrower on another
}

// openFiles is how many descriptors this process may have; 0 for any number. The Go runtime has
// raised the soft limit to the hard one.
func openFiles() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || r.Cur > math.MaxInt32 {
		return 0
	}
	return int(r.Cur)
}
