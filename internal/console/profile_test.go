package console

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
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
		got := w.ask(http.MethodGet, profiles+path, nil)
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
			got := w.ask(http.MethodGet, profiles+path, func(r *http.Request) { r.Header["Authorization"] = header })
			if got.status != http.StatusUnauthorized {
				t.Errorf("%s for %s: %d, want 401", path, name, got.status)
			}
		}
	}
	if got := w.ask(http.MethodPost, profiles+"heap", nil); got.status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s, want 405", got)
	}
}

// TestLongProfiles: one that takes longer than a request may take to come is taken to its end.
func TestLongProfiles(t *testing.T) {
	t.Parallel()
	const hurry = time.Second
	cut := make(chan bool, 1)
	server := httptest.NewUnstartedServer(unhurried(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
			cut <- true
		case <-time.After(2 * hurry):
			cut <- false
		}
	})))
	server.Config.ReadTimeout = hurry
	server.Start()
	t.Cleanup(server.Close)
	res, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if <-cut {
		t.Error("the request ended with the time that it may take to come")
	}
}
