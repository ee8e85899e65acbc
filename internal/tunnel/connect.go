package tunnel

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"
)

// maxHead is how long the head of the proxy's answer may be.
const maxHead = 16 << 10

// connect opens a connection through the proxy.
func (s *server) connect(ctx context.Context, d net.Dialer, address string) (net.Conn, error) {
	whole := ctx
	if d.Timeout > 0 {
		var cancel context.CancelFunc
		whole, cancel = context.WithTimeout(ctx, d.Timeout)
		defer cancel()
	}
	c, err := s.open(whole, d, address)
	// A caller who has gone hears of that, and not of a proxy that was cut off.
	if err != nil && ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, context.Cause(ctx)
	}
	return c, err
}

// open is connect within a context that has the timeout too.
func (s *server) open(ctx context.Context, d net.Dialer, address string) (net.Conn, error) {
	c, err := s.reach(ctx, d)
	if err != nil {
		return nil, s.failed(address, atProxy, err)
	}
	// Reads and writes know no contexts; a deadline that has passed ends them.
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(past) })
	err = s.ask(c, address)
	if !stop() && err == nil { // the deadline has been set, or is about to be
		err = s.failed(address, silent, ctx.Err())
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

// reach connects to the proxy itself.
func (s *server) reach(ctx context.Context, d net.Dialer) (net.Conn, error) {
	c, err := d.DialContext(ctx, "tcp", s.address)
	if err != nil || s.tls == nil {
		return c, err
	}
	secured := tls.Client(c, s.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	return secured, nil
}

// ask has the proxy connect, and reads what it says to that.
func (s *server) ask(c net.Conn, address string) error {
	var b bytes.Buffer
	b.WriteString("CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\nUser-Agent: a2a-gateway\r\n")
	if s.credential != "" {
		b.WriteString("Proxy-Authorization: " + s.credential + "\r\n")
	}
	b.WriteString("\r\n")
	if _, err := c.Write(b.Bytes()); err != nil {
		return s.failed(address, atProxy, err)
	}
	head, err := readHead(c)
	switch {
	case isTimeout(err):
		return s.failed(address, silent, context.DeadlineExceeded)
	case err != nil:
		return s.failed(address, atProxy, err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: http.MethodConnect})
	if err != nil {
		return s.failed(address, atProxy, errNoHTTP)
	}
	_ = answer.Body.Close() // nothing of it has been read
	// Any 2xx opens the tunnel (RFC 9110 §9.3.6).
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return &Error{Proxy: s.address, Target: address, Status: answer.StatusCode}
	}
	return nil
}

var (
	errNoHTTP = errors.New("its answer is none of HTTP")
	errLong   = errors.New("the head of its answer is too long")
)

// readHead reads an answer's head, past interim ones, and no byte more: what comes behind it
// is the other end's, who may speak first, as HTTP/2 servers do.
func readHead(c net.Conn) ([]byte, error) {
	var head []byte
	for read := 0; read < maxHead; read++ {
		var one [1]byte
		if _, err := c.Read(one[:]); err != nil {
			return nil, err
		}
		head = append(head, one[0])
		if !bytes.HasSuffix(head, []byte("\n\r\n")) && !bytes.HasSuffix(head, []byte("\n\n")) {
			continue
		}
		if !interim(head) {
			return head, nil
		}
		head = head[:0]
	}
	return nil, errLong
}

// interim reports a head of status 1xx, after which another comes.
func interim(head []byte) bool {
	_, rest, _ := strings.Cut(string(head[:min(len(head), 16)]), " ")
	return strings.HasPrefix(rest, "1")
}

// isTimeout reports an error of a connection that took too long.
func isTimeout(err error) bool {
	slow, ok := errors.AsType[net.Error](err)
	return ok && slow.Timeout()
}
