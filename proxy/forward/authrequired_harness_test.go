package forward_test

import (
	"cmp"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// endpoint is a token endpoint that counts what it is asked.
type endpoint struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []url.Values
	answer http.HandlerFunc
}

// newEndpoint gives token-for-crm to everybody, until told otherwise.
func newEndpoint(t testing.TB) *endpoint {
	e := &endpoint{}
	e.gives()
	e.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		e.mu.Lock()
		e.asked = append(e.asked, r.PostForm)
		answer := e.answer
		e.mu.Unlock()
		answer(rw, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) answers(f http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = f
}

func (e *endpoint) says(status int, body string) {
	e.answers(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(body))
	})
}

func (e *endpoint) gives() {
	e.says(http.StatusOK, `{"access_token":"token-for-crm","token_type":"Bearer","expires_in":3600,`+
		`"issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}`)
}

// take gives the forms since the last take.
func (e *endpoint) take() []url.Values {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked := e.asked
	e.asked = nil
	return asked
}

// exchanges gives a world's agent a credential of its own, and one for tasks that wait
// for authorization at the other system.
func (e *endpoint) exchanges(s *proxytest.Setup) {
	proxytest.WithTied(s)
	s.Upstream = upstream.Options{
		Sign: func(_ string, payload []byte) (string, error) {
			return "h." + base64.RawURLEncoding.EncodeToString(payload) + ".s", nil
		},
		Issuer: "https://gateway.example", Gateway: "gw",
	}
	s.Agent.Credentials = []credentials.Credential{
		{Value: secret.New("Bearer gateways-own")},
		{Header: proxytest.CRMHeader, On: "auth-required", Exchange: &credentials.Exchange{
			TokenURL: secret.URL(e.URL + "/token"), ClientID: "gw", ClientSecret: secret.New("s"), Subject: "assertion",
			Audience: []string{proxytest.CRM},
		}},
	}
}

// waitsIn is the state in which a side's task waits for authorization: 0.1 has none for
// it.
func waitsIn(s proxytest.Words) string {
	if s.Side == proxytest.RPC01 {
		return "input-required"
	}
	return "auth-required"
}

// asks is a message that asks for authorization at the other system.
func asks(s proxytest.Words) string {
	return s.Message("agent", s.Data(`{"authentication":{"audience":"`+proxytest.CRM+`","scope":"orders.read"}}`), "")
}

// waiter is an agent whose tasks wait until they are shown a token for the other system.
type waiter struct {
	mu     sync.Mutex
	shown  map[string]bool
	always bool   // they wait on
	state  string // "" for that of waitsIn
	taken  http.HandlerFunc
}

// waiting makes the world's agent one.
func waiting(w *proxytest.Gateway) *waiter {
	a := &waiter{shown: map[string]bool{}}
	w.Agent.Answers(a.answer)
	return a
}

func (a *waiter) answer(rw http.ResponseWriter, r *proxytest.Request) {
	s, c := proxytest.Words{Side: r.Side()}, r.Call()
	id := cmp.Or(c.TaskID, "task-"+r.Header.Get("X-Request-Id"))
	shows := r.Header.Get(proxytest.CRMHeader) == "token-for-crm"
	a.mu.Lock()
	if shows && a.taken != nil {
		a.mu.Unlock()
		a.taken(rw, r.Request)
		return
	}
	a.shown[id] = a.shown[id] || shows
	state, said := cmp.Or(a.state, waitsIn(s)), asks(s)
	if a.shown[id] && !a.always {
		state, said = "completed", s.Message("agent", s.Text("thanks", ""), "")
	}
	a.mu.Unlock()
	task := s.Task(id, state, said, "")
	switch {
	case c.Method.Streams && s.Side != proxytest.RPC01:
		r.Say(rw, s.Task(id, "working", "", ""), s.Status(id, state, said))
	case c.Method.Streams:
		r.Say(rw, s.Status(id, "working", ""), s.Status(id, state, said))
	case c.Method.Subject == wire.OfTask:
		r.Say(rw, proxytest.BareTask(task))
	default:
		r.Say(rw, task)
	}
}

// shows splits requests by whether they show a token for the other system.
func shows(seen []*proxytest.Request) (with, without []*proxytest.Request) {
	for _, r := range seen {
		if r.Header.Get(proxytest.CRMHeader) != "" {
			with = append(with, r)
		} else {
			without = append(without, r)
		}
	}
	return with, without
}

// asksStill reports whether a caller can see that the task waits.
func asksStill(s proxytest.Reply) bool {
	return strings.Contains(strings.Join(s.Docs, ""), proxytest.CRM)
}
