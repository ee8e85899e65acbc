package proxy_test

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
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/cursors"
)

// TestA22_AgentFails: what the agent may have taken is not sent again, what it has not
// taken is.
func TestA22_AgentFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		fails  func(http.ResponseWriter, *record)
		status int
		again  bool
	}{
		{"killed", rawAnswer(""), 502, false},
		{"killed in the answer", rawAnswer("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{"), 502, false},
		{"late", func(_ http.ResponseWriter, r *record) { <-r.Context().Done() }, 504, false},
		{"unavailable", func(w http.ResponseWriter, _ *record) { w.WriteHeader(503) }, 503, false},
		{"nonsense", func(w http.ResponseWriter, _ *record) { _, _ = w.Write([]byte("<html>")) }, 502, false},
		{"too many", func(w http.ResponseWriter, _ *record) { w.WriteHeader(429) }, 429, true},
		{"to be paid", func(w http.ResponseWriter, _ *record) { w.WriteHeader(402) }, 402, true},
		{"too long", func(w http.ResponseWriter, _ *record) { w.WriteHeader(413) }, 413, true},
		{"too many, in JSON", inWords(429), 429, true},
		{"to be paid, in JSON", inWords(402), 402, true},
		{"too long, in JSON", inWords(413), 413, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := build(t, remembering, func(s *setup) {
				if tt.name == "late" {
					s.agent.Answer = secret.Duration(time.Second)
				}
			})
			w.agent.answers(tt.fails)
			wantStatus(t, "first", w.call("alice", "SendMessage", message("")), tt.status)
			w.agent.answers(agreeable)
			before := w.agent.sends()
			got := w.call("alice", "SendMessage", message(""))
			if again := w.agent.sends() > before; again != tt.again {
				t.Errorf("sent again: %v; %+v", again, got)
			}
			if !tt.again && !strings.Contains(got.body, "may have been processed") {
				t.Errorf("again: %s", got.body)
			}
		})
	}
}

// inWords answers an error of JSON-RPC under a status.
func inWords(status int) func(http.ResponseWriter, *record) {
	return func(w http.ResponseWriter, r *record) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"no"}}`, r.rpc().ID)
	}
}

// TestA22_AgentErrors are answers like others.
func TestA22_AgentErrors(t *testing.T) {
	t.Parallel()
	w := build(t, remembering)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"no"}}`, r.rpc().ID)
	})
	first, again := w.call("alice", "SendMessage", message("")), w.call("alice", "SendMessage", message(""))
	if first.body != again.body || w.agent.sends() != 1 || first.told(t).Error.Code != -32000 {
		t.Errorf("%s, then %s", first.body, again.body)
	}
}

// TestA22_Unreachable: a message that could not be delivered may come again.
func TestA22_Unreachable(t *testing.T) {
	t.Parallel()
	address := gatewaytest.FreeAddress()
	w := build(t, remembering, func(s *setup) {
		s.agent.Endpoints = []string{"http://" + address}
		s.docs = map[string]func(string) string{"away": func(string) string { return cardOf("http://" + address) }}
		s.agent.Card.URL += "?away"
	})
	wantStatus(t, "nobody there", w.call("alice", "SendMessage", message("")), 503)
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatalf("listen at %s again: %v", address, err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: w.agent}}
	server.Start()
	t.Cleanup(server.Close)
	eventually(t, "agent", func() bool { return w.call("alice", "SendMessage", message("")).status == 200 })
}

// TestA22_CallerLeaves: who gives up, and sends it again, finds the answer.
func TestA22_CallerLeaves(t *testing.T) {
	t.Parallel()
	w := build(t, remembering)
	asked, may := make(chan struct{}, 1), make(chan struct{})
	w.agent.answers(slow(asked, may))
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan struct{})
	go func() {
		defer close(left)
		r := w.request("alice", "POST", "", rpcBody("SendMessage", message("")), "A2A-Version: 1.0").WithContext(ctx)
		if resp, err := w.http.Do(r); err == nil {
			_ = resp.Body.Close()
			t.Error("the caller did not leave")
		}
	}()
	<-asked
	cancel()
	<-left
	time.AfterFunc(50*time.Millisecond, func() { close(may) })
	got := w.call("alice", "SendMessage", message(""))
	if got.status != 200 || got.told(t).task() == "" || w.agent.sends() != 1 {
		t.Errorf("again: %+v of %d calls", got, w.agent.sends())
	}
}

// purposed seals like the gateway.
type purposed struct{ cursors.Sealer }

func (c purposed) Seal(plain, aad []byte) []byte           { return c.Sealer.Seal("dedupe", plain, aad) }
func (c purposed) Open(sealed, aad []byte) ([]byte, error) { return c.Unseal("dedupe", sealed, aad) }

// TestA22_TwoGateways share a store: one sends, and the other knows.
func TestA22_TwoGateways(t *testing.T) {
	t.Parallel()
	memory := state.NewMemory(state.Config{})
	t.Cleanup(func() { _ = memory.Close() })
	ring, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(ring.Close)
	shared := func(s *setup) { s.values, s.store, s.sealer = memory, memory, ring }
	one := build(t, remembering, shared)
	two := build(t, remembering, shared, func(s *setup) { s.agent.Card.URL = secret.URL(one.agent.URL + "/card") })
	asked, may := make(chan struct{}, 1), make(chan struct{})
	one.agent.answers(slow(asked, may))
	done := make(chan answer)
	go func() { done <- one.call("alice", "SendMessage", message("")) }()
	<-asked
	got := two.call("alice", "SendMessage", message(""))
	if got.status != 503 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "is being processed") {
		t.Errorf("in flight at the other gateway: %+v", got)
	}

	// Had the other one died on the way, the message would stay claimed, though not for ever
	// on its way.
	values := state.Sealed(memory, purposed{ring})
	list, err := values.List(t.Context(), "dedupe", "", 2)
	must(t, err)
	if len(list) != 1 {
		t.Fatalf("%d messages are remembered", len(list))
	}
	var claim map[string]any
	must(t, json.Unmarshal(list[0].Data, &claim))
	claim["until"] = time.Now().Add(-time.Second)
	old, err := json.Marshal(claim)
	must(t, err)
	must(t, values.Put(t.Context(), "dedupe", list[0].Key, old, time.Hour))
	if got := two.call("alice", "SendMessage", message("")); !strings.Contains(got.body, "may have been processed") {
		t.Errorf("after a crash: %+v", got)
	}

	close(may)
	first := <-done
	got = two.do("alice", "POST", "", strings.Replace(rpcBody("SendMessage", message("")), `"id":7`, `"id":"other"`, 1), "A2A-Version: 1.0")
	if got.told(t).task() != first.told(t).task() || string(got.told(t).ID) != `"other"` || one.agent.sends() != 1 {
		t.Errorf("%+v, first %+v", got, first)
	}
	raw, err := memory.List(t.Context(), "dedupe", "", 2)
	must(t, err)
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
	w := build(t, remembering, func(s *setup) { s.values = brokenValues{s.values} })
	wantStatus(t, "a message", w.call("alice", "SendMessage", message("")), 503)
	w.agent.silent(t, "a message")
	wantStatus(t, "one without a window of its own", w.call("alice", "GetTask", `{"id":"none"}`), 200)
}
