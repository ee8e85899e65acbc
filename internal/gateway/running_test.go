package gateway_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReloadByAPI: an operator has the file read anew, hears what is wrong with it, and
// the status says which configuration is in force and what became of the latest reload.
func TestReloadByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.start(w.yaml(plain, openPolicy))
	token, err := os.ReadFile(filepath.Join(w.dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	credential := http.Header{"Authorization": {"Bearer " + strings.TrimSpace(string(token))}}
	ask := func(verb, path, want string) string {
		t.Helper()
		_, body, err := try(client(t), verb, g.AdminURL()+path, credential, "")
		if err != nil || !strings.Contains(body, want) {
			t.Errorf("%s %s: %s, %v; want %s", verb, path, body, err, want)
		}
		return body
	}
	ask("POST", "/api/v1/config/reload", `"code":"NO_CONFIG_FILE"`)
	follow(t, g, w.path, nil)
	ask("GET", "/api/v1/status", `"ready":true`)
	for !strings.Contains(ask("POST", "/api/v1/config/reload", ``), `"reloaded":`) {
		t.Log("nobody follows the file yet")
	}
	ask("GET", "/api/v1/status", `"reloaded":"`)
	w.write(w.yaml(plain, openPolicy+"nonsense: true\n"))
	ask("POST", "/api/v1/config/reload", `"code":"INVALID_CONFIG"`)
	ask("GET", "/api/v1/status", `nonsense`)
	ask("GET", "/api/v1/config", `"publicURL":"http://127.0.0.1`)
	w.write(w.yaml(plain, openPolicy+"catalog: {}\n"))
	if body := ask("POST", "/api/v1/config/reload", `"digest":"sha256:`); strings.Contains(body, "failure") {
		t.Error(body)
	}
}
