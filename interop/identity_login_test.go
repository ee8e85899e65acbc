package interop_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// administrators sign in at the admin listener with a browser's cookies, are of a role by a
// claim, change something, and leave.
func (i *identity) administrators(t *testing.T) {
	g := i.start(t, house{
		agents: `  - {id: nobody, card: "http://127.0.0.1:1/card.json"}`,
		admin: fmt.Sprintf(`fleet: {api: true}
admin:
  oidc:
    issuer: %q
    roles: {viewer: [staff], admin: [admins]}
    login: {clientID: console}
`, i.issuer.URL),
	})
	address, err := os.ReadFile(filepath.Join(g.dir, "admin.address"))
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + strings.TrimSpace(string(address))
	for name, want := range map[string]string{"root": "admin", "somebody": "viewer"} {
		b := newVisitor(t, name)
		if status, body := b.ask(http.MethodGet, base+"/api/v1/login", ""); status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, status, body)
		}
		_, body := b.ask(http.MethodGet, base+"/api/v1/session", "")
		var me struct{ Name, Role, CSRF string }
		if err := json.Unmarshal([]byte(body), &me, json.MatchCaseInsensitiveNames(true)); err != nil ||
			me.Role != want || me.Name != name+"@"+i.issuer.URL {
			t.Errorf("%s: %s, %v", name, body, err)
		}
		status, body := b.ask(http.MethodDelete, base+"/api/v1/agents/none", me.CSRF)
		if wanted := map[string]int{"admin": http.StatusNotFound, "viewer": http.StatusForbidden}[want]; status != wanted {
			t.Errorf("%s changes something: %d %s", name, status, body)
		}
		if status, body := b.ask(http.MethodPost, base+"/api/v1/logout", me.CSRF); status != http.StatusOK || !strings.Contains(body, "/session/end?") {
			t.Errorf("%s leaves: %d %s", name, status, body)
		}
		if status, body := b.ask(http.MethodGet, base+"/api/v1/session", ""); status != http.StatusUnauthorized {
			t.Errorf("%s after leaving: %d %s", name, status, body)
		}
	}
}

// visitor is a browser whose user has one name at the provider.
type visitor struct {
	t      *testing.T
	client *http.Client
}

func newVisitor(t *testing.T, name string) visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return visitor{t, &http.Client{Jar: jar, Transport: transport, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if q := r.URL.Query(); q.Get("code_challenge") != "" { // on the way out
			r.URL.RawQuery = r.URL.RawQuery + "&login_hint=" + url.QueryEscape(name)
		}
		if len(via) > 10 {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
}

func (v visitor) ask(method, at, csrf string) (int, string) {
	v.t.Helper()
	r, err := http.NewRequestWithContext(v.t.Context(), method, at, nil)
	if err != nil {
		v.t.Fatal(err)
	}
	if csrf != "" {
		r.Header.Set("X-CSRF-Token", csrf)
	}
	resp, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}
