package gateway_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/console"
	"github.com/a2a-gateway/a2a-gateway/internal/console/apikeys"
	"github.com/a2a-gateway/a2a-gateway/internal/console/identities"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
)

const adminSection = "admin: {token: " + deskToken + "}\n"

// desk asks the admin API of a gateway.
type desk struct {
	*world

	url    string
	header http.Header
}

const deskToken = "token-of-the-desk"

// desk is that of a gateway whose configuration has adminSection.
func (w *world) desk(g *gateway.Gateway) *desk {
	return &desk{w, g.AdminURL() + "/api/v1", http.Header{"Authorization": {"Bearer " + deskToken}, "Content-Type": {"application/json"}}}
}

// ask is an answer, read into what it should be unless that is nil.
func (d *desk) ask(method, path, body string, into any) int {
	d.t.Helper()
	status, got, err := try(client(d.t), method, d.url+path, d.header, body)
	if err != nil {
		d.t.Fatal(err)
	}
	if into != nil {
		if err := json.Unmarshal([]byte(got), into); err != nil {
			d.t.Fatal(status, got, err)
		}
	}
	return status
}

// TestKeysByAPI: a key that is made over the admin API lets its holder in, one that is
// rotated goes on for as long as is said, and one that is revoked lets nobody in. No text of
// a key is on record.
func TestKeysByAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := greeter(t)
	yaml := strings.Replace(w.yaml(together, adminSection+fmt.Sprintf(`policy: {rules: [{name: robots, effect: allow, agents: [a], groups: [robots]}]}
agents: [{id: a, card: %q}]
`, agent.CardURL)), "file: keys.yaml", "file: keys.yaml, api: true", 1)
	yaml = strings.Replace(yaml, "authn:", "authn:\n  failures: {perMinute: -1}", 1)
	g := w.start(yaml)
	d := w.desk(g)
	knock := func(key string) int { return w.knock(g, nil, http.Header{"X-Api-Key": {key}}).StatusCode }

	var made, next apikeys.MadeKey
	if status := d.ask("POST", "/keys", `{"id":"robot","groups":["robots"],"owner":"ops","ttl":"1d"}`, &made); status != 200 || !strings.HasPrefix(made.Key, "a2a_robot_") {
		t.Fatal(status, made)
	}
	eventually(t, "the new key is good", func() bool { return knock(made.Key) == http.StatusOK })
	var page apikeys.APIKeyPage
	if d.ask("GET", "/keys?q=OPS", "", &page); len(page.Keys) != 1 || page.Keys[0].Used.IsZero() || page.Keys[0].Created.IsZero() ||
		page.Keys[0].Expires.IsZero() || page.Keys[0].State != apikeys.KeyActive || page.Keys[0].Bound {
		t.Errorf("listed as %+v", page)
	}
	var no console.Problem
	if status := d.ask("POST", "/keys", `{"id":"robot"}`, &no); status != 400 || !strings.Contains(no.Detail, "twice") {
		t.Error(status, no)
	}

	if status := d.ask("POST", "/keys/robot/rotate?overlap=1", "", &next); status != 200 || next.ID != "robot.2" || next.Replaces != "robot" {
		t.Fatal(status, next)
	}
	eventually(t, "both are good", func() bool { return knock(next.Key) == http.StatusOK && knock(made.Key) == http.StatusOK })
	if d.ask("GET", "/keys?q=robot", "", &page); len(page.Keys) != 2 || page.Keys[0].State != apikeys.KeyRotating || page.Keys[0].ReplacedBy != "robot.2" {
		t.Errorf("listed as %+v", page)
	}
	if status := d.ask("POST", "/keys/robot/rotate", "", &no); status != 400 || !strings.Contains(no.Detail, "replaced") {
		t.Error(status, no)
	}
	if status := d.ask("DELETE", "/keys/robot", "", nil); status != 200 {
		t.Error(status)
	}
	eventually(t, "the old one is refused", func() bool { return knock(made.Key) == http.StatusUnauthorized })
	if status := knock(next.Key); status != http.StatusOK {
		t.Errorf("the other: %d", status)
	}
	if status := d.ask("DELETE", "/keys/robot", "", &no); status != 404 || no.Code != "NO_SUCH_KEY" {
		t.Error(status, no)
	}
	for name, text := range map[string]string{"log": w.log.String(), "audit log": w.trail()} {
		if strings.Contains(text, made.Key) || strings.Contains(text, next.Key) {
			t.Errorf("the %s has the text of a key", name)
		}
	}
	if n := strings.Count(w.trail(), `"event":"key.`); n != 3+2*3 { // what was done, and what came to nothing
		t.Errorf("%d on record", n)
	}
}

// trail is the text of the audit log.
func (w *world) trail() string {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "audit", "*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	var all strings.Builder
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			w.t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// TestKeysStay: unless the configuration says so nobody makes or takes out a key over the
// admin API.
func TestKeysStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	alice := w.key("alice")
	agent := greeter(t)
	g := w.start(w.yaml(together, adminSection+openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)))
	d := w.desk(g)
	for _, path := range []string{"POST /keys", "POST /keys/alice/rotate", "DELETE /keys/alice"} {
		method, path, _ := strings.Cut(path, " ")
		var no console.Problem
		if status := d.ask(method, path, map[string]string{"/keys": "{}"}[path], &no); status != 403 || no.Code != "KEYS_OFF" {
			t.Error(method, path, status, no)
		}
	}
	if resp := w.knock(g, nil, alice); resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
	var is identities.Identities
	d.ask("GET", "/identities", "", &is)
	if is.APIKeys == nil || is.APIKeys.Keys != 1 || is.APIKeys.API || is.APIKeys.Shared || is.APIKeys.Header != "X-Api-Key" {
		t.Errorf("%+v", is.APIKeys)
	}
	eventually(t, "the keys of the issuer are known", func() bool {
		d.ask("GET", "/identities", "", &is)
		return len(is.Issuers) == 1 && len(is.Issuers[0].Keys) > 0 && is.Issuers[0].Failure == "" && !is.Issuers[0].Fresh.IsZero()
	})
	if i := is.Issuers[0]; i.Issuer != w.issuer.URL || i.Audiences[0] != "a2a-gateway" || i.Header != "Authorization" || i.Keys[0].Kind == "" || is.Anonymous {
		t.Errorf("%+v", is)
	}
}

// TestR22_RevokedByAPIAtAllReplicas: a key that is revoked over the admin API of one gateway
// is refused by each that has the same Redis, though none may write the file.
func TestR22_RevokedByAPIAtAllReplicas(t *testing.T) {
	t.Parallel()
	redis := startRedis(t)
	w := newWorld(t)
	alice, agent := w.key("alice"), greeter(t)
	all := w.replicas("failures: {perMinute: -1}", adminSection+openPolicy+fmt.Sprintf("agents: [{id: a, card: %q}]\n", agent.CardURL)+redis.yaml())
	d := w.desk(all[0])
	if status := d.ask("DELETE", "/keys/alice", "", nil); status != 200 {
		t.Fatal(status)
	}
	for _, g := range all {
		eventually(t, "refused", func() bool { return w.knock(g, nil, alice).StatusCode == http.StatusUnauthorized })
	}
	var page apikeys.APIKeyPage
	if d.ask("GET", "/keys", "", &page); len(page.Keys) != 1 || page.Keys[0].State != apikeys.KeyRevoked || page.Keys[0].Revoked.IsZero() {
		t.Errorf("listed as %+v", page)
	}
	if status := d.ask("DELETE", "/keys/bob", "", nil); status != 404 {
		t.Error(status)
	}
}
