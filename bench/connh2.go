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

// connH2 is a connection of HTTP/2 with many streams, of which the load generator keeps nothing. One
// goroutine reads it, and answers the settings and pings of the other side.
type connH2 struct {
	conn   net.Conn
	framer *http2.Framer
	mu     sync.Mutex // guards writes
}

// openH2 opens n streams on as few connections as they need, one connection after the other.
func (l *lane) openH2(n int) (closeAllOf func(), err error) {
	var conns []*connH2
	closeAllOf = func() {
		for _, c := range conns {
			_ = c.conn.Close()
		}
	}
	for opened := 0; opened < n; opened += streamsTogether {
		c, err := l.dialH2()
		if err == nil {
			conns = append(conns, c)
			err = l.openOn(c, min(streamsTogether, n-opened))
		}
		if err != nil {
			closeAllOf()
			return nil, fmt.Errorf("stream %d: %w", opened, err)
		}
	}
	return closeAllOf, nil
}

// dialH2 connects, and sends the preface.
func (l *lane) dialH2() (*connH2, error) {
	to, err := url.Parse(l.target())
	if err != nil {
		return nil, err
	}
	dialer := &tls.Dialer{NetDialer: &net.Dialer{Timeout: 30 * time.Second}, Config: l.tls("h2")}
	conn, err := dialer.DialContext(l.ctx, "tcp", to.Host)
	if err != nil {
		return nil, err
	}
	c := &connH2{conn: conn, framer: http2.NewFramer(conn, conn)}
	if _, err = conn.Write([]byte(http2.ClientPreface)); err == nil {
		err = c.framer.WriteSettings()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// openOn opens n streams on a connection, and returns when each has had its first event. The
// connection is read on until it is closed.
func (l *lane) openOn(c *connH2, n int) error {
	ctx, cancel := context.WithTimeout(l.ctx, 30*time.Second)
	defer cancel()
	begun := make(chan error, n+1)
	go func() { begun <- c.read(begun) }()
	if err := l.send(c, n); err != nil {
		return err
	}
	for range n {
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
func (l *lane) send(c *connH2, n int) error {
	to, err := url.Parse(l.target())
	if err != nil {
		return err
	}
	var block bytes.Buffer
	table := hpack.NewEncoder(&block)
	body := l.call("SendStreamingMessage", textIdle)
	for i := range n {
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

// read says of each stream when its first event has come, and of the connection why it has ended.
func (c *connH2) read(begun chan<- error) error {
	first := make(map[uint32]bool)
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return err
		}
		switch f := frame.(type) {
		case *http2.DataFrame:
			if data := f.Data(); bytes.Contains(data, []byte(`"error":`)) {
				return fmt.Errorf("the stream says %.300s", data)
			} else if !first[f.StreamID] && bytes.Contains(data, []byte("data:")) {
				first[f.StreamID] = true
				begun <- nil
			}
		case *http2.SettingsFrame:
			err = c.answer(!f.IsAck(), c.framer.WriteSettingsAck)
		case *http2.PingFrame:
			err = c.answer(!f.IsAck(), func() error { return c.framer.WritePing(true, f.Data) })
		case *http2.RSTStreamFrame:
			err = fmt.Errorf("stream %d is reset: %v", f.StreamID, f.ErrCode)
		case *http2.GoAwayFrame:
			err = fmt.Errorf("the connection ends: %v", f.ErrCode)
		}
		if err != nil {
			return err
		}
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
