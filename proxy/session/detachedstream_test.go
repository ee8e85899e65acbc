package session_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// streaming sends the head and body of a streaming call on a connection of its own.
func streaming(w *proxytest.Gateway, start, to string, lines ...string) (net.Conn, *bufio.Reader) {
	w.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(to, "http://"))
	proxytest.Must(w, err)
	w.Cleanup(func() { _ = c.Close() })
	proxytest.Must(w, c.SetDeadline(time.Now().Add(proxytest.Patience)))
	body := proxytest.RPCBody("SendStreamingMessage", proxytest.Message(""))
	lines = append(lines, "A2A-Version: 1.0", "Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))
	_, err = io.WriteString(c, w.Head(start, lines...)+body)
	proxytest.Must(w, err)
	return c, bufio.NewReaderSize(c, 1<<10)
}

// handlers is how many streams are still in the handlers that began them.
func handlers() int {
	var b bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 2)
	n := 0
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(stack, "proxy.(*Proxy).ServeHTTP(") && strings.Contains(stack, "session.(*Sessions).Forward(") {
			n++
		}
	}
	return n
}

// TestHandlers: handlers finds a call that waits for its agent, without which tests that wait for
// there to be none would show nothing.
func TestHandlers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	end := make(chan struct{})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		<-end
		proxytest.Fluent(rw, r)
	})
	over := make(chan struct{})
	go func() {
		defer close(over)
		w.Call("alice", "SendMessage", proxytest.Message(""))
	}()
	proxytest.Eventually(t, "the handler", func() bool { return handlers() > 0 })
	close(end)
	<-over
}

// TestAwayOldClients: a client of HTTP/1.0, which knows no chunks, has the stream until the
// connection ends.
func TestAwayOldClients(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	end := make(chan struct{})
	w.StreamUntil(end)
	_, in := streaming(w, "POST /agents/rec HTTP/1.0", w.URL)
	resp, err := http.ReadResponse(in, nil)
	proxytest.Must(t, err)
	from := bufio.NewReader(resp.Body)
	w.ReadEvent(from)
	close(end)
	rest, err := io.ReadAll(from)
	if err != nil || len(resp.TransferEncoding) != 0 {
		t.Errorf("%v, %v, after %q", err, resp.TransferEncoding, rest)
	}
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	if r := w.Audited("call")[0]; r["end"] != "agent finished" {
		t.Errorf("record %v", r)
	}
}

// TestAwayPipelined: a call that comes while a stream runs is answered behind it, on the
// same connection.
func TestAwayPipelined(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	end := make(chan struct{})
	w.StreamUntil(end)
	c, in := streaming(w, "POST /agents/rec HTTP/1.1", w.URL)
	first, err := http.ReadResponse(in, nil)
	proxytest.Must(t, err)
	from := bufio.NewReader(first.Body)
	w.ReadEvent(from)
	_, err = io.WriteString(c, w.Head("GET /agents/rec/.well-known/agent-card.json HTTP/1.1"))
	proxytest.Must(t, err)
	close(end)
	if _, err := io.Copy(io.Discard, from); err != nil {
		t.Fatal(err)
	}
	second, err := http.ReadResponse(in, nil)
	if err != nil || second.StatusCode != http.StatusOK {
		t.Fatalf("the next request is answered %v, %v", second, err)
	}
	card, err := io.ReadAll(second.Body)
	if err != nil || !bytes.Contains(card, []byte("skills")) {
		t.Errorf("%v, %.80q", err, card)
	}
}

// TestAwaySlow: a client that does not read is cut off, and its stream recorded.
func TestAwaySlow(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Timeouts.Write = quantity.Duration(time.Second) })
	more := make(chan struct{})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, proxytest.EventOf(r, proxytest.WorkingTask(1)))
		proxytest.Flush(rw)
		<-more
		frame := strings.Replace(proxytest.EventOf(r, proxytest.WorkingTask(1)), `{"n":1}`, `{"x":"`+strings.Repeat("x", 64<<10)+`"}`, 1)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(rw, frame); err != nil {
				return
			}
		}
	})
	_, in := streaming(w, "POST /agents/rec HTTP/1.1", w.URL)
	resp, err := http.ReadResponse(in, nil)
	proxytest.Must(t, err)
	w.ReadEvent(bufio.NewReader(resp.Body))
	proxytest.Eventually(t, "the handler returns", func() bool { return handlers() == 0 })
	close(more)
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	if r := w.Audited("call")[0]; r["end"] != "client too slow" {
		t.Errorf("record %v", r)
	}
}

// TestAwayPanic: a panic ends the one stream, whose client is told, and nothing else.
func TestAwayPanic(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Drain = func(func()) func() bool {
			if runs.Add(1) == 2 { // the first was the handler's
				panic("a defect")
			}
			return func() bool { return true }
		}
	})
	end := make(chan struct{})
	w.StreamUntil(end)
	_, in := streaming(w, "POST /agents/rec HTTP/1.1", w.URL)
	resp, err := http.ReadResponse(in, nil)
	proxytest.Must(t, err)
	all, err := io.ReadAll(resp.Body)
	if got := proxytest.EventsIn(string(all)); err != nil || len(got) == 0 || !strings.Contains(got[len(got)-1], `"error"`) {
		t.Errorf("%v, %s", err, all)
	}
	close(end)
	if got := w.Call("alice", "SendStreamingMessage", proxytest.Message("")); got.Status != http.StatusOK || strings.Contains(got.Body, `"error"`) {
		t.Errorf("the next call: %d %s", got.Status, got.Body)
	}
}

// TestAwayMemory: a stream that waits for its next event costs little, and no goroutine. What it costs the
// agent, in the same process, is taken away; beyond that the budget is generous.
func TestAwayMemory(t *testing.T) { //nolint:paralleltest // it measures the process
	if proxytest.RaceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	const streams, budget = 200, 32 << 10
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Server.Limits.Streams, s.Server.Limits.ConnectionStreams = 2*streams, streams
	})
	end := make(chan struct{})
	defer close(end)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		task := fmt.Sprintf("t-%p", r)
		_, _ = io.WriteString(rw, strings.ReplaceAll(proxytest.EventOf(r, proxytest.WorkingTask(1)), `"t"`, `"`+task+`"`))
		proxytest.Flush(rw)
		<-end
	})
	measure := func(open func()) (bytes int64, goroutines int) {
		before, running := footprint(), runtime.NumGoroutine()
		for range streams {
			open()
		}
		proxytest.Eventually(t, "the handlers return", func() bool { return handlers() == 0 })
		return (footprint() - before) / streams, runtime.NumGoroutine() - running
	}
	over1 := func(start, to string) func() {
		return func() {
			_, in := streaming(w, start, to)
			resp, err := http.ReadResponse(in, nil)
			proxytest.Must(t, err)
			w.ReadEvent(bufio.NewReaderSize(resp.Body, 16))
		}
	}
	h2 := &h2Streams{w: w}
	settle()
	direct, agents := measure(over1("POST /rpc HTTP/1.1", w.Agent.URL))
	for _, tt := range []struct {
		name string
		open func()
	}{{"HTTP/1.1", over1("POST /agents/rec HTTP/1.1", w.URL)}, {"HTTP/2", h2.open}} {
		through, all := measure(tt.open)
		t.Logf("%s: an idle stream holds %d bytes; %d have %d goroutines", tt.name, through-direct, streams, all-agents)
		if through-direct > budget {
			t.Errorf("%s: an idle stream holds %d bytes, of %d", tt.name, through-direct, budget)
		}
		if runtime.GOOS == "linux" && all-agents > streams/10 { // of all of them together, and what else there is
			t.Errorf("%s: %d idle streams have %d goroutines", tt.name, streams, all-agents)
		}
	}
}

// settle waits until what earlier tests have left is gone, as far as it goes: with -count there are some.
func settle() {
	for last, still := footprint(), 0; still < 3; still++ {
		time.Sleep(20 * time.Millisecond)
		next := footprint()
		if last-next > 1<<20 {
			still = 0
		}
		last = next
	}
}

// footprint is the memory of heap and stacks.
func footprint() int64 {
	var m runtime.MemStats
	for range 3 {
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// TestAwayCancelled: who goes away while nothing happens is noticed.
func TestAwayCancelled(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	cancelled := w.StreamUntil(make(chan struct{}))
	c, in := streaming(w, "POST /agents/rec HTTP/1.1", w.URL)
	resp, err := http.ReadResponse(in, nil)
	proxytest.Must(t, err)
	w.ReadEvent(bufio.NewReader(resp.Body))
	proxytest.Eventually(t, "the handler returns", func() bool { return handlers() == 0 })
	_ = c.Close()
	ctx, stop := context.WithTimeout(t.Context(), proxytest.Patience)
	defer stop()
	select {
	case <-cancelled:
	case <-ctx.Done():
		t.Fatal("the agent's request was not cancelled")
	}
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	if r := w.Audited("call")[0]; r["end"] != "client disconnected" || fmt.Sprint(r["events"]) == "0" {
		t.Errorf("record %v", r)
	}
}

// TestStreamsUnload: what came with a stream's request is not kept for as long as it is open,
// however the agent speaks.
func TestStreamsUnload(t *testing.T) {
	testenv.Long(t, "the collector runs until streams have been let go")
	for _, binding := range []wire.Side{
		{Version: wire.V10, Binding: wire.JSONRPC}, {Version: wire.V03, Binding: wire.JSONRPC}, {Version: wire.V10, Binding: wire.GRPC},
	} {
		unloads(t, binding)
	}
}

func unloads(t *testing.T, agent wire.Side) {
	const streams, size = 20, 2 << 20
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent))
	end := make(chan struct{})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		w.Agent.Take()
		if agent.Binding == wire.GRPC { // the test itself holds no more of it
			r.Content = nil
			rw.Header().Set("Content-Type", "application/grpc")
		} else {
			r.Content = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%q}`, r.RPC().Method)
			rw.Header().Set("Content-Type", "text/event-stream")
		}
		id := "t-" + r.Header.Get("X-Request-Id")
		r.Event(rw, `{"task":`+proxytest.TaskIn(agent, id, "c", "working", "")+`}`)
		select {
		case <-end:
		case <-r.Context().Done():
		}
		r.Event(rw, proxytest.StatusIn(agent, id, "c", "completed", ""))
		if agent.Binding == wire.GRPC {
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}
	})
	before, open := footprint(), []io.ReadCloser{}
	text := proxytest.RPCBody("SendStreamingMessage", strings.Replace(proxytest.Message(""), "hi", strings.Repeat("x", size), 1))
	for range streams {
		resp, err := w.Client.Do(w.Request("alice", "POST", "", text, "A2A-Version: 1.0"))
		proxytest.Must(t, err)
		from := bufio.NewReaderSize(resp.Body, 1<<10)
		w.ReadEvent(from)
		open = append(open, struct {
			io.Reader
			io.Closer
		}{from, resp.Body})
	}
	begin := time.Now()
	for footprint()-before > streams*size/4 {
		if time.Since(begin) > proxytest.Patience/2 {
			t.Fatalf("%s: %d streams keep %d MiB", agent, streams, (footprint()-before)>>20)
		}
	}
	close(end)
	for _, body := range open {
		rest, err := io.ReadAll(body)
		_ = body.Close()
		if err != nil || !bytes.Contains(rest, []byte(`"id":7,`)) || !bytes.Contains(rest, []byte("COMPLETED")) {
			t.Errorf("%s: the stream ends %q, %v", agent, rest, err)
		}
	}
}

// h2Streams opens streams on one connection of HTTP/2, with a client that keeps nothing of them.
type h2Streams struct {
	w      *proxytest.Gateway
	framer *http2.Framer
	last   uint32
}

// open returns when a stream has had its first event.
func (h *h2Streams) open() {
	h.w.Helper()
	if h.framer == nil {
		h.dial()
	}
	h.last += 2
	var block bytes.Buffer
	table := hpack.NewEncoder(&block)
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":authority", strings.TrimPrefix(h.w.URL, "http://")}, {":path", "/agents/rec"},
		{"x-api-key", h.w.Keys["alice"]}, {"a2a-version", "1.0"}, {"content-type", "application/json"},
	} {
		proxytest.Must(h.w, table.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}))
	}
	proxytest.Must(h.w, h.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: h.last, BlockFragment: block.Bytes(), EndHeaders: true}))
	body := proxytest.RPCBody("SendStreamingMessage", proxytest.Message(""))
	proxytest.Must(h.w, h.framer.WriteData(h.last, true, []byte(body)))
	for {
		f, err := h.framer.ReadFrame()
		proxytest.Must(h.w, err)
		if data, ok := f.(*http2.DataFrame); ok && data.StreamID == h.last && bytes.Contains(data.Data(), []byte("data:")) {
			return
		}
	}
}

func (h *h2Streams) dial() {
	h.w.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(h.w.URL, "http://"))
	proxytest.Must(h.w, err)
	h.w.Cleanup(func() { _ = c.Close() })
	proxytest.Must(h.w, c.SetDeadline(time.Now().Add(proxytest.Patience)))
	_, err = io.WriteString(c, http2.ClientPreface)
	proxytest.Must(h.w, err)
	h.framer, h.last = http2.NewFramer(c, c), ^uint32(0)
	proxytest.Must(h.w, h.framer.WriteSettings())
}
