package config_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

// TestShow: what is in force is shown with its defaults, and without what is secret.
func TestShow(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("config.yaml", []byte(`
server: {address: "127.0.0.1:0", publicURL: "http://gateway.example"}
admin: {token: "canary-token-canary-token-canary-token"}
authn: {anonymous: true}
policy: {default: allow}
agents:
  - id: billing
    card: "https://canary-user:canary-password@billing.example/card?key=canary-query"
    credentials: [{header: X-Key, value: "${KEY}"}]
`), func(name string) (string, bool) { return "canary-value", name == "KEY" })
	if err != nil {
		t.Fatal(err)
	}
	text, err := cfg.Show()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "canary") {
		t.Errorf("holds a secret: %s", text)
	}
	var shown struct {
		Server struct {
			Limits map[string]any `json:"limits"`
		} `json:"server"`
		Agents []struct {
			ID   string `json:"id"`
			Card struct {
				URL string `json:"url"`
			} `json:"card"`
		} `json:"agents"`
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		t.Fatal(err)
	}
	if len(shown.Agents) != 1 || shown.Agents[0].Card.URL != "https://billing.example/card?…" || shown.Server.Limits["body"] == nil {
		t.Errorf("%s", text)
	}
}
