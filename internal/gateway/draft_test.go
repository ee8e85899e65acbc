package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// draft is one as the admin API shows it.
type draft struct {
	Text    string `json:"text"`
	Edition string `json:"edition"`
}

// TestAgentDrafts: an agent is changed as a draft, with its secret and without showing it; of two
// operators the second is refused, and a secret does not go elsewhere.
func TestAgentDrafts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := greeter(t), greeter(t)
	g := w.start(w.yaml(plain, registers))
	w.want(g, "POST", "", fmt.Sprintf(`{"id":"b","card":%q,"credentials":[{"header":"X-Key","value":"canary-registered"}]}`, agent.CardURL), 200, `"by":"admin-token"`)
	read := func() (d draft) {
		status, text := w.admin(g, "GET", "/b/draft", "")
		if err := json.Unmarshal([]byte(text), &d); err != nil || status != http.StatusOK || strings.Contains(text, "canary") {
			t.Fatal(status, text, err)
		}
		return d
	}
	d := read()
	if !strings.Contains(d.Text, "<kept: credentials[0].value>") {
		t.Errorf("no marker: %s", d.Text)
	}
	check := func(text, want string) {
		body, err := json.Marshal(map[string]string{"agent": text})
		if err != nil {
			t.Fatal(err)
		}
		w.want(g, "POST", "/b/check", string(body), 200, want)
	}
	put := func(text, edition string) (int, string) {
		header := http.Header{"Authorization": {"Bearer " + adminToken}, "Content-Type": {"application/yaml"}, "If-Match": {`"` + edition + `"`}}
		status, answer, err := try(client(t), "PUT", g.AdminURL()+"/api/v1/agents/b", header, text)
		if err != nil || strings.Contains(answer, "canary") {
			t.Fatal(answer, err)
		}
		return status, answer
	}
	next := d.Text + "skills:\n  - id: greet\n"
	elsewhere := strings.Replace(d.Text, agent.CardURL, other.CardURL, 1)
	check(next, `{"mistakes":[],"warnings":[]}`)
	check(next+"modes: never\n", `modes: \"never\" is none of`)
	check(elsewhere, "write the secret anew")
	if status, text := put(elsewhere, d.Edition); status != http.StatusBadRequest || !strings.Contains(text, "write the secret anew") {
		t.Errorf("the secret goes elsewhere: %d %s", status, text)
	}
	if status, text := put(next, d.Edition); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	if status, text := put(next, d.Edition); status != http.StatusPreconditionFailed || !strings.Contains(text, "AGENT_CHANGED") {
		t.Errorf("of two the second: %d %s", status, text)
	}
	if d := read(); d.Text != next {
		t.Errorf("not what was put: %s", d.Text)
	}
	// What calls somebody else is taken with a secret of its own.
	if status, text := put(strings.Replace(elsewhere, "'<kept: credentials[0].value>'", "canary-new", 1), read().Edition); status != http.StatusOK {
		t.Errorf("%d %s", status, text)
	}
	w.want(g, "DELETE", "/b", "", 200, "removed")
	w.want(g, "GET", "/b/draft", "", 404, "NO_SUCH_AGENT")
}
