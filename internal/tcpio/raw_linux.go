//go:build !race

package tcpio

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"unsafe"

	"github.com/a2a-gateway/a2a-gateway/internal/netpoll"
)

// quick says that Read and Write are those of this package.
const quick = true

// call is a read or a write that the runtime's poller has try as often as the socket is ready.
type call struct {
	p     []byte
	n     int
	errno syscall.Errno

	read, write func(fd uintptr) bool // tryRead and tryWrite, made once
}

var calls = sync.Pool{New: func() any {
	c := &call{}
	c.read, c.write = c.tryRead, c.tryWrite
	return c
}}

// tryRead reads once; false where nothing has come.
func (c *call) tryRead(fd uintptr) bool {
	c.n, c.errno = Read(fd, c.p)
	return c.errno != syscall.EAGAIN
}

// tryWrite writes all; false where the socket's buffer is full before.
func (c *call) tryWrite(fd uintptr) bool {
	for c.n < len(c.p) {
		n, errno := write(fd, c.p[c.n:])
		if errno != 0 {
			if c.errno = errno; errno == syscall.EAGAIN {
				netpoll.Waits()
				return false
			}
			return true
		}
		c.n += n
	}
	c.errno = 0
	return true
}

// Read reads what has come on a socket, whose descriptor must not block; EAGAIN says that nothing has.
func Read(fd uintptr, p []byte) (int, syscall.Errno) { return transfer(syscall.SYS_READ, fd, p) }

func write(fd uintptr, p []byte) (int, syscall.Errno) { return transfer(syscall.SYS_WRITE, fd, p) }

// transfer makes a call of either kind, with p, which is not empty, and again where a signal came between.
func transfer(trap, fd uintptr, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall(trap, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p))) //nolint:gosec // as syscall.Read
		switch errno {
		case 0:
			return int(n), 0 //nolint:gosec // at most len(p)
		case syscall.EINTR:
		default:
			return 0, errno
		}
	}
}

func (c Conn) read(p []byte) (int, error) {
	try := take(p)
	err := c.raw.Read(try.read)
	n, errno := try.give()
	switch {
	case err != nil || errno != 0:
		return 0, c.failed("read", err, errno)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

func (c Conn) write(p []byte) (int, error) {
	try := take(p)
	err := c.raw.Write(try.write)
	n, errno := try.give()
	if err != nil || errno != 0 {
		return n, c.failed("write", err, errno)
	}
	return n, nil
}

// take is a call for p.
func take(p []byte) *call {
	c := calls.Get().(*call) //nolint:errcheck,forcetypeassert // the pool has nothing else
	c.p = p
	return c
}

// give is what came of a call, which is not to be used any more.
func (c *call) give() (n int, errno syscall.Errno) {
	n, errno = c.n, c.errno
	c.p, c.n, c.errno = nil, 0, 0
	calls.Put(c)
	return n, errno
}

// failed is an error as net has it. err is that of waiting: a deadline, or a connection that is closed.
func (c Conn) failed(op string, err error, errno syscall.Errno) error {
	var waited *net.OpError
	switch {
	case err == nil:
		err = os.NewSyscallError(op, errno)
	case errors.As(err, &waited):
		err = waited.Err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: err}
}
