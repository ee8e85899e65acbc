package session_test

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

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestStreamBytes: thousands of events pass in order, byte for byte.
func TestStreamBytes(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	const n = 3000
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf(`{"id": 7 ,"x":1e400,"jsonrpc":"2.0","result":%s}`, proxytest.WorkingTask(i)))
	}
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		_, _ = io.WriteString(rw, "data: "+strings.Join(want, "\n\ndata: ")+"\n\n")
	})
	got := w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
	if strings.Join(proxytest.EventsIn(got.Body), "\n") != strings.Join(want, "\n") {
		t.Errorf("%d events, want %d", len(proxytest.EventsIn(got.Body)), n)
	}
	if got.Header.Get("Content-Type") != "text/event-stream" || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", got.Header)
	}
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	if r := w.Audited("call")[0]; fmt.Sprint(r["events"]) != fmt.Sprint(n) || r["end"] != "agent finished" || r["task_id"] != "t" {
		t.Errorf("record %v", r)
	}
}

// TestStreamEnds: whatever ends a stream early is a last event in the caller's
// words, and a reason in the record.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	big := `{"statusUpdate":{"taskId":"t","contextId":"c","status":{},"metadata":{"x":"` + strings.Repeat("x", 5000) + `"}}}`
	tests := map[string]struct {
		then func(rw http.ResponseWriter, r *proxytest.Request)
		code string
		end  string
	}{
		"breaks":  {func(http.ResponseWriter, *proxytest.Request) { panic(http.ErrAbortHandler) }, "-32006", "agent connection broke"},
		"cut off": {func(rw http.ResponseWriter, _ *proxytest.Request) { _, _ = io.WriteString(rw, "data: {") }, "-32006", "agent connection broke"},
		"too large": {func(rw http.ResponseWriter, r *proxytest.Request) {
			_, _ = io.WriteString(rw, proxytest.EventOf(r, big))
		}, "-32006", "event too large"},
		"not JSON": {func(rw http.ResponseWriter, _ *proxytest.Request) { _, _ = io.WriteString(rw, "data: <html>\n\n") }, "-32006", "event refused"},
		"another id": {func(rw http.ResponseWriter, _ *proxytest.Request) {
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
				w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Limits.Event = 4000 })
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					rw.Header().Set("Content-Type", "text/event-stream")
					if binding == "JSON-RPC" {
						_, _ = io.WriteString(rw, proxytest.EventOf(r, proxytest.WorkingTask(0)))
					} else {
						_, _ = io.WriteString(rw, "data: "+proxytest.WorkingTask(0)+"\n\n")
					}
					proxytest.Flush(rw)
					tt.then(rw, r)
				})
				var got proxytest.Response
				want := `"code":` + tt.code
				if binding == "JSON-RPC" {
					got = w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
				} else {
					got = w.Do("alice", "POST", "/message:stream", proxytest.Message(""), "A2A-Version: 1.0")
					want = `"reason":"INVALID_AGENT_RESPONSE"`
					if !strings.Contains(got.Body, "\n\nevent: error\n") {
						t.Errorf("%s", got.Body)
					}
				}
				if all := proxytest.EventsIn(got.Body); got.Status != 200 || len(all) != 2 || !strings.Contains(all[1], want) {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
				if r := w.Audited("call")[0]; r["end"] != tt.end || r["reason"] != "INVALID_AGENT_RESPONSE" {
					t.Errorf("record %v", r)
				}
			})
		}
	}
}

// TestStreamClientGone: the agent's request is cancelled, and it is nobody's error.
func TestStreamClientGone(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	cancelled := w.StreamUntil(make(chan struct{}))
	resp, _ := w.OpenStream()
	_ = resp.Body.Close()
	select {
	case <-cancelled:
	case <-time.After(proxytest.Patience):
		t.Fatal("the agent's request was not cancelled")
	}
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	if r := w.Audited("call")[0]; r["end"] != "client disconnected" || r["reason"] != nil || fmt.Sprint(r["status"]) != "200" || r["decision"] != "allow" {
		t.Errorf("record %v", r)
	}
}

// TestUnaryClientGone: the same before any answer.
func TestUnaryClientGone(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	asked, cancelled := make(chan struct{}), make(chan struct{})
	w.Agent.Answers(func(_ http.ResponseWriter, r *proxytest.Request) {
		close(asked)
		<-r.Context().Done()
		close(cancelled)
	})
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	proxytest.Must(t, err)
	_, err = io.WriteString(c, w.Head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
		fmt.Sprint("Content-Length: ", len(body)))+body)
	proxytest.Must(t, err)
	<-asked
	_ = c.Close()
	select {
	case <-cancelled:
	case <-time.After(proxytest.Patience):
		t.Fatal("the agent's request was not cancelled")
	}
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
	if r := w.Audited("call")[0]; fmt.Sprint(r["status"]) != "499" || r["reason"] != nil || r["decision"] != "error" {
		t.Errorf("record %v", r)
	}
}

// TestStreamDrain: open streams end with an event that says to come again.
func TestStreamDrain(t *testing.T) {
	t.Parallel()
	streams, drain := context.WithCancel(t.Context())
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Drain = func(end func()) func() bool { return context.AfterFunc(streams, end) }
	})
	cancelled := w.StreamUntil(make(chan struct{}))
	resp, in := w.OpenStream()
	drain()
	rest, err := io.ReadAll(in)
	proxytest.Must(t, err)
	_ = resp.Body.Close()
	if all := proxytest.EventsIn(string(rest)); len(all) != 1 || !strings.Contains(all[0], "UNAVAILABLE") || !strings.Contains(all[0], `"id":7`) {
		t.Errorf("%s", rest)
	}
	<-cancelled
}

// TestStreamLimit: further streams are refused before the agent hears of them,
// and there is room again when one ends.
func TestStreamLimit(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Limits.Streams = 2 })
	end := make(chan struct{})
	w.StreamUntil(end)
	first, _ := w.OpenStream()
	second, _ := w.OpenStream()
	w.Agent.Take()
	for range 3 {
		for _, got := range []proxytest.Response{
			w.Call("alice", "SendStreamingMessage", proxytest.Message("")),
			w.Do("alice", "POST", "/message:stream", proxytest.Message(""), "A2A-Version: 1.0"),
		} {
			proxytest.WantStatus(t, "third", got, 503)
			if got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, "server.limits.streams") {
				t.Errorf("%v %s", got.Header, got.Body)
			}
		}
	}
	w.Agent.Silent(t, "a stream too many")
	close(end)
	for _, resp := range []*http.Response{first, second} {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}
	proxytest.Eventually(t, "room", func() bool { return w.Call("alice", "SendStreamingMessage", proxytest.Message("")).Status == 200 })
	w.Agent.Answers(proxytest.Agreeable)
	proxytest.WantStatus(t, "unary", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
}

// TestStreamDeadlineEndsWithStream: the write deadline of a stream's last event
// does not meet the next answer on the connection, nor a 100 Continue.
func TestStreamDeadlineEndsWithStream(t *testing.T) {
	t.Parallel()
	const limit = time.Second
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Timeouts.Write = quantity.Duration(limit) })
	c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	proxytest.Must(t, err)
	defer func() { _ = c.Close() }()
	proxytest.Must(t, c.SetDeadline(time.Now().Add(proxytest.Patience)))
	in := bufio.NewReader(c)
	for i, method := range []string{"SendStreamingMessage", "SendMessage", "SendStreamingMessage", "SendMessage"} {
		body := proxytest.RPCBody(method, proxytest.Message(""))
		lines := []string{"A2A-Version: 1.0", "Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body))}
		if i > 1 {
			lines = append(lines, "Expect: 100-continue")
		}
		_, err := io.WriteString(c, w.Head("POST /agents/rec HTTP/1.1", lines...))
		proxytest.Must(t, err)
		if i > 1 {
			resp, err := http.ReadResponse(in, nil)
			if err != nil || resp.StatusCode != http.StatusContinue {
				t.Fatalf("%d: no 100 Continue: %v", i, err)
			}
		}
		_, err = io.WriteString(c, body)
		proxytest.Must(t, err)
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
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Timeouts.Write = quantity.Duration(2 * time.Second) })
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, `{"message":{"messageId":"`+strings.Repeat("x", 15<<20)+`"}}`)
	})
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	proxytest.Must(t, err)
	defer func() { _ = c.Close() }()
	_, err = io.WriteString(c, w.Head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
		fmt.Sprint("Content-Length: ", len(body)))+body)
	proxytest.Must(t, err)
	proxytest.Eventually(t, "end of the call", func() bool { return len(w.Audited("call")) == 1 })
	// One that reads gets all of it, however long that takes.
	got := w.Call("alice", "SendMessage", proxytest.Message(""))
	if got.Status != 200 || len(got.Body) < 15<<20 {
		t.Errorf("%d, %d bytes", got.Status, len(got.Body))
	}
}
