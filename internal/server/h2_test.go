package server

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// h2Conn is a raw HTTP/2 client connection.
type h2Conn struct {
	net.Conn
	framer *http2.Framer
}

func dialH2(t *testing.T, s *Server) *h2Conn {
	t.Helper()
	c := dial(t, s)
	_, err := io.WriteString(c, http2.ClientPreface)
	must(t, err)
	f := http2.NewFramer(c, c)
	f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	must(t, f.WriteSettings())
	return &h2Conn{c, f}
}

// status sends one request, the fields as name, value pairs, and returns the
// status, or -1 where the stream or the connection was ended instead.
func (c *h2Conn) status(t *testing.T, endStream bool, fields ...string) int {
	t.Helper()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for i := 0; i < len(fields); i += 2 {
		must(t, enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}))
	}
	must(t, c.framer.WriteHeaders(http2.HeadersFrameParam{
		StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: endStream,
	}))
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return -1
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			n, err := strconv.Atoi(f.PseudoValue("status"))
			must(t, err)
			return n
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return -1
		}
	}
}

// h2Get is a GET's pseudo fields with more behind them.
func h2Get(path string, more ...string) []string {
	return append([]string{":method", "GET", ":scheme", "http", ":authority", "localhost", ":path", path},
		more...)
}

// TestScreenOverHTTP2 has the rows that HTTP/2 spells differently.
func TestScreenOverHTTP2(t *testing.T) {
	t.Parallel()
	var rec recorder
	s := start(t, plaintext(), &rec)
	for _, tt := range []struct {
		name   string
		fields []string
		open   bool // no END_STREAM
		want   int
	}{
		{"in order", h2Get("/"), false, 204},
		{"L02 underscore", h2Get("/", "x_forwarded_for", "1"), false, 400},
		{"L02 dot", h2Get("/", "x.forwarded.for", "1"), false, 400},
		{"L03 connection", h2Get("/", "connection", "authorization"), false, 400},
		{"L03 connection, upgrade", h2Get("/", "connection", "upgrade"), false, 400},
		{"L03 connection, close", h2Get("/", "connection", "close"), false, 400},
		{"L03 keep-alive", h2Get("/", "keep-alive", "timeout=5"), false, 400},
		{"L03 proxy-connection", h2Get("/", "proxy-connection", "keep-alive"), false, 400},
		{"L03 te", h2Get("/", "te", "gzip"), false, 400},
		{"L03 te, trailers", h2Get("/", "te", "trailers"), false, 204},
		{"L05 credentials", h2Get("/?api_key=1"), false, 400},
		{"L07 same host", h2Get("/", "host", "localhost"), false, 204},
		{"L07 same host, written otherwise", h2Get("/", "host", "LocalHost:80"), false, 204},
		{"L07 other port", h2Get("/", "host", "localhost:8080"), false, 400},
		{"L07 other host", h2Get("/", "host", "evil"), false, 400},
		{"L07 no authority", []string{":method", "GET", ":scheme", "http", ":path", "/"}, false, 400},
		{"L07 userinfo", []string{":method", "GET", ":scheme", "http", ":authority", "u@localhost", ":path",
			"/"}, false, 400},
		{"L09 content-type", h2Get("/", "content-type", "a/b", "content-type", "c/d"), false, 400},
		{"L11 dots", h2Get("/a/../b"), false, 400},
		{"L11 absolute", h2Get("http://evil/"), false, 400},
		{"L11 absolute, same host", h2Get("http://localhost/"), false, 400},
		{"L11 no slash", h2Get("evil"), false, 400},
		{"L12 fragment", h2Get("/#x"), false, 400},
		{"L15 body on GET", h2Get("/"), true, 400},
		{"L15 length on GET", h2Get("/", "content-length", "5"), true, 400},
		{"L15 CONNECT", []string{":method", "CONNECT", ":authority", "evil:443"}, false, 405},
		{"L15 TRACE", []string{":method", "TRACE", ":scheme", "http", ":authority", "localhost", ":path", "/"},
			false, 405},
		{"L15 OPTIONS *", []string{":method", "OPTIONS", ":scheme", "http", ":authority", "localhost", ":path", "*"}, false, 204},
		{"L15 GET *", h2Get("*"), false, 400},
		{"L16 upgrade", h2Get("/", "upgrade", "websocket"), false, 400},
		{"L23 gzip", h2Get("/", "content-encoding", "gzip"), false, 415},
	} {
		before := rec.reached.Load()
		got := dialH2(t, s).status(t, !tt.open, tt.fields...)
		if got != tt.want && (tt.want == 204 || got != -1) { // -1: net/http has refused it already
			t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
		}
		if reached := rec.reached.Load() > before; reached != (tt.want == 204) {
			t.Errorf("%s: the handler was reached: %v", tt.name, reached)
		}
	}
}

// TestL18_LengthOverHTTP2: frames make the body, and a length that says otherwise would
// be for an agent to believe.
func TestL18_LengthOverHTTP2(t *testing.T) {
	t.Parallel()
	var rec recorder
	s := start(t, plaintext(), &rec)
	post := func(lengths ...string) []string {
		fields := []string{":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "/"}
		for _, length := range lengths {
			fields = append(fields, "content-length", length)
		}
		return fields
	}
	for _, tt := range []struct {
		name   string
		fields []string
		want   int
	}{
		{"none", post(), 204},
		{"zero", post("0"), 204},
		{"a body that does not come", post("5"), 400},
		{"not a number", post("x"), 400},
		{"a sign", post("+0"), 400},
		{"leading zeros", post("00"), 400},
		{"a list", post("0, 0"), 400},
		{"twice", post("0", "0"), 400},
		{"twice, different", post("0", "5"), 400},
		{"empty", post(""), 400},
	} {
		before := rec.reached.Load()
		if got := dialH2(t, s).status(t, true, tt.fields...); got != tt.want && (tt.want == 204 || got != -1) {
			t.Errorf("%s: status %d, want %d", tt.name, got, tt.want)
		}
		if reached := rec.reached.Load() > before; reached != (tt.want == 204) {
			t.Errorf("%s: the handler was reached: %v", tt.name, reached)
		}
	}
}

func TestL20_ErrorsAreCounted(t *testing.T) {
	t.Parallel()
	names := make(chan string, 100)
	s := start(t, plaintext(), empty(), func(s *Server) { s.H2Error = func(name string) { names <- name } })
	c := dialH2(t, s)
	must(t, c.framer.WriteData(1, false, []byte("data for a stream that is not open")))
	if name := <-names; name == "" {
		t.Error("an error without a name")
	}
	ended(t, c.Conn)
}

// TestL20_Settings: the bounds that floods run into are announced.
func TestL20_Settings(t *testing.T) {
	t.Parallel()
	c := dialH2(t, start(t, plaintext(), empty()))
	for {
		frame, err := c.framer.ReadFrame()
		must(t, err)
		settings, ok := frame.(*http2.SettingsFrame)
		if !ok || settings.IsAck() {
			continue
		}
		for id, want := range map[http2.SettingID]uint32{
			http2.SettingMaxConcurrentStreams: 100, http2.SettingMaxFrameSize: 16 << 10,
			http2.SettingInitialWindowSize: 64 << 10,
		} {
			if got, ok := settings.Value(id); !ok || got != want {
				t.Errorf("%v is %d, want %d", id, got, want)
			}
		}
		return
	}
}

// TestEarlyAnswerOverHTTP2: a client that is answered before its body has come is told to stop
// sending it, without an error (RFC 9113 §8.1), and what it had sent by then harms no other call
// on the connection.
func TestEarlyAnswerOverHTTP2(t *testing.T) {
	t.Parallel()
	s := start(t, plaintext(), early(1000))
	c := dialH2(t, s)
	fields := []string{":method", "POST", ":scheme", "http", ":authority", "localhost", ":path", "/", "content-length", "5000000"}
	if got := c.status(t, false, fields...); got != http.StatusRequestEntityTooLarge {
		t.Fatalf("status %d", got)
	}
	ended := false
	for reset := false; !reset; {
		frame, err := c.framer.ReadFrame()
		must(t, err)
		switch f := frame.(type) {
		case *http2.DataFrame:
			ended = ended || f.StreamEnded()
		case *http2.RSTStreamFrame:
			if reset = true; f.ErrCode != http2.ErrCodeNo || !ended {
				t.Errorf("reset by %v, the answer ended %v", f.ErrCode, ended)
			}
		case *http2.GoAwayFrame:
			t.Fatalf("the connection ends by %v", f.ErrCode)
		}
	}
	for range 3 { // which were on their way
		must(t, c.framer.WriteData(1, false, make([]byte, 16<<10)))
	}
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block) // whose table is of its own: nothing in it is indexed
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", "/"}} {
		must(t, enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1], Sensitive: true}))
	}
	must(t, c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 3, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true}))
	for {
		frame, err := c.framer.ReadFrame()
		must(t, err)
		if f, ok := frame.(*http2.MetaHeadersFrame); ok {
			if f.StreamID != 3 || f.PseudoValue("status") != "204" {
				t.Errorf("stream %d, status %s", f.StreamID, f.PseudoValue("status"))
			}
			return
		}
	}
}
