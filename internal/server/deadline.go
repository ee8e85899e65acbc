package server

import (
	"errors"
	"os"
	"sync"
	"time"
)

// deadline is that of reading from a connection, or of writing. net/http and the handlers
// set ten in a call, and nearly each is later than the one before: the runtime would move a
// timer for it. It is told of earlier ones only, and when the time has come that it knows,
// of the one that was set since.
type deadline struct {
	mu    sync.Mutex
	set   moment
	armed moment // what the runtime knows, never later than set
}

// moment is a time by the clock that nobody sets, in nanoseconds since the process began;
// 0 for never.
type moment int64

var began = time.Now()

func momentOf(t time.Time) moment {
	if t.IsZero() {
		return 0
	}
	return moment(t.Sub(began))
}

func (m moment) time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return began.Add(time.Duration(m))
}

func (m moment) before(other moment) bool { return m != 0 && (other == 0 || m < other) }

// move sets the deadline, where arm is how the runtime is told.
func (d *deadline) move(t time.Time, arm func(time.Time) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.set = momentOf(t); !d.set.before(d.armed) {
		return nil
	}
	d.armed = d.set
	return arm(t)
}

// moved reports whether an error is about a deadline that is not the one that was set. The
// runtime has been told of that, and what has failed is to be tried again.
func (d *deadline) moved(err error, arm func(time.Time) error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.set != 0 && !momentOf(time.Now()).before(d.set) {
		return false
	}
	d.armed = d.set
	return arm(d.set.time()) == nil
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.Conn.Read(p)
		if err == nil || n > 0 || !c.reading.moved(err, c.TCPConn.SetReadDeadline) {
			return n, err
		}
	}
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (written int, err error) {
	for {
		n, err := c.Conn.Write(p[written:])
		if written += n; err == nil || !c.writing.moved(err, c.TCPConn.SetWriteDeadline) {
			return written, err
		}
	}
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	return c.reading.move(t, c.TCPConn.SetReadDeadline)
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	return c.writing.move(t, c.TCPConn.SetWriteDeadline)
}
