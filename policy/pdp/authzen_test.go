package pdp

import (
	"errors"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestDocumentedQuestion holds what is sent against what docs/policy.md says is sent.
func TestDocumentedQuestion(t *testing.T) {
	t.Parallel()
	p := newPoint(t, `{"decision": true}`)
	panel := newPanel(t, Authorizer{
		Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Message: true,
		Claims: []string{"department", "level"}, Token: secret.New("s3cret"),
	})
	if notes, err := ask(t, panel, newQuestion(t)); err != nil || notes != nil {
		t.Fatalf("got %q, %v", notes, err)
	}
	questions := p.questions()
	if len(questions) != 1 || questions[0].path != "/access/v1/evaluation" {
		t.Fatalf("got %+v", questions)
	}
	doc, err := os.ReadFile("../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(doc), "<!-- the question of policy/pdp -->\n\n```json\n")
	example, _, closed := strings.Cut(after, "```")
	if !found || !closed {
		t.Fatal("docs/policy.md has no example of a question")
	}
	if diff := cmp.Diff(object(t, []byte(example)), object(t, questions[0].body)); diff != "" {
		t.Errorf("docs/policy.md differs from what is sent:\n%s", diff)
	}
	for _, unsaid := range []string{"secret text", "salaries", "files.example", "kid-7", "alice@acme", "m-1"} {
		if strings.Contains(string(questions[0].body), unsaid) {
			t.Errorf("the question holds %q", unsaid)
		}
	}
	want := map[string]string{
		"Authorization": "Bearer s3cret", "Content-Type": "application/json", "X-Request-Id": "req-1",
		"Accept": "application/json", "Accept-Encoding": "", "Cookie": "",
	}
	for name, value := range want {
		if got := questions[0].header.Get(name); got != value {
			t.Errorf("header %s is %q, want %q", name, got, value)
		}
	}
}

// TestTold checks that nothing is told that the configuration does not say.
func TestTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Authorizer)
		path   string
		want   any
	}{
		"no claims":  {func(*Authorizer) {}, "subject/properties/claims", nil},
		"one claim":  {func(a *Authorizer) { a.Claims = []string{"level", "no"} }, "subject/properties/claims", map[string]any{"level": 3.0}},
		"no message": {func(*Authorizer) {}, "context/message", nil},
		"all claims": {
			func(a *Authorizer) { a.Claims = []string{"*"} }, "subject/properties/claims",
			map[string]any{"department": "accounts", "email": "alice@acme.example", "level": 3.0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPoint(t, `{"decision": true}`)
			a := Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL)}
			test.change(&a)
			if _, err := ask(t, newPanel(t, a), newQuestion(t)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, pointer(object(t, p.questions()[0].body), test.path)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

const bothEndpoints = `{"policy_decision_point": "URL", "access_evaluation_endpoint": "URL/one", "access_evaluations_endpoint": "URL/several"}`

// TestSeveralSkills: a call that may be for several skills is asked about in one go.
func TestSeveralSkills(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		metadata, answer string
		skills           []string // condition of the authorizer
		path             string
		reason           string // "" is allowed
	}{
		"each allowed":  {bothEndpoints, `{"evaluations": [{"decision": true}, {"decision": true}]}`, nil, "/several", ""},
		"first denied":  {bothEndpoints, `{"evaluations": [{"decision": false}]}`, nil, "/several", "skill refund"},
		"second denied": {bothEndpoints, `{"evaluations": [{"decision": true}, {"decision": false, "context": {"reason": "not you"}}]}`, nil, "/several", "skill invoice: not you"},
		"one concerned": {bothEndpoints, `{"decision": true}`, []string{"inv*"}, "/one", ""},
		"one endpoint":  {"", `{"decision": false}`, nil, "/access/v1/evaluation", " "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPoint(t, test.answer)
			p.become(test.metadata, p.answer)
			panel := newPanel(t, Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), Skills: test.skills})
			q := newQuestion(t)
			q.Skill, q.Skills = "", []string{"refund", "invoice"}
			_, err := ask(t, panel, q)
			var refused *Refused
			switch errors.As(err, &refused); {
			case test.reason == "" && err != nil:
				t.Errorf("got %v", err)
			case test.reason != "" && (refused == nil || refused.Err != nil || refused.Reason != strings.TrimSpace(test.reason)):
				t.Errorf("got %v, want the refusal %q", err, test.reason)
			}
			got := p.questions()[0]
			if got.path != test.path {
				t.Errorf("asked at %s", got.path)
			}
			sent := object(t, got.body)
			switch {
			case got.path == "/several":
				list, _ := sent["evaluations"].([]any)
				if len(list) != 2 || pointer(list[1], "resource/id") != "billing/invoice" ||
					pointer(sent, "options/evaluations_semantic") != "deny_on_first_deny" || sent["resource"] != nil {
					t.Errorf("sent %s", got.body)
				}
			case got.path == "/one":
				if pointer(sent, "resource/type") != typeSkill || pointer(sent, "resource/id") != "billing/invoice" {
					t.Errorf("sent %s", got.body)
				}
			default:
				if pointer(sent, "resource/type") != typeAgent || pointer(sent, "resource/id") != "billing" ||
					!cmp.Equal(pointer(sent, "resource/properties/skills"), any([]any{"refund", "invoice"})) {
					t.Errorf("sent %s", got.body)
				}
			}
		})
	}
}

// TestMetadata: who names another's endpoints does not get to decide.
func TestMetadata(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ metadata, path, failure string }{
		"none":             {"", "/access/v1/evaluation", ""},
		"both":             {bothEndpoints, "/one", ""},
		"more members":     {`{"policy_decision_point": "URL", "access_evaluation_endpoint": "URL/x", "search_subject_endpoint": 1}`, "/x", ""},
		"of another":       {`{"policy_decision_point": "https://other.example", "access_evaluation_endpoint": "URL/one"}`, "", "other.example"},
		"with a slash":     {`{"policy_decision_point": "URL/", "access_evaluation_endpoint": "URL/one"}`, "", "to the letter"},
		"elsewhere":        {`{"policy_decision_point": "URL", "access_evaluation_endpoint": "http://127.0.0.1:1/one"}`, "", "another host"},
		"other scheme":     {`{"policy_decision_point": "URL", "access_evaluation_endpoint": "ftp://127.0.0.1/one"}`, "", "another host"},
		"several away":     {`{"policy_decision_point": "URL", "access_evaluation_endpoint": "URL/one", "access_evaluations_endpoint": "https://o.example/"}`, "", "another host"},
		"no endpoint":      {`{"policy_decision_point": "URL"}`, "", "missing"},
		"no name":          {`{"access_evaluation_endpoint": "URL/one"}`, "", "to the letter"},
		"twice":            {`{"policy_decision_point": "URL", "policy_decision_point": "URL", "access_evaluation_endpoint": "URL/one"}`, "", "not a JSON object"},
		"no JSON":          {`<html>`, "", "not a JSON object"},
		"endpoint is null": {`{"policy_decision_point": "URL", "access_evaluation_endpoint": null}`, "", "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPoint(t, `{"decision": true}`)
			p.become(test.metadata, p.answer)
			panel := newPanel(t, Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL)})
			_, err := ask(t, panel, newQuestion(t))
			if test.failure != "" {
				if err == nil || !strings.Contains(err.Error(), test.failure) || len(p.questions()) != 0 {
					t.Fatalf("got %v and %d questions", err, len(p.questions()))
				}
				return
			}
			if err != nil || p.questions()[0].path != test.path {
				t.Fatalf("got %v, %+v", err, p.questions())
			}
		})
	}
}

// TestMetadataPath: the well-known part stands between host and path, and is read again
// when an endpoint is gone.
func TestMetadataPath(t *testing.T) {
	t.Parallel()
	p := newPoint(t, `{"decision": true}`)
	const first = `{"policy_decision_point": "URL/tenant-1", "access_evaluation_endpoint": "URL/old"}`
	p.become(first, p.answer)
	panel := newPanel(t, Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL + "/tenant-1")})
	for range 2 {
		if _, err := ask(t, panel, newQuestion(t)); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.asked[0].path; len(p.asked) != 3 || got != wellKnown+"/tenant-1" {
		t.Fatalf("%d requests, the first for %s", len(p.asked), got)
	}
	p.become(strings.Replace(first, "old", "new", 1), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/new" {
			http.NotFound(w, r)
			return
		}
		say(w, `{"decision": true}`)
	})
	if _, err := ask(t, panel, newQuestion(t)); err == nil {
		t.Fatal("an endpoint that is gone allows")
	}
	if _, err := ask(t, panel, newQuestion(t)); err != nil {
		t.Fatal(err)
	}
}
