package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// FuzzRoutes: what leads to a route is that route's path, letter by letter, with an id of
// one segment in it.
func FuzzRoutes(f *testing.F) {
	for _, target := range asked {
		path, _, _ := strings.Cut(target, "?")
		f.Add("GET", path)
		f.Add("DELETE", path)
		f.Add("POST", path+"/")
	}
	f.Add("POST", "/api/v1/push/deliveries//retry")
	f.Add("DELETE", "/api/v1/push/deliveries/")
	f.Fuzz(func(t *testing.T, method, path string) {
		r := &http.Request{Method: method, URL: &url.URL{Path: path}}
		found, err := find(operations, r)
		if err != nil {
			return
		}
		id := r.PathValue("id")
		if strings.Replace(found.Path, "{id}", id, 1) != path || found.Method != method || strings.Contains(id, "/") ||
			strings.Contains(found.Path, "{id}") != (id != "") {
			t.Errorf("%s %s leads to %s %s with %q", method, path, found.Method, found.Path, id)
		}
	})
}

// A head that is larger than any operator's is not read to its end.
func TestHeaderLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for size, want := range map[int]int{
		1: 200, headerSize + 31<<10: 200, headerSize + 32<<10: 431, 2 * (headerSize + 32<<10): 431, headerSize + authn.LongestToken - 1<<10: 431,
	} {
		got := w.ask("GET", "/api/v1/push", func(r *http.Request) { r.Header.Set("X-Large", strings.Repeat("x", size)) })
		if got.status != want || want == 431 && got.header.Get("Content-Security-Policy") == "" {
			t.Errorf("%d bytes: %d %.200s, want %d", size, got.status, got.body, want)
		}
	}
	// Beyond any limit net/http reads no further.
	head := "GET /api/v1/push HTTP/1.1\r\nHost: " + w.console.listener.Addr().String() + "\r\nX-Large: "
	if status, _ := w.raw(head + strings.Repeat("x", headerSize+authn.LongestToken+8<<10)); status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("beyond any limit: %d", status)
	}
	h := w.console.http
	if h.ReadHeaderTimeout == 0 || h.ReadTimeout == 0 || h.WriteTimeout == 0 || h.IdleTimeout == 0 {
		t.Errorf("a wait has no end: %+v", h)
	}
}
