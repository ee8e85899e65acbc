package findcard

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// site answers at paths as told, and 404 elsewhere.
func site(t *testing.T, pages map[string]string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.Method+" "+r.URL.Path]
		if !ok {
			page, ok = pages[r.Method+" *"]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		head, body, _ := strings.Cut(page, "\n")
		status := http.StatusOK
		for field := range strings.SplitSeq(head, "; ") {
			switch name, value, isField := strings.Cut(field, ": "); {
			case isField:
				w.Header().Set(name, value)
			case field == "401":
				status = http.StatusUnauthorized
			case field == "400":
				status = http.StatusBadRequest
			}
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}

// TestFindCard: a card is found from its own URL and from base URLs, and where there is none
// the error says what is there.
func TestFindCard(t *testing.T) {
	t.Parallel()
	const (
		card = "Content-Type: application/json\n{\"name\":\"n\"}"
		html = "Content-Type: text/html\n<!doctype html><title>Welcome</title>"
	)
	tests := []struct {
		name  string
		pages map[string]string
		path  string // of the URL that is given
		at    string // path of the card, "" for none
		want  string // in the note or the error
	}{
		{"the card itself", map[string]string{"GET /x/agent.json": card}, "/x/agent.json", "/x/agent.json", ""},
		{"the card itself, without any name", map[string]string{"GET /card": card}, "/card", "/card", ""},
		{"a query", map[string]string{"GET /card": card}, "/card?version=2", "/card?version=2", ""},
		{"a base URL", map[string]string{"GET /.well-known/agent-card.json": card}, "", "/.well-known/agent-card.json", "the card is at http"},
		{"an older agent", map[string]string{"GET /.well-known/agent.json": card}, "/", "/.well-known/agent.json", "the card is at http"},
		{"below a path", map[string]string{"GET /a/b/.well-known/agent-card.json": card, "GET /.well-known/agent-card.json": card}, "/a/b/", "/a/b/.well-known/agent-card.json", "the card is at http"},
		{"a base URL that answers with its card", map[string]string{"GET /a": card}, "/a", "/a", ""},
		{"at the origin", map[string]string{"GET /.well-known/agent-card.json": card}, "/a2a/rpc", "/.well-known/agent-card.json", "is it the agent that is meant?"},
		{"the other name", map[string]string{"GET /a/.well-known/agent-card.json": card}, "/a/.well-known/agent.json", "/a/.well-known/agent-card.json", "the card is at http"},
		{"nothing", nil, "/a", "", "no card is at any of http"},
		{"a login", map[string]string{"GET *": "401; Www-Authenticate: Bearer\n"}, "/a", "", "the card is behind a login (Bearer)"},
		{"a web page", map[string]string{"GET *": html}, "/", "", "a web page is there"},
		{"a web page at the base URL alone", map[string]string{"GET /": html}, "/", "", "a web page is there"},
		{"an MCP server", map[string]string{"POST /": "400; Content-Type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":\"server-error\",\"error\":{\"code\":-32600,\"message\":\"Bad Request: Missing session ID\"}}"}, "", "", "an MCP server is at http"},
		{"an MCP server without sessions, below", map[string]string{"POST /mcp": "Content-Type: text/event-stream\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"}, "", "", "an MCP server is at http"},
		{"an agent without a card", map[string]string{"POST /a": "Content-Type: application/json\n{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}"}, "/a", "", "JSON-RPC is spoken at http"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			url := site(t, tt.pages)
			found, err := Find(t.Context(), http.DefaultClient, url+tt.path)
			switch {
			case tt.at == "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			case tt.at == "":
			case err != nil:
				t.Error(err)
			case found.At.Reveal() != url+tt.at, tt.want == "" && found.Note != "", !strings.Contains(found.Note, tt.want):
				t.Errorf("at %s: %q; want %s: %q", found.At.Reveal(), found.Note, tt.at, tt.want)
			}
		})
	}
	for _, raw := range []string{"localhost:9001", "ftp://example.com", "http:///x", "http://[", "http://user:s3cret@127.0.0.1:1/?s3cret"} {
		if _, err := Find(t.Context(), http.DefaultClient, raw); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", raw, err)
		}
	}
}
