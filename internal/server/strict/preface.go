package strict

// http2Preface is what an HTTP/2 connection begins with (RFC 9113 §3.4).
const http2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// prefaceLine is its first line without the line end, which some read before the rest.
const prefaceLine = len("PRI * HTTP/2.0")

// preface is called with the first n bytes of a connection that may be HTTP/2's, in p,
// and again until that is known. Who begins in another way speaks HTTP/1.1.
//
// The first line passes as it comes. The rest passes as a whole, for what comes before
// its end would be a whole request without a Host.
func (c *Conn) preface(p []byte, n int, err error) (int, error) {
	for {
		same := 0
		for same < n && c.prefix+same < len(http2Preface) && p[same] == http2Preface[c.prefix+same] {
			same++
		}
		all := c.prefix + same
		switch {
		// From here on nothing is judged: flood counts the frames.
		case all == len(http2Preface):
			c.state = inHTTP2
			return n, err
		case same < n: // it is something else: read it all again, or what has passed of it
			c.begin(http2Preface[:c.prefix])
			return n, err
		case all <= prefaceLine:
			c.prefix = all
			return n, err
		case err != nil || n == len(p):
			c.begin(http2Preface[:c.prefix])
			return n, err
		}
		var more int
		more, err = c.Conn.Read(p[n:])
		n += more
	}
}

// begin reads what has passed already as the beginning of a request.
func (c *Conn) begin(passed string) {
	c.state = atStart
	// What has passed is at most the first line, which is a request line of HTTP/1.1's form too.
	var line [prefaceLine]byte
	_, c.broken = c.read(line[:copy(line[:], passed)])
}
