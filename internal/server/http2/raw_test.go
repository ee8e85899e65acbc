package http2

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// raw is a client that writes frames as a test wants them.
type raw struct {
	*http2.Framer
	net.Conn
	t     testing.TB
	block bytes.Buffer
	table *hpack.Encoder
}

// dialRaw begins a connection, as far as the server's preface.
func dialRaw(t testing.TB, url string) *raw {
	t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.WriteString(nc, preface); err != nil {
		t.Fatal(err)
	}
	c := &raw{Framer: http2.NewFramer(nc, nc), Conn: nc, t: t}
	c.AllowIllegalWrites = true
	c.table = hpack.NewEncoder(&c.block)
	c.ReadMetaHeaders = hpack.NewDecoder(tableSize, nil)
	if err := c.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	return c
}

// fields encodes name, value pairs.
func (c *raw) fields(pairs ...string) []byte {
	c.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = c.table.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	return slices.Clone(c.block.Bytes())
}

// request is what a GET says, with more behind it.
func request(more ...string) []string {
	return append([]string{":method", "GET", ":scheme", "http", ":authority", "localhost", ":path", "/"}, more...)
}

func (c *raw) open(stream uint32, end bool, pairs ...string) {
	_ = c.WriteHeaders(http2.HeadersFrameParam{
		StreamID: stream, BlockFragment: c.fields(pairs...), EndHeaders: true, EndStream: end,
	})
}

// outcome is what becomes of a stream: a status, "reset CODE", "goaway CODE" or "closed".
func (c *raw) outcome() string {
	for {
		f, err := c.ReadFrame()
		if err != nil {
			return "closed"
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			return f.PseudoValue("status")
		case *http2.RSTStreamFrame:
			return "reset " + f.ErrCode.String()
		case *http2.GoAwayFrame:
			if f.ErrCode != http2.ErrCodeNo || f.LastStreamID != mostWindow {
				return "goaway " + f.ErrCode.String()
			}
		}
	}
}

// TestRefused: what a client may not send, and what becomes of the stream or the connection.
func TestRefused(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var counted []string
	url, _ := servingAt(t, func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Wait") != "" { // and read nothing
			<-r.Context().Done()
		}
		_, _ = io.Copy(io.Discard, r.Body)
	}, func(s *Server) {
		s.Streams = 2
		s.Errors = func(name string) {
			mu.Lock()
			defer mu.Unlock()
			counted = append(counted, name)
		}
	})
	large := strings.Repeat("x", 20<<10)
	for _, tt := range []struct {
		name, want, counted string
		send                func(c *raw)
	}{
		{"in order", "200", "", func(c *raw) { c.open(1, true, request()...) }},
		{"even stream", "goaway PROTOCOL_ERROR", "headers_even", func(c *raw) { c.open(2, true, request()...) }},
		{"stream 0", "goaway PROTOCOL_ERROR", "headers_stream", func(c *raw) { c.open(0, true, request()...) }},
		{"name in upper case", "reset PROTOCOL_ERROR", "field", func(c *raw) { c.open(1, true, request("X-A", "b")...) }},
		{"line end in a value", "reset PROTOCOL_ERROR", "field", func(c *raw) { c.open(1, true, request("x-a", "b\r\nc: d")...) }},
		{"connection", "reset PROTOCOL_ERROR", "connection_field", func(c *raw) { c.open(1, true, request("connection", "close")...) }},
		{"te", "reset PROTOCOL_ERROR", "connection_field", func(c *raw) { c.open(1, true, request("te", "gzip")...) }},
		{"te, trailers", "200", "", func(c *raw) { c.open(1, true, request("te", "trailers")...) }},
		{"pseudo late", "reset PROTOCOL_ERROR", "pseudo_late", func(c *raw) { c.open(1, true, request("x-a", "b", ":path", "/")...) }},
		{"pseudo twice", "reset PROTOCOL_ERROR", "pseudo_twice", func(c *raw) { c.open(1, true, request(":path", "/")...) }},
		{"pseudo unknown", "reset PROTOCOL_ERROR", "pseudo_unknown", func(c *raw) { c.open(1, true, request(":x", "/")...) }},
		{"pseudo of answers", "reset PROTOCOL_ERROR", "pseudo_unknown", func(c *raw) { c.open(1, true, request(":status", "200")...) }},
		{"no method", "reset PROTOCOL_ERROR", "pseudo_missing", func(c *raw) { c.open(1, true, ":scheme", "http", ":path", "/") }},
		{"connect with a path", "reset PROTOCOL_ERROR", "connect", func(c *raw) {
			c.open(1, true, ":method", "CONNECT", ":authority", "a:1", ":path", "/")
		}},
		{"relative path", "reset PROTOCOL_ERROR", "path", func(c *raw) {
			c.open(1, true, ":method", "GET", ":scheme", "http", ":authority", "a", ":path", "x")
		}},
		{"blank in the method", "reset PROTOCOL_ERROR", "method", func(c *raw) {
			c.open(1, true, ":method", "G T", ":scheme", "http", ":authority", "a", ":path", "/")
		}},
		{"large head", "431", "", func(c *raw) {
			block := c.fields(request("x-a", large)...)
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block[:9000], EndStream: true})
			_ = c.WriteContinuation(1, true, block[9000:])
		}},
		{"shorter than it says", "reset PROTOCOL_ERROR", "data_length", func(c *raw) {
			c.open(1, false, request("content-length", "5")...)
			_ = c.WriteData(1, true, []byte("four"))
		}},
		{"longer than it says", "reset PROTOCOL_ERROR", "data_length", func(c *raw) {
			c.open(1, false, request("content-length", "3")...)
			_ = c.WriteData(1, false, []byte("four"))
		}},
		{"data on no stream", "goaway PROTOCOL_ERROR", "data_stream", func(c *raw) { _ = c.WriteData(0, true, []byte("x")) }},
		{"data on an idle stream", "goaway PROTOCOL_ERROR", "data_idle", func(c *raw) { _ = c.WriteData(7, true, []byte("x")) }},
		{"all of it padding", "goaway PROTOCOL_ERROR", "data_padding", func(c *raw) {
			c.open(1, false, request()...)
			_ = c.WriteRawFrame(http2.FrameData, http2.FlagDataPadded, 1, []byte{9, 1, 2})
		}},
		{"over the window", "reset FLOW_CONTROL_ERROR", "data_stream_window", func(c *raw) {
			c.open(1, false, request("x-wait", "1")...)
			for range 9 {
				_ = c.WriteData(1, false, make([]byte, 16<<10))
			}
		}},
		{"frame too large", "goaway FRAME_SIZE_ERROR", "frame_size", func(c *raw) { _ = c.WriteRawFrame(0xfa, 0, 0, make([]byte, 17<<10)) }},
		{"trailers without an end", "reset PROTOCOL_ERROR", "trailers_without_end", func(c *raw) {
			c.open(1, false, request()...)
			c.open(1, false, "x-a", "b")
		}},
		{"pseudo in trailers", "reset PROTOCOL_ERROR", "trailers_field", func(c *raw) {
			c.open(1, false, request()...)
			c.open(1, true, ":path", "/")
		}},
		{"trailers", "200", "", func(c *raw) {
			c.open(1, false, request()...)
			c.open(1, true, "x-a", "b")
		}},
		{"frame within a head", "goaway PROTOCOL_ERROR", "head_interrupted", func(c *raw) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: c.fields(request()...)})
			_ = c.WritePing(false, [8]byte{})
		}},
		{"continuation of nothing", "goaway PROTOCOL_ERROR", "continuation", func(c *raw) { _ = c.WriteContinuation(1, true, nil) }},
		{"broken compression", "goaway COMPRESSION_ERROR", "head_compression", func(c *raw) {
			_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x80}, EndHeaders: true})
		}},
		{"push", "goaway PROTOCOL_ERROR", "push_promise", func(c *raw) { _ = c.WriteRawFrame(http2.FramePushPromise, 0, 1, make([]byte, 4)) }},
		{"window of nothing", "goaway PROTOCOL_ERROR", "window_update_zero", func(c *raw) { _ = c.WriteRawFrame(http2.FrameWindowUpdate, 0, 0, make([]byte, 4)) }},
		{"window beyond all", "goaway FLOW_CONTROL_ERROR", "window_update_overflow", func(c *raw) { _ = c.WriteWindowUpdate(0, mostWindow) }},
		{"window of an idle stream", "goaway PROTOCOL_ERROR", "window_update_idle", func(c *raw) { _ = c.WriteWindowUpdate(9, 1) }},
		{"reset of an idle stream", "goaway PROTOCOL_ERROR", "reset_idle", func(c *raw) { _ = c.WriteRSTStream(9, http2.ErrCodeCancel) }},
		{"initial window beyond all", "goaway FLOW_CONTROL_ERROR", "settings_window", func(c *raw) {
			_ = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 31})
		}},
		{"frames too small", "goaway PROTOCOL_ERROR", "settings_max_frame", func(c *raw) {
			_ = c.WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 100})
		}},
		{"head for a stream that both have reset", "goaway STREAM_CLOSED", "connection_field headers_closed", func(c *raw) {
			c.open(1, true, request("connection", "close")...)
			_ = c.outcome()
			_ = c.WriteRSTStream(1, http2.ErrCodeCancel)
			c.open(1, true, request()...)
		}},
		{"depends on itself", "reset PROTOCOL_ERROR", "priority_self", func(c *raw) {
			_ = c.WritePriority(1, http2.PriorityParam{StreamDep: 1})
		}},
	} {
		c := dialRaw(t, url)
		mu.Lock()
		counted = nil
		mu.Unlock()
		tt.send(c)
		if got := c.outcome(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		mu.Lock()
		if got := strings.Join(counted, " "); got != tt.counted {
			t.Errorf("%s: counted as %q, want %q", tt.name, got, tt.counted)
		}
		mu.Unlock()
		_ = c.Close()
	}
}

// TestTooManyStreams: what is one too many is refused so that the client may send it again.
func TestTooManyStreams(t *testing.T) {
	t.Parallel()
	url, _ := servingAt(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, func(s *Server) { s.Streams = 2 })
	c := dialRaw(t, url)
	for _, id := range []uint32{1, 3, 5} {
		c.open(id, true, request()...)
	}
	if got := c.outcome(); got != "reset REFUSED_STREAM" {
		t.Error(got)
	}
	_ = c.WriteRSTStream(1, http2.ErrCodeCancel) // its handler ends, and there is room again
	c.open(7, true, request()...)
	_ = c.WriteRSTStream(7, http2.ErrCodeCancel)
	c.open(9, true, ":method", "x y")
	if got := c.outcome(); got != "reset PROTOCOL_ERROR" {
		t.Error(got)
	}
}

// TestWindows: an answer goes as far as the client takes it, and on when it takes more.
func TestWindows(t *testing.T) {
	t.Parallel()
	url, _ := servingAt(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100_000)) })
	c := dialRaw(t, url)
	_ = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 10})
	c.open(1, true, request()...)
	got := 0
	for end := false; !end; {
		f, err := c.ReadFrame()
		if err != nil {
			t.Fatalf("after %d bytes: %v", got, err)
		}
		data, ok := f.(*http2.DataFrame)
		if !ok {
			continue
		}
		if got += len(data.Data()); got == 10 {
			_ = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 60_000})
		} else if got == 60_000 {
			_ = c.WriteWindowUpdate(0, 40_000)
			_ = c.WriteWindowUpdate(1, 30_000)
		} else if got == 90_000 {
			_ = c.WriteWindowUpdate(1, 10_000)
		}
		end = data.StreamEnded()
	}
	if got != 100_000 {
		t.Errorf("%d bytes", got)
	}
}

// TestDeadlines: reads and writes end when the handler has said, and others do not.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	errs := make(chan error, 2)
	url, _ := servingAt(t, func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(20 * time.Millisecond))
		_, err := r.Body.Read(make([]byte, 1))
		errs <- err
		_ = control.SetWriteDeadline(time.Now().Add(20 * time.Millisecond))
		_, err = w.Write(make([]byte, 200_000))
		errs <- err
	})
	c := dialRaw(t, url)
	c.open(1, false, append(request(), "content-length", strconv.Itoa(9))...)
	for _, what := range []string{"read", "write"} {
		if err := <-errs; err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestSilentClients: who sends nothing any more is asked for a sign of life, and who has no
// stream is told to go.
func TestSilentClients(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	url, _ := servingAt(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(gone)
	}, func(s *Server) { s.Ping, s.Pong, s.Idle = 20*time.Millisecond, time.Second, 40*time.Millisecond })
	c := dialRaw(t, url)
	if got := c.outcome(); got != "goaway NO_ERROR" {
		t.Errorf("idle: %s", got)
	}
	c = dialRaw(t, url)
	c.open(1, true, request()...)
	pings := 0
	for {
		f, err := c.ReadFrame()
		if err != nil {
			break
		}
		if ping, ok := f.(*http2.PingFrame); ok && pings < 3 {
			pings++
			_ = c.WritePing(true, ping.Data)
		}
	}
	if <-gone; pings != 3 {
		t.Errorf("asked %d times", pings)
	}
}

// sendInvited sends a body once 100 Continue has come, and wants it answered.
func (c *raw) sendInvited() {
	c.t.Helper()
	if got := c.outcome(); got != "100" {
		c.t.Fatal(got)
	}
	_ = c.WriteData(1, true, []byte("body"))
	if got := c.outcome(); got != "200" {
		c.t.Error(got)
	}
}

// TestExpectContinue: the client is invited when the handler reads.
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	url, _ := servingAt(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Expect") != "" {
			t.Error("the handler sees the expectation")
		}
		text, _ := io.ReadAll(r.Body)
		_, _ = w.Write(text)
	})
	c := dialRaw(t, url)
	c.open(1, false, request("expect", "100-continue")...)
	c.sendInvited()
}

// TestExpectContinueAnsweredAtOnce: a body that has come before the write of the invitation returns is read.
func TestExpectContinueAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	s := &Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text, _ := io.ReadAll(r.Body)
			_, _ = w.Write(text)
		}),
		Log: slog.New(slog.DiscardHandler), Head: 16 << 10, Streams: 100,
		Header: time.Minute, Idle: time.Minute, Write: time.Minute, Ping: time.Minute, Pong: time.Minute,
	}
	served := make(chan struct{})
	go func() { defer close(served); s.Serve(t.Context(), lingering{far}, nil) }()
	t.Cleanup(func() { _ = near.Close(); <-served })
	_ = near.SetDeadline(time.Now().Add(20 * time.Second))
	c := &raw{Framer: http2.NewFramer(near, near), Conn: near, t: t}
	c.table = hpack.NewEncoder(&c.block)
	c.ReadMetaHeaders = hpack.NewDecoder(tableSize, nil)
	greeted := make(chan struct{})
	go func() {
		defer close(greeted)
		_, _ = io.WriteString(near, preface)
		_ = c.WriteSettings()
	}()
	for acked := false; !acked; {
		f, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		settings, ok := f.(*http2.SettingsFrame)
		acked = ok && settings.IsAck()
	}
	<-greeted
	time.Sleep(50 * time.Millisecond) // for that write to be over, so that the invitation is one of the handler's own
	c.open(1, false, request("expect", "100-continue")...)
	c.sendInvited()
}

// lingering is a connection on which a write of a head returns some time after the other side has it.
type lingering struct{ net.Conn }

func (l lingering) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	if len(p) > 3 && p[3] == frameHeaders {
		time.Sleep(50 * time.Millisecond)
	}
	return n, err
}

// TestFarBehind: a client that is far behind with a stream, and pings for all that it reads, is
// served; one that pings and reads nothing is told to calm down.
func TestFarBehind(t *testing.T) {
	t.Parallel()
	const events = 40_000
	counted := make(chan string, 100)
	url, _ := servingAt(t, func(w http.ResponseWriter, _ *http.Request) {
		for range events {
			_, _ = io.WriteString(w, "data: an event of some bytes, as they come\n\n")
			if http.NewResponseController(w).Flush() != nil {
				return
			}
		}
	}, func(s *Server) { s.Errors = func(name string) { counted <- name } })
	c := dialRaw(t, url)
	_ = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30})
	_ = c.WriteWindowUpdate(0, 1<<30)
	c.open(1, true, request()...)
	got := 0
	for end := false; !end; {
		f, err := c.ReadFrame()
		if err != nil {
			t.Fatalf("after %d events: %v", got, err)
		}
		if data, ok := f.(*http2.DataFrame); ok {
			got, end = got+1, data.StreamEnded()
			if err := c.WritePing(false, [8]byte{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got < events {
		t.Errorf("%d events", got)
	}
	c = dialRaw(t, url)
	c.open(1, true, request()...)
	for c.WritePing(false, [8]byte{}) == nil {
	}
	if got := <-counted; got != "replies_unread" {
		t.Error(got)
	}
}

// TestEarlyAnswer: a client that has its answer before it has sent its request may go on to send it, and is told
// that it need not where it does not in time, without an error.
func TestEarlyAnswer(t *testing.T) {
	t.Parallel()
	url, _ := servingAt(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	c := dialRaw(t, url)
	c.open(1, false, request()...)
	if got := c.outcome(); got != "401" {
		t.Fatal(got)
	}
	_ = c.WriteData(1, true, []byte("late"))
	c.open(3, false, request()...)
	if got := c.outcome(); got != "401" {
		t.Errorf("after a request that was sent late: %s", got)
	}
	if got := c.outcome(); got != "reset NO_ERROR" {
		t.Errorf("after one that was not: %s", got)
	}
	_ = c.WriteData(3, true, []byte("later"))
	c.open(5, true, request()...)
	if got := c.outcome(); got != "401" {
		t.Errorf("the next request: %s", got)
	}
}
