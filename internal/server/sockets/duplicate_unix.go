//go:build unix

package sockets

import (
	"errors"
	"net"
	"syscall"
)

// duplicate returns another descriptor of a listener's socket, which an exec leaves
// open. Not by way of os.File, whose Fd would make the socket a blocking one, for the
// listener too.
func duplicate(l net.Listener) (int, error) {
	c, ok := l.(syscall.Conn)
	if !ok {
		return 0, errors.New("has no descriptor")
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	fd := 0
	var failed error
	err = raw.Control(func(own uintptr) { fd, failed = syscall.Dup(int(own)) })
	return fd, errors.Join(err, failed)
}
