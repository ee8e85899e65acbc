package tcpio

import (
	"net"
	"syscall"
)

// Conn is a TCP connection with cheaper Read and Write. They may be called by several goroutines, and
// their errors are those of net.
type Conn struct {
	*net.TCPConn
	raw syscall.RawConn // nil where Read and Write are net's
}

// New is for the connection of a listener or a dialer.
func New(c *net.TCPConn) Conn {
	conn := Conn{TCPConn: c}
	if raw, err := c.SyscallConn(); err == nil && quick {
		conn.raw = raw
	}
	return conn
}

// Of is c by New where it is a TCP connection, and c itself where it is another.
func Of(c net.Conn) net.Conn {
	if tcp, ok := c.(*net.TCPConn); ok && quick {
		return New(tcp)
	}
	return c
}

// most is how much is copied by one call at most.
const most = 64 << 10

// Read implements net.Conn.
func (c Conn) Read(p []byte) (int, error) {
	if c.raw == nil || len(p) == 0 || len(p) > most {
		return c.TCPConn.Read(p)
	}
	return c.read(p)
}

// Write implements net.Conn.
func (c Conn) Write(p []byte) (int, error) {
	if c.raw == nil || len(p) == 0 || len(p) > most {
		return c.TCPConn.Write(p)
	}
	return c.write(p)
}
