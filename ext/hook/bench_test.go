package hook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// BenchmarkCall is one callout to a service on the same machine.
func BenchmarkCall(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	h, err := hook.New(hook.Config{URL: secret.URL(server.URL), Phases: []hook.Phase{hook.Request}})
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Call(b.Context(), callout()); err != nil {
			b.Fatal(err)
		}
	}
}
