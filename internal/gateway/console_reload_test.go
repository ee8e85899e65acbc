package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestReloadOfTokenLimit: the admin listener permits tokens, and heads that hold them, as the
// configuration in force says, like the public one.
func TestReloadOfTokenLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const admin = "admin: {oidc: {issuer: %q, audiences: [a2a-gateway], roles: {admin: [admins]}}, failures: {perMinute: 1000}}\n" + openPolicy
	yaml := func(limit string) string {
		return w.yaml(plain+"\nlimits: {header: 512KiB, delay: 1h}", limit+fmt.Sprintf(admin, w.issuer.URL))
	}
	long := func(size int) http.Header {
		token, err := w.issuer.Issue("carol", demo.IssueOptions{Groups: []string{"admins"}, Claims: map[string]any{"large": strings.Repeat("x", size*3/4)}})
		if err != nil {
			t.Fatal(err)
		}
		return http.Header{"Authorization": {"Bearer " + token}}
	}
	tokens := []http.Header{long(20 << 10), long(40 << 10), long(200 << 10)}
	g := w.start(yaml(""))
	for _, tt := range []struct {
		limit string
		want  [3]int
	}{
		{"", [3]int{200, 401, 431}},
		{"  limits: {token: 300KiB}\n", [3]int{200, 200, 200}},
		{"  limits: {token: 50KiB}\n", [3]int{200, 200, 431}},
		{"  limits: {token: 8KiB}\n", [3]int{401, 431, 431}},
		{"", [3]int{200, 401, 431}},
	} {
		if err := w.reload(g, yaml(tt.limit)); err != nil {
			t.Fatal(err)
		}
		for i, token := range tokens {
			if status, body := fetch(t, g.AdminURL()+"/api/v1/session", token); status != tt.want[i] {
				t.Errorf("%q, token %d: %d %.200s, want %d", tt.limit, i, status, body, tt.want[i])
			}
		}
	}
}
