//go:build !minimal

package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/internal/gateway"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// revisions are those of MCP with different ways: one without sessions, and the last with them.
var revisions = []string{"2026-07-28", "2025-11-25"}

// bearing sends a header with each request; what is in it may be replaced.
type bearing struct {
	mu     sync.Mutex
	header http.Header
}

func (b *bearing) set(h http.Header) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.header = h
}

func (b *bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	b.mu.Lock()
	for name, values := range b.header {
		r.Header[name] = values
	}
	b.mu.Unlock()
	return http.DefaultTransport.RoundTrip(r)
}

// host is an MCP host of the official SDK.
type host struct {
	*mcp.ClientSession
	as       *bearing
	progress chan string
	changed  chan struct{}
}

// connect has a host connect to the gateway, with answers to what it is asked for its user; "" is a
// host that asks nobody.
func connect(t *testing.T, g *gateway.Gateway, revision string, credential http.Header, answers ...string) *host {
	t.Helper()
	h, err := tryConnect(t, g, revision, credential, answers...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func tryConnect(t *testing.T, g *gateway.Gateway, revision string, credential http.Header, answers ...string) (*host, error) {
	t.Helper()
	h := &host{as: &bearing{header: credential}, progress: make(chan string, 1000), changed: make(chan struct{}, 10)}
	o := &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			h.progress <- r.Params.Message
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { h.changed <- struct{}{} },
	}
	if len(answers) > 0 {
		o.ElicitationHandler = func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			answer := answers[0]
			answers = answers[1:]
			if answer == "decline" {
				return &mcp.ElicitResult{Action: "decline"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"reply": answer + ", asked: " + r.Params.Message}}, nil
		}
	}
	at := &mcp.StreamableClientTransport{Endpoint: g.URL() + "/mcp", HTTPClient: &http.Client{Transport: h.as}, MaxRetries: -1}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o)
	var err error
	h.ClientSession, err = client.Connect(t.Context(), at, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = h.Close() })
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections) //nolint:forcetypeassert // it is one
	return h, nil
}

// names are the tools that the host lists.
func (h *host) names(t *testing.T) []string {
	t.Helper()
	var names []string
	for tool, err := range h.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// use calls a tool.
func (h *host) use(t *testing.T, tool string, arguments map[string]any) *mcp.CallToolResult {
	t.Helper()
	params := &mcp.CallToolParams{Name: tool, Arguments: arguments}
	params.SetProgressToken("p")
	res, err := h.CallTool(t.Context(), params)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return res
}

// textOf is all text of a result.
func textOf(res *mcp.CallToolResult) string {
	var all []string
	for _, c := range res.Content {
		if c, ok := c.(*mcp.TextContent); ok {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n")
}

// field is a member of a result's structured content.
func field(t *testing.T, res *mcp.CallToolResult, name string) string {
	t.Helper()
	members, ok := res.StructuredContent.(map[string]any)
	if !ok {
		t.Fatalf("structured content %v, %s", res.StructuredContent, textOf(res))
	}
	s, _ := members[name].(string)
	return s
}

const mcpSection = plain + "\nmcp: {path: /mcp}"

// TestToolsOfEveryAgent: a host lists and calls skills of agents of every version and binding, in
// either way of MCP, sees progress, gets the result, and goes on with the conversation.
func TestToolsOfEveryAgent(t *testing.T) {
	t.Parallel()
	var all []*gatewaytest.Agent
	for _, f := range gatewaytest.AllFlavours() {
		all = append(all, gatewaytest.Start(t, f))
	}
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, openPolicy+origins(all)))
	for _, revision := range revisions {
		for _, agent := range all {
			t.Run(revision+" "+agent.ID, func(t *testing.T) {
				t.Parallel()
				h := connect(t, g, revision, w.token("alice"))
				if got := h.InitializeResult().ProtocolVersion; revision < "2026" && got != revision {
					t.Fatalf("revision %s, want %s", got, revision)
				}
				tool := strings.ReplaceAll(agent.ID, ".", "-") + "__work"
				if names := h.names(t); !slices.Contains(names, tool) || len(names) != 2*len(all)+2 {
					t.Fatalf("tools %v, want %s among them", names, tool)
				}
				res := h.use(t, tool, map[string]any{"text": "work"})
				if res.IsError || !strings.Contains(textOf(res), "result") || field(t, res, "state") != "completed" {
					t.Errorf("%s, %v", textOf(res), res.StructuredContent)
				}
				conversation := field(t, res, "contextId")
				res = h.use(t, tool, map[string]any{"text": "work", "contextId": conversation})
				if got := field(t, res, "contextId"); got == "" || got != conversation {
					t.Errorf("context %q, want %q", got, conversation)
				}
				select {
				case <-h.progress: // which the host's library may show after the result
				case <-time.After(20 * time.Second):
					t.Error("no progress")
				}
				if res := h.use(t, tool, map[string]any{"text": "fail"}); !res.IsError || field(t, res, "state") != "failed" {
					t.Errorf("%s, %v", textOf(res), res.StructuredContent)
				}
			})
		}
	}
}

// TestToolsAreTheCallers: each caller lists what the rules let the caller use; what is not listed is
// refused with the rule's reason, or is unknown where the agent is.
func TestToolsAreTheCallers(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, `policy:
  rules:
    - {name: everything, effect: allow, groups: [all]}
    - {name: one-skill, effect: allow, groups: [one], skills: [work]}
    - {name: no-tools, effect: deny, groups: [all], skills: [rest], bindings: [MCP]}
`+fleet(agent)))
	work, rest := agent.ID+"__work", agent.ID+"__rest"
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			for group, want := range map[string][]string{
				"all": {"a2a_cancel_task", "a2a_get_task", work}, "one": {"a2a_cancel_task", "a2a_get_task", work}, "none": nil,
			} {
				if got := connect(t, g, revision, w.token("x", group)).names(t); !slices.Equal(got, want) {
					t.Errorf("%s: %v, want %v", group, got, want)
				}
			}
			all := connect(t, g, revision, w.token("x", "all"))
			if res := all.use(t, rest, map[string]any{"text": "work"}); !res.IsError || textOf(res) != "Permission denied" {
				t.Errorf("denied: %v, %s", res.IsError, textOf(res))
			}
			args := map[string]any{"text": "work"}
			for what, tool := range map[string]string{"no agent": "nobody__work", "no skill": agent.ID + "__nothing", "no tool": "nothing"} {
				if _, err := all.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args}); err == nil || !strings.Contains(err.Error(), "unknown tool") {
					t.Errorf("%s: %v", what, err)
				}
			}
			nobody := connect(t, g, revision, w.token("x", "none"))
			_, hidden := nobody.CallTool(t.Context(), &mcp.CallToolParams{Name: work, Arguments: args})
			_, absent := nobody.CallTool(t.Context(), &mcp.CallToolParams{Name: "nobody__work", Arguments: args})
			if hidden == nil || absent == nil || strings.ReplaceAll(hidden.Error(), work, "nobody__work") != absent.Error() {
				t.Errorf("hidden: %v, absent: %v", hidden, absent)
			}
		})
	}
	denied := 0
	for _, record := range w.audited(t) {
		if record["rule"] == "no-tools" {
			denied++
			if record["binding"] != "MCP" || record["method"] != "SendStreamingMessage" || record["path"] != "/mcp" || record["skill"] != "rest" {
				t.Errorf("%v", record)
			}
		}
	}
	if denied != len(revisions) {
		t.Errorf("%d refusals on record", denied)
	}
	// The same call by A2A is another matter.
	status, body := postTo(t, g.URL()+"/agents/"+agent.ID+"/skills/rest", sendHeader(w.token("x", "all")), sendBody("SendMessage", "1"))
	if status != http.StatusOK || strings.Contains(body, `"error"`) {
		t.Errorf("%d, %s", status, body)
	}
}

// TestToolsAreGuarded: guards look at what hosts send and get, and can be for them alone.
func TestToolsAreGuarded(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, `policy:
  default: allow
  guards:
    - {name: no-keys, use: secrets, action: refuse, on: [request], bindings: [MCP]}
    - {name: no-links, use: links, links: {deny: [example.com]}, action: redact, on: [answer, event]}
`+fleet(agent)))
	const key = "use AKIAIOSFODNN7EXAMPLE"
	for _, revision := range revisions {
		h := connect(t, g, revision, w.token("alice"))
		if res := h.use(t, agent.ID+"__work", map[string]any{"text": key}); !res.IsError || !strings.HasPrefix(textOf(res), "The content is not permitted") {
			t.Errorf("%s: %v, %s", revision, res.IsError, textOf(res))
		}
		if res := h.use(t, agent.ID+"__work", map[string]any{"text": "work"}); res.IsError {
			t.Errorf("%s: %s", revision, textOf(res))
		}
	}
	body := strings.Replace(sendBody("SendMessage", "1"), "hello", key, 1)
	status, answer := postTo(t, g.URL()+"/agents/"+agent.ID, sendHeader(w.token("alice")), body)
	if status != http.StatusOK || strings.Contains(answer, `"error"`) || !strings.Contains(body, key) {
		t.Errorf("by A2A: %d, %s", status, answer)
	}
}

func postTo(t testing.TB, url string, header http.Header, body string) (int, string) {
	t.Helper()
	status, answer, err := try(client(t), http.MethodPost, url, header, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// TestToolsWait: a task that is not over in time is answered by its ids, and told of and canceled by
// the tools about tasks; nobody else's host finds it.
func TestToolsWait(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(plain+"\nmcp: {path: /mcp, wait: 1500ms}", openPolicy+fleet(agent)))
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			h := connect(t, g, revision, w.token("alice"))
			begun := time.Now()
			res := h.use(t, agent.ID+"__work", map[string]any{"text": "slow"})
			if took := time.Since(begun); took < time.Second {
				t.Errorf("it took %v", took)
			}
			id := field(t, res, "taskId")
			if res.IsError || field(t, res, "state") != "working" || id == "" || !strings.Contains(textOf(res), "a2a_get_task") {
				t.Fatalf("%s, %v", textOf(res), res.StructuredContent)
			}
			task := map[string]any{"agent": agent.ID, "taskId": id}
			mallory := connect(t, g, revision, w.token("mallory"))
			for _, tool := range []string{"a2a_get_task", "a2a_cancel_task"} {
				if res := mallory.use(t, tool, task); !res.IsError || textOf(res) != "Task not found" {
					t.Errorf("%s of somebody else's: %v, %s", tool, res.IsError, textOf(res))
				}
			}
			if res := h.use(t, "a2a_get_task", task); res.IsError || field(t, res, "taskId") != id {
				t.Errorf("%s, %v", textOf(res), res.StructuredContent)
			}
			if res := h.use(t, "a2a_cancel_task", task); field(t, res, "state") != "canceled" {
				t.Errorf("%s, %v", textOf(res), res.StructuredContent)
			}
			if res := h.use(t, "a2a_get_task", map[string]any{"agent": agent.ID, "taskId": "none"}); !res.IsError || textOf(res) != "Task not found" {
				t.Errorf("an unknown task: %s", textOf(res))
			}
		})
	}
}

// TestToolsAskForInput: what an agent asks for is asked of the user where the host can, and else told
// with how to go on.
func TestToolsAskForInput(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, openPolicy+fleet(agent)))
	tool := agent.ID + "__work"
	for _, revision := range revisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			h := connect(t, g, revision, w.token("alice"), "this", "decline")
			res := h.use(t, tool, map[string]any{"text": "input"})
			if res.IsError || field(t, res, "state") != "completed" || !strings.Contains(textOf(res), "thank you") {
				t.Errorf("%s, %v", textOf(res), res.StructuredContent)
			}
			if res = h.use(t, tool, map[string]any{"text": "input"}); !strings.Contains(textOf(res), "taskId") {
				t.Errorf("declined: %s", textOf(res))
			}
			silent := connect(t, g, revision, w.token("alice"))
			res = silent.use(t, tool, map[string]any{"text": "input"})
			id := field(t, res, "taskId")
			if res.IsError || field(t, res, "state") != "input-required" || !strings.Contains(textOf(res), id) || !strings.Contains(textOf(res), "what?") {
				t.Errorf("%s, %v", textOf(res), res.StructuredContent)
			}
			mallory := connect(t, g, revision, w.token("mallory"))
			if res := mallory.use(t, tool, map[string]any{"text": "mine", "taskId": id}); !res.IsError || textOf(res) != "Task not found" {
				t.Errorf("somebody else's task: %s", textOf(res))
			}
			res = silent.use(t, tool, map[string]any{"text": "that", "taskId": id})
			if field(t, res, "state") != "completed" || field(t, res, "taskId") != id {
				t.Errorf("%s, %v", textOf(res), res.StructuredContent)
			}
			if res = silent.use(t, tool, map[string]any{"text": "auth"}); field(t, res, "state") != "auth-required" || !strings.Contains(textOf(res), "authorization") {
				t.Errorf("%s, %v", textOf(res), res.StructuredContent)
			}
		})
	}
}

// TestToolArguments: wrong arguments are told to the model, and reach no agent.
func TestToolArguments(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, openPolicy+fleet(agent)))
	h := connect(t, g, revisions[0], w.token("alice"))
	tool := agent.ID + "__work"
	for _, c := range []struct {
		tool      string
		arguments any
		want      string
	}{
		{tool, nil, "want text, files or data"},
		{tool, map[string]any{"text": " "}, "want text, files or data"},
		{tool, map[string]any{"words": "x"}, "arguments/words: there is no such argument"},
		{tool, map[string]any{"text": 1}, "arguments/text: want another type than a JSON number"},
		{tool, map[string]any{"files": []any{map[string]any{"name": "a"}}}, "arguments/files/0: want either bytes or uri"},
		{tool, map[string]any{"files": []any{map[string]any{"bytes": "?"}}}, "arguments/files/0/bytes: not base64"},
		{"a2a_get_task", map[string]any{"taskId": "x"}, "want agent and taskId"},
		{"a2a_get_task", map[string]any{"agent": "nobody", "taskId": "x"}, "No such agent"},
	} {
		res, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		if err != nil {
			t.Fatal(err)
		}
		if !res.IsError || !strings.Contains(textOf(res), c.want) {
			t.Errorf("%v: %s, want %s", c.arguments, textOf(res), c.want)
		}
	}
	if n := agent.Exec.Calls(); n != 0 {
		t.Errorf("the agent was called %d times", n)
	}
}

// TestToolsInWords: tools have the card's words, the schema of the skill's data, and hints.
func TestToolsInWords(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(plain+`
mcp: {path: /mcp, pageSize: 2, annotations: [{agents: ["go*"], skills: [work], readOnly: true, openWorld: false}]}`, openPolicy+"agents:\n  - id: "+agent.ID+"\n    card: "+agent.CardURL+`
    skills: [{id: work, input: {type: object, required: [amount], properties: {amount: {type: integer}}}}, {id: rest}]
`))
	h := connect(t, g, revisions[0], w.token("alice"))
	found := 0
	for tool, err := range h.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		found++
		schema, _ := json.Marshal(tool.InputSchema)
		switch tool.Name {
		case agent.ID + "__work":
			if tool.Title != "Work" || !strings.Contains(tool.Description, "Works.") || !strings.Contains(tool.Description, "Rich") {
				t.Errorf("%q, %q", tool.Title, tool.Description)
			}
			if !strings.Contains(string(schema), `"amount":{"type":"integer"}`) {
				t.Errorf("%s", schema)
			}
			if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.OpenWorldHint == nil || *a.OpenWorldHint || a.DestructiveHint != nil {
				t.Errorf("%+v", a)
			}
		case agent.ID + "__rest":
			if tool.Annotations != nil {
				t.Errorf("%+v", tool.Annotations)
			}
		}
	}
	if found != 4 {
		t.Errorf("%d tools over the pages", found)
	}
	res := h.use(t, agent.ID+"__work", map[string]any{"data": map[string]any{"amount": "much"}})
	if !res.IsError || !strings.Contains(textOf(res), "/amount") {
		t.Errorf("data against the schema: %s", textOf(res))
	}
}

// audited are the calls on record that have ended.
func (w *world) audited(t *testing.T) []map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(w.dir, "audit", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var record map[string]any
			if err := json.Unmarshal([]byte(line), &record); err != nil {
				t.Fatal(err)
			}
			if record["type"] == "call" {
				all = append(all, record)
			}
		}
	}
	return all
}
