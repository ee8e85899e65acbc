package interop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// modules are where a page finds what its programs import, as bundlers would.
const modules = `{"imports": {
	"a2a-v1/client": "/js/node_modules/a2a-v1/dist/client/index.js",
	"a2a-v03/client": "/js/node_modules/a2a-v03/dist/client/index.js",
	"jose": "/js/node_modules/jose/dist/webapi/index.js",
	"uuid": "/js/node_modules/uuid/dist/esm-browser/index.js"
}}`

// site serves the page js/page.mjs, which says to reports what it saw.
func site(t *testing.T, settings map[string]string, reports chan<- map[string]string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprintf(w, `<!doctype html><title>A page</title><script type="importmap">%s</script><script type="module" src="/js/page.mjs"></script>`, modules)
	})
	mux.HandleFunc("GET /settings", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(settings) })
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		saw := map[string]string{}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &saw); err != nil {
			saw["report"] = fmt.Sprintf("%v: %s", err, body)
		}
		reports <- saw
	})
	mux.Handle("GET /js/", http.StripPrefix("/js/", http.FileServer(http.Dir("js"))))
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

// visit opens an address in Chromium, and gives what the page there reports.
func visit(t *testing.T, address string, reports <-chan map[string]string) map[string]string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--enable-logging=stderr", "--remote-debugging-port=0", "--user-data-dir="+t.TempDir(), address)
	cmd.WaitDelay = 10 * time.Second
	var log lockedBuffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = cmd.Wait() // killed
	}()
	select {
	case saw := <-reports:
		return saw
	case <-ctx.Done():
		t.Fatalf("the page at %s reports nothing\n%s", address, log.tail(4000))
		return nil
	}
}

// TestBrowser: a page of an origin in server.cors calls an agent with the official SDK, by
// every binding that browsers have, and reads streams, refusals and their headers; the same
// page at another origin gets nothing.
func TestBrowser(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	if lacking := missing([]string{"chromium", "js/node_modules/a2a-v1/package.json", "js/node_modules/a2a-v03/package.json", "js/node_modules/jose/package.json"}); lacking != "" {
		if requireAll() {
			t.Fatalf("a page needs %s; run interop/setup", lacking)
		}
		t.Skipf("a page needs %s; run interop/setup", lacking)
	}
	billing, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = billing.Close(context.Background()) })
	settings, reports := map[string]string{}, make(chan map[string]string, 1)
	pages := site(t, settings, reports)

	dir := t.TempDir()
	g := &gateway{binary: buildGateway(t), dir: dir}
	text := fmt.Sprintf(`server:
  address: "127.0.0.1:0"
  statusAddress: "off"
  publicURL: "http://127.0.0.1"
  dataDir: %q
  cors: {origins: [%q]}
admin: {address: "off"}
authn: {apiKeys: {file: keys.yaml}}
policy: {rules: [{name: all, effect: allow}]}
agents: [{id: billing, card: %q}]
`, dir, pages.URL, billing.CardURL)
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	settings["key"] = g.key(t, "billing")
	g.serve(t, file)
	settings["base"] = g.url + "/agents/billing/"

	want := map[string]string{"refused": "401 true true", "no such agent": "404", "another header": "TypeError: Failed to fetch"}
	for _, side := range []string{"1.0 JSON-RPC", "1.0 HTTP+JSON", "0.3 JSON-RPC", "0.3 HTTP+JSON"} {
		want[side+" send"], want[side+" stream"] = "echo from a page", "many events"
	}
	saw := visit(t, pages.URL, reports)
	for name, what := range want {
		if !strings.Contains(saw[name], what) {
			t.Errorf("%s: the page saw %q, want %q", name, saw[name], what)
		}
	}
	// The same server by another name is another origin.
	for name, got := range visit(t, strings.Replace(pages.URL, "127.0.0.1", "localhost", 1), reports) {
		if !strings.Contains(got, "Failed to fetch") {
			t.Errorf("%s: a page of another origin saw %q", name, got)
		}
	}
}
