package flood

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// refill is how long it takes until all of an allowance is there again.
const refill = 30 * time.Second

// How long a client that was told to calm down may take to read it, and how much it may
// still send; who is hung up on while bytes are under way may never read why.
const (
	farewell      = time.Second
	farewellBytes = 256 << 10
)

// preface is what an HTTP/2 connection begins with (RFC 9113 §3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

var errFlood = errors.New("too many frames that serve no call")

// Rules are what all connections of a listener have in common.
type Rules struct {
	// Allowance is the weight of frames that a connection may send at once.
	Allowance int

	// Head is the size of the largest request head.
	Head int

	// Exceeded, if set, is called once for a connection that is ended, with what it has
	// sent most of. It has to return soon.
	Exceeded func(kind string)
}

// Conn is a connection that is held to an allowance. Read is for one goroutine at a time,
// as package http2 has it.
type Conn struct {
	net.Conn
	rules *Rules
	other bool // what is not HTTP/2 may pass

	state  state  // settled before anything is written
	passed int    // bytes of the preface
	in     frames // what the client sends
	last   uint32 // stream that it opened
	over   bool   // the allowance is used up

	writing sync.Mutex
	out     frames // what the gateway sends

	left   atomic.Int64 // of the allowance
	unread atomic.Int64 // frames that may follow data
	spare  atomic.Int64 // bytes that frames of data carried beyond enough
	filled time.Time    // when it was, at least in part
	spent  [kinds]atomic.Int64
}

// state is what a connection has turned out to be.
type state uint8

const (
	atStart state = iota
	inHTTP2
	inOther
)

// Conn is for a connection on which HTTP/2 was negotiated. Anything else ends it.
func (r *Rules) Conn(nc net.Conn) *Conn {
	c := &Conn{Conn: nc, rules: r, filled: time.Now()}
	c.left.Store(int64(r.Allowance))
	c.spare.Store(spareAnswer)
	return c
}

// Any is for a connection that is HTTP/2 if it begins like it, and otherwise is none of
// this package's business.
func (r *Rules) Any(nc net.Conn) *Conn {
	c := r.Conn(nc)
	c.other = true
	return c
}

// NetConn is the connection beneath, whose frames are not weighed.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// CloseWrite is how a server says that it has answered.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Read weighs what it has read.
func (c *Conn) Read(p []byte) (int, error) {
	if c.over {
		return 0, errFlood
	}
	n, err := c.Conn.Read(p)
	if c.state == inOther {
		return n, err
	}
	for rest := p[:n]; len(rest) > 0 && c.state != inOther; {
		if c.state == atStart {
			if rest = c.begin(rest); c.state == atStart && rest != nil {
				// Nothing is said: what the client speaks is not known.
				_ = c.Close()
				return 0, io.EOF
			}
			continue
		}
		took, ok := c.in.next(rest)
		rest = rest[took:]
		if ok && c.weigh() {
			c.end()
			return 0, errFlood
		}
	}
	return n, err
}

// begin compares p with the preface, and returns what comes behind it; nil for nothing.
// What is not like it is something else, or is still at the start and all of it returned.
func (c *Conn) begin(p []byte) []byte {
	n := min(len(p), len(preface)-c.passed)
	if string(p[:n]) != preface[c.passed:c.passed+n] {
		if c.other {
			c.state = inOther
		}
		return p
	}
	if c.passed += n; c.passed == len(preface) {
		c.state = inHTTP2
		return p[n:]
	}
	return nil
}

// weigh takes what the frame at hand weighs, and reports whether that is too much.
func (c *Conn) weigh() bool {
	if id := c.in.stream(); c.in.kind() == typeHeaders && id > c.last {
		c.last = id
	}
	switch kind, weight := c.rules.received(&c.in.frame); {
	case kind == kindData && c.carried(int64(c.in.data())), weight == 0:
		return false
	case kind.follows() && c.unread.Load() > 0:
		c.unread.Add(-1)
		return false
	default:
		c.spend(kind, weight)
	}
	if c.left.Load() >= 0 {
		return false
	}
	// Only now does it matter what time has brought.
	now := time.Now()
	back := int64(float64(c.rules.Allowance) * now.Sub(c.filled).Seconds() / refill.Seconds())
	if back == 0 {
		return true
	}
	c.filled = now
	c.earn(back)
	return c.left.Load() < 0
}

// carried is for a frame of data of n bytes, and reports whether it is good, by itself or
// because of those before it.
func (c *Conn) carried(n int64) bool {
	if n >= enough {
		add(&c.spare, n-enough, mostSpare)
		return true
	}
	if n == 0 || c.spare.Load() < enough-n {
		return false
	}
	c.spare.Add(n - enough) // nobody else takes from it
	return true
}

func (c *Conn) spend(k kind, weight int64) {
	c.left.Add(-weight)
	c.spent[k].Add(weight)
}

// earn gives back, and never more than there was.
func (c *Conn) earn(worth int64) { add(&c.left, worth, int64(c.rules.Allowance)) }

func add(v *atomic.Int64, n, most int64) {
	for {
		was := v.Load()
		if was >= most || v.CompareAndSwap(was, min(was+n, most)) {
			return
		}
	}
}

// Answered is for a call on this connection that was answered in full.
func (c *Conn) Answered() {
	c.earn(worthAnswer)
	add(&c.spare, spareAnswer, spareAnswer)
}

// Write weighs what it writes.
func (c *Conn) Write(p []byte) (int, error) {
	if c.state == inOther {
		return c.Conn.Write(p)
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	for rest := p; len(rest) > 0; {
		took, ok := c.out.next(rest)
		rest = rest[took:]
		if ok {
			c.count()
		}
	}
	return c.Conn.Write(p)
}

// count is of a frame that the gateway sends.
func (c *Conn) count() {
	switch f := &c.out.frame; f.kind() {
	case typeData:
		if f.data() >= tiny {
			add(&c.unread, worthData, mostData)
		}
	case typeReset:
		if weight := madeReset(f.code()); weight > 0 {
			c.spend(kindMadeReset, weight)
		}
	}
}

// end says why, if that can be said, and waits for the client to read it.
func (c *Conn) end() {
	c.over = true
	if c.rules.Exceeded != nil {
		c.rules.Exceeded(c.most().String())
	}
	until := time.Now().Add(farewell)
	if !c.goAway(until) {
		return
	}
	_ = c.SetReadDeadline(until)
	var buf [4 << 10]byte
	for n := 0; n < farewellBytes; {
		took, err := c.Conn.Read(buf[:])
		if err != nil {
			return
		}
		n += took
	}
}

// goAway is false where the gateway is in the middle of a frame, or waits for the client
// to take one.
func (c *Conn) goAway(until time.Time) bool {
	if !c.writing.TryLock() {
		return false
	}
	defer c.writing.Unlock()
	if !c.out.between() {
		return false
	}
	frame := [headSize + 8]byte{2: 8, 3: typeGoAway}
	binary.BigEndian.PutUint32(frame[headSize:], c.last)
	binary.BigEndian.PutUint32(frame[headSize+4:], errCalm)
	_ = c.SetWriteDeadline(until)
	_, err := c.Conn.Write(frame[:])
	return err == nil
}

// most is the kind that most of the allowance was spent on.
func (c *Conn) most() kind {
	most := kindHeaders
	for k := range c.spent {
		if c.spent[k].Load() > c.spent[most].Load() {
			most = kind(k)
		}
	}
	return most
}
