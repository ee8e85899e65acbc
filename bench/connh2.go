package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// streamsTogether are on one connection of HTTP/2: as many as HAProxy and the gateway take from one client.
const streamsTogether = 100

// connH2 is a connection of HTTP/2 with many streams, of which the load generator keeps next to nothing. One
// goroutine reads it, and answers the settings and pings of the other side.
type connH2 struct {
	conn   net.Conn
	framer *http2.Framer
	mu     sync.Mutex // guards writes
	n      int        // streams
	// left is closed when nothing is read any more. From then on wrong has an error for each stream
	// that is lost.
	left  chan struct{}
	wrong []error
}

// sharedConns are connections of many streams each.
type sharedConns []*connH2

func (all sharedConns) close() {
	for _, c := range all {
		_ = c.conn.Close()
	}
}

// ended waits until each stream has.
func (all sharedConns) ended() []error {
	late := time.AfterFunc(30*time.Second, all.close) // which ends the reading
	defer late.Stop()
	var errs []error
	for _, c := range all {
		<-c.left
		errs = append(errs, c.wrong...)
		errs = append(errs, make([]error, c.n-len(c.wrong))...)
	}
	return errs
}

// openH2 opens n streams on as few connections as they need, one connection after the other.
func (l *lane) openH2(n int) (sharedConns, error) {
	var conns sharedConns
	for opened := 0; opened < n; opened += streamsTogether {
		c, err := l.dialH2(min(streamsTogether, n-opened))
		if err == nil {
			conns = append(conns, c)
			err = l.openOn(c)
		}
		if err != nil {
			conns.close()
			return nil, fmt.Errorf("stream %d: %w", opened, err)
		}
	}
	return conns, nil
}

// dialH2 connects for n streams, and sends the preface.
func (l *lane) dialH2(n int) (*connH2, error) {
	to, err := url.Parse(l.target())
	if err != nil {
		return nil, err
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 30 * time.Second}, Config: l.tls("h2")}
	conn, err := dialer.DialContext(l.ctx, "tcp", to.Host)
	if err != nil {
		return nil, err
	}
	c := &connH2{conn: conn, framer: http2.NewFramer(conn, conn), n: n, left: make(chan struct{})}
	if _, err = conn.Write([]byte(http2.ClientPreface)); err == nil {
		err = c.framer.WriteSettings()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// openOn opens the streams of a connection, and returns when each has had its first event. The
// connection is read on until all have ended.
func (l *lane) openOn(c *connH2) error {
	ctx, cancel := context.WithTimeout(l.ctx, 30*time.Second)
	defer cancel()
	begun := make(chan error, c.n)
	go c.read(begun)
	if err := l.send(c); err != nil {
		return err
	}
	for range c.n {
		select {
		case err := <-begun:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return errors.New("a stream has no first event")
		}
	}
	return nil
}

// send sends the calls. Fields are encoded in the order of the streams, as their table wants it.
func (l *lane) send(c *connH2) error {
	to, err := url.Parse(l.target())
	if err != nil {
		return err
	}
	var block bytes.Buffer
	table := hpack.NewEncoder(&block)
	body := l.call("SendStreamingMessage", textIdle)
	for i := range c.n {
		block.Reset()
		fields := [][2]string{
			{":method", "POST"}, {":scheme", "https"}, {":authority", to.Host}, {":path", to.RequestURI()},
			{"accept", "text/event-stream"}, {"content-length", strconv.Itoa(len(body))},
		}
		for name, values := range l.header() {
			fields = append(fields, [2]string{strings.ToLower(name), values[0]})
		}
		for _, f := range fields {
			if err := table.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
				return err
			}
		}
		stream := uint32(2*i + 1) //nolint:gosec // of a hundred
		c.mu.Lock()
		err := c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
		if err == nil {
			err = c.framer.WriteData(stream, true, body)
		}
		c.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// streamH2 is what is known of a stream.
type streamH2 struct {
	begun, ended bool
	tail         []byte // of what came
}

// tailLength is enough for what says that a stream ends as it should.
const tailLength = 128

// reading is a connection that is read, by one goroutine.
type reading struct {
	*connH2
	begun   chan<- error // has a value for each stream: nil when its first event has come
	streams map[uint32]*streamH2
	ended   int
}

// read reads until all streams have ended, or the connection has.
func (c *connH2) read(begun chan<- error) {
	defer close(c.left)
	r := &reading{connH2: c, begun: begun, streams: map[uint32]*streamH2{}}
	for i := range c.n {
		r.streams[uint32(2*i+1)] = new(streamH2) //nolint:gosec // of a hundred
	}
	for r.ended < c.n {
		frame, err := c.framer.ReadFrame()
		if err == nil {
			err = r.frame(frame)
		}
		if err != nil {
			for id := range r.streams {
				r.end(id, err)
			}
		}
	}
}

// frame takes one. The error is of the connection.
func (r *reading) frame(frame http2.Frame) error {
	id := frame.Header().StreamID
	switch f := frame.(type) {
	case *http2.DataFrame:
		r.data(id, f.Data())
		if f.StreamEnded() {
			r.finished(id)
		}
	case *http2.HeadersFrame:
		if f.StreamEnded() {
			r.finished(id)
		}
	case *http2.RSTStreamFrame:
		r.end(id, fmt.Errorf("stream %d is reset: %v", id, f.ErrCode))
	case *http2.SettingsFrame:
		return r.answer(!f.IsAck(), r.framer.WriteSettingsAck)
	case *http2.PingFrame:
		return r.answer(!f.IsAck(), func() error { return r.framer.WritePing(true, f.Data) })
	case *http2.GoAwayFrame:
		return fmt.Errorf("the connection ends: %v", f.ErrCode)
	}
	return nil
}

// data takes a piece of a stream.
func (r *reading) data(id uint32, data []byte) {
	s := r.streams[id]
	if s == nil || s.ended {
		return
	}
	if bytes.Contains(data, []byte(`"error":`)) {
		r.end(id, fmt.Errorf("the stream says %.300s", data))
		return
	}
	s.tail = append(s.tail, data...)
	s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-tailLength):]...)
	if !s.begun && bytes.Contains(data, []byte("data:")) {
		s.begun = true
		r.begun <- nil
	}
}

// finished takes the end of a stream, which had no pieces.
func (r *reading) finished(id uint32) {
	if s := r.streams[id]; s != nil {
		r.end(id, whole(s.tail, 0))
	}
}

// end has a stream end, once.
func (r *reading) end(id uint32, err error) {
	s := r.streams[id]
	if s == nil || s.ended {
		return
	}
	s.ended = true
	r.ended++
	if err != nil {
		r.wrong = append(r.wrong, err)
	}
	if !s.begun {
		if err == nil {
			err = errors.New("has no event")
		}
		s.begun = true
		r.begun <- err
	}
}

// answer writes what is due.
func (c *connH2) answer(due bool, write func() error) error {
	if !due {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return write()
}
