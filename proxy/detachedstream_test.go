package proxy_test

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

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// streaming sends the head and body of a streaming call on a connection of its own.
func (w *world) streaming(start, to string, lines ...string) (net.Conn, *bufio.Reader) {
	w.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(to, "http://"))
	must(w, err)
	w.Cleanup(func() { _ = c.Close() })
	must(w, c.SetDeadline(time.Now().Add(patience)))
	body := rpcBody("SendStreamingMessage", message(""))
	lines = append(lines, "A2A-Version: 1.0", "Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))
	_, err = io.WriteString(c, w.head(start, lines...)+body)
	must(w, err)
	return c, bufio.NewReaderSize(c, 1<<10)
}

// handlers is how many streams are still in the handlers that began them.
func handlers() int {
	var b bytes.Buffer
	_ = pprof.Lookup("goroutine").WriteTo(&b, 2)
	n := 0
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(stack, "proxy.(*Proxy).attend(") && strings.Contains(stack, "net/http.(*conn).serve(") {
			n++
		}
	}
	return n
}

// TestAwayOldClients: a client of HTTP/1.0, which knows no chunks, has the stream until the
// connection ends.
func TestAwayOldClients(t *testing.T) {
	t.Parallel()
	w := build(t)
	end := make(chan struct{})
	w.streamer(end)
	_, in := w.streaming("POST /agents/rec HTTP/1.0", w.url)
	resp, err := http.ReadResponse(in, nil)
	must(t, err)
	from := bufio.NewReader(resp.Body)
	w.event(from)
	close(end)
	rest, err := io.ReadAll(from)
	if err != nil || len(resp.TransferEncoding) != 0 {
		t.Errorf("%v, %v, after %q", err, resp.TransferEncoding, rest)
	}
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	if r := w.audited("call")[0]; r["end"] != "agent finished" {
		t.Errorf("record %v", r)
	}
}

// TestAwayPipelined: a call that comes while a stream runs is answered behind it, on the
// same connection.
func TestAwayPipelined(t *testing.T) {
	t.Parallel()
	w := build(t)
	end := make(chan struct{})
	w.streamer(end)
	c, in := w.streaming("POST /agents/rec HTTP/1.1", w.url)
	first, err := http.ReadResponse(in, nil)
	must(t, err)
	from := bufio.NewReader(first.Body)
	w.event(from)
	_, err = io.WriteString(c, w.head("GET /agents/rec/.well-known/agent-card.json HTTP/1.1"))
	must(t, err)
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
	w := build(t, func(s *setup) { s.server.Timeouts.Write = secret.Duration(time.Second) })
	more := make(chan struct{})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, eventOf(r, working(1)))
		flush(rw)
		<-more
		frame := strings.Replace(eventOf(r, working(1)), `{"n":1}`, `{"x":"`+strings.Repeat("x", 64<<10)+`"}`, 1)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(rw, frame); err != nil {
				return
			}
		}
	})
	_, in := w.streaming("POST /agents/rec HTTP/1.1", w.url)
	resp, err := http.ReadResponse(in, nil)
	must(t, err)
	w.event(bufio.NewReader(resp.Body))
	eventually(t, "the handler returns", func() bool { return handlers() == 0 })
	close(more)
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	if r := w.audited("call")[0]; r["end"] != "client too slow" {
		t.Errorf("record %v", r)
	}
}

// TestAwayPanic: a panic ends the one stream, whose client is told, and nothing else.
func TestAwayPanic(t *testing.T) {
	t.Parallel()
	var runs atomic.Int32
	w := build(t, func(s *setup) {
		s.drain = func(func()) func() bool {
			if runs.Add(1) == 2 { // the first was the handler's
				panic("a defect")
			}
			return func() bool { return true }
		}
	})
	end := make(chan struct{})
	w.streamer(end)
	_, in := w.streaming("POST /agents/rec HTTP/1.1", w.url)
	resp, err := http.ReadResponse(in, nil)
	must(t, err)
	all, err := io.ReadAll(resp.Body)
	if got := events(string(all)); err != nil || len(got) == 0 || !strings.Contains(got[len(got)-1], `"error"`) {
		t.Errorf("%v, %s", err, all)
	}
	close(end)
	if got := w.call("alice", "SendStreamingMessage", message("")); got.status != http.StatusOK || strings.Contains(got.body, `"error"`) {
		t.Errorf("the next call: %d %s", got.status, got.body)
	}
}

// TestAwayMemory: a stream that waits for its next event costs little, and no goroutine. What it costs the
// agent, in the same process, is taken away; beyond that the budget is generous.
func TestAwayMemory(t *testing.T) { //nolint:paralleltest // it measures the process
	if raceEnabled {
		t.Skip("the race detector has memory of its own")
	}
	const streams, budget = 200, 32 << 10
	w := build(t, func(s *setup) { s.server.Limits.Streams = 2 * streams })
	end := make(chan struct{})
	defer close(end)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		task := fmt.Sprintf("t-%p", r)
		_, _ = io.WriteString(rw, strings.ReplaceAll(eventOf(r, working(1)), `"t"`, `"`+task+`"`))
		flush(rw)
		<-end
	})
	each := func(start, to string) (bytes int64, goroutines int) {
		before, running := footprint(), runtime.NumGoroutine()
		for range streams {
			_, in := w.streaming(start, to)
			resp, err := http.ReadResponse(in, nil)
			must(t, err)
			w.event(bufio.NewReaderSize(resp.Body, 16))
		}
		eventually(t, "the handlers return", func() bool { return handlers() == 0 })
		return (footprint() - before) / streams, runtime.NumGoroutine() - running
	}
	direct, agents := each("POST /rpc HTTP/1.1", w.agent.URL)
	through, all := each("POST /agents/rec HTTP/1.1", w.url)
	t.Logf("an idle stream holds %d bytes; %d have %d goroutines", through-direct, streams, all-agents)
	if through-direct > budget {
		t.Errorf("an idle stream holds %d bytes, of %d", through-direct, budget)
	}
	if runtime.GOOS == "linux" && all-agents > streams/10 { // of all of them together, and what else there is
		t.Errorf("%d idle streams have %d goroutines", streams, all-agents)
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
	w := build(t)
	cancelled := w.streamer(make(chan struct{}))
	c, in := w.streaming("POST /agents/rec HTTP/1.1", w.url)
	resp, err := http.ReadResponse(in, nil)
	must(t, err)
	w.event(bufio.NewReader(resp.Body))
	eventually(t, "the handler returns", func() bool { return handlers() == 0 })
	_ = c.Close()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	select {
	case <-cancelled:
	case <-ctx.Done():
		t.Fatal("the agent's request was not cancelled")
	}
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	if r := w.audited("call")[0]; r["end"] != "client disconnected" || fmt.Sprint(r["events"]) == "0" {
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
	w := in(t, speaks(agent))
	end := make(chan struct{})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		w.agent.take()
		if agent.Binding == wire.GRPC { // the test itself holds no more of it
			r.body = nil
			rw.Header().Set("Content-Type", "application/grpc")
		} else {
			r.body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":7,"method":%q}`, r.rpc().Method)
			rw.Header().Set("Content-Type", "text/event-stream")
		}
		id := "t-" + r.Header.Get("X-Request-Id")
		r.event(rw, `{"task":`+taskIn(agent, id, "c", "working", "")+`}`)
		select {
		case <-end:
		case <-r.Context().Done():
		}
		r.event(rw, statusIn(agent, id, "c", "completed", ""))
		if agent.Binding == wire.GRPC {
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}
	})
	before, open := footprint(), []io.ReadCloser{}
	text := rpcBody("SendStreamingMessage", strings.Replace(message(""), "hi", strings.Repeat("x", size), 1))
	for range streams {
		resp, err := w.http.Do(w.request("alice", "POST", "", text, "A2A-Version: 1.0"))
		must(t, err)
		from := bufio.NewReaderSize(resp.Body, 1<<10)
		w.event(from)
		open = append(open, struct {
			io.Reader
			io.Closer
		}{from, resp.Body})
	}
	begin := time.Now()
	for footprint()-before > streams*size/4 {
		if time.Since(begin) > patience/2 {
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
