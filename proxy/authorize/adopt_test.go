package authorize_test

import (
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/state/redis"
	"github.com/a2a-gateway/a2a-gateway/internal/state/sqlite"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// ledgers are the stores that a gateway may have.
func ledgers() map[string]func(testing.TB) state.Ledger {
	return map[string]func(testing.TB) state.Ledger{
		"memory": func(t testing.TB) state.Ledger {
			m := state.NewMemory(state.Config{})
			t.Cleanup(func() { _ = m.Close() })
			return m
		},
		"sqlite": func(t testing.TB) state.Ledger {
			path := filepath.Join(t.TempDir(), "state.db")
			s, err := sqlite.Open(t.Context(), state.Config{SQLite: state.SQLiteConfig{Path: path}}, nil)
			proxytest.Must(t, err)
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
		"redis": openRedis,
	}
}

// openRedis is a store on a server of the test's own.
func openRedis(t testing.TB) state.Ledger {
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("no redis-server")
	}
	address := gatewaytest.FreeAddress()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command("redis-server", "--bind", "127.0.0.1", "--port", port, "--dir", t.TempDir(), "--save", "") //nolint:noctx // ended below
	proxytest.Must(t, cmd.Start())
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	proxytest.Eventually(t, "answer from redis", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	c := state.Config{Redis: state.RedisConfig{Addresses: []string{address}, Timeout: quantity.Duration(proxytest.Patience)}}
	s, err := redis.Open(t.Context(), c, slog.New(slog.DiscardHandler), func(int64) {})
	proxytest.Must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// meeting is a decision point where callers wait for each other: nobody of the first
// two is let through before both have been told that what they name is theirs to use.
type meeting struct {
	*decider
	mu    sync.Mutex
	there int
	both  chan struct{}
}

// again has the next two wait.
func (m *meeting) again() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.there, m.both = 0, make(chan struct{})
}

// ServeHTTP implements http.Handler.
func (m *meeting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	m.mu.Lock()
	both := m.both
	if m.there++; m.there == 2 {
		close(both)
	}
	m.mu.Unlock()
	select {
	case <-both:
		m.decider.ServeHTTP(w, r)
	case <-r.Context().Done():
	}
}

// sender has the agent keep which context came with the message of which id.
func sender(w *proxytest.Gateway) func() map[string]string {
	var mu sync.Mutex
	saw := map[string]string{}
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		m := r.RPC().Params.Message
		mu.Lock()
		saw[m.ID] = m.ContextID
		mu.Unlock()
		proxytest.Respond(rw, r, proxytest.TaskResult(r, "task-of-"+m.ID, m.ContextID))
	})
	return func() map[string]string {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(saw)
	}
}

// TestA03_ContextLostInARace: of two callers who come with the same unowned context at
// the same moment, the slower one gets a context of its own, as it would have a moment
// later.
func TestA03_ContextLostInARace(t *testing.T) {
	t.Parallel()
	for name, open := range ledgers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &meeting{decider: newDecider(t)}
			place := httptest.NewServer(m)
			t.Cleanup(place.Close)
			w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
				s.Store, s.Policy.Tasks.Contexts = open(t), "adopt"
				s.Authorizers = pdp.Config{{Name: "pdp", Kind: "authzen", URL: secret.URL(place.URL), Timeout: 10e9}}
			})
			saw := sender(w)
			for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
				m.again()
				context, callers := "shared-by-"+method, []string{"alice", "bob"}
				got := make([]proxytest.Response, len(callers))
				var wg sync.WaitGroup
				for i, who := range callers {
					wg.Go(func() { got[i] = w.Call(who, method, sentAs(who, context)) })
				}
				wg.Wait()
				for i, who := range callers {
					if got[i].Status != 200 || !strings.Contains(got[i].Body, `"id":"task-of-`+who+`","contextId":"`+context+`"`) {
						t.Errorf("%s of %s in %s: %d %s", method, who, context, got[i].Status, got[i].Body)
					}
				}
				loser := "alice"
				if saw()["alice"] == context {
					loser = "bob"
				}
				alias := saw()[loser]
				if alias == context || alias == "" {
					t.Errorf("the agent saw %v", saw())
				}
				// The rules were asked about what the agent was going to get.
				if asked := m.take(); len(asked) != 3 || !strings.Contains(asked[2], alias) {
					t.Errorf("asked: %s", asked)
				}
				// A moment later it is the same.
				later := "later-" + method
				if got := w.Call(loser, method, sentAs(later, context)); got.Status != 200 || saw()[later] != alias {
					t.Errorf("%s of %s then: %d %s; the agent saw %v", method, loser, got.Status, got.Body, saw())
				}
				m.take()
			}
		})
	}
}

// sentAs is the params of a send that is found again by its message's id.
func sentAs(id, context string) string {
	return strings.Replace(proxytest.Message(`,"contextId":"`+context+`"`), `"m"`, `"`+id+`"`, 1)
}

// TestA03_ForeignContextAndHooks: a hook may change a message in a context that had to
// be replaced, and sees the context that the agent gets.
func TestA03_ForeignContextAndHooks(t *testing.T) {
	t.Parallel()
	service := proxytest.NewHookService(t)
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), proxytest.WithExtensions(service.Hooked()))
	w.Own("alice", "task-alice", "shared")
	service.Answers(func(c proxytest.HookCall) string {
		if c.Phase != hook.Request {
			return ""
		}
		return proxytest.Mutated(c, `"hi"`, `"hello"`)
	})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, proxytest.TaskResult(r, "task-bob", r.RPC().Params.Message.ContextID))
	})
	w.Agent.Take()
	got := w.Call("bob", "SendMessage", proxytest.Message(`,"contextId":"shared"`), "A2A-Extensions: "+proxytest.ExtensionURI)
	if got.Status != 200 || !strings.Contains(got.Body, `"contextId":"shared"`) {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if seen := w.Agent.One(t); strings.Contains(string(seen.Content), "shared") || !strings.Contains(string(seen.Content), "hello") {
		t.Errorf("the agent got %s", seen.Content)
	}
}

// TestA03_ForeignContextInALargeBody: that a context is somebody else's cannot be told
// from how large a message may be.
func TestA03_ForeignContextInALargeBody(t *testing.T) {
	t.Parallel()
	const limit = 4 << 10
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Limits.Body = limit })
	w.Own("alice", "task-alice", "s")
	sender(w)
	body := func(fill int) string {
		text := strings.Repeat("x", fill)
		return `{"jsonrpc":"2.0","id":7,"method":"SendMessage","params":` +
			strings.Replace(sentAs("m", "s"), `"hi"`, `"`+text+`"`, 1) + `}`
	}
	full := body(limit - len(body(0)))
	got := w.Do("bob", "POST", "", full, "A2A-Version: 1.0")
	if len(full) != limit || got.Status != 200 || !strings.Contains(got.Body, `"contextId":"s"`) {
		t.Errorf("%d bytes: %d %s", len(full), got.Status, got.Body)
	}
}
