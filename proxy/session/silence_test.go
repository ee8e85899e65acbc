package session_test

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	a2apb "github.com/a2aproject/a2a-go/v2/a2apb/v1"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestSilentStreams: a stream in which nothing happens for longer than one write may
// take goes on, also on HTTP/2, where a deadline that has passed ends the stream
// even though nobody is writing.
func TestSilentStreams(t *testing.T) {
	testenv.Long(t, "streams are silent for as long as they may be")
	t.Parallel()
	const write = time.Second
	var clients sync.WaitGroup // they are silent at the same time
	for _, agent := range []wire.Side{{Version: wire.V10, Binding: wire.JSONRPC}, {Version: wire.V10, Binding: wire.GRPC}} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), func(s *proxytest.Setup) {
			s.Server.Timeouts.Write = quantity.Duration(write)
			s.Server.Timeouts.Heartbeat = quantity.Duration(time.Hour)
		})
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			id := "t-" + r.Header.Get("X-Request-Id")
			rw.Header().Set("Content-Type", "text/event-stream")
			if agent.Binding == wire.GRPC {
				rw.Header().Set("Content-Type", "application/grpc")
			}
			for _, event := range []string{
				`{"task":` + proxytest.TaskIn(agent, id, "c", "working", "") + `}`, proxytest.StatusIn(agent, id, "c", "completed", ""),
			} {
				r.Event(rw, event)
				time.Sleep(3 * write)
			}
			if agent.Binding == wire.GRPC {
				rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			}
		})
		client := a2apb.NewA2AServiceClient(w.GRPCClient())
		h2, r := w.H2(), w.Request("alice", "POST", "/message:stream", proxytest.Message(""), "A2A-Version: 1.0")
		clients.Go(func() {
			events, err := proxytest.Received(client.SendStreamingMessage(w.As("alice"), proxytest.Hello()))
			if err != nil || len(events) != 2 {
				t.Errorf("%s to gRPC: %d events, %v", agent, len(events), err)
			}
		})
		clients.Go(func() {
			resp, err := h2.Do(r)
			if err != nil {
				t.Errorf("%s to HTTP+JSON: %v", agent, err)
				return
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.ProtoMajor != 2 || strings.Count(string(body), "data: ") != 2 {
				t.Errorf("%s to HTTP+JSON over HTTP/%d: %s %v", agent, resp.ProtoMajor, body, err)
			}
		})
	}
	clients.Wait()
}
