package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/negotiate"
)

const metadataURL = "https://crm.example/.well-known/oauth-protected-resource"

// says where a token can be had.
func enriches(s *setup) {
	tied(s)
	s.agent.Authorization.ResourceMetadata = metadataURL
}

// TestAuthorizationEnriched: the client is told where a token can be had, in the
// metadata of the message that asks for it and nowhere else, on every side.
func TestAuthorizationEnriched(t *testing.T) {
	t.Parallel()
	added := `"` + negotiate.TaskAuthorization + `"`
	for i, agent := range sides {
		w := in(t, speaks(agent), enriches)
		for _, caller := range callersOf(i, i) {
			for _, method := range ways {
				what := fmt.Sprintf("%s %s to %s", method, caller, agent)
				w.given("tied", w.base, w.agent, "t", "c-t", "")
				w.agent.answers(storied)
				got := w.callWaiting(caller, method, "t").ok(t, what)
				docs := strings.Join(got.docs, "")
				if n := strings.Count(docs, added); n != strings.Count(docs, "please log in") || n == 0 {
					t.Errorf("%s: said %d times in %s", what, n, got.docs)
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
func storied(rw http.ResponseWriter, r *record) {
	s, c := words{r.side()}, r.call()
	id := c.TaskID
	if id == "" {
		id = "task-" + r.Header.Get("X-Request-Id")
	}
	own := `,"metadata":{"urn:x":"agents-own","` + negotiate.TaskAuthorization + `":{"resource_metadata":"https://evil.test"}}`
	if r.side() != rpc10 {
		own = meta("urn:x", `"agents-own"`)
	}
	said := s.message("agent", s.data(`{"auth":"please log in"}`), own)
	history := `,"history":[` + s.message("user", s.text("hi", ""), meta("urn:x", `"clients-own"`)) + `]`
	task := s.task(id, waitsIn(s), said, history)
	switch {
	case c.Method.Streams && s.Side != rpc01:
		r.say(rw, s.task(id, "working", "", history), s.status(id, waitsIn(s), said))
	case c.Method.Streams:
		r.say(rw, s.status(id, waitsIn(s), said))
	case c.Method.Subject == wire.OfTask:
		r.say(rw, bare(task))
	default:
		r.say(rw, task)
	}
}

// TestAuthorizationNotEnriched: what does not ask for authorization, or says nothing
// that a client would read it from, passes byte for byte.
func TestAuthorizationNotEnriched(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), enriches)
	s := words{rpc10}
	for name, doc := range map[string]string{
		"no message": s.task("t", "auth-required", "", ""),
		"input":      s.task("t", "input-required", s.message("agent", s.text("which one?", ""), ""), ""),
		"working":    s.task("t", "working", s.message("agent", s.data(`{"auth":"x"}`), ""), ""),
		"message":    `{"message":` + s.message("agent", s.data(`{"auth":"x"}`), "") + `}`,
	} {
		w.tells(func(words, string) []string { return []string{doc} })
		for _, method := range []string{wire.SendMessage, wire.SendStreamingMessage} {
			if got := w.callWaiting(rpc10, method, "").ok(t, name); got.docs[0] != doc {
				t.Errorf("%s: %s", name, got.docs)
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
