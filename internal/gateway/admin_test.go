package gateway_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// adminAPI is the document of a gateway's admin API, and what answers are held to by it.
type adminAPI struct {
	compiler *jsonschema.Compiler
	paths    map[string]map[string]struct {
		Role      string         `json:"x-role"`
		Responses map[string]any `json:"responses"`
	}
}

func readAdminAPI(t *testing.T, text string) (a adminAPI) {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	a.compiler = jsonschema.NewCompiler()
	if err := a.compiler.AddResource("file:///api.json", doc); err != nil {
		t.Fatal(err)
	}
	var served struct {
		Paths any `json:"paths"`
	}
	served.Paths = &a.paths
	if err := json.Unmarshal([]byte(text), &served); err != nil {
		t.Fatal(err)
	}
	return a
}

// check holds an answer to what its operation says.
func (a adminAPI) check(path, method string, status int, body string) error {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	media := "application/json"
	if status >= http.StatusBadRequest {
		media = "application/problem+json"
	}
	schema, err := a.compiler.Compile(fmt.Sprintf("file:///api.json#/paths/%s/%s/responses/%d/content/%s/schema",
		escape.Replace(path), method, status, escape.Replace(media)))
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// canaries is a configuration whose every secret is one.
const canaries = `admin:
  token: canary-admin-token
  tokens: [{name: v, role: viewer, digest: "sha256:` + "%[1]s" + `"}]
  oidc:
    issuer: %[2]q
    roles: {admin: [admins]}
    login: {clientID: console, clientSecret: canary-client-secret}
fleet: {api: true}
policy: {default: allow}
agents:
  - id: a
    card: "http://canary-user:canary-password@127.0.0.1:1/card.json?sig=canary-card"
    credentials: [{header: X-Key, value: canary-agent-key}]
  - id: c
    card: {url: "http://127.0.0.1:1/card.json?canary-alone", trust: {signature: {required: true, jwks: "http://127.0.0.1:1/k?key=canary-signers"}}}
    credentials: [{oauth2: {tokenURL: "http://127.0.0.1:1/t?key=canary-tokens", clientID: x, clientSecret: canary-client}}]
push: {mode: relay}
`

// TestL43_EveryAnswerIsDescribed asks a gateway for each operation that its document has:
// with a credential, with one of too small a role, with none, and wrongly. Every answer is
// one that the document says, and none holds a secret of the configuration.
func TestL43_EveryAnswerIsDescribed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	yaml := w.yaml(plain, fmt.Sprintf(canaries, strings.Repeat("c", 64), w.issuer.URL))
	yaml = strings.Replace(yaml, "oidc: [{", `oidc: [{jwks: "http://127.0.0.1:1/jwks?key=canary-jwks", `, 1)
	w.bury(yaml, "msg_1")
	g := w.start(yaml)
	admin := http.Header{"Authorization": {"Bearer canary-admin-token"}}
	status, text := fetch(t, g.AdminURL()+"/api/v1/openapi.json", admin)
	if status != http.StatusOK {
		t.Fatal(status, text)
	}
	api, asked := readAdminAPI(t, text), 0
	hc := client(t)
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for path, methods := range api.paths {
		for method := range methods {
			if strings.HasPrefix(path, "/debug/") {
				continue // not JSON, and what it shows is the program
			}
			for name, tt := range map[string]struct {
				header http.Header
				query  string
			}{
				"as it should be":     {admin, queryOf(path)},
				"without parameters":  {admin, ""},
				"with one too many":   {admin, "?canary=1"},
				"of nobody":           {nil, queryOf(path)},
				"of somebody else":    {http.Header{"Authorization": {"Bearer canary-wrong"}}, queryOf(path)},
				"from another origin": {http.Header{"Authorization": admin["Authorization"], "Sec-Fetch-Site": {"cross-site"}}, queryOf(path)},
			} {
				if path == "/api/v1/live" && slices.Equal(tt.header["Authorization"], admin["Authorization"]) && tt.query != "?canary=1" {
					continue // it goes on for as long as somebody looks
				}
				asked++
				header, body := tt.header.Clone(), ""
				if method == "put" || method == "post" && strings.HasSuffix(path, "/agents") {
					body = `{"id":"b","card":"http://127.0.0.1:1/c","credentials":[{"header":"X-Key","value":"canary-registered"}]}`
				}
				if strings.HasSuffix(path, "/explain") {
					body = `{"agent":"a","caller":{"subject":"alice","claims":{"level":7}}}`
				}
				if strings.HasSuffix(path, "/keys") && method == "post" {
					body = `{"id":"robot"}`
				}
				if strings.HasSuffix(path, "/view") {
					body = `{"caller":{"subject":"alice"}}`
				}
				if body != "" && header != nil {
					header.Set("Content-Type", "application/json")
				}
				target := g.AdminURL() + strings.Replace(path, "{id}", idOf(path), 1) + tt.query
				status, got, err := try(hc, strings.ToUpper(method), target, header, body)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(got, "canary") && path != "/api/v1/openapi.json" {
					t.Errorf("%s %s %s shows a secret: %s", method, path, name, got)
				}
				if status == http.StatusSeeOther || status == http.StatusOK && strings.HasSuffix(path, "/export") { // lines, not one value
					continue
				}
				if err := api.check(path, method, status, got); err != nil {
					t.Errorf("%s %s %s: %d %s: %v", method, path, name, status, got, err)
				}
			}
		}
	}
	if asked < 100 {
		t.Errorf("only %d were asked", asked)
	}
	if log := w.log.String(); strings.Contains(log, "canary-") {
		t.Errorf("the log shows a secret")
	}
}

func idOf(path string) string {
	switch {
	case strings.Contains(path, "/agents/"):
		return "b"
	case strings.Contains(path, "/records/"):
		return "1"
	case strings.Contains(path, "/push/"):
		return "msg_1"
	}
	return "a"
}

func queryOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/deliveries"):
		return "?state=dead"
	case strings.Contains(path, "/content"):
		return "?subject=alice"
	case strings.HasSuffix(path, "/records"):
		return "?type=event"
	case strings.HasSuffix(path, "/approve"), strings.HasSuffix(path, "/reject"):
		return "?digest=sha256:1"
	}
	return ""
}
