package policycmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/cli/verb"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/verdict"
)

// replayable is a configuration but for its rules.
const replayable = `
server: {address: "127.0.0.1:0", statusAddress: "127.0.0.1:0", publicURL: "http://127.0.0.1", dataDir: %q}
admin: {address: "127.0.0.1:0", token: agreeing-admin-token}
authn: {oidc: [{issuer: %q, audiences: [a2a-gateway]}]}
state: {driver: memory}
agents: [{id: a, card: %q, skills: [{id: help}]}]
policy:
`

const rulesBefore = `  rules:
    - {name: look, effect: allow, agents: [a], methods: [GetTask]}
    - {name: finance, effect: allow, agents: [a], groups: [finance]}
`

const rulesNext = `  rules:
    - {name: look, effect: allow, agents: [a], methods: [GetTask]}
    - {name: only-alice, effect: allow, agents: [a], subjects: [alice]}
    - {name: support, effect: allow, agents: [a], groups: [support]}
    - {name: level, effect: allow, agents: [a], subjects: [dan], claims: {level: ["7"]}}
`

// TestReplayAgrees: what the admin API says of recorded calls under a draft is what the command
// line says of the same log and rules, and it is right about these.
func TestReplayAgrees(t *testing.T) {
	testenv.Long(t, "policies are replayed in two ways")
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
	head := fmt.Sprintf(replayable, dir, issuer.URL, agent.CardURL)
	file, next := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "next.yaml")
	write(t, file, head+rulesBefore)
	write(t, next, head+rulesNext)
	url, admin := serving(t, file)
	calls := []struct{ who, group, method string }{
		{"alice", "finance", "SendMessage"}, // by another rule
		{"bob", "finance", "SendMessage"},   // newly denied
		{"carol", "support", "SendMessage"}, // newly allowed
		{"dan", "others", "SendMessage"},    // for its claims to say
		{"eve", "others", "SendMessage"},    // denied as before
		{"alice", "finance", "GetTask"},     // of somebody else's, or nobody's: cannot be told
	}
	for _, c := range calls {
		makeCall(t, url, issuer, c.who, c.group, c.method)
	}
	got := replayed(t, admin, verdict.Draft{Rules: rulesNext})
	for got.Calls < len(calls) { // records are written behind the answers
		time.Sleep(10 * time.Millisecond)
		got = replayed(t, admin, verdict.Draft{Rules: rulesNext})
	}
	if got.Same != 1 || got.DenyToAllow != 1 || got.AllowToDeny != 1 || got.OtherRule != 1 || got.Untold != 2 || got.More {
		t.Errorf("got %+v", got)
	}
	agree(t, got, onTheCommandLine(t, next, dir))
	agree(t, replayed(t, admin, verdict.Draft{Rules: rulesBefore}), onTheCommandLine(t, file, dir))

	var found []string
	for _, c := range got.Changes {
		found = append(found, fmt.Sprintf("%s %s %s: %s by %s, %s by %s", c.Caller, c.Method, c.Agent, c.Was, c.From, c.Now, c.To))
		var record struct{ Principal, Agent, Method string }
		askAdmin(t, admin, http.MethodGet, fmt.Sprintf("/api/v1/audit/records/%d", c.Seq), nil, &record)
		if record.Principal != c.Caller || record.Agent != c.Agent || record.Method != c.Method {
			t.Errorf("record %d is %+v, want %+v", c.Seq, record, c)
		}
	}
	if diff := cmp.Diff([]string{
		"carol SendMessage a: deny by default, allow by support",
		"bob SendMessage a: allow by finance, deny by default",
		"alice SendMessage a: allow by finance, allow by only-alice",
	}, found); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}

	some := replayed(t, admin, verdict.Draft{Rules: rulesNext, Records: 2})
	if some.Calls != 2 || !some.More || !some.Newest.Equal(got.Newest) || !some.Oldest.After(got.Oldest) {
		t.Errorf("of two records: %+v", some)
	}
	if none := replayed(t, admin, verdict.Draft{Rules: rulesNext, Until: got.Oldest.Add(-time.Hour)}); none.Calls != 0 || none.More {
		t.Errorf("before all: %+v", none)
	}
	if all := replayed(t, admin, verdict.Draft{Rules: rulesNext, Since: got.Oldest.Add(-time.Hour), Until: got.Newest.Add(time.Hour)}); !cmp.Equal(all, got) {
		t.Errorf("around all (-/+)\n%s", cmp.Diff(got, all))
	}
	var problem struct {
		Code, Detail string
		Line         int
	}
	askAdmin(t, admin, http.MethodPost, "/api/v1/policy/replay", verdict.Draft{Rules: "rules:\n  - {name: x, effect: maybe}"}, &problem)
	if problem.Code != "INVALID_DRAFT" || problem.Line != 2 || !strings.HasPrefix(problem.Detail, "draft:2:") {
		t.Errorf("a bad draft: %+v", problem)
	}
}

// makeCall makes a call, whatever becomes of it.
func makeCall(t *testing.T, base string, issuer *demo.Issuer, who, group, method string) {
	t.Helper()
	token, err := issuer.Issue(who, demo.IssueOptions{Groups: []string{group}})
	if err != nil {
		t.Fatal(err)
	}
	params := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`
	if method == "GetTask" {
		params = `{"id":"none"}`
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/agents/a", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
}

// askAdmin asks the admin API, which answers with a document whatever it says.
func askAdmin(t *testing.T, admin, method, path string, in, out any) {
	t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, admin+path, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Authorization": {"Bearer agreeing-admin-token"}, "Content-Type": {"application/json"}}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if err := json.UnmarshalRead(resp.Body, out, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(resp.Status, err)
	}
}

// replayed is what the admin API says of a draft.
func replayed(t *testing.T, admin string, d verdict.Draft) (r verdict.Replayed) {
	t.Helper()
	askAdmin(t, admin, http.MethodPost, "/api/v1/policy/replay", d, &r)
	return r
}

// onTheCommandLine is what policy test --replay says of the log of the gateway.
func onTheCommandLine(t *testing.T, file, dir string) (r verdict.Replay) {
	t.Helper()
	var out bytes.Buffer
	cmd := PolicyCommand()
	cmd.SetArgs([]string{"test", "-c", file, "--replay", filepath.Join(dir, "audit"), "--output", "json"})
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true // as the root command does
	code := 0
	if err := cmd.ExecuteContext(t.Context()); err != nil {
		code = verb.ExitCode(err)
	}
	if code != 0 && code != verb.ExitFailed {
		t.Fatal(code, out.String())
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(out.String(), err)
	}
	return r
}

// agree compares what both say.
func agree(t *testing.T, api verdict.Replayed, line verdict.Replay) {
	api.Touched = nil // the command line has groups of calls in its place, each with agent and caller
	t.Helper()
	want := verdict.Replayed{
		Calls: line.Calls, Same: line.Same, DenyToAllow: line.DenyToAllow, AllowToDeny: line.AllowToDeny,
		OtherRule: line.OtherRule, Untold: line.Untold, Why: line.Why,
	}
	got := api
	got.Changes, got.Oldest, got.Newest = nil, time.Time{}, time.Time{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("command line and admin API (-/+)\n%s", diff)
	}
}
