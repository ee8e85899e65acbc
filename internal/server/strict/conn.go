package strict

import (
	"crypto/tls"
	"io"
	"net"
)

// Rules are what all connections of a listener have in common.
type Rules struct {
	// Head is the size of the largest head, line ends included. A larger one is
	// answered 431.
	Head int

	// H2C lets connections begin with HTTP/2's preface. What follows on such a
	// connection is passed unread.
	H2C bool

	// Refused, if set, is called with the name of the rule that a client broke, once
	// for a connection. It has to return soon.
	Refused func(rule string)
}

// Conn puts nc under the rules. If nc is a *tls.Conn, its handshake must be done and
// have settled on HTTP/1.1; then net/http finds its state (Request.TLS).
func (r *Rules) Conn(nc net.Conn) net.Conn {
	c := &conn{Conn: nc, rules: r}
	c.limit = r.Head
	if t, ok := nc.(*tls.Conn); ok {
		return &secured{c, t}
	}
	if r.H2C {
		c.state = inPreface
	}
	return c
}

// conn is read by one goroutine at a time, as net/http does.
type conn struct {
	net.Conn
	rules *Rules
	reader
	broken rule
	last   string // what is still to be said in the place of what was not let through
	ahead  []byte // passed already, and to be read once more
}

// Unread has the next reads begin with p, which was read before and is not judged again.
// c keeps p.
func (c *conn) Unread(p []byte) { c.ahead = p }

// NetConn is the connection beneath, whose reads are not judged.
func (c *conn) NetConn() net.Conn { return c.Conn }

// CloseWrite is how net/http says that it has answered, before it hangs up on who is
// still sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Read reads into p and lets pass, in place, what is in order.
func (c *conn) Read(p []byte) (int, error) {
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
			return c.refuse(p)
		case c.state == inHTTP2:
			return c.Conn.Read(p)
		}
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
			c.last = c.broken.last()
			if c.rules.Refused != nil {
				c.rules.Refused(c.broken.String())
			}
			if n > 0 {
				return n, nil
			}
			continue
		}
		if n > 0 || err != nil || len(p) == 0 {
			return n, err
		}
	}
}

// refuse says what makes net/http refuse the request. It does not read any more.
func (c *conn) refuse(p []byte) (int, error) {
	if c.last == "" {
		return 0, io.EOF
	}
	n := copy(p, c.last)
	if c.broken == headSize { // net/http knows when it has had enough
		return n, nil
	}
	c.last = c.last[n:]
	return n, nil
}

// secured is a conn on which there is TLS.
type secured struct {
	*conn
	tls *tls.Conn
}

// ConnectionState is where net/http looks for Request.TLS.
func (s *secured) ConnectionState() tls.ConnectionState { return s.tls.ConnectionState() }
