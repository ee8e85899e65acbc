package policycmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/config"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// agreeing is a configuration with the conditions that calls can meet or not, each in a
// rule for a skill of its own.
const agreeing = `
server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q}
admin: {address: "127.0.0.1:0", token: agreeing-admin-token}
authn: {oidc: [{issuer: %q, audiences: [a2a-gateway]}]}
state: {driver: memory}
policy:
  rules:
    - {name: bindings, effect: allow, agents: [a], skills: [http], bindings: [HTTP+JSON]}
    - {name: here, effect: allow, agents: [a], skills: [here], sources: [127.0.0.0/8, "::1"]}
    - {name: elsewhere, effect: allow, agents: [a], skills: [elsewhere], sources: [192.0.2.0/24]}
    - {name: for-ever, effect: allow, agents: [a], skills: [soon, over], times: [{after: "2020-01-01"}]}
    - {name: over, effect: deny, agents: [a], skills: [over], times: [{after: "2021-01-01"}]}
    - {name: text, effect: allow, agents: [a], skills: [text], content: {parts: [text], maxParts: 2}}
    - {name: files, effect: allow, agents: [a], skills: [files], content: {hosts: [files.example.com], mediaTypes: [text/plain, image/*]}}
    - {name: no-data, effect: deny, agents: [a], skills: [files], content: {parts: [data]}}
    - {name: amount, effect: allow, agents: [a], skills: [amount], expr: message.metadata.amount <= 100 && principal.claims.level > 3}
    - {name: no-large, effect: deny, agents: [a], skills: [amount], expr: message.metadata.amount == 13}
    - {name: level, effect: allow, agents: [a], skills: [level], claims: {level: ["7"]}, authentication: {acr: [gold]}}
    - {name: matched, effect: allow, agents: [a], skills: [matched], groups: [finance]}
agents:
  - id: a
    card: %q
    skills: [{id: http}, {id: here}, {id: elsewhere}, {id: soon}, {id: over}, {id: text}, {id: files}, {id: amount}, {id: level}, {id: matched}]
    match: [{skill: matched, when: 'message.parts.exists(p, p.text.contains("match"))'}]
`

// agreements are calls as cases have them.
const agreements = `
defaults: {agent: a, caller: {subject: alice, groups: [finance], acr: gold, claims: {level: 7}}, source: 127.0.0.1}
cases:
  - {name: binding, skill: http, binding: HTTP+JSON, message: {parts: [{text: a}]}, want: allow}
  - {name: other binding, skill: http, message: {parts: [{text: a}]}, want: deny}
  - {name: here, skill: here, message: {parts: [{text: a}]}, want: allow}
  - {name: elsewhere, skill: elsewhere, message: {parts: [{text: a}]}, want: deny}
  - {name: soon, skill: soon, message: {parts: [{text: a}]}, want: allow}
  - {name: over, skill: over, message: {parts: [{text: a}]}, want: deny}
  - {name: text, skill: text, message: {parts: [{text: a}, {text: b}]}, want: allow}
  - {name: three texts, skill: text, message: {parts: [{text: a}, {text: b}, {text: c}]}, want: deny}
  - {name: data for text, skill: text, message: {parts: [{data: {a: 1}}]}, want: deny}
  - {name: file, skill: files, message: {parts: [{url: "https://files.example.com/a", mediaType: image/png}]}, want: allow}
  - {name: file of another type, skill: files, message: {parts: [{url: "https://files.example.com/a", mediaType: video/mp4}]}, want: deny}
  - {name: file of another host, skill: files, message: {parts: [{url: "https://example.com/a", mediaType: image/png}]}, want: deny}
  - {name: data beside, skill: files, message: {parts: [{text: a}, {data: 1}]}, want: deny}
  - {name: amount, skill: amount, message: {parts: [{text: a}], metadata: {amount: 100}}, want: allow}
  - {name: unlucky, skill: amount, message: {parts: [{text: a}], metadata: {amount: 13}}, want: deny}
  - {name: much, skill: amount, message: {parts: [{text: a}], metadata: {amount: 101}}, want: deny}
  - {name: no amount, skill: amount, message: {parts: [{text: a}]}, want: deny}
  - {name: amount of a low level, skill: amount, caller: {subject: bob, claims: {level: 3}}, message: {parts: [{text: a}], metadata: {amount: 1}}, want: deny}
  - {name: level, skill: level, message: {parts: [{text: a}]}, want: allow}
  - {name: level without sign-in, skill: level, caller: {subject: bob, claims: {level: 7}}, message: {parts: [{text: a}]}, want: deny}
  - {name: matched, message: {parts: [{text: a match}]}, want: allow}
  - {name: not matched, message: {parts: [{text: nothing}]}, want: deny}
  - {name: matched for another, caller: {subject: bob}, message: {parts: [{text: a match}]}, want: deny}
  - {name: named by metadata, message: {message: {parts: [{text: a match}]}, metadata: {"https://a2a-gateway.dev/extensions/skill-selection/v1": text}}, want: allow}
  - {name: two skills, skill: here, message: {message: {parts: [{text: a}]}, metadata: {"https://a2a-gateway.dev/extensions/skill-selection/v1": text}}, want: deny}
  - {name: no such skill, skill: none, message: {parts: [{text: a}]}, want: deny}
  - {name: two things, skill: text, message: {parts: [{text: a, url: "https://files.example.com/a"}]}, want: refused}
`

// TestPolicyTestAgrees: what policy test says becomes of a call is what becomes of it in a
// gateway, down to what the caller is told, and what the gateway's admin API says of it.
func TestPolicyTestAgrees(t *testing.T) {
	testenv.Long(t, "policies are tested in two ways")
	t.Parallel()
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	agent, err := demo.Agent10(demo.Options{Step: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	dir := t.TempDir()
	file, cases := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "cases.yaml")
	write(t, file, fmt.Sprintf(agreeing, dir, issuer.URL, agent.CardURL))
	write(t, cases, agreements)
	c, err := compile(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	trials, err := c.readCases([]string{cases}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	known, err := card.Fetch(t.Context(), nil, secret.URL(agent.CardURL), 0) // as the gateway will
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range trials {
		q.Card = known
	}
	url, admin := serving(t, file)
	questions := questionsOf(t)
	for i, res := range c.tryAll(t.Context(), trials).Results {
		if !res.OK {
			t.Errorf("%s: %s\n%s", res.Name, res.summary(), res.details("  "))
		}
		if got := told(t, url, issuer, trials[i], res.Explanation); got != res.Explanation.Error {
			t.Errorf("%s: the gateway says %q, policy test %q (%s)", res.Name, got, res.Explanation.Error, res.Explanation.Reason)
		}
		if diff := cmp.Diff(written(t, res.Explanation), asked(t, admin, questions[i])); diff != "" {
			t.Errorf("%s: policy test and the admin API (-/+):\n%s", res.Name, diff)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// questionsOf has the cases as the admin API is asked.
func questionsOf(t *testing.T) (list []map[string]any) {
	t.Helper()
	var doc struct {
		Defaults map[string]any
		Cases    []map[string]any
	}
	if err := yaml.Unmarshal([]byte(agreements), &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range doc.Cases {
		q := maps.Clone(doc.Defaults)
		maps.Copy(q, c)
		delete(q, "name")
		delete(q, "want")
		list = append(list, q)
	}
	return list
}

// written is an explanation as programs read it.
func written(t *testing.T, e *verdict.Explanation) (read verdict.Explanation) {
	t.Helper()
	text, err := json.Marshal(e)
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// asked is what the admin API says becomes of a call.
func asked(t *testing.T, admin string, question map[string]any) (e verdict.Explanation) {
	t.Helper()
	body, err := json.Marshal(question)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, admin+"/api/v1/policy/explain", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer agreeing-admin-token"}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.UnmarshalRead(resp.Body, &e); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp.StatusCode, e, err)
	}
	return e
}

// serving starts a gateway and returns where it and its admin API are.
func serving(t *testing.T, file string) (url, admin string) {
	t.Helper()
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Telemetry.Logs.Output = io.Discard
	g, err := gateway.New(t.Context(), cfg, gateway.Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	g.Start()
	t.Cleanup(func() { _ = g.Shutdown(context.Background()) })
	return g.URL(), g.AdminURL()
}

// told makes the call of a case and returns what the caller is told, "" for an answer of
// the agent's.
func told(t *testing.T, base string, issuer *demo.Issuer, q *trial, e *verdict.Explanation) string {
	t.Helper()
	p := q.Caller
	claims := map[string]any{"acr": p.ACR}
	for name, value := range p.Claims {
		claims[name] = value
	}
	token, err := issuer.Issue(p.Subject, demo.IssueOptions{Groups: p.Groups, Scopes: p.Scopes, Claims: claims})
	if err != nil {
		t.Fatal(err)
	}
	url, params := base+"/agents/a", string(q.Message)
	if q.Skill != "" {
		url += "/skills/" + q.Skill
	}
	if !strings.HasPrefix(params, `{"message":`) {
		params = `{"message":` + strings.Replace(params, "{", `{"messageId":"m","role":"ROLE_USER",`, 1) + `}`
	} else {
		params = strings.Replace(params, `{"message":{`, `{"message":{"messageId":"m","role":"ROLE_USER",`, 1)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":` + params + `}`
	if e.Call.Binding == "HTTP+JSON" {
		url, body = url+"/message:send", params
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "A2a-Version": {e.Call.Version},
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Error struct {
			Data, Details []struct{ Reason string }
		}
	}
	if err := json.UnmarshalRead(resp.Body, &answer, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	for _, d := range append(answer.Error.Data, answer.Error.Details...) {
		return d.Reason
	}
	return ""
}
