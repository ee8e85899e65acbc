package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestL45_OtherListenersHaveNoPages: what server.cors lets pages do ends with the public
// listener, whoever asks at the others.
func TestL45_OtherListenersHaveNoPages(t *testing.T) {
	t.Parallel()
	w, agent := newWorld(t), greeter(t)
	g := w.start(w.yaml(plain+"\ncors: {origins: [\"*\"]}", openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\nadmin: {address: \"127.0.0.1:0\"}\n", agent.CardURL)))
	admin := adminOf(t, w.dir)
	for _, url := range []string{g.AdminURL() + "/api/v1/agents", g.AdminURL() + "/api/v1/try", g.AdminURL() + "/ui/", g.StatusURL() + "/readyz", g.StatusURL() + "/metrics"} {
		for _, verb := range []string{http.MethodOptions, http.MethodGet, http.MethodPost} {
			for _, credential := range []http.Header{nil, admin} {
				r, err := http.NewRequestWithContext(t.Context(), verb, url, nil)
				if err != nil {
					t.Fatal(err)
				}
				for name, values := range credential {
					r.Header[name] = values
				}
				r.Header.Set("Origin", "https://app.example.com")
				r.Header.Set("Access-Control-Request-Method", "POST")
				got, err := client(t).Do(r)
				if err != nil {
					t.Fatal(err)
				}
				_ = got.Body.Close()
				for name := range got.Header {
					if strings.HasPrefix(name, "Access-Control-") || verb == http.MethodOptions && got.StatusCode < 300 {
						t.Errorf("%s %s: %d %v", verb, url, got.StatusCode, got.Header)
						break
					}
				}
			}
		}
	}
}
