package proxy_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// rawAgent is an agent on a bare socket: serve gets each connection and answers
// as no HTTP library would.
func rawAgent(t *testing.T, serve func(net.Conn, *bufio.Reader)) func(*proxytest.Setup) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	proxytest.Must(t, err)
	var all sync.WaitGroup
	var mu sync.Mutex
	open := map[net.Conn]bool{}
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[c] = true
			mu.Unlock()
			all.Go(func() {
				defer func() { _ = c.Close() }()
				serve(c, bufio.NewReader(c))
			})
		}
	})
	cards := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, proxytest.Card("http://"+l.Addr().String()))
	}))
	t.Cleanup(cards.Close)
	return func(s *proxytest.Setup) {
		s.Agent.Card.URL = secret.URL(cards.URL + "/card")
		s.Agent.Endpoints = []string{"http://" + l.Addr().String()}
	}
}

// tagOf finds the tag that the tests put into a message's metadata.
func tagOf(body string) string {
	_, rest, _ := strings.Cut(body, `"tag":"`)
	tag, _, _ := strings.Cut(rest, `"`)
	return tag
}

// tagged is the answer to a call, with its tag and the call's id.
func tagged(tag string) string {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":%q}}}`, tag)
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// TestL19_StrayAnswers: whatever an agent writes beside its answer, no caller
// gets an answer that is not their own. Every answer has the call's tag.
func TestL19_StrayAnswers(t *testing.T) {
	t.Parallel()
	behaviours := map[string]func(tag string) string{
		"two answers":     func(tag string) string { return tagged(tag) + tagged("stray") },
		"three answers":   func(tag string) string { return tagged(tag) + tagged("stray") + tagged("stray") },
		"bytes behind":    func(tag string) string { return tagged(tag) + "x" },
		"line end behind": func(tag string) string { return tagged(tag) + "\r\n" },
		"early answer":    tagged, // sent before the body was read
		"1xx before":      func(tag string) string { return "HTTP/1.1 103 Early Hints\r\n\r\n" + tagged(tag) },
		"well-behaved":    tagged,
	}
	for name, answer := range behaviours {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, rawAgent(t, func(c net.Conn, in *bufio.Reader) {
				for {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					body, err := io.ReadAll(r.Body)
					if err != nil {
						return
					}
					_, _ = io.WriteString(c, answer(tagOf(string(body))))
				}
			}))
			var callers sync.WaitGroup
			for i := range 8 {
				callers.Go(func() {
					for j := range 25 {
						tag := fmt.Sprintf("%d-%d", i, j)
						got := w.Call("alice", "SendMessage", proxytest.Message(`,"metadata":{"tag":"`+tag+`"}`))
						// A call that an evil connection broke may fail; it may not lie.
						if got.Status == 200 && !strings.Contains(got.Body, `"`+tag+`"`) {
							t.Errorf("call %s got %s", tag, got.Body)
						}
					}
				})
			}
			callers.Wait()
		})
	}
}

// TestL19_InterimAnswers: a storm of them is no answer. All of them together
// count against the size of the head.
func TestL19_InterimAnswers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Agent.Answers(proxytest.RawAnswer(strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n", 2000) + tagged("late")))
	proxytest.WantStatus(t, "2000 times 103", w.Call("alice", "SendMessage", proxytest.Message("")), 502)
}

// TestL19_AnswerBeforeBody: the answer comes while the request body is still
// being sent; its buffer must not be used for another call meanwhile, and the
// next call must not be on that connection.
func TestL19_AnswerBeforeBody(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	w := proxytest.NewGateway(t, rawAgent(t, func(c net.Conn, in *bufio.Reader) {
		for {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			first := make([]byte, 200)
			_, _ = io.ReadFull(r.Body, first)
			_, _ = io.WriteString(c, tagged(tagOf(string(first))))
			rest, err := io.ReadAll(r.Body) // what comes after the gateway has its answer
			mu.Lock()
			bodies = append(bodies, string(first)+string(rest))
			mu.Unlock()
			if err != nil {
				return
			}
		}
	}))
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			for j := range 20 {
				tag := fmt.Sprintf("%d-%d", i, j)
				filler := strings.Repeat(tag+",", 60_000/len(tag))
				got := w.Call("alice", "SendMessage",
					`{"message":{"metadata":{"tag":"`+tag+`","x":"`+filler+`"},"messageId":"m","parts":[]}}`)
				if got.Status == 200 && !strings.Contains(got.Body, `"`+tag+`"`) {
					t.Errorf("call %s got %s", tag, got.Body)
				}
			}
		})
	}
	callers.Wait()
	mu.Lock()
	defer mu.Unlock()
	for _, body := range bodies {
		_, filler, _ := strings.Cut(body, `"x":"`)
		filler, _, _ = strings.Cut(filler, `"`)
		if rest := strings.ReplaceAll(filler, tagOf(body)+",", ""); !strings.HasPrefix(tagOf(body)+",", rest) {
			t.Fatalf("the body of call %s has %.80q in it", tagOf(body), rest)
		}
	}
}

func TestL40_BrokenAnswers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	json := func(body string) string {
		// It says that it closes, as it does: or the next call might still use the connection.
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	tests := map[string]string{
		"another id":         json(`{"jsonrpc":"2.0","id":8,"result":{"message":{"messageId":"m"}}}`),
		"another type of id": json(`{"jsonrpc":"2.0","id":"7","result":{"message":{"messageId":"m"}}}`),
		"no id":              json(`{"jsonrpc":"2.0","result":{"message":{"messageId":"m"}}}`),
		"null id":            json(`{"jsonrpc":"2.0","id":null,"result":{"message":{"messageId":"m"}}}`),
		"wrong version":      json(`{"jsonrpc":"1.0","id":7,"result":{"message":{"messageId":"m"}}}`),
		"no version":         json(`{"id":7,"result":{"message":{"messageId":"m"}}}`),
		"result and error":   json(`{"jsonrpc":"2.0","id":7,"result":{},"error":{"code":-1,"message":"x"}}`),
		"neither":            json(`{"jsonrpc":"2.0","id":7}`),
		"batch":              json(`[{"jsonrpc":"2.0","id":7,"result":{}}]`),
		"two documents":      json(`{"jsonrpc":"2.0","id":7,"result":{}}{}`),
		"duplicate":          json(`{"jsonrpc":"2.0","id":7,"id":8,"result":{}}`),
		"invalid UTF-8":      json("{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"message\":{\"messageId\":\"\xff\"}}}"),
		"two BOMs":           json("\xef\xbb\xbf\xef\xbb\xbf" + `{"jsonrpc":"2.0","id":7,"result":{}}`),
		"cut off JSON":       json(`{"jsonrpc":"2.0","id":7,"result":{`),
		"empty":              json(""),
		"null":               json("null"),
		"HTML":               "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 17\r\n\r\n<html>10.0.0.5</h",
		"no status":          "HTTP/1.1 999 Oops\r\nContent-Type: text/html\r\nContent-Length: 17\r\n\r\n<html>10.0.0.5</h",
		"HTML said to be JSON": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n" +
			"<html>10.0.0.5</h",
		"no type":         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
		"truncated":       "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"jsonrpc\":\"2.0\"",
		"truncated chunk": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n500\r\n{\"json",
		"no answer":       "",
		"not HTTP":        "SSH-2.0-OpenSSH_9.2\r\n",
		"huge head":       "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n",
		"two lengths":     "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
		"stream":          "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 10\r\n\r\ndata: {}\n\n",
	}
	for name, text := range tests {
		w.Agent.Answers(proxytest.RawAnswer(text))
		got := w.Call("alice", "SendMessage", proxytest.Message(""))
		proxytest.WantStatus(t, name, got, 502)
		if !strings.Contains(got.Body, `"code":-32006`) || !strings.Contains(got.Body, `"id":7`) || strings.Contains(got.Body, "10.0.0.5") {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	// An error without an id, or with none that could be read, is an error still.
	w.Agent.Answers(proxytest.RawAnswer(json(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`)))
	got := w.Call("alice", "SendMessage", proxytest.Message(""))
	if got.Status != 200 || got.Body != `{"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"x"}}` {
		t.Errorf("error without id: %d %s", got.Status, got.Body)
	}
}

// brokenStore fails, or panics, once it is told to.
type brokenStore struct {
	state.Ledger
	fail func() error
}

func (s *brokenStore) Claim(ctx context.Context, r state.Record) (state.Record, error) {
	if err := s.fail(); err != nil {
		return state.Record{}, err
	}
	return s.Ledger.Claim(ctx, r)
}

func (s *brokenStore) Lookup(ctx context.Context, agent string, k state.Kind, id string) (state.Record, bool, error) {
	if err := s.fail(); err != nil {
		return state.Record{}, false, err
	}
	return s.Ledger.Lookup(ctx, agent, k, id)
}

// TestL32_FailingParts: a part that fails, at whichever stage, never lets a call
// through.
func TestL32_FailingParts(t *testing.T) {
	t.Parallel()
	store := func(fail func() error) func(*proxytest.Setup) {
		return func(s *proxytest.Setup) { s.Store = &brokenStore{s.Store, fail} }
	}
	inContext := proxytest.Message(`,"contextId":"c"`)
	tests := map[string]struct {
		edit   func(*proxytest.Setup)
		spoil  func(*proxytest.Gateway)
		header string
		status int
	}{
		"the issuer is away": {edit: func(s *proxytest.Setup) {
			s.Authn = schemes.Config{OIDC: []jwt.Issuer{{Issuer: "http://127.0.0.1:1", Audiences: []string{"x"}}}}
		}, header: "Authorization: Bearer eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImEifQ." +
			"eyJpc3MiOiJodHRwOi8vMTI3LjAuMC4xOjEiLCJhdWQiOiJ4Iiwic3ViIjoiYSIsImV4cCI6NDEwMjQ0NDgwMH0.AAAA", status: -1},
		"the keys are gone": {edit: func(s *proxytest.Setup) { s.Authn.APIKeys.File += ".missing" }, status: 401},
		"no rule":           {edit: func(s *proxytest.Setup) { s.Policy.Rules = nil }, status: 404},
		"the store fails":   {edit: store(func() error { return errors.New("disk on fire") }), status: 500},
		"the store is full": {edit: store(func() error { return state.ErrFull }), status: 503},
		"the store panics":  {edit: store(func() error { panic("store") }), status: 500},
		"no audit":          {spoil: func(w *proxytest.Gateway) { _ = w.Audit.Close() }, status: 503},
		"no card":           {edit: func(s *proxytest.Setup) { s.NoCard = true }, status: 503},
		// 503 when the gateway dials, 502 when it has not noticed yet that the connection
		// over which the card came is closed.
		"the agent is away": {spoil: func(w *proxytest.Gateway) { w.Agent.Close() }, status: -1},
		"nothing is broken": {status: 200}, // the control
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var edits []func(*proxytest.Setup)
			if tt.edit != nil {
				edits = append(edits, tt.edit)
			}
			w := proxytest.NewGateway(t, edits...)
			if tt.spoil != nil {
				tt.spoil(w)
			}
			who, header := "alice", []string{}
			if tt.header != "" {
				who, header = "", []string{tt.header}
			}
			got := w.Call(who, "SendMessage", inContext, header...)
			if tt.status == 200 {
				proxytest.WantStatus(t, name, got, 200)
				return
			}
			if got.Status < 400 || tt.status > 0 && got.Status != tt.status {
				t.Errorf("status %d, want %d: %s", got.Status, tt.status, got.Body)
			}
			w.Agent.Silent(t, name)
			for _, secret := range []string{"fire", "store", "panic", "goroutine", w.Agent.URL} {
				if strings.Contains(got.Body, secret) {
					t.Errorf("the caller was told %s", got.Body)
				}
			}
		})
	}
}

// TestL32_NoTokenForAgent: the token endpoint fails, so the agent is not asked.
func TestL32_NoTokenForAgent(t *testing.T) {
	t.Parallel()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the secret is s3cret", http.StatusInternalServerError)
	}))
	t.Cleanup(broken.Close)
	w := proxytest.NewGateway(t)
	up, err := upstream.New(upstream.Config{Credentials: []credentials.Credential{{
		OAuth2: &credentials.OAuth2{TokenURL: secret.URL(broken.URL), ClientID: "gw", ClientSecret: secret.New("s3cret")},
	}}}, upstream.Options{})
	proxytest.Must(t, err)
	t.Cleanup(up.Close)
	w.Proxy.Agents[0].Upstream = up
	got := w.Call("alice", "SendMessage", proxytest.Message(""))
	proxytest.WantStatus(t, "token endpoint", got, 503)
	if strings.Contains(got.Body, "s3cret") || got.Header.Get("Retry-After") == "" {
		t.Errorf("%v %s", got.Header, got.Body)
	}
	w.Agent.Silent(t, "no token")
}

// TestL32_Panic: one call fails, its record is written, the connection lives on.
func TestL32_Panic(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	panics := false
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Store = &brokenStore{s.Store, func() error {
			mu.Lock()
			defer mu.Unlock()
			if panics {
				panic("canary-of-a-panic")
			}
			return nil
		}}
	})
	c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	proxytest.Must(t, err)
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for _, want := range []int{200, 500, 200} {
		mu.Lock()
		panics = want == 500
		mu.Unlock()
		body := proxytest.RPCBody("SendMessage", proxytest.Message(`,"contextId":"c"`))
		_, err := io.WriteString(c, w.Head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
			fmt.Sprint("Content-Length: ", len(body)))+body)
		proxytest.Must(t, err)
		resp, err := http.ReadResponse(in, nil)
		proxytest.Must(t, err)
		text, err := io.ReadAll(resp.Body)
		proxytest.Must(t, err)
		if resp.StatusCode != want || strings.Contains(string(text), "canary") {
			t.Errorf("status %d, want %d: %s", resp.StatusCode, want, text)
		}
	}
	proxytest.Eventually(t, "three records", func() bool { return len(w.Audited("call")) == 3 })
	if r := w.Audited("call")[1]; r["decision"] != "error" || !strings.Contains(fmt.Sprint(r), "canary-of-a-panic") {
		t.Errorf("record %v", r)
	}
	if !strings.Contains(w.Logs.String(), "canary-of-a-panic") {
		t.Error("the panic is not in the log")
	}
}

// TestAbortHandlerPasses: the one panic that net/http wants to see.
func TestAbortHandlerPasses(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Store = &brokenStore{s.Store, func() error { panic(http.ErrAbortHandler) }}
	})
	resp, err := w.Client.Do(w.Request("alice", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message(`,"contextId":"c"`)), "A2A-Version: 1.0"))
	if err == nil {
		_ = resp.Body.Close()
		t.Errorf("the connection was not cut: %s", resp.Status)
	}
	w.Agent.Silent(t, "abort")
	proxytest.Eventually(t, "record", func() bool { return len(w.Audited("call")) == 1 })
}
