package gateway_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// counter is an agent that counts: cards, connections, and every message by its
// id. A message is answered with a message, a stream with a task that works until
// it is let go.
type counter struct {
	URL, CardURL string

	cards, dials atomic.Int64
	gate         chan struct{} // when set, unary answers wait for it
	arrived      chan string   // when set, gets the id of every message
	release      chan struct{} // closed to let streams complete

	mu     sync.Mutex
	seen   map[string]int
	header http.Header // of the last call
}

// newCounter starts one that ends with the test. change may set its channels.
func newCounter(t testing.TB, change func(*counter)) *counter {
	t.Helper()
	c := &counter{seen: map[string]int{}, release: make(chan struct{})}
	if change != nil {
		change(c)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(c.serve))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.dials.Add(1)
		}
	}
	server.Start()
	c.URL, c.CardURL = server.URL, server.URL+"/card"
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return c
}

func (c *counter) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/card" {
		c.cards.Add(1)
		_, _ = fmt.Fprintf(w, `{"name":"Counter","description":"Counts.","version":"1",`+
			`"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],`+
			`"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
			`"skills":[{"id":"work","name":"Work","description":"Works.","tags":["t"]}]}`, c.URL)
		return
	}
	var call struct {
		ID     string
		Method string
		Params struct{ Message struct{ MessageID string } }
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id := call.Params.Message.MessageID
	c.mu.Lock()
	c.seen[id]++
	c.header = r.Header
	c.mu.Unlock()
	if c.arrived != nil {
		c.arrived <- id
	}
	if call.Method == "SendStreamingMessage" {
		c.stream(w, r, call.ID)
		return
	}
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-r.Context().Done():
			return
		}
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":{"message":{"messageId":"re-%s","role":"ROLE_AGENT",`+
		`"parts":[{"text":"seen"}]}}}`, call.ID, id)
}

func (c *counter) stream(w http.ResponseWriter, r *http.Request, id string) {
	w.Header().Set("Content-Type", "text/event-stream")
	status := func(state string) {
		_, _ = fmt.Fprintf(w, `data: {"jsonrpc":"2.0","id":%q,"result":{"task":{"id":"task-%s","contextId":"context-%s",`+
			`"status":{"state":"TASK_STATE_%s"}}}}`+"\n\n", id, id, id, state)
		_ = http.NewResponseController(w).Flush()
	}
	status("WORKING")
	select {
	case <-c.release:
		status("COMPLETED")
	case <-r.Context().Done():
	}
}

// calls tells how many messages arrived, and lists those that came not exactly
// once.
func (c *counter) calls() (n int, twice []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, times := range c.seen {
		n += times
		if times != 1 {
			twice = append(twice, id)
		}
	}
	return n, twice
}

func (c *counter) last() http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.header
}
