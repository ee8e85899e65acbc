package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stream is one Server-Sent Events answer on a connection of its own, over
// HTTP/1.1. It has no goroutine, so that thousands cost the load generator little.
type stream struct {
	conn net.Conn
	body *bufio.Reader
	n    int    // events that have come
	last []byte // the latest of them
}

// open sends a call and returns when its first event has come.
func (l *lane) open(ctx context.Context, text string, buffer int) (*stream, error) {
	to, err := url.Parse(l.target())
	if err != nil {
		return nil, err
	}
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	var conn net.Conn
	if to.Scheme == "http" {
		conn, err = dialer.DialContext(ctx, "tcp", to.Host)
	} else {
		conn, err = (&tls.Dialer{NetDialer: dialer, Config: l.tls("http/1.1")}).DialContext(ctx, "tcp", to.Host)
	}
	if err != nil {
		return nil, err
	}
	s := &stream{conn: conn}
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if err := s.start(to, l.header(), l.call("SendStreamingMessage", text), buffer); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *stream) start(to *url.URL, header http.Header, body []byte, buffer int) error {
	var b bytes.Buffer
	_, _ = fmt.Fprintf(&b, "POST %s HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\nContent-Length: %d\r\n",
		to.RequestURI(), to.Host, len(body))
	_ = header.Write(&b)
	_, _ = b.WriteString("\r\n")
	_, _ = b.Write(body)
	if _, err := s.conn.Write(b.Bytes()); err != nil {
		return err
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(s.conn, buffer), nil)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 300))
		return fmt.Errorf("answer %d: %s", resp.StatusCode, said)
	}
	s.body = bufio.NewReaderSize(resp.Body, buffer)
	_, err = s.event()
	return err
}

// event is the data of the next event, which is good until the one after it;
// io.EOF after the last.
func (s *stream) event() ([]byte, error) {
	for {
		line, err := s.body.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if !ok {
			continue
		}
		if bytes.Contains(data, []byte(`"error":`)) {
			return nil, fmt.Errorf("the stream says %.300s", data)
		}
		s.n++
		s.last = append(s.last[:0], data...)
		return data, nil
	}
}

// rest reads to the end of the stream, with seen for each event, and says what is wrong with it: it broke
// off, did not end with the task's end, or had not as many events as the agent sent.
func (s *stream) rest(seen func(data []byte)) error {
	for {
		data, err := s.event()
		if errors.Is(err, io.EOF) {
			return whole(s.last, s.n-2) // beside the task and its end
		}
		if err != nil {
			return err
		}
		if seen != nil {
			seen(data)
		}
	}
}

// whole says what is wrong with a stream that has ended, of its last event and how many pieces it had.
func whole(last []byte, pieces int) error {
	_, count, ok := bytes.Cut(last, []byte(`"pieces":`))
	if !ok || !bytes.Contains(last, []byte("TASK_STATE_COMPLETED")) {
		return fmt.Errorf("the stream ends with %.300s", last)
	}
	count, _, _ = bytes.Cut(count, []byte("}"))
	// Who writes events anew may write 4 as 4.0, since metadata has numbers of any kind.
	sent, err := strconv.ParseFloat(string(bytes.TrimSpace(count)), 64)
	if err == nil && sent != float64(pieces) {
		err = fmt.Errorf("the stream has %d pieces of %.0f", pieces, sent)
	}
	return err
}

func (s *stream) close() { _ = s.conn.Close() }

// sentAt is when the agent sent an event, which it writes into it.
func sentAt(data []byte) (time.Time, bool) {
	_, rest, ok := bytes.Cut(data, []byte("at="))
	if !ok {
		return time.Time{}, false
	}
	digits, _, _ := bytes.Cut(rest, []byte(" "))
	ns, err := strconv.ParseInt(string(digits), 10, 64)
	return time.Unix(0, ns), err == nil
}

// openAll opens n streams, so many at a time.
func (l *lane) openAll(n, buffer int, text string) ([]*stream, error) {
	ctx, cancel := context.WithCancelCause(l.ctx)
	defer cancel(nil)
	streams := make([]*stream, n)
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for i := range next {
				s, err := l.open(ctx, text, buffer)
				if err != nil {
					cancel(fmt.Errorf("stream %d: %w", i, err))
					return
				}
				streams[i] = s
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		closeAll(streams)
		return nil, err
	}
	return streams, nil
}

func closeAll(streams []*stream) {
	for _, s := range streams {
		if s != nil {
			s.close()
		}
	}
}

// endStreams lets the agent end all that it has open.
func (st *stage) endStreams() error {
	req, err := http.NewRequestWithContext(st.ctx, http.MethodDelete, "http://"+st.agent+"/streams", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
