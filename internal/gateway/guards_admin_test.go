package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

const canaryKey = "AKIAIOSFODNN7EXAMPLE"

// TestGuardsByAdminAPI has the guards of a running gateway look at texts that nobody sends, counts what they found in
// calls, and has others look at what was captured. What was typed is neither logged nor recorded.
func TestGuardsByAdminAPI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	schema := filepath.Join(w.dir, "booking.json")
	if err := os.WriteFile(schema, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	g := w.start(w.yaml(plain, fmt.Sprintf(`admin: {content: true}
policy:
  default: allow
  guards:
    - {name: keys, on: [request], use: secrets}
    - {name: accounts, on: [request], use: pii, kinds: [iban], action: redact, groups: [finance]}
    - {name: bookings, on: [request], use: schema, schema: %q, mode: shadow, skills: [book]}
telemetry: {audit: {content: {rules: [{capture: both, label: internal}]}}}
agents: [{id: a, card: %q, skills: [{id: help}]}]
`, schema, agent.CardURL)))
	admin, c := adminOf(t, w.dir), client(t)
	asking := admin.Clone()
	asking.Set("Content-Type", "application/json")
	ask := func(path, body string) string {
		t.Helper()
		method := http.MethodPost
		if body == "" {
			method = http.MethodGet
		}
		_, answer, err := try(c, method, g.AdminURL()+path, asking, body)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	for _, tt := range []struct{ body, says string }{
		{`{"agent":"a","text":"use ` + canaryKey + `"}`, `"refused":{"guard":"keys","error":"CONTENT_REFUSED","status":403,"message":"The content is not permitted: the message has key in part 0"}`},
		{`{"agent":"a","text":"to DE89370400440532013000","caller":{"subject":"alice","groups":["finance"],"issuer":"` + w.issuer.URL + `"}}`, `[redacted: iban]`},
		{`{"agent":"a","text":"to DE89370400440532013000"}`, `"guards":["keys"],"findings":[],"redacted":false`},
		{`{"agent":"a","phase":"answer","text":"use ` + canaryKey + `"}`, `"guards":[]`},
		{`{"agent":"a","phase":"event","message":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"x","parts":[{"text":"hello"}]}}}}`, `"document":{"artifactUpdate"`},
		{`{"agent":"a","text":"x","message":{}}`, `"detail":"message: text and message exclude each other"`},
		{`{"agent":"b","text":"x"}`, `there is no agent \"b\"`},
		{`{"agent":"a","text":"x","phase":"reply"}`, `phase: \"reply\" is none of`},
	} {
		if got := ask("/api/v1/guards/try", tt.body); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %s lacks %s", tt.body, got, tt.says)
		}
	}
	header := sendHeader(w.token("alice", "finance"))
	eventually(t, "the agent has a card", func() bool {
		status, _ := fetch(t, g.StatusURL()+"/readyz", nil)
		return status == http.StatusOK
	})
	for i, text := range []string{"use " + canaryKey, "call +49 30 123456", "to DE89370400440532013000"} {
		body := strings.ReplaceAll(sendBody("SendMessage", fmt.Sprint(i)), "hello", text)
		if _, answer, err := try(c, http.MethodPost, g.URL()+"/agents/a", header, body); err != nil || strings.Contains(answer, "CONTENT_REFUSED") != (i == 0) {
			t.Fatal(answer, err)
		}
	}
	replay := `{"guards":"- {name: phones, on: [request], use: pii, kinds: [phone]}\n- {name: data, use: schema, schema: '` + schema + `'}"}`
	eventually(t, "all calls are recorded", func() bool {
		return strings.Contains(ask("/api/v1/guards/replay", replay), `"calls":3,`)
	})
	got := ask("/api/v1/guards/replay", replay)
	for _, says := range []string{
		`"notCaptured":1,`, `"untold":1,`, `"outcomes":[{"was":"passed","now":"refused","calls":1}]`, `"findings":["phones: phone"]`,
		`"why":[{"why":"what was redacted then is not in what was captured","calls":1}]`,
	} {
		if !strings.Contains(got, says) {
			t.Errorf("%s lacks %s", got, says)
		}
	}
	got = ask("/api/v1/guards/findings?window=15m", "")
	if !strings.Contains(got, `"calls":2,`) || !strings.Contains(got, `"callers":[{"name":"alice","calls":2,"findings":2,"refused":1,"redacted":1,"recorded":0}]`) {
		t.Error(got)
	}
	if got := ask("/api/v1/audit/records?guard=accounts&finding=iban", ""); strings.Count(got, `"type":"call"`) != 1 {
		t.Error(got)
	}
	if got := ask("/api/v1/audit/values?field=guard&contains=KEY", ""); !strings.Contains(got, `{"value":"keys","records":1}`) {
		t.Error(got)
	}
	for draft, says := range map[string]string{
		`- {name: phones, use: pii, kinds: [phones]}`:                                                       `kinds: pii has no kind \"phones\", did you mean \"phone\"?","line":1`,
		`- {name: data, use: schema, schema: /etc/passwd}`:                                                  `files cannot be named here`,
		`- {name: names, use: presidio, service: {url: \"https://p.example\", token: \"${HOME}\"}}`:         `the environment is not read here`,
		`- {name: names, use: presidio, service: {url: \"https://p.example\", token: {file: /etc/passwd}}}`: `"calls":3,`,
		`- {name: names, use: presidio, service: {url: \"https://p.example\", tls: {ca: /etc/passwd}}}`:     `files cannot be named here`,
		`rules: []`: `"INVALID_DRAFT"`,
	} {
		if got := ask("/api/v1/guards/replay", `{"guards":"`+draft+`"}`); !strings.Contains(got, says) {
			t.Errorf("%s: %s lacks %s", draft, got, says)
		}
	}
	records := ask("/api/v1/audit/records?limit=1000", "")
	if strings.Contains(records, canaryKey) || strings.Contains(records, "DE893704") || !strings.Contains(records, "content.replayed") {
		t.Error(records)
	}
}
