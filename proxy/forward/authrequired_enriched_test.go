package forward_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const metadataURL = "https://crm.example/.well-known/oauth-protected-resource"

// says where a token can be had.
func enriches(s *proxytest.Setup) {
	proxytest.WithTied(s)
	s.Agent.Authorization.ResourceMetadata = metadataURL
}

// TestAuthorizationEnriched: the client is told where a token can be had, in the
// metadata of the message that asks for it and nowhere else, on every side.
func TestAuthorizationEnriched(t *testing.T) {
	t.Parallel()
	added := `"` + negotiate.TaskAuthorization + `"`
	for i, agent := range proxytest.Sides {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), enriches)
		for _, caller := range proxytest.CallersOf(i, i) {
			for _, method := range proxytest.WaysToWait {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.Given("tied", w.Base, w.Agent, "t", "c-t", "")
				w.Agent.Answers(storied)
				got := w.CallWaiting(caller, method, "t").OK(t, what)
				docs := strings.Join(got.Docs, "")
				if n := strings.Count(docs, added); n != strings.Count(docs, "please log in") || n == 0 {
					t.Errorf("%s: said %d times in %s", what, n, got.Docs)
				}
				if !strings.Contains(docs, metadataURL) || !strings.Contains(docs, `"agents-own"`) || strings.Contains(docs, "evil") {
					t.Errorf("%s: %s", what, docs)
				}
				for _, part := range strings.Split(docs, "clients-own")[1:] { // it is the last of its message
					if before, _, _ := strings.Cut(part, "}"); strings.Contains(before, "task-authorization") {
						t.Errorf("%s: in the client's message: %s", what, docs)
					}
				}
			}
		}
	}
}

// storied answers with a task that waits and has a history. The message that asks says
// something of its own, and of where a token can be had, too.
func storied(rw http.ResponseWriter, r *proxytest.Request) {
	s, c := proxytest.Words{Side: r.Side()}, r.Call()
	id := c.TaskID
	if id == "" {
		id = "task-" + r.Header.Get("X-Request-Id")
	}
	own := `,"metadata":{"urn:x":"agents-own","` + negotiate.TaskAuthorization + `":{"resource_metadata":"https://evil.test"}}`
	if r.Side() != proxytest.RPC10 {
		own = proxytest.Meta("urn:x", `"agents-own"`)
	}
	said := s.Message("agent", s.Data(`{"auth":"please log in"}`), own)
	history := `,"history":[` + s.Message("user", s.Text("hi", ""), proxytest.Meta("urn:x", `"clients-own"`)) + `]`
	task := s.Task(id, waitsIn(s), said, history)
	switch {
	case c.Method.Streams && s.Side != proxytest.RPC01:
		r.Say(rw, s.Task(id, "working", "", history), s.Status(id, waitsIn(s), said))
	case c.Method.Streams:
		r.Say(rw, s.Status(id, waitsIn(s), said))
	case c.Method.Subject == wire.OfTask:
		r.Say(rw, proxytest.BareTask(task))
	default:
		r.Say(rw, task)
	}
}

// TestAuthorizationNotEnriched: what does not ask for authorization, or says nothing
// that a client would read it from, passes byte for byte.
func TestAuthorizationNotEnriched(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), enriches)
	s := proxytest.Words{Side: proxytest.RPC10}
	for name, doc := range map[string]string{
		"no message": s.Task("t", "auth-required", "", ""),
		"input":      s.Task("t", "input-required", s.Message("agent", s.Text("which one?", ""), ""), ""),
		"working":    s.Task("t", "working", s.Message("agent", s.Data(`{"auth":"x"}`), ""), ""),
		"message":    `{"message":` + s.Message("agent", s.Data(`{"auth":"x"}`), "") + `}`,
	} {
		w.AnswerIn(func(proxytest.Words, string) []string { return []string{doc} })
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			if got := w.CallWaiting(proxytest.RPC10, method, "").OK(t, name); got.Docs[0] != doc {
				t.Errorf("%s: %s", name, got.Docs)
			}
		}
	}
}

// TestAuthorizationConfig: what cannot work is named.
func TestAuthorizationConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		c    agents.AuthorizationConfig
		want string // "" for a good one
	}{
		{agents.AuthorizationConfig{}, ""},
		{agents.AuthorizationConfig{Hosts: []string{"a.example", "*.b.example", "[::1]", "10.0.0.1"}, Links: "refuse"}, ""},
		{agents.AuthorizationConfig{Links: "report", ResourceMetadata: metadataURL, Message: "here"}, ""},
		{agents.AuthorizationConfig{Hosts: []string{""}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"*"}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"*."}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"a.*.example"}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"https://a.example"}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"a.example/x"}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"a.example:443"}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"u@a.example"}}, "hosts"},
		{agents.AuthorizationConfig{Hosts: []string{"bücher.example"}}, "hosts"},
		{agents.AuthorizationConfig{Links: "pass"}, "links"},
		{agents.AuthorizationConfig{ResourceMetadata: "crm.example"}, "resourceMetadata"},
		{agents.AuthorizationConfig{ResourceMetadata: "ftp://crm.example"}, "resourceMetadata"},
		{agents.AuthorizationConfig{ResourceMetadata: "https://u:p@crm.example"}, "resourceMetadata"},
		{agents.AuthorizationConfig{Message: strings.Repeat("x", 1025)}, "message"},
	} {
		err := tt.c.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want+": ") {
			t.Errorf("%+.80v: %v, want %q", tt.c, err, tt.want)
		}
	}
}
