//go:build unix

package server

import (
	"math"
	"syscall"
)

// descriptors is how many the system permits this process; 0 for any number. The Go
// runtime has raised the soft limit to the hard one.
func descriptors() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil || r.Cur > math.MaxInt32 {
		return 0
	}
	return int(r.Cur)
}
