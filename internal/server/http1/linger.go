package http1

import (
	"time"
)

// Linger bounds what is done for a client to get to its answer when that was given before
// all of the request had come: it may still be sending, and a connection that is closed with
// something unread on it is reset, whereupon the client loses what it has not read yet (RFC
// 9112 §9.6). What comes is read and thrown away; nothing of it is a request.
type Linger struct {
	Bytes   int64         // most that is read
	Time    time.Duration // that it may take in all
	Silence time.Duration // until a client that sends nothing is given up
}

// parting is how long a server that shuts down lingers.
const parting = 500 * time.Millisecond

// linger says that nothing more will be written, and reads what still comes, within bounds.
func (c *conn) linger() {
	// A FIN tells the client that the answer is whole, while what it still sends is taken.
	if c.server.Linger == nil || c.nc.CloseWrite() != nil {
		return
	}
	bounds := c.server.Linger()
	// Beneath TLS: nothing is deciphered that is thrown away.
	raw := beneath(c.nc)
	scrap, _ := blocks.Get().(*[]byte)
	defer blocks.Put(scrap)
	c.state.Store(lingering)
	until, parts := time.Now().Add(bounds.Time), false
	for left := bounds.Bytes; left > 0; {
		now := time.Now()
		_ = raw.SetReadDeadline(earlier(until, now.Add(bounds.Silence))) // else the read fails
		// A shutdown began after the deadline was chosen.
		if !parts && c.state.Load() == leaving {
			until, parts = earlier(until, now.Add(parting)), true
			continue // it may have set a deadline before the one of above
		}
		n, err := raw.Read(*scrap)
		if err != nil {
			return
		}
		left -= int64(n)
	}
}

// hurry has c linger no longer than a server that shuts down does.
func (c *conn) hurry() {
	// The deadline ends the read that is under way.
	if c.state.CompareAndSwap(lingering, leaving) {
		_ = beneath(c.nc).SetReadDeadline(time.Now().Add(parting)) // else it takes the time that it has
	}
}

// earlier is the first of two moments.
func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
