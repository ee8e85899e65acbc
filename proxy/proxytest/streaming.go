package proxytest

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/openstreams"
)

// Bystanders is an agent of one side whose streams show a task, and go on when told.
func Bystanders(t *testing.T, agent wire.Side, shown []byte) (w *Gateway, next chan []byte) {
	t.Helper()
	w = NewGatewayFor(t, CardFor(agent), WithTied, WithStreams())
	next = make(chan []byte)
	w.Agent.Answers(func(rw http.ResponseWriter, r *Request) {
		events := func(data []byte) {
			if agent.Binding == wire.GRPC {
				data = grpcframe.Append(nil, data)
			} else {
				if agent.Binding == wire.JSONRPC {
					data = slices.Concat([]byte(`{"result": `), data, []byte(`, "jsonrpc" :"2.0","id": `), r.RPC().ID, []byte("}"))
				}
				data = slices.Concat([]byte("data: "), data, []byte("\n\n"))
			}
			_, _ = rw.Write(data)
			if err := http.NewResponseController(rw).Flush(); err != nil && r.Context().Err() == nil {
				t.Error(err) // else the gateway wants no more of this stream
			}
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		if agent.Binding == wire.GRPC {
			rw.Header().Set("Content-Type", "application/grpc")
			defer rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
		}
		events(shown)
		for {
			select {
			case data := <-next:
				if data == nil {
					return
				}
				events(data)
			case <-r.Context().Done():
				return
			}
		}
	})
	return w, next
}

// StreamEachTask is streamer with a task for each call.
func (w *Gateway) StreamEachTask(end chan struct{}) (cancelled chan struct{}) {
	cancelled = make(chan struct{}, 16)
	w.Agent.Answers(func(rw http.ResponseWriter, r *Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		event := strings.Replace(EventOf(r, WorkingTask(0)), `"taskId":"t","contextId":"c"`, `"taskId":"`+r.Header.Get("X-Request-Id")+`"`, 1)
		_, _ = io.WriteString(rw, event)
		Flush(rw)
		select {
		case <-end:
			_, _ = io.WriteString(rw, event)
		case <-r.Context().Done():
			cancelled <- struct{}{}
		}
	})
	return cancelled
}

// ReviewUntil looks at the open streams until the agent has been told that one of them is
// over, as a gateway does every two seconds.
func (w *Gateway) ReviewUntil(streams *openstreams.Streams, p *proxy.Proxy, cancelled chan struct{}) {
	w.Helper()
	deadline := time.After(Patience)
	for {
		streams.Review(p)
		select {
		case <-cancelled:
			return
		case <-deadline:
			w.Fatal("the stream is still open")
		case <-time.After(time.Millisecond):
		}
	}
}

// EventOf is one event of a call's stream, in JSON-RPC.
func EventOf(r *Request, result string) string {
	return fmt.Sprintf("data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", r.RPC().ID, result)
}

// WorkingTask is the nth event of a 1.0 stream: the task "t" is being worked on.
func WorkingTask(n int) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{"n":%d}}}`, n)
}

// EventsIn are the data lines of a stream.
func EventsIn(body string) []string {
	var all []string
	for line := range strings.Lines(body) {
		if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: "); ok {
			all = append(all, data)
		}
	}
	return all
}

// Unnumbered is a stream without the ids of its events, which are the gateway's.
func Unnumbered(body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "id: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Flush sends what was written of a stream so far.
func Flush(rw http.ResponseWriter) { _ = http.NewResponseController(rw).Flush() }

// OpenStream starts a stream as alice and reads its first event.
func (w *Gateway) OpenStream() (*http.Response, *bufio.Reader) {
	w.Helper()
	resp, err := w.Client.Do(w.Request("alice", "POST", "", RPCBody("SendStreamingMessage", Message("")), "A2A-Version: 1.0"))
	Must(w, err)
	in := bufio.NewReader(resp.Body)
	w.ReadEvent(in)
	return resp, in
}

// ReadEvent reads up to the end of the next event.
func (w *Gateway) ReadEvent(in *bufio.Reader) {
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

// StreamUntil is an agent whose streams last until end is closed; each that was
// cancelled is counted.
func (w *Gateway) StreamUntil(end chan struct{}) (cancelled chan struct{}) {
	cancelled = make(chan struct{}, 16)
	w.Agent.Answers(func(rw http.ResponseWriter, r *Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(rw, EventOf(r, WorkingTask(0)))
		Flush(rw)
		select {
		case <-end:
			_, _ = io.WriteString(rw, EventOf(r, WorkingTask(1)))
		case <-r.Context().Done():
			cancelled <- struct{}{}
		}
	})
	return cancelled
}
