package upstream

import (
	"bytes"
	"errors"
	"math"
	"net"
	"strconv"
	"sync/atomic"
)

// guard is an HTTP/1 connection to an agent that knows where an answer ends.
// net/http takes what comes behind an answer for the answer to the next request
// when that request is quick enough to be sent first: the next caller would get
// what belongs to nobody (L19). Here a connection on which a byte comes that no
// request asked for is broken, and so is one whose answer cannot be told apart
// from what follows it.
//
// Reading and writing may be done by two goroutines, as net/http does.
type guard struct {
	net.Conn
	asked atomic.Bool // a request was written since the last answer ended
	phase phase
	line  []byte // of the line that is being read, if it began in an earlier read
	left  int64  // bytes of the body or chunk that are still to come
	size  int    // bytes of the head so far
	err   error  // what Read returns from now on

	// Of the current head.
	old     bool // HTTP/1.0, which has no chunks
	status  int
	length  int64 // -1 when not given
	chunked bool
}

// phase is what the next byte belongs to.
type phase uint8

const (
	idle phase = iota
	statusLine
	field
	body
	chunkSize
	chunk
	chunkEnd
	trailer
	rest // everything until the connection is closed
)

var (
	errStray  = errors.New("the agent sent bytes that no request asked for")
	errFrames = errors.New("the agent's answer is not framed as HTTP wants it")
)

// mostHead bounds one head with its lines, and a chunk's line.
const mostHead = 64 << 10

// Write implements net.Conn.
func (g *guard) Write(p []byte) (int, error) {
	g.asked.Store(true)
	return g.Conn.Write(p)
}

// Read implements net.Conn. What follows an answer is not returned.
func (g *guard) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.Conn.Read(p)
	if n == 0 {
		return 0, err
	}
	if g.phase == idle {
		if !g.asked.Load() {
			g.err = errStray
			return 0, g.err
		}
		g.begin()
	}
	used := g.follow(p[:n])
	if used < n && g.err == nil {
		g.err = errStray
	}
	switch {
	case used == 0:
		return 0, g.err
	case g.err != nil:
		return used, nil // the error is for the next read: these bytes are good
	}
	return used, err
}

// begin expects a head.
func (g *guard) begin() {
	g.phase, g.size = statusLine, 0
	g.status, g.length, g.chunked = 0, -1, false
}

// finish ends an answer. It comes before the bytes are handed out, and so before
// any request that is sent because of them.
func (g *guard) finish() {
	g.phase = idle
	g.asked.Store(false)
}

// follow reads b as the next piece of an answer and returns how much of it is.
//
// It reads as little as it takes to know where the answer ends, and passes bytes on as they came.
func (g *guard) follow(b []byte) int {
	used := 0
	for used < len(b) && g.phase != idle && g.err == nil {
		switch g.phase {
		case rest:
			return len(b)
		case body, chunk:
			n := min(g.left, int64(len(b)-used))
			used += int(n)
			if g.left -= n; g.left == 0 {
				g.filled()
			}
		default:
			used += g.lines(b[used:])
		}
	}
	return used
}

// filled ends what had a length.
func (g *guard) filled() {
	if g.phase == chunk {
		g.phase = chunkEnd
		return
	}
	g.finish()
}

// lines reads one line, or the beginning of one, and returns how much that was.
func (g *guard) lines(b []byte) int {
	i := bytes.IndexByte(b, '\n')
	n := i + 1
	if i < 0 {
		n = len(b)
	}
	if g.size += n; g.size > mostHead {
		g.err = errFrames
		return n
	}
	if i < 0 {
		g.line = append(g.line, b...)
		return n
	}
	line := b[:i]
	if len(g.line) > 0 {
		line = append(g.line, line...)
		g.line = line[:0]
	}
	g.err = g.ended(bytes.TrimSuffix(line, []byte("\r")))
	return n
}

// ended takes a whole line, without its end.
func (g *guard) ended(line []byte) error {
	switch g.phase {
	case statusLine:
		return g.readStatus(line)
	case field:
		if len(line) == 0 {
			g.headEnded()
			return nil
		}
		return g.readField(line)
	case chunkSize:
		return g.readChunkSize(line)
	case chunkEnd:
		if len(line) > 0 {
			return errFrames
		}
		g.phase, g.size = chunkSize, 0
	case trailer:
		switch {
		case len(line) == 0:
			g.finish()
		case line[0] == ' ' || line[0] == '\t' || bytes.IndexByte(line, ':') <= 0:
			return errFrames
		}
	}
	return nil
}

// readStatus reads "HTTP/1.1 200 OK" (RFC 9112 §4).
func (g *guard) readStatus(line []byte) error {
	const version = "HTTP/1.x "
	if len(line) < len(version)+3 || string(line[:7]) != "HTTP/1." || line[7]>>1 != '0'>>1 || line[8] != ' ' {
		return errFrames
	}
	g.old = line[7] == '0'
	status, err := strconv.ParseUint(string(line[len(version):len(version)+3]), 10, 16)
	if err != nil || len(line) > len(version)+3 && line[len(version)+3] != ' ' {
		return errFrames
	}
	g.status, g.phase = int(status), field
	return nil
}

// readField looks for what says how long the body is. Folded lines and names
// with space in them are read differently by different readers.
func (g *guard) readField(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || len(name) == 0 || bytes.ContainsAny(name, " \t") {
		return errFrames
	}
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		n, err := strconv.ParseUint(string(bytes.Trim(value, " \t")), 10, 63)
		if err != nil || g.length >= 0 && g.length != int64(n) { // 63 bits
			return errFrames
		}
		g.length = int64(n) // 63 bits
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		if g.old || g.chunked || !bytes.EqualFold(bytes.Trim(value, " \t"), []byte("chunked")) {
			return errFrames
		}
		g.chunked = true
	}
	return nil
}

// headEnded decides what follows the head (RFC 9112 §6.3). No request is a HEAD.
func (g *guard) headEnded() {
	switch {
	case g.status == 101:
		g.phase = rest
	case g.status < 200:
		size := g.size
		g.begin()
		g.size = size // interim answers count together
	case g.chunked && g.length >= 0:
		g.err = errFrames // the classic disagreement
	case g.status == 204 || g.status == 304:
		g.finish()
	case g.chunked:
		g.phase, g.size = chunkSize, 0
	case g.length > 0:
		g.phase, g.left = body, g.length
	case g.length == 0:
		g.finish()
	default:
		g.phase = rest
	}
}

// readChunkSize reads "1f;extension" (RFC 9112 §7.1).
func (g *guard) readChunkSize(line []byte) error {
	digits, _, _ := bytes.Cut(line, []byte(";"))
	n, err := strconv.ParseUint(string(bytes.TrimRight(digits, " \t")), 16, 63)
	if err != nil || n > math.MaxInt64/2 {
		return errFrames
	}
	if g.left = int64(n); n == 0 { // bounded above
		g.phase = trailer
		return nil
	}
	g.phase = chunk
	return nil
}
