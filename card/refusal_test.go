package card_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestFetchSaysWhatIsThere: an error about what is no card says what it is, and what can be
// done about that. absent is whether the card may be somewhere else at the same server.
func TestFetchSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	const jsonType = "application/json"
	tests := []struct {
		name   string
		status int
		header string // Name: value
		media  string
		body   string
		want   string
		absent bool
	}{
		{"nothing", 404, "", "text/plain", "404 page not found", "the server answered 404 Not Found", true},
		{"nothing, in the words of a server that speaks of MCP", 404, "", jsonType, `{"detail":"see /mcp"}`, "the server answered 404 Not Found", true},
		{"a login by challenge", 401, `Www-Authenticate: Basic realm="staging"`, "", "", "401 Unauthorized: the card is behind a login (Basic), and the gateway shows no credential there", false},
		{"a challenge that is no word", 401, "Www-Authenticate: \"x\" y", "", "", "401 Unauthorized: the card is behind a login, and", false},
		{"a login by policy", 403, "", jsonType, `{"message":"Missing Authentication Token"}`, "403 Forbidden: the card is behind a login", false},
		{"a login by form", 200, "", "text/html", `<!doctype html><form><input TYPE="password">`, "a login page is there", false},
		{"a web page", 200, "", "text/html", "<!doctype html><div id=app>", "a web page is there", false},
		{"an endpoint", 405, "", jsonType, `{"detail":"Method Not Allowed"}`, "this is an endpoint, and its card has another URL", true},
		{"an answer of JSON-RPC", 200, "", jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`, "it is an answer of JSON-RPC", false},
		{"an MCP server, Python", 406, "", jsonType, `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Not Acceptable: Client must accept text/event-stream"}}`, "an MCP server answers so", false},
		{"an MCP server, TypeScript", 400, "", jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`, "an MCP server answers so", false},
		{"an MCP server with a session", 200, "Mcp-Session-Id: 1", jsonType, `{"a":1}`, "an MCP server answers so", false},
		{"a description of an API", 200, "", jsonType, `{"openapi":"3.1.0"}`, "OpenAPI", false},
		{"metadata of an issuer", 200, "", jsonType, `{"issuer":"https://login.example.com"}`, "metadata of an authorization server", false},
		{"a broken server", 502, "", "text/html", "<h1>502</h1>", "the server answered 502 Bad Gateway", false},
		{"no JSON", 200, "", "text/plain", "{jsonrpc", "not an agent card", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if name, value, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(name, value)
				}
				w.Header().Set("Content-Type", tt.media)
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			t.Cleanup(srv.Close)
			_, err := card.Fetch(t.Context(), srv.Client(), secret.URL(srv.URL), 0)
			if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, card.ErrAbsent) != tt.absent {
				t.Errorf("%v; want %q, absent: %v", err, tt.want, tt.absent)
			}
		})
	}
}
