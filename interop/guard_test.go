package interop_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPresidio: guards ask Presidio's own analyzer, with its recognizers and a list of names, about what
// a caller sends and what an agent answers. Characters before what is found have one byte or more.
func TestPresidio(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	command := []string{"python/.venv-presidio/bin/python", "python/presidio.py"}
	if lacking := missing(command); lacking != "" {
		if requireAll() {
			t.Fatalf("it needs %s; run interop/setup", lacking)
		}
		t.Skipf("it needs %s; run interop/setup", lacking)
	}
	t.Parallel()
	g := startPresidioGateway(t, startProgram(t, nil, command...).URL)
	for _, tt := range []struct {
		agent, text string
		status      int
		want        []string
	}{
		{
			"named", "日本 → I am Jörg Müller, born in Köln. My name is Jane Doe.", http.StatusOK,
			// What the agent got, and what the caller gets of what it answers.
			[]string{"日本 → I am [redacted: PERSON], born in Köln. My name is [redacted: PERSON].", "Ask [redacted: PERSON] about it"},
		},
		{"named", "The number is 17.", http.StatusOK, []string{"The number is 17."}},
		{"cards", "My name is Jane Doe.", http.StatusOK, []string{"Jane Doe", "Ask Barack Obama about it"}},
		{"cards", "pay with 4111111111111111", http.StatusForbidden, []string{"CONTENT_REFUSED", `"kind":"CREDIT_CARD"`}},
		{"german", "Guten Tag", http.StatusServiceUnavailable, []string{"the content cannot be inspected at the moment"}}, // there is no model for it
	} {
		body := fmt.Sprintf(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":%q}]}}`, tt.text)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.base(tt.agent)+"/message:send", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("A2A-Version", "1.0")
		r.Header.Set("Content-Type", "application/a2a+json")
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != tt.status {
			t.Errorf("%s %q: %d %s, %v", tt.agent, tt.text, resp.StatusCode, said, err)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(said), want) {
				t.Errorf("%s %q: %s has no %s", tt.agent, tt.text, said, want)
			}
		}
	}
}

// startPresidioGateway starts a gateway with guards that ask Presidio, in front of an agent that repeats what it
// got and adds a name.
func startPresidioGateway(t *testing.T, presidio string) *gateway {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(repeats))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	config := fmt.Sprintf(`server: {address: "127.0.0.1:0", statusAddress: "off", publicURL: "http://127.0.0.1", dataDir: %q}
authn: {anonymous: true}
policy:
  default: allow
  guards:
    - {name: names, use: presidio, action: redact, agents: [named], service: {url: %[3]q, entities: [PERSON], timeout: 10s}}
    - {name: cards, use: presidio, agents: [cards], service: {url: %[3]q, entities: [CREDIT_CARD], score: 90, timeout: 10s}}
    - {name: german, use: presidio, on: [request], agents: [german], service: {url: %[3]q, language: de, timeout: 10s}}
agents:
  - {id: named, card: "%[2]s/card"}
  - {id: cards, card: "%[2]s/card"}
  - {id: german, card: "%[2]s/card"}
`, dir, server.URL, presidio)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gateway{binary: buildGateway(t), dir: dir}
	g.serve(t, file)
	return g
}

// repeats is an agent.
func repeats(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/card" {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": "Repeats", "description": "d", "version": "1", "capabilities": map[string]any{},
			"defaultInputModes": []string{"text/plain"}, "defaultOutputModes": []string{"text/plain"},
			"skills":              []map[string]any{{"id": "s", "name": "s", "description": "s", "tags": []string{"t"}}},
			"supportedInterfaces": []map[string]string{{"url": "http://" + r.Host + "/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}},
		})
		return
	}
	var sent struct {
		Message struct {
			Parts []struct {
				Text string `json:"text"`
			} `json:"parts"`
		} `json:"message"`
	}
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || len(sent.Message.Parts) != 1 {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"message": map[string]any{
		"messageId": "a", "role": "ROLE_AGENT",
		"parts": []map[string]string{{"text": sent.Message.Parts[0].Text}, {"text": "Ask Barack Obama about it"}},
	}})
}
