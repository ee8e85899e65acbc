package dedupe_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA22_AgentFails: what the agent may have taken is not sent again, what it has not
// taken is.
func TestA22_AgentFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		fails  func(http.ResponseWriter, *proxytest.Request)
		status int
		again  bool
	}{
		{"killed", proxytest.RawAnswer(""), 502, false},
		{"killed in the answer", proxytest.RawAnswer("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"), 502, false},
		{"late", func(_ http.ResponseWriter, r *proxytest.Request) { <-r.Context().Done() }, 504, false},
		{"unavailable", func(w http.ResponseWriter, _ *proxytest.Request) { w.WriteHeader(503) }, 503, false},
		{"nonsense", func(w http.ResponseWriter, _ *proxytest.Request) { _, _ = w.Write([]byte("<html>")) }, 502, false},
		{"too many", func(w http.ResponseWriter, _ *proxytest.Request) { w.WriteHeader(429) }, 429, true},
		{"to be paid", func(w http.ResponseWriter, _ *proxytest.Request) { w.WriteHeader(402) }, 402, true},
		{"too long", func(w http.ResponseWriter, _ *proxytest.Request) { w.WriteHeader(413) }, 413, true},
		{"too many, in JSON", inWords(429), 429, true},
		{"to be paid, in JSON", inWords(402), 402, true},
		{"too long, in JSON", inWords(413), 413, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, proxytest.WithMemory, func(s *proxytest.Setup) {
				if tt.name == "late" {
					s.Agent.Answer = quantity.Duration(time.Second)
				}
			})
			w.Agent.Answers(tt.fails)
			proxytest.WantStatus(t, "first", w.Call("alice", "SendMessage", proxytest.Message("")), tt.status)
			w.Agent.Answers(proxytest.Agreeable)
			before := sends(w.Agent)
			got := w.Call("alice", "SendMessage", proxytest.Message(""))
			if again := sends(w.Agent) > before; again != tt.again {
				t.Errorf("sent again: %v; %+v", again, got)
			}
			if !tt.again && !strings.Contains(got.Body, "may have been processed") {
				t.Errorf("again: %s", got.Body)
			}
		})
	}
}

// inWords answers an error of JSON-RPC under a status.
func inWords(status int) func(http.ResponseWriter, *proxytest.Request) {
	return func(w http.ResponseWriter, r *proxytest.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, r.RPC().ID)
	}
}

// TestA22_AgentErrors are answers like others.
func TestA22_AgentErrors(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithMemory)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}`, r.RPC().ID)
	})
	first, again := w.Call("alice", "SendMessage", proxytest.Message("")), w.Call("alice", "SendMessage", proxytest.Message(""))
	if first.Body != again.Body || sends(w.Agent) != 1 || readTold(first, t).Error.Code != -32000 {
		t.Errorf("%s, then %s", first.Body, again.Body)
	}
}

// TestA22_Unreachable: a message that could not be delivered may come again.
func TestA22_Unreachable(t *testing.T) {
	t.Parallel()
	address := gatewaytest.FreeAddress()
	w := proxytest.NewGateway(t, proxytest.WithMemory, func(s *proxytest.Setup) {
		s.Agent.Endpoints = []string{"http://" + address}
		s.Docs = map[string]func(string) string{"away": func(string) string { return proxytest.Card("http://" + address) }}
		s.Agent.Card.URL += "?away"
	})
	proxytest.WantStatus(t, "nobody there", w.Call("alice", "SendMessage", proxytest.Message("")), 503)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("listen at %s again: %v", address, err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: w.Agent}}
	server.Start()
	t.Cleanup(server.Close)
	proxytest.Eventually(t, "agent", func() bool { return w.Call("alice", "SendMessage", proxytest.Message("")).Status == 200 })
}

// TestA22_CallerLeaves: who gives up, and sends it again, finds the answer.
func TestA22_CallerLeaves(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithMemory)
	asked, may := make(chan struct{}, 1), make(chan struct{})
	w.Agent.Answers(slow(asked, may))
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan struct{})
	go func() {
		defer close(left)
		r := w.Request("alice", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0").WithContext(ctx)
		if resp, err := w.Client.Do(r); err == nil {
			_ = resp.Body.Close()
			t.Error("the caller did not leave")
		}
	}()
	<-asked
	cancel()
	<-left
	time.AfterFunc(50*time.Millisecond, func() { close(may) })
	got := w.Call("alice", "SendMessage", proxytest.Message(""))
	if got.Status != 200 || readTold(got, t).task() == "" || sends(w.Agent) != 1 {
		t.Errorf("again: %+v of %d calls", got, sends(w.Agent))
	}
}

// purposed seals like the gateway.
type purposed struct{ cursors.Sealer }

func (c purposed) Seal(plain, aad []byte) []byte { return c.Sealer.Seal("dedupe", plain, aad) }

func (c purposed) Open(sealed, aad []byte) ([]byte, error) { return c.Unseal("dedupe", sealed, aad) }

// TestA22_TwoGateways share a store: one sends, and the other knows.
func TestA22_TwoGateways(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	ring, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	proxytest.Must(t, err)
	t.Cleanup(ring.Close)
	shared := func(s *proxytest.Setup) { s.Values, s.Store, s.Sealer = memory, memory, ring }
	one := proxytest.NewGateway(t, proxytest.WithMemory, shared)
	two := proxytest.NewGateway(t, proxytest.WithMemory, shared, func(s *proxytest.Setup) { s.Agent.Card.URL = secret.URL(one.Agent.URL + "/card") })
	asked, may := make(chan struct{}, 1), make(chan struct{})
	one.Agent.Answers(slow(asked, may))
	done := make(chan proxytest.Response)
	go func() { done <- one.Call("alice", "SendMessage", proxytest.Message("")) }()
	<-asked
	got := two.Call("alice", "SendMessage", proxytest.Message(""))
	if got.Status != 503 || got.Header.Get("Retry-After") == "" || !strings.Contains(got.Body, "is being processed") {
		t.Errorf("in flight at the other gateway: %+v", got)
	}

	// Had the other one died on the way, the message would stay claimed, though not for ever
	// on its way.
	values := state.Sealed(memory, purposed{ring})
	list, err := values.List(t.Context(), "dedupe", "", 2)
	proxytest.Must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d messages are remembered", len(list))
	}
	var claim map[string]any
	proxytest.Must(t, json.Unmarshal(list[0].Data, &claim))
	claim["until"] = time.Now().Add(-time.Second)
	old, err := json.Marshal(claim)
	proxytest.Must(t, err)
	proxytest.Must(t, values.Put(t.Context(), "dedupe", list[0].Key, old, time.Hour))
	if got := two.Call("alice", "SendMessage", proxytest.Message("")); !strings.Contains(got.Body, "may have been processed") {
		t.Errorf("after a crash: %+v", got)
	}

	close(may)
	first := <-done
	got = two.Do("alice", "POST", "", strings.Replace(proxytest.RPCBody("SendMessage", proxytest.Message("")), `"id":7`, `"id":"other"`, 1), "A2A-Version: 1.0")
	if readTold(got, t).task() != readTold(first, t).task() || string(readTold(got, t).ID) != `"other"` || sends(one.Agent) != 1 {
		t.Errorf("%+v, first %+v", got, first)
	}
	raw, err := memory.List(t.Context(), "dedupe", "", 2)
	proxytest.Must(t, err)
	for _, v := range raw {
		if strings.Contains(string(v.Data), "task") {
			t.Error("an answer is stored in the open")
		}
	}
}

// brokenValues are away.
type brokenValues struct{ state.Values }

func (brokenValues) Add(context.Context, string, string, []byte, time.Duration) (bool, error) {
	return false, errors.New("away")
}

// TestA22_StoreAway sends nothing of which nobody knows whether it was sent.
func TestA22_StoreAway(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithMemory, func(s *proxytest.Setup) { s.Values = brokenValues{s.Values} })
	proxytest.WantStatus(t, "a message", w.Call("alice", "SendMessage", proxytest.Message("")), 503)
	w.Agent.Silent(t, "a message")
	proxytest.WantStatus(t, "one without a window of its own", w.Call("alice", "GetTask", `{"id":"none"}`), 200)
}
