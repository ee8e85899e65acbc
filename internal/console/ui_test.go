package console

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

var update = flag.Bool("update", false, "write what ui/ is built from: openapi.json, and dist/SOURCES of the sources as they are")

// TestUIDocument: the types of the pages are generated from the document that is served.
func TestUIDocument(t *testing.T) {
	t.Parallel()
	doc, err := document("", operations)
	if err == nil {
		err = doc.Format(jsontext.CanonicalizeRawInts(false), jsontext.Multiline(true), jsontext.WithIndent("  "))
	}
	if err != nil {
		t.Fatal(err)
	}
	const file = "ui/openapi.json"
	want := append([]byte(doc), '\n')
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil { //nolint:gosec // it is a source
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not the document (%v): go test ./internal/console -run TestUIDocument -update, and then make ui", file, err)
	}
}

// uiSources are what dist is made of. Types leave nothing behind in it.
func uiSources(t *testing.T) string {
	t.Helper()
	sum := sha256.New()
	for _, root := range []string{"src", "index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"} {
		err := filepath.WalkDir(filepath.Join("ui", root), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Base(name) == "schema.ts" {
				return err
			}
			data, err := os.ReadFile(name)
			sum.Write([]byte(filepath.ToSlash(name)))
			one := sha256.Sum256(data)
			sum.Write(one[:])
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)) + "\n"
}

// TestUIBuilt: what is embedded was built from the sources beside it. That a build of them
// has the same bytes is seen where there is node, in e2e/console.
func TestUIBuilt(t *testing.T) {
	t.Parallel()
	const file = "ui/dist/SOURCES"
	want := uiSources(t)
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil { //nolint:gosec // it is a source
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("ui/dist was built of other sources (%v): make ui", err)
	}
	lock, err := os.ReadFile("ui/package-lock.json")
	if err != nil || bytes.Contains(lock, []byte(`"resolved"`)) {
		t.Errorf("ui/package-lock.json names a registry (%v)", err)
	}
}

// TestUIServed: the pages are there for everybody, with nothing in them that a policy would
// have to allow, and what is at a path of theirs is one of them.
func TestUIServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	anonymous := func(r *http.Request) { r.Header.Del("Authorization") }
	index := w.ask("GET", "/ui/", anonymous)
	script := regexp.MustCompile(`src="(/ui/assets/[^"]+\.js)"`).FindStringSubmatch(index.body)
	if index.status != 200 || index.header.Get("Content-Type") != "text/html; charset=utf-8" || script == nil ||
		regexp.MustCompile(`<script[^>]*>[^<]|<style| style=| on[a-z]+=|https?://`).MatchString(index.body) {
		t.Fatal(index)
	}
	w.checkHeaders(index)
	for _, tt := range []struct {
		method, target string
		status         int
		holds          string
	}{
		{"GET", "/", 302, ""},
		{"GET", "/ui", 302, ""},
		{"GET", "/ui/agents/billing", 200, `<div id="root">`},
		{"HEAD", "/ui/", 200, ""},
		{"GET", "/ui/assets/other.js", 401, ""},
		{"POST", "/ui/", 401, ""},
		{"GET", "/ui/%2e%2e/api", 400, ""},
		{"GET", "/uix", 401, ""},
	} {
		got := w.ask(tt.method, tt.target, anonymous)
		if got.status != tt.status || !strings.Contains(got.body, tt.holds) {
			t.Errorf("%s %s: %d, want %d", tt.method, tt.target, got.status, tt.status)
		}
		if tt.status == 302 && got.header.Get("Location") != "/ui/" {
			t.Errorf("%s: goes to %q", tt.target, got.header.Get("Location"))
		}
	}
	if got := w.ask("GET", "/ui/", func(r *http.Request) { r.Host = "evil.example" }); got.status != http.StatusMisdirectedRequest {
		t.Errorf("as another host: %s", got)
	}
	asset := w.ask("GET", script[1], anonymous)
	if asset.status != 200 || !strings.Contains(asset.header.Get("Cache-Control"), "immutable") ||
		!strings.HasPrefix(asset.header.Get("Content-Type"), "text/javascript") {
		t.Errorf("%s: %d %v", script[1], asset.status, asset.header)
	}
}

// TestTokenSession: a token makes a session, in which changes take its CSRF token, and
// which says nothing of the token.
func TestTokenSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	w.enqueue("n-1")
	in := w.ask("POST", "/api/v1/login", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tokenOf(api.Operator)) })
	cookie, _, _ := strings.Cut(in.header.Get("Set-Cookie"), ";")
	csrf := regexp.MustCompile(`"csrf":"([^"]+)"`).FindStringSubmatch(in.body)
	if in.status != 200 || csrf == nil || strings.Contains(in.body+cookie, tokenOf(api.Operator)) || !strings.Contains(in.body, `"role":"operator","method":"session"`) {
		t.Fatal(in)
	}
	session := func(csrf string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Cookie", cookie)
			r.Header.Set("X-CSRF-Token", csrf)
		}
	}
	if got := w.ask("GET", "/api/v1/session", session("")); got.status != 200 || !strings.Contains(got.body, `"name":"the-operator"`) {
		t.Error(got)
	}
	if got := w.ask("DELETE", "/api/v1/push/deliveries/n-1", session("")); got.status != 403 {
		t.Errorf("without the CSRF token: %s", got)
	}
	if got := w.ask("DELETE", "/api/v1/push/deliveries/n-1", session(csrf[1])); got.status != 200 {
		t.Error(got)
	}
	if got := w.ask("POST", "/api/v1/logout", session(csrf[1])); got.status != 200 {
		t.Error(got)
	}
	if got := w.ask("GET", "/api/v1/session", session("")); got.status != 401 {
		t.Errorf("after it ended: %s", got)
	}
	if e := w.recorded(); e[0]["event"] != "admin.login" || e[0]["who"] != "the-operator" {
		t.Errorf("on record: %v", e)
	}
}
