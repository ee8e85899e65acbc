package proxy_test

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
)

// benchWorld has an agent that answers at once with 600 bytes.
func benchWorld(b *testing.B) *world {
	w := build(b)
	w.logs = nil
	answer := `{"jsonrpc":"2.0","id":7,"result":{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"text":"` + strings.Repeat("x", 450) + `"}]}]}}}`
	w.agent.answers(func(rw http.ResponseWriter, _ *record) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, answer)
		w.agent.take()
	})
	return w
}

// BenchmarkUnary is one call at a time over a kept-alive connection, straight to
// the agent and through the gateway; the allocations are those of all sides.
func BenchmarkUnary(b *testing.B) {
	w := benchWorld(b)
	for _, tt := range []struct{ name, url string }{{"direct", w.agent.URL + "/rpc"}, {"gateway", w.base}} {
		b.Run(tt.name, func(b *testing.B) {
			body := rpcBody("SendMessage", message(""))
			r := w.request("alice", "POST", tt.url, body, "A2A-Version: 1.0")
			b.ReportAllocs()
			for b.Loop() {
				r.Body = io.NopCloser(strings.NewReader(body))
				resp, err := w.http.Transport.RoundTrip(r)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				if resp.StatusCode != http.StatusOK {
					b.Fatal(resp.Status)
				}
			}
		})
	}
}

// BenchmarkServeHTTP is the gateway without a client in front, and the agent
// over a real connection.
func BenchmarkServeHTTP(b *testing.B) {
	w := benchWorld(b)
	body := []byte(rpcBody("SendMessage", message("")))
	from := bytes.NewReader(nil)
	r := w.request("alice", "POST", "", string(body), "A2A-Version: 1.0")
	r.RequestURI, r.Host = "/agents/rec", strings.TrimPrefix(w.url, "http://")
	r.URL.Host, r.URL.Scheme = "", ""
	r.RemoteAddr = "127.0.0.1:1"
	out := &sink{header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		from.Reset(body)
		r.Body = io.NopCloser(from)
		clear(out.header)
		w.proxy.ServeHTTP(out, r)
		if out.status != http.StatusOK {
			b.Fatal(out.status)
		}
	}
}

// sink is a client that takes everything and keeps the status.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(status int)      { s.status = status }
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkStreamEvent is one event of a stream that never ends.
func BenchmarkStreamEvent(b *testing.B) {
	w := build(b)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		frame := []byte(strings.Replace(eventOf(r, working(1)), `{"n":1}`, `{"x":"`+strings.Repeat("x", 450)+`"}`, 1))
		for r.Context().Err() == nil {
			_, _ = rw.Write(frame)
			flush(rw)
		}
	})
	for _, tt := range []struct{ name, url string }{{"direct", w.agent.URL + "/rpc"}, {"gateway", w.base}} {
		b.Run(tt.name, func(b *testing.B) {
			resp, err := w.http.Transport.RoundTrip(
				w.request("alice", "POST", tt.url, rpcBody("SendStreamingMessage", message("")), "A2A-Version: 1.0"))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			in := bufio.NewReaderSize(resp.Body, 64<<10)
			b.ReportAllocs()
			for b.Loop() {
				for {
					line, err := in.ReadSlice('\n')
					if err != nil {
						b.Fatal(err)
					}
					if len(line) == 1 {
						break
					}
				}
			}
		})
	}
}

// TestAllocations holds a unary call to what it costs today, the transport's
// share included, so that a change that adds to it is a decision.
func TestAllocations(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("counts allocations")
	}
	got := testing.Benchmark(BenchmarkServeHTTP).AllocsPerOp()
	const most = 150
	if got > most {
		t.Errorf("%d allocations a call, at most %d wanted", got, most)
	}
	t.Logf("%d allocations a call, the agent's side included", got)
}
