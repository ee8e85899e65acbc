package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestRecipeKagent does what docs/recipes/kagent.md says, with a server that has the paths and the
// cards of kagent's controller in the place of it.
func TestRecipeKagent(t *testing.T) {
	t.Parallel()
	kagent := kagentController(t)
	r := newReader(t)
	for _, b := range blocksOf(t, "../../docs/recipes/kagent.md") {
		b.text = strings.ReplaceAll(b.text, "http://kagent-controller.kagent:8083", kagent)
		r.follow(b)
	}
	r.interruptAll()
}

// kagentController serves an agent of A2A 0.3 at /api/a2a/kagent/NAME, as the controller of kagent 0.x
// does: JSON-RPC at the path itself, and below it a card whose url is of no use outside.
func kagentController(t *testing.T) string {
	t.Helper()
	agent, err := demo.Agent03(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(t.Context()) })
	card := demoCard(t, agent.CardURL)
	address, _ := card["url"].(string)
	endpoint, err := url.Parse(address)
	if err != nil || address == "" {
		t.Fatalf("the agent's card names %q: %v", address, err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/a2a/kagent/{name}/.well-known/agent.json", func(w http.ResponseWriter, req *http.Request) {
		name := req.PathValue("name")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"name": strings.ReplaceAll(name, "-", "_"), "description": "An agent of kagent.", "version": "1",
			"url":          "http://127.0.0.1:8083/api/a2a/kagent/" + name + "/",
			"capabilities": map[string]any{"streaming": true, "pushNotifications": false, "stateTransitionHistory": true},
			"skills": []any{
				map[string]any{"id": "get-resources", "name": "Get resources", "description": "Reads the cluster.", "tags": []string{"k8s"}},
				map[string]any{"id": "delete-resources", "name": "Delete resources", "description": "Changes the cluster.", "tags": []string{"k8s"}},
			},
			"defaultInputModes": []string{"text"}, "defaultOutputModes": []string{"text"},
		})
	})
	mux.Handle("POST /api/a2a/kagent/{name}/{$}", &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
		p.Out.URL, p.Out.Host = endpoint, endpoint.Host
	}})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// demoCard is the card that an agent serves.
func demoCard(t *testing.T, at string) map[string]any {
	t.Helper()
	resp, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	card := map[string]any{}
	if err := json.Unmarshal(text, &card); err != nil {
		t.Fatal(err)
	}
	return card
}
