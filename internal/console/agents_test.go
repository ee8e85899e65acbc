package console

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/console/fleet"
)

// TestAgents takes one from being registered through being changed to being gone.
func TestAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	for _, tt := range []struct {
		method, target, body string
		status               int
		want                 string
	}{
		{"POST", "", `{"id":"b","card":"x"}`, 200, `{"id":"b","origin":"api","served":true,"agent":{"id":"b","card":"x"}}`},
		{"POST", "", `{"id":"b","card":"y"}`, 409, "AGENT_EXISTS"},
		{"PUT", "/b", `{"id":"b","card":"y"}`, 200, `"card":"y"`},
		{"PUT", "/c", `{"id":"c"}`, 200, `"id":"c"`},
		{"PUT", "/b", `{"id":"c"}`, 400, "is another than that of the path"},
		{"GET", "/b", "", 200, `"card":"y"`},
		{"GET", "", "", 200, `{"agents":[{"id":"a-1","origin":"api","served":true},{"id":"b","origin":"api","served":true},{"id":"c","origin":"api","served":true}]}`},
		{"GET", "?limit=1&cursor=" + cursor("a-1"), "", 200, `{"agents":[{"id":"b","origin":"api","served":true}],"next":"` + cursor("b") + `"}`},
		{"GET", "?cursor=" + cursor("c"), "", 200, `{"agents":[]}`},
		{"GET", "?limit=0", "", 400, "INVALID_PARAMETER"},
		{"GET", "?state=dead", "", 400, "INVALID_PARAMETER"},
		{"DELETE", "/b", "", 200, `{"id":"b","state":"removed"}`},
		{"DELETE", "/b", "", 404, "NO_SUCH_AGENT"},
		{"GET", "/b", "", 404, "NO_SUCH_AGENT"},
		{"DELETE", "/b~", "", 404, "NO_SUCH_AGENT"},
		{"PATCH", "/c", "", 405, "METHOD_NOT_ALLOWED"},
		{"DELETE", "", "", 405, "METHOD_NOT_ALLOWED"},
	} {
		got := w.ask(tt.method, "/api/v1/agents"+tt.target, func(r *http.Request) {
			if tt.body != "" {
				send(r, tt.body)
			}
		})
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s %s %s: %s, want %d %s", tt.method, tt.target, tt.body, got, tt.status, tt.want)
		}
	}
	event := func(kind, id, outcome string) map[string]string {
		e := map[string]string{"event": kind, "who": "admin-token", "agent": id, "client_ip": "127.0.0.1"}
		if outcome != "" {
			e["outcome"] = outcome
		}
		return e
	}
	want := []map[string]string{
		event("agent.added", "b", ""), event("agent.added", "b", ""), event("agent.added", "b", "failed"),
		event("agent.changed", "b", ""), event("agent.changed", "c", ""), event("agent.removed", "b", ""),
		event("agent.removed", "b", ""), event("agent.removed", "b", "not found"),
	}
	if diff := cmp.Diff(want, w.recorded()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestL43_AgentBodies: what is no agent changes nothing, is not on record, and is not read
// to its end if it is long.
func TestL43_AgentBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Body = 100 })
	large := `{"id":"large","card":"` + strings.Repeat("x", 100) + `"}`
	for name, tt := range map[string]struct {
		body   string
		change func(*http.Request)
		status int
		want   string
	}{
		"empty":         {"", nil, 400, "INVALID_AGENT"},
		"no JSON":       {"id: a", nil, 400, "INVALID_AGENT"},
		"a list":        {"[]", nil, 400, "INVALID_AGENT"},
		"two":           {`{"id":"a"}{"id":"b"}`, nil, 400, "INVALID_AGENT"},
		"a name twice":  {`{"id":"a","id":"b"}`, nil, 400, "INVALID_AGENT"},
		"no id":         {`{"card":"x"}`, nil, 400, "id: 1 to 64"},
		"a path as id":  {`{"id":"../x"}`, nil, 400, "id: 1 to 64"},
		"a long id":     {`{"id":"` + strings.Repeat("x", 65) + `"}`, nil, 400, "id: 1 to 64"},
		"no UTF-8":      {"{\"id\":\"a\xff\"}", nil, 400, "INVALID_AGENT"},
		"large":         {large, nil, 413, "longer than 100 bytes (admin.body)"},
		"large, chunks": {large, func(r *http.Request) { r.ContentLength = -1 }, 413, "admin.body"},
		"text":          {`{"id":"a"}`, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "CONTENT_TYPE"},
		"no type":       {`{"id":"a"}`, func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "CONTENT_TYPE"},
		"a parameter":   {`{"id":"a"}`, func(r *http.Request) { r.URL.RawQuery = "force=true" }, 400, "INVALID_PARAMETER"},
	} {
		got := w.ask("POST", "/api/v1/agents", func(r *http.Request) {
			send(r, tt.body)
			if tt.change != nil {
				tt.change(r)
			}
		})
		if got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %s, want %d %s", name, got, tt.status, tt.want)
		}
	}
	body := func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("{}")), 2 }
	for _, ask := range [][2]string{{"GET", "/a-1"}, {"DELETE", "/a-1"}, {"POST", "/a-1"}} {
		if got := w.ask(ask[0], "/api/v1/agents"+ask[1], body); got.status != 400 {
			t.Errorf("%v with a body: %s", ask, got)
		}
	}
	if events := w.recorded(); len(events) != 0 || len(w.fleet) != 1 {
		t.Errorf("something was done: %v, %v", events, w.fleet)
	}
}

// TestAgentErrors: the operator is told what is the operator's to mend.
func TestAgentErrors(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		fleet.ErrAgentsOff: "403 AGENTS_OFF", fleet.ErrAgentsFull: "409 AGENTS_FULL", fleet.ErrAgentInFile: "409 AGENT_IN_FILE",
		fleet.ErrAgentOther: "412 AGENT_CHANGED", fmt.Errorf("put: %w", fleet.ErrAgentTaken): "409 AGENT_EXISTS",
	} {
		w := newWorld(t, nil)
		w.unfit = err
		got := w.ask("PUT", "/api/v1/agents/a-1", nil)
		var body Problem
		if failed := json.Unmarshal([]byte(got.body), &body); failed != nil || fmt.Sprint(got.status, " ", body.Code) != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
	w := newWorld(t, nil)
	w.unfit = fleet.AgentInvalid{"card: url is missing", "id: is wrong"}
	if got := w.ask("POST", "/api/v1/agents", nil); got.status != 400 || !strings.Contains(got.body, "card: url is missing; id: is wrong") {
		t.Error(got)
	}
}

// TestAgentEditions: who changes an agent that somebody else has changed is told, and changes nothing.
func TestAgentEditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.fleet["b"] = "first"
	put := func(edition string) answer {
		return w.ask("PUT", "/api/v1/agents/b", func(r *http.Request) { r.Header.Set("If-Match", `"`+edition+`"`) })
	}
	if got := put("second"); got.status != 412 || !strings.Contains(got.body, `"code":"AGENT_CHANGED"`) || w.fleet["b"] != "first" {
		t.Error(got)
	}
	if got := put("first"); got.status != 200 || w.fleet["b"] == "first" {
		t.Error(got)
	}
	if events := w.recorded(); len(events) != 3 || events[1]["outcome"] != "failed" {
		t.Errorf("on record: %v", events)
	}
	if got := w.ask("PUT", "/api/v1/agents/b", func(r *http.Request) { r.Header.Set("If-Match", "*") }); got.status != 200 {
		t.Errorf("any that there is: %s", got)
	}
}

// TestAgentDrafts: a draft is shown and checked for operators, and YAML is applied as JSON is.
func TestAgentDrafts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	yaml := func(r *http.Request) {
		send(r, `{"id":"a-1","card":"y"}`)
		r.Header.Set("Content-Type", "application/yaml")
	}
	as := func(role api.Role, change func(*http.Request)) func(*http.Request) {
		return func(r *http.Request) {
			if change != nil {
				change(r)
			}
			r.Header.Set("Authorization", "Bearer "+tokenOf(role))
		}
	}
	for name, tt := range map[string]struct {
		method, target string
		change         func(*http.Request)
		status         int
		want           string
	}{
		"a draft":             {"GET", "a-1/draft", as(api.Operator, nil), 200, `"registered":true`},
		"a viewer's":          {"GET", "a-1/draft", as(api.Viewer, nil), 403, "FORBIDDEN"},
		"of nothing":          {"GET", "none/draft", nil, 404, "NO_SUCH_AGENT"},
		"a check":             {"POST", "a-1/check", as(api.Operator, func(r *http.Request) { send(r, `{"agent":"a\nb"}`) }), 200, `"mistakes":[{"line":1,"column":1,"text":"it is a line"}],"warnings":[]`},
		"many mistakes":       {"POST", "a-1/check", func(r *http.Request) { send(r, `{"agent":"`+strings.Repeat(`\n`, 60)+`"}`) }, 200, `{"line":50,"column":1,"text":"it is a line"}]`},
		"a viewer's check":    {"POST", "a-1/check", as(api.Viewer, nil), 403, "FORBIDDEN"},
		"a check of nothing":  {"POST", "none/check", nil, 404, "NO_SUCH_AGENT"},
		"no check":            {"POST", "a-1/check", func(r *http.Request) { send(r, `{"yaml":""}`) }, 400, "INVALID_QUESTION"},
		"YAML":                {"PUT", "a-1", as(api.Admin, yaml), 200, `"card":"y"`},
		"an operator's YAML":  {"PUT", "a-1", as(api.Operator, yaml), 403, "FORBIDDEN"},
		"YAML that is none":   {"PUT", "a-1", func(r *http.Request) { yaml(r); r.Body = io.NopCloser(strings.NewReader("a")); r.ContentLength = 1 }, 400, "INVALID_AGENT"},
		"YAML somewhere else": {"POST", "a-1/check", yaml, 415, "CONTENT_TYPE"},
	} {
		if got := w.ask(tt.method, "/api/v1/agents/"+tt.target, tt.change); got.status != tt.status || !strings.Contains(got.body, tt.want) {
			t.Errorf("%s: %s, want %d %s", name, got, tt.status, tt.want)
		}
	}
	if w.by != "the-admin" {
		t.Errorf("registered by %q", w.by)
	}
	w.unfit = fleet.DraftUnread{}
	if got := w.ask("GET", "/api/v1/agents/a-1/draft", nil); got.status != 409 || !strings.Contains(got.body, "NO_DRAFT") {
		t.Error(got)
	}
	w.unfit = fleet.DraftUnread{Err: io.EOF}
	if got := w.ask("POST", "/api/v1/agents/a-1/check", nil); got.status != 409 || !strings.Contains(got.body, "cannot be shown: EOF") {
		t.Error(got)
	}
}
