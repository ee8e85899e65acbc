package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompletion asks as shells do, by __complete: for values that a command line lists, for
// what a configuration has, and for files of the right kind. The last line is what a shell does
// with them: 4 no files, 8 files of these extensions, 16 directories, 0 any file.
func TestCompletion(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(`server: {publicURL: "http://localhost:8080"}
authn: {anonymous: true}
extensions: [{uri: "https://example.com/ext/v1"}]
agents:
  - {id: billing, card: "http://127.0.0.1:9001/", skills: [{id: summarize}, {id: refund}]}
  - {id: weather, card: "http://127.0.0.1:9002/", skills: [{id: forecast}]}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ line, want string }{
		{"explain -c CONFIG --agent", "billing weather :4"},
		{"explain -c CONFIG --agent billing --skill", "summarize refund :4"},
		{"explain -c CONFIG --skill", "summarize refund forecast :4"},
		{"explain -c CONFIG --extension", "https://example.com/ext/v1 :4"},
		{"explain -c none.yaml --agent", ":4"},
		{"explain --binding", "JSONRPC HTTP+JSON GRPC MCP :4"},
		{"explain --output", "text json :4"},
		{"explain --subject", ":4"},
		{"explain --message", ":0"},
		{"call -c CONFIG", "billing weather :4"},
		{"call --binding", "JSONRPC HTTP+JSON GRPC :4"},
		{"admin token --role", "viewer operator admin :4"},
		{"audit query --decision", "allow deny error :4"},
		{"audit query --type", "intent call event :4"},
		{"audit query --output", "text json :4"},
		{"audit export --format", "jsonl ocsf :4"},
		{"serve --config", "yaml yml :8"},
		{"init -c", "yaml yml :8"},
		{"init --provider", "keycloak entra auth0 okta :4"},
		{"man --dir", ":16"},
		{"keys create --file", ":0"},
		{"token --certificate", ":0"},
		{"card show -c CONFIG", "billing weather :0"},
		{"card show -c CONFIG billing", ":4"},
		{"agents show -c CONFIG", "billing weather :4"},
		{"keys revoke", ":4"},
		{"card verify", ":0"},
		{"policy test", ":0"},
		{"schema", ":4"},
		{"serve", ":4"},
	} {
		words := strings.Fields(tt.line)
		for i := range words {
			words[i] = strings.Replace(words[i], "CONFIG", path, 1) // which may have spaces
		}
		var out, errs bytes.Buffer
		if code := run(t.Context(), append(append([]string{"__complete"}, words...), ""), &out, &errs); code != 0 {
			t.Errorf("%s: exit code %d: %s", tt.line, code, &errs)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, got, tt.want)
		}
	}
}
