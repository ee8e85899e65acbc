package interop_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestTutorialScopes: what docs/tutorials/per-skill-scopes.md configures is so with tokens of
// a provider that is not the gateway's own. The page's commands are run elsewhere.
func TestTutorialScopes(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make interop`")
	}
	needIssuer(t)
	page, err := os.ReadFile("../docs/tutorials/per-skill-scopes.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml config.yaml\n(.*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no config.yaml")
	}
	billing, err := demo.Agent10(demo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = billing.Close(context.Background()) })
	p := startProvider(t, "")
	dir := t.TempDir()
	text := string(block[1])
	for was, is := range map[string]string{
		`address: "127.0.0.1:8080"`: `address: "127.0.0.1:0"`, `"127.0.0.1:9902"`: `"127.0.0.1:0"`, `"127.0.0.1:9901"`: `"127.0.0.1:0"`,
		`"http://localhost:8080"`: `"http://127.0.0.1"`, "dataDir: data": "dataDir: " + strconv.Quote(dir),
		`"http://127.0.0.1:9000"`: `"` + p.URL + `"`, "audiences: [a2a-gateway]": `audiences: ["` + audience + `"]`,
		`"http://127.0.0.1:9001/.well-known/agent-card.json"`: `"` + billing.CardURL + `"`,
	} {
		if !strings.Contains(text, was) {
			t.Fatalf("the page's config.yaml has no %s", was)
		}
		text = strings.Replace(text, was, is, 1)
	}
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gateway{binary: buildGateway(t), dir: dir}
	g.serve(t, file)

	of := func(scope string) string {
		return p.token(t, grant{client: "interop", form: url.Values{"grant_type": {"client_credentials"}, "scope": {scope}, "resource": {audience}}}).Token
	}
	read, both := of("billing.read"), of("billing.read billing.refund")
	if answer, body := g.tell(t, read, "/skills/summarize", "summarize"); answer.StatusCode != http.StatusOK || !strings.Contains(body, "3 invoices") {
		t.Errorf("summarize with billing.read: %s %s", answer.Status, body)
	}
	answer, body := g.tell(t, read, "/skills/refund", "refund INV-7")
	if said := answer.Header.Get("WWW-Authenticate"); answer.StatusCode != http.StatusForbidden || !strings.Contains(body, "missing scope billing.refund") ||
		!strings.Contains(said, `error="insufficient_scope", scope="billing.refund"`) {
		t.Errorf("refund with billing.read: %s %s %s", answer.Status, said, body)
	}
	if answer, body := g.tell(t, read, "", "summarize"); answer.StatusCode != http.StatusForbidden {
		t.Errorf("no skill with billing.read: %s %s", answer.Status, body)
	}
	if answer, body := g.tell(t, both, "/skills/refund", "refund INV-7"); answer.StatusCode != http.StatusOK || !strings.Contains(body, "TASK_STATE_INPUT_REQUIRED") {
		t.Errorf("refund with both: %s %s", answer.Status, body)
	}
	for token, want := range map[string]string{read: "summarize", both: "summarize refund"} {
		if got := g.skills(t, token); got != want {
			t.Errorf("the card has %s, want %s", got, want)
		}
	}
}

// tell sends a message to a skill of the agent billing.
func (g *gateway) tell(t *testing.T, token, skill, text string) (*http.Response, string) {
	t.Helper()
	return g.over(t, http.MethodPost, token, g.base("billing")+skill+"/message:send", `{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"`+text+`"}]}}`)
}

// skills are those that the card has for somebody.
func (g *gateway) skills(t *testing.T, token string) string {
	t.Helper()
	_, body := g.over(t, http.MethodGet, token, g.base("billing")+"/.well-known/agent-card.json", "")
	var card struct {
		Skills []struct {
			ID string `json:"id"`
		} `json:"skills"`
	}
	if err := json.Unmarshal([]byte(body), &card); err != nil {
		t.Fatal(err, body)
	}
	var ids []string
	for _, s := range card.Skills {
		ids = append(ids, s.ID)
	}
	return strings.Join(ids, " ")
}

// over is the answer to a request.
func (g *gateway) over(t *testing.T, method, token, at, body string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + token}, "A2a-Version": {"1.0"}, "Content-Type": {"application/json"}}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}
