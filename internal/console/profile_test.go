package console

import (
	"net/http"
	"strings"
	"testing"
)

// TestProfiles: the runtime's profiles are for whoever has the token, and for nobody else.
func TestProfiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for path, want := range map[string]int{
		"goroutine?debug=1": 200, "heap": 200, "allocs": 200, "mutex": 200, "block": 200, "threadcreate": 200,
		"profile?seconds=1": 200, "trace?seconds=1": 200,
		"": 404, "cmdline": 404, "symbol": 404, "nonsense": 404, "heap/": 404,
	} {
		got := w.ask(http.MethodGet, "/debug/pprof/"+path, nil)
		if got.status != want {
			t.Errorf("%s: %d %.200s, want %d", path, got.status, got.body, want)
		}
		if cached := got.header.Get("Cache-Control"); cached != "no-store" {
			t.Errorf("%s: Cache-Control %q", path, cached)
		}
		if path == "goroutine?debug=1" && !strings.Contains(got.body, "goroutine profile: total") {
			t.Errorf("%s: %.200s", path, got.body)
		}
		for name, header := range map[string][]string{"nobody": nil, "somebody else": {"Bearer x"}} {
			got := w.ask(http.MethodGet, "/debug/pprof/"+path, func(r *http.Request) { r.Header["Authorization"] = header })
			if got.status != http.StatusUnauthorized {
				t.Errorf("%s for %s: %d, want 401", path, name, got.status)
			}
		}
	}
	if got := w.ask(http.MethodPost, "/debug/pprof/"+"heap", nil); got.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s, want 405", got)
	}
}
