//go:build !unix

package http1

import "syscall"

// silent would look whether a socket is open and has nothing to read. Where that cannot
// be found out no connection is used twice.
func silent(uintptr) bool { return false }

// waiter would wait without a buffer.
type waiter struct{}

func newWaiter(syscall.RawConn) *waiter { return nil }

func (*waiter) read(bool) ([]byte, int, error) { return nil, 0, syscall.ENOSYS }
