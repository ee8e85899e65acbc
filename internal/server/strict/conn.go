package strict

import "net"

// Rules are what all connections of a listener have in common.
type Rules struct {
	// Head is the size of the largest head, line ends included. A larger one breaks a rule
	// whose status is 431, or 414 where the request target alone is larger.
	Head int

	// H2C lets connections begin with HTTP/2's preface. What follows on such a
	// connection is passed unread.
	H2C bool

	// Refused, if set, is called with the name of the rule that a client broke, once
	// for a connection. It has to return soon.
	Refused func(rule string)
}

// Conn puts nc under the rules. If it has TLS, its handshake must be done and have settled
// on HTTP/1.1; there is no preface then.
func (r *Rules) Conn(nc net.Conn) *Conn {
	c := &Conn{Conn: nc, rules: r}
	c.limit = r.Head
	return c
}

// Plain is Conn for a connection without TLS, which may be HTTP/2's.
func (r *Rules) Plain(nc net.Conn) *Conn {
	c := r.Conn(nc)
	if r.H2C {
		c.state = inPreface
	}
	return c
}

// Conn is a connection of which nobody reads what breaks a rule. It is read by one
// goroutine at a time; of what is written it knows nothing.
type Conn struct {
	net.Conn
	rules *Rules
	reader
	broken rule
	ahead  []byte // passed already, and to be read once more
}

// Broken is the error of all reads from the byte on that broke a rule.
type Broken struct {
	Rule   string // its name, as it is counted
	Status int    // what who sent it is answered, where nothing else was
	Text   string // likewise: what is wrong, without what was sent
}

// Error implements error.
func (b *Broken) Error() string { return "HTTP/1.1 framing is broken: " + b.Rule }

// Unread has the next reads begin with p, which was read before and is not judged again.
// Behind it comes what is still to be read once more. c keeps p.
func (c *Conn) Unread(p []byte) { c.ahead = append(p, c.ahead...) }

// NetConn is the connection beneath, whose reads are not judged.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// HTTP2 reports whether what was read so far is HTTP/2: its preface has come, whole.
func (c *Conn) HTTP2() bool { return c.state == inHTTP2 }

// CloseWrite says that nothing more will be written, where the connection beneath can.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Read reads into p and lets pass, in place, what is in order.
func (c *Conn) Read(p []byte) (int, error) {
	if len(c.ahead) > 0 {
		n := copy(p, c.ahead)
		if c.ahead = c.ahead[n:]; len(c.ahead) == 0 {
			c.ahead = nil
		}
		return n, nil
	}
	for {
		switch {
		case c.broken != kept:
			return 0, c.broken.error()
		case c.state == inHTTP2:
			return c.Conn.Read(p)
		}
		// Into the caller's buffer, where it is judged in place: nothing is copied.
		n, err := c.Conn.Read(p)
		if c.state == inPreface {
			n, err = c.preface(p, n, err)
		}
		if c.broken == kept {
			n, c.broken = c.read(p[:n])
		} else {
			n = 0 // the rule was broken by what has passed for a preface
		}
		if c.broken != kept {
			if c.rules.Refused != nil {
				c.rules.Refused(c.broken.String())
			}
			// What was in order before passes first; the next Read has the error.
			if n > 0 {
				return n, nil
			}
			continue
		}
		// All that came may have been dropped; a reader that got 0 bytes and no error might give up.
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}
