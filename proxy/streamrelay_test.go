package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// eventOf is one event of a call's stream, in JSON-RPC.
func eventOf(r *record, result string) string {
	return fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", r.rpc().ID, result)
}

func working(n int) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{"n":%d}}}`, n)
}

// events are the data lines of a stream.
func events(body string) []string {
	var all []string
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok {
			all = append(all, data)
		}
	}
	return all
}

// unnumbered is a stream without the ids of its events, which are the gateway's.
func unnumbered(body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "id: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// flush sends what was written of a stream so far.
func flush(rw http.ResponseWriter) { _ = http.NewResponseController(rw).Flush() }

// open starts a stream as alice and reads its first event.
func (w *world) open() (*http.Response, *bufio.Reader) {
	w.Helper()
	resp, err := w.http.Do(w.request("alice", "POST", "", rpcBody("SendStreamingMessage", message("")), "A2A-Version: 1.0"))
	must(w, err)
	in := bufio.NewReader(resp.Body)
	w.event(in)
	return resp, in
}

// event reads up to the end of the next event.
func (w *world) event(in *bufio.Reader) {
	w.Helper()
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			w.Fatal(err)
		}
		if line == "\n" {
			return
		}
	}
}

// streamer is an agent whose streams last until end is closed; each that was
// cancelled is counted.
func (w *world) streamer(end chan struct{}) (cancelled chan struct{}) {
	cancelled = make(chan struct{}, 16)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, eventOf(r, working(0)))
		flush(rw)
		select {
		case <-end:
			_, _ = io.WriteString(rw, eventOf(r, working(1)))
		case <-r.Context().Done():
			cancelled <- struct{}{}
		}
	})
	return cancelled
}

// TestStreamBytes: thousands of events pass in order, byte for byte.
func TestStreamBytes(t *testing.T) {
	t.Parallel()
	w := build(t)
	const n = 3000
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf(`{"id": 7 ,"x":1e400,"jsonrpc":"2.0","result":%s}`, working(i)))
	}
	w.agent.answers(func(rw http.ResponseWriter, _ *record) {
		rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(rw, "data: "+strings.Join(want, "\n\ndata: ")+"\n\n")
	})
	got := w.call("alice", "SendStreamingMessage", message(""))
	if strings.Join(events(got.body), "\n") != strings.Join(want, "\n") {
		t.Errorf("%d events, want %d", len(events(got.body)), n)
	}
	if got.header.Get("Content-Type") != "text/event-stream" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", got.header)
	}
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	if r := w.audited("call")[0]; fmt.Sprint(r["events"]) != fmt.Sprint(n) || r["end"] != "agent finished" || r["task_id"] != "t" {
		t.Errorf("record %v", r)
	}
}

// TestStreamEnds: whatever ends a stream early is a last event in the caller's
// words, and a reason in the record.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	big := `{"statusUpdate":{"taskId":"t","contextId":"c","status":{},"metadata":{"x":"` + strings.Repeat("x", 5000) + `"}}}`
	tests := map[string]struct {
		then func(rw http.ResponseWriter, r *record)
		code string
		end  string
	}{
		"breaks":    {func(http.ResponseWriter, *record) { panic(http.ErrAbortHandler) }, "-32006", "agent connection broke"},
		"cut off":   {func(rw http.ResponseWriter, _ *record) { _, _ = io.WriteString(rw, "data: {") }, "-32006", "agent connection broke"},
		"too large": {func(rw http.ResponseWriter, r *record) { _, _ = io.WriteString(rw, eventOf(r, big)) }, "-32006", "event too large"},
		"not JSON":  {func(rw http.ResponseWriter, _ *record) { _, _ = io.WriteString(rw, "data: <html>\n\n") }, "-32006", "event refused"},
		"another id": {func(rw http.ResponseWriter, _ *record) {
			_, _ = io.WriteString(rw, `data: {"jsonrpc":"2.0","id":8,"result":{}}`+"\n\n")
		}, "-32006", "event refused"},
	}
	for name, tt := range tests {
		for _, binding := range []string{"JSON-RPC", "HTTP+JSON"} {
			if binding == "HTTP+JSON" && name == "another id" {
				continue
			}
			t.Run(name+" "+binding, func(t *testing.T) {
				t.Parallel()
				w := build(t, func(s *setup) { s.server.Limits.Event = 4000 })
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					rw.Header().Set("Content-Type", "text/event-stream")
					if binding == "JSON-RPC" {
						_, _ = io.WriteString(rw, eventOf(r, working(0)))
					} else {
						_, _ = io.WriteString(rw, "data: "+working(0)+"\n\n")
					}
					flush(rw)
					tt.then(rw, r)
				})
				var got answer
				want := `"code":` + tt.code
				if binding == "JSON-RPC" {
					got = w.call("alice", "SendStreamingMessage", message(""))
				} else {
					got = w.do("alice", "POST", "/message:stream", message(""), "A2A-Version: 1.0")
					want = `"reason":"INVALID_AGENT_RESPONSE"`
					if !strings.Contains(got.body, "\n\nevent: error\n") {
						t.Errorf("%s", got.body)
					}
				}
				if all := events(got.body); got.status != 200 || len(all) != 2 || !strings.Contains(all[1], want) {
					t.Errorf("%d %s", got.status, got.body)
				}
				eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
				if r := w.audited("call")[0]; r["end"] != tt.end || r["reason"] != "INVALID_AGENT_RESPONSE" {
					t.Errorf("record %v", r)
				}
			})
		}
	}
}

// TestStreamClientGone: the agent's request is cancelled, and it is nobody's error.
func TestStreamClientGone(t *testing.T) {
	t.Parallel()
	w := build(t)
	cancelled := w.streamer(make(chan struct{}))
	resp, _ := w.open()
	_ = resp.Body.Close()
	select {
	case <-cancelled:
	case <-time.After(patience):
		t.Fatal("the agent's request was not cancelled")
	}
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	if r := w.audited("call")[0]; r["end"] != "client disconnected" || r["reason"] != nil || fmt.Sprint(r["status"]) != "200" || r["decision"] != "allow" {
		t.Errorf("record %v", r)
	}
}

// TestUnaryClientGone: the same before any answer.
func TestUnaryClientGone(t *testing.T) {
	t.Parallel()
	w := build(t)
	asked, cancelled := make(chan struct{}), make(chan struct{})
	w.agent.answers(func(_ http.ResponseWriter, r *record) {
		close(asked)
		<-r.Context().Done()
		close(cancelled)
	})
	body := rpcBody("SendMessage", message(""))
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	must(t, err)
	_, err = io.WriteString(c, w.head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
		fmt.Sprint("Content-Length: ", len(body)))+body)
	must(t, err)
	<-asked
	_ = c.Close()
	select {
	case <-cancelled:
	case <-time.After(patience):
		t.Fatal("the agent's request was not cancelled")
	}
	eventually(t, "record", func() bool { return len(w.audited("call")) == 1 })
	if r := w.audited("call")[0]; fmt.Sprint(r["status"]) != "499" || r["reason"] != nil || r["decision"] != "error" {
		t.Errorf("record %v", r)
	}
}

// TestStreamDrain: open streams end with an event that says to come again.
func TestStreamDrain(t *testing.T) {
	t.Parallel()
	streams, drain := context.WithCancel(t.Context())
	w := build(t, func(s *setup) {
		s.drain = func(end func()) func() bool { return context.AfterFunc(streams, end) }
	})
	cancelled := w.streamer(make(chan struct{}))
	resp, in := w.open()
	drain()
	rest, err := io.ReadAll(in)
	must(t, err)
	_ = resp.Body.Close()
	if all := events(string(rest)); len(all) != 1 || !strings.Contains(all[0], "UNAVAILABLE") || !strings.Contains(all[0], `"id":7`) {
		t.Errorf("%s", rest)
	}
	<-cancelled
}

// TestStreamLimit: further streams are refused before the agent hears of them,
// and there is room again when one ends.
func TestStreamLimit(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) { s.server.Limits.Streams = 2 })
	end := make(chan struct{})
	w.streamer(end)
	first, _ := w.open()
	second, _ := w.open()
	w.agent.take()
	for range 3 {
		for _, got := range []answer{
			w.call("alice", "SendStreamingMessage", message("")),
			w.do("alice", "POST", "/message:stream", message(""), "A2A-Version: 1.0"),
		} {
			wantStatus(t, "third", got, 503)
			if got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "server.limits.streams") {
				t.Errorf("%v %s", got.header, got.body)
			}
		}
	}
	w.agent.silent(t, "a stream too many")
	close(end)
	for _, resp := range []*http.Response{first, second} {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	eventually(t, "room", func() bool { return w.call("alice", "SendStreamingMessage", message("")).status == 200 })
	w.agent.answers(agreeable)
	wantStatus(t, "unary", w.call("alice", "SendMessage", message("")), 200)
}

// TestStreamDeadlineEndsWithStream: the write deadline of a stream's last event
// does not meet the next answer on the connection, nor a 100 Continue.
func TestStreamDeadlineEndsWithStream(t *testing.T) {
	t.Parallel()
	const limit = 500 * time.Millisecond
	w := build(t, func(s *setup) { s.server.Timeouts.Write = secret.Duration(limit) })
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	must(t, err)
	defer func() { _ = c.Close() }()
	must(t, c.SetDeadline(time.Now().Add(patience)))
	in := bufio.NewReader(c)
	for i, method := range []string{"SendStreamingMessage", "SendMessage", "SendStreamingMessage", "SendMessage"} {
		body := rpcBody(method, message(""))
		lines := []string{"A2A-Version: 1.0", "Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body))}
		if i > 1 {
			lines = append(lines, "Expect: 100-continue")
		}
		_, err := io.WriteString(c, w.head("POST /agents/rec HTTP/1.1", lines...))
		must(t, err)
		if i > 1 {
			resp, err := http.ReadResponse(in, nil)
			if err != nil || resp.StatusCode != http.StatusContinue {
				t.Fatalf("%d: no 100 Continue: %v", i, err)
			}
		}
		_, err = io.WriteString(c, body)
		must(t, err)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		text, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(text), "TASK_STATE_COMPLETED") {
			t.Fatalf("%d: %d %s %v", i, resp.StatusCode, text, err)
		}
		<-time.After(2 * limit) // the deadline passes while nothing is written
	}
}

// TestSlowUnaryReader: a client that does not take its answer is cut off.
func TestSlowUnaryReader(t *testing.T) {
	testenv.Long(t, "a client is waited for")
	t.Parallel()
	w := build(t, func(s *setup) { s.server.Timeouts.Write = secret.Duration(2 * time.Second) })
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		reply(rw, r, `{"message":{"messageId":"`+strings.Repeat("x", 15<<20)+`"}}`)
	})
	body := rpcBody("SendMessage", message(""))
	c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	must(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, w.head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
		fmt.Sprint("Content-Length: ", len(body)))+body)
	must(t, err)
	eventually(t, "end of the call", func() bool { return len(w.audited("call")) == 1 })
	// One that reads gets all of it, however long that takes.
	got := w.call("alice", "SendMessage", message(""))
	if got.status != 200 || len(got.body) < 15<<20 {
		t.Errorf("%d, %d bytes", got.status, len(got.body))
	}
}
