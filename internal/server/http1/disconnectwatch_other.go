//go:build !unix

package http1

import "syscall"

// hungUp is not known here before something is written.
func hungUp(syscall.RawConn) bool { return false }
