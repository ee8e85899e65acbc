package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// secretive is a registered agent with all kinds of secrets.
const secretive = `{"id":"billing","card":"https://u:canary@x.example/card?key=canary","endpoints":["https://x.example/"],
	"credentials":[{"header":"X-Key","value":"canary-1"},{"header":"Y","oauth2":{"tokenURL":"https://t.example/t","clientID":"007","clientSecret":"canary-2"}}],
	"skills":[{"id":"refund"}]}`

const secretiveText = `id: billing
card: 'https://x.example/card?… <kept: card>'
endpoints:
  - https://x.example/
credentials:
  - header: X-Key
    value: '<kept: credentials[0].value>'
  - header: Y
    oauth2:
      tokenURL: https://t.example/t
      clientID: "007"
      clientSecret: '<kept: credentials[1].oauth2.clientSecret>'
skills:
  - id: refund
`

func TestRegisteredText(t *testing.T) {
	t.Parallel()
	got, err := RegisteredText([]byte(secretive))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(secretiveText, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestKeepSecrets: a draft that changes nothing about where calls go keeps the secrets that its markers name.
func TestKeepSecrets(t *testing.T) {
	t.Parallel()
	doc, err := AgentJSON([]byte(strings.Replace(secretiveText, "- id: refund", "- id: refund\n  - id: 0x10\n    hidden: true", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(doc), "canary") {
		t.Fatalf("a secret from nowhere: %s", doc)
	}
	whole, err := KeepSecrets(doc, []byte(secretive))
	if err != nil {
		t.Fatal(err)
	}
	a, err := ReadAgent(whole)
	if err != nil {
		t.Fatal(err)
	}
	if a.Card.URL.Reveal() != "https://u:canary@x.example/card?key=canary" || a.Credentials[0].Value.Reveal() != "canary-1" ||
		a.Credentials[1].OAuth2.ClientSecret.Reveal() != "canary-2" || a.Credentials[1].OAuth2.ClientID != "007" || a.Skills[1].ID != "0x10" {
		t.Errorf("%s", whole)
	}
	plain := []byte(`{ "id": "a",  "card": "https://x.example/card" }`)
	if same, err := KeepSecrets(plain, nil); err != nil || string(same) != string(plain) {
		t.Errorf("without markers: %s %v", same, err)
	}
}

// TestKeepSecretsRefuses: a marker keeps no secret where calls go elsewhere, and none in another place.
func TestKeepSecretsRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, put, want string }{
		"another endpoint":        {"- https://x.example/", "- https://evil.example/", "credentials[0].value: endpoints[0] has changed, which decides where calls go"},
		"an endpoint more":        {"- https://x.example/", "- https://x.example/\n  - https://evil.example/", "endpoints[1] has changed"},
		"another card":            {"'https://x.example/card?… <kept: card>'", "https://evil.example/card", "card.url has changed"},
		"the card's host":         {"https://x.example/card?…", "https://evil.example/card?…", "card: no secret is kept in this place"},
		"a proxy":                 {"skills:", "egress: {proxy: http://evil.example:3128}\nskills:", "egress.proxy has changed"},
		"instances":               {"skills:", "load: {instances: [{static: ['evil.example:443']}]}\nskills:", "load.instances[0].static[0] has changed"},
		"TLS":                     {"skills:", "tls: {serverName: evil.example}\nskills:", "tls.serverName has changed"},
		"an interface":            {"skills:", "interfaces: [{url: 'https://evil.example/', binding: JSONRPC}]\nskills:", "has changed, which decides where calls go"},
		"a key of later versions": {"skills:", "mirror: https://evil.example/\nskills:", "mirror has changed"},
		"a token URL":             {"https://t.example/t", "https://evil.example/t", "credentials[1].oauth2.clientSecret: something else of credentials[1] has changed"},
		"another header":          {"header: X-Key", "header: X-Request", "something else of credentials[0] has changed"},
		"another place":           {"clientID: \"007\"", "clientID: '<kept: credentials[0].value>'", "credentials[1].oauth2.clientID: no secret is kept in this place"},
		"a place of the agent":    {"- id: refund", "- id: '<kept: credentials[0].value>'", "skills[0].id: no secret is kept"},
		"a text around":           {"'<kept: credentials[0].value>'", "'Bearer <kept: credentials[0].value>'", "no secret is kept in this place under this marker"},
		"an alias":                {"value: '<kept: credentials[0].value>'", "value: &k '<kept: credentials[0].value>'\n    audience: *k", "credentials[0].audience: no secret is kept"},
		"the order":               {"  - header: X-Key\n    value: '<kept: credentials[0].value>'\n", "", "credentials[0].oauth2.clientSecret: no secret is kept in this place"},
	} {
		text := strings.Replace(secretiveText, tt.old, tt.put, 1)
		if text == secretiveText {
			t.Fatalf("%s changes nothing", name)
		}
		doc, err := AgentJSON([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		_, err = KeepSecrets(doc, []byte(secretive))
		var said Problems
		if !errors.As(err, &said) || !strings.Contains(strings.Join(said, "\n"), tt.want) || strings.Contains(fmt.Sprint(said), "canary") {
			t.Errorf("%s: %q, want %s", name, said, tt.want)
		}
	}
	doc, _ := AgentJSON([]byte(secretiveText))
	if _, err := KeepSecrets(doc, nil); err == nil {
		t.Error("secrets of nothing")
	}
}

// TestDraftAgent: what is wrong has its place, also where it is about other agents or rules.
func TestDraftAgent(t *testing.T) {
	t.Parallel()
	c, book := draftable(t)
	_, rules, err := c.Draft([]byte("- {name: r, effect: allow, agents: [a], skills: [refund]}"), book)
	if err != nil {
		t.Fatal(err)
	}
	registered := `{"id":"a","card":"http://127.0.0.1:1/card","credentials":[{"header":"X","value":"canary"}]}`
	for name, tt := range map[string]struct {
		text, registered string
		want             []string
	}{
		"good":           {"id: a\ncard: http://127.0.0.1:1/card\nskills: [{id: refund}]", registered, nil},
		"a marker":       {"id: a\ncard: http://127.0.0.1:1/card\ncredentials: [{header: X, value: '<kept: credentials[0].value>'}]", registered, nil},
		"a moved marker": {"id: a\ncard: http://127.0.0.1:2/card\ncredentials: [{header: X, value: '<kept: credentials[0].value>'}]", registered, []string{"3:34: credentials[0].value: card.url has changed"}},
		"a typo":         {"id: a\ncard: http://127.0.0.1:1/card\nskils: []", registered, []string{"3:1: unknown key"}},
		"two mistakes":   {"id: a\ncard: http://127.0.0.1:1/card\nconnections: many\nmodes: never", registered, []string{"3:14: connections: want a whole number"}},
		"a value":        {"id: a\ncard: http://127.0.0.1:1/card\nmodes: never", registered, []string{"3:8: modes: \"never\" is none of"}},
		"a file":         {"id: a\ncard: http://127.0.0.1:1/card\ntls: {ca: /etc/passwd}", registered, []string{"files cannot be named here"}},
		"a secret file":  {"id: a\ncard: http://127.0.0.1:1/card\ncredentials: [{header: X, value: {file: /etc/passwd}}]", registered, []string{"3:34: credentials[0].value: want the secret itself"}},
		"another id":     {"id: b\ncard: http://127.0.0.1:1/card", registered, []string{"1:5: id: the agent is \"a\""}},
		"skills":         {"id: a\ncard: http://127.0.0.1:1/card\nskills: [{id: pay}]", registered, []string{"3:9: policy.rules"}},
		"no YAML":        {"id: [", registered, []string{"1:"}},
		"an alias":       {"id: a\ncard: http://127.0.0.1:1/card\ncredentials: [{header: X, value: &v '<kept: credentials[0].value>'}]\nheaders: {request: [*v]}", registered, []string{"headers.request[0]: no secret is kept"}},
		"of a file":      {"id: a\ncard: ${CARD_OF_TEST}\nconnections: ${N}\ncredentials: [{header: X, value: {file: /none}}]\nskills: [{id: refund, input: /none}]", "", nil},
		"of a file, bad": {"id: a\ncard: ${CARD_OF_TEST}\nmodes: never", "", []string{"3:8: modes"}},
	} {
		var kept []byte
		if tt.registered != "" {
			kept = []byte(tt.registered)
		}
		_, unread, err := c.DraftAgent(AgentDraft{ID: "a", Text: []byte(tt.text), Registered: kept}, rules, book)
		var bad *DraftError
		var said []string
		if errors.As(err, &bad) {
			bad.Mistakes(func(line, column int, text string) { said = append(said, fmt.Sprintf("%d:%d: %s", line, column, text)) })
		}
		if len(said) != len(tt.want) || strings.Contains(fmt.Sprint(said), "canary") {
			t.Errorf("%s: %q", name, said)
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(said[i], want) {
				t.Errorf("%s: %q, want %s", name, said[i], want)
			}
		}
		if of := strings.Count(tt.text, "${"); tt.registered == "" && len(unread) != of {
			t.Errorf("%s: unread %q", name, unread)
		}
	}
}

// TestWrittenText: an agent of a file is shown as it is written, but for secrets.
func TestWrittenText(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	const text = `
server: {address: "127.0.0.1:0", publicURL: "http://127.0.0.1"}
authn: {anonymous: true}
policy: {rules: [{name: all, effect: allow}]}
agents:
  - &first {id: other, card: "http://127.0.0.1:1/other"}
  # canary-comment
  - id: a
    card: "http://user:${CARD_PASSWORD:-canary-default}@127.0.0.1:1/card"
    connections: ${CONNECTIONS_OF_TEST:-7} # canary
    endpoints: ["https://${HOST_OF_TEST:-x.example}/"]
    credentials:
      - {header: X-File, value: {file: key}}
      - {header: X-Default, value: "${KEY_OF_TEST:-canary-key}"}
      - {header: X-Inline, value: canary-inline}
`
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(filepath.Join(dir, "key"), []byte("canary-file"), 0o600)); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := WrittenText(c.AgentPlaces["a"], "a")
	if err != nil {
		t.Fatal(err)
	}
	want := `id: a
card: '[redacted] <kept: card>'
connections: ${CONNECTIONS_OF_TEST:-7}
endpoints:
  - https://${HOST_OF_TEST:-x.example}/
credentials:
  - header: X-File
    value:
      file: key
  - header: X-Default
    value: '<kept: credentials[1].value>'
  - header: X-Inline
    value: '<kept: credentials[2].value>'
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(text, "credentials:", "credential:", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := WrittenText(c.AgentPlaces["a"], "a"); err == nil {
		t.Errorf("below an unknown key: %s", got)
	}
}
