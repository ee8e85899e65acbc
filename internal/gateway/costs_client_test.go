package gateway_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// costBinding is a way in which a gateway is called.
type costBinding struct {
	name       string
	secure     bool // TLS
	h2         bool
	grpc       bool
	translated bool // to an agent of JSON-RPC
}

// costBindings are those that costs are counted of, by what limits call them.
var costBindings = []costBinding{
	{name: "http1"}, {name: "http1-tls", secure: true}, {name: "http2", h2: true},
	{name: "grpc", h2: true, grpc: true}, {name: "grpc-to-jsonrpc", h2: true, grpc: true, translated: true},
}

// costClient makes calls on one connection, one after the other, each written at once: how many
// writes a client makes of a request would otherwise decide how many reads the gateway does.
type costClient struct {
	t       testing.TB
	binding costBinding
	header  [][2]string
	path    string
	conn    net.Conn
	in      *bufio.Reader
	framer  *http2.Framer
	encoder *hpack.Encoder
	block   bytes.Buffer // of encoder
	out     bytes.Buffer // of framer
	last    uint32       // stream
}

// costWorld is a gateway with everything on that a call can have without asking anybody, as
// package proxy's governedWorld is: an API key, a hundred rules, an extension that is asked for, and the
// audit log. Its state is in memory: that of SQLite is written by several calls together, as many as come
// in the meantime.
type costWorld struct {
	*world

	binding costBinding
	agent   *costAgent
	trust   *tls.Config
	key     string
}

func newCostWorld(t testing.TB, binding costBinding, agent *costAgent) (w *costWorld, yaml string) {
	t.Helper()
	w = &costWorld{world: newWorld(t), binding: binding, agent: agent}
	w.key = w.world.key("alice", "finance").Get("X-Api-Key")
	server := plain
	if binding.secure {
		secure, transport := w.secure()
		server, w.trust = secure, transport().TLSClientConfig
	}
	server += "\nlimits: {delay: 1h, connectionStreams: 1000}"
	var b strings.Builder
	for _, id := range []string{"rpc", "grpc"} {
		fmt.Fprintf(&b, "  - {id: %s, connections: 5000, card: {url: %q}}\n", id, w.agent.URL+"/"+id+".json")
	}
	b.WriteString("extensions: [{uri: \"urn:declared\", kind: data}]\npolicy:\n  rules:\n")
	b.WriteString("    - {name: finance, effect: allow, groups: [finance]}\n")
	for i := range 99 {
		fmt.Fprintf(&b, "    - {name: rule-%[1]d, effect: allow, agents: [rpc], groups: [group-%[1]d]}\n", i)
	}
	return w, w.yaml(server, "state: {driver: memory}\nstreams: {perPrincipal: 0}\nagents:\n"+b.String())
}

// client has made its first call, so that the agent's card has been read and a connection to it is open.
func (w *costWorld) client(url string) *costClient {
	w.t.Helper()
	c := w.dial(url)
	eventually(w.t, "the agent is served", func() bool { return c.try(wire.SendMessage) })
	return c
}

func (w *costWorld) dial(url string) *costClient {
	w.t.Helper()
	_, address, _ := strings.Cut(url, "://")
	conn, err := net.Dial("tcp", address)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.binding.secure {
		trust := w.trust.Clone()
		trust.ServerName = "127.0.0.1"
		conn = tls.Client(conn, trust)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	c := &costClient{t: w.t, binding: w.binding, conn: conn, in: bufio.NewReaderSize(conn, 1<<10), path: "/agents/rpc"}
	c.header = [][2]string{
		{"x-api-key", w.key}, {"a2a-version", "1.0"}, {"content-type", "application/json"}, {"a2a-extensions", "urn:declared"},
	}
	if w.binding.grpc {
		c.header[2][1] = "application/grpc"
		c.header = append(c.header, [2]string{"te", "trailers"})
	}
	if w.binding.h2 {
		c.preface()
	}
	return c
}

// preface begins HTTP/2, with a window that nothing of a test fills.
func (c *costClient) preface() {
	c.framer, c.last = http2.NewFramer(&c.out, c.in), ^uint32(0)
	c.encoder = hpack.NewEncoder(&c.block)
	c.out.WriteString(http2.ClientPreface)
	const window = 1<<31 - 1
	_ = c.framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	_ = c.framer.WriteWindowUpdate(0, window-65535)
	c.write()
}

func (c *costClient) write() {
	_, err := c.out.WriteTo(c.conn)
	if err != nil {
		c.t.Fatal(err)
	}
}

const costParams = `{"message":{"messageId":"m","contextId":"c","role":"ROLE_USER","parts":[{"text":"hi"}]}}`

// send writes a request. more stands in JSON-RPC's params instead of the usual ones.
func (c *costClient) send(method string, more ...string) {
	c.t.Helper()
	params := strings.Join(more, "")
	if params == "" {
		params = costParams
	}
	body, path := []byte(proxytest.RPCBody(method, params)), c.path
	if c.binding.grpc {
		m, tenant := proxytest.MethodOf(method), `{"tenant":"grpc",`
		if c.binding.translated {
			tenant = `{"tenant":"rpc",`
		}
		message, err := wire.RequestMessage(m, wire.V10, []byte(tenant+params[1:]))
		if err != nil {
			c.t.Fatal(err)
		}
		body, path = grpcframe.Append(nil, message), m.RPC(wire.V10)
	}
	host := c.conn.RemoteAddr().String()
	if !c.binding.h2 {
		fmt.Fprintf(&c.out, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", path, host, len(body))
		for _, f := range c.header {
			fmt.Fprintf(&c.out, "%s: %s\r\n", f[0], f[1])
		}
		c.out.WriteString("\r\n")
		c.out.Write(body)
		c.write()
		return
	}
	c.last += 2
	c.block.Reset()
	for _, f := range append([][2]string{{":method", "POST"}, {":scheme", "http"}, {":authority", host}, {":path", path}}, c.header...) {
		_ = c.encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: c.last, BlockFragment: c.block.Bytes(), EndHeaders: true})
	_ = c.framer.WriteData(c.last, true, body)
	c.write()
}

// answer is the body of the answer to what was sent last.
func (c *costClient) answer() io.Reader {
	c.t.Helper()
	if c.binding.h2 {
		return &costFrames{c: c, stream: c.last}
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp.Body
}

// try makes a call, and reports whether the agent has answered it.
func (c *costClient) try(method string, more ...string) bool {
	c.t.Helper()
	c.send(method, more...)
	body, err := io.ReadAll(c.answer())
	if err != nil {
		c.t.Fatal(err)
	}
	return bytes.Contains(body, []byte("re-m"))
}

// call makes a call that has to be answered.
func (c *costClient) call(more ...string) {
	c.t.Helper()
	if !c.try(wire.SendMessage, more...) {
		c.t.Fatal("a call is refused")
	}
}

// open opens a stream, and returns when its first event has come.
func (c *costClient) open() *costStream {
	c.t.Helper()
	c.send(wire.SendStreamingMessage)
	s := &costStream{c: c, in: bufio.NewReaderSize(c.answer(), 1<<10)}
	s.event()
	return s
}

// costStream is the body of a stream.
type costStream struct {
	c  *costClient
	in *bufio.Reader
}

// event reads one event.
func (s *costStream) event() {
	s.c.t.Helper()
	if s.c.binding.grpc {
		var head [5]byte
		_, err := io.ReadFull(s.in, head[:])
		if err == nil {
			_, err = s.in.Discard(int(binary.BigEndian.Uint32(head[1:])))
		}
		if err != nil {
			s.c.t.Fatal(err)
		}
		return
	}
	for data := false; ; { // else it is a comment
		line, err := s.in.ReadString('\n')
		if err != nil || strings.Contains(line, `"error"`) {
			s.c.t.Fatalf("the stream says %q, %v", line, err)
		}
		if line == "\n" && data {
			return
		}
		data = data || strings.HasPrefix(line, "data:")
	}
}

// costFrames is the body of an answer over HTTP/2.
type costFrames struct {
	c      *costClient
	stream uint32
	data   []byte
	over   bool
}

// Read implements io.Reader. Frames of other streams are thrown away.
func (f *costFrames) Read(p []byte) (int, error) {
	for len(f.data) == 0 {
		if f.over {
			return 0, io.EOF
		}
		frame, err := f.c.framer.ReadFrame()
		if err != nil {
			return 0, err
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = f.c.framer.WriteSettingsAck()
				f.c.write()
			}
		case *http2.DataFrame:
			if frame.StreamID == f.stream {
				f.data, f.over = frame.Data(), frame.StreamEnded()
			}
		case *http2.HeadersFrame:
			f.over = f.over || frame.StreamID == f.stream && frame.StreamEnded()
		case *http2.RSTStreamFrame, *http2.GoAwayFrame:
			return 0, fmt.Errorf("the gateway says %v", frame)
		}
	}
	n := copy(p, f.data)
	f.data = f.data[n:]
	return n, nil
}
