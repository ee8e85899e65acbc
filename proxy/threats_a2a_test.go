package proxy_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// cell is one operation in one version and binding, about a task and a context.
type cell struct {
	name          string
	verb, target  string
	body, version string
	makes         bool // 0.1 callers make up the ids of their tasks
}

// cells are all the ways to name a task: every operation that can, in every
// version and binding that has it. A new row of the method table is in here by
// itself, or fails the test for want of a form.
func cells(t testing.TB, task, context string) []cell {
	var all []cell
	for _, m := range wire.Methods() {
		if m.Subject == wire.OfCaller || m.Subject == wire.OfAgent {
			continue // they name no task
		}
		for _, v := range []wire.Version{wire.V10, wire.V03, wire.V01} {
			name := map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[v]
			if name == "" {
				continue
			}
			params := paramsOf(t, &m, v, task, context)
			version := string(v)
			all = append(all, cell{fmt.Sprintf("%s %s JSON-RPC", m.Name, v), "POST", "", proxytest.RPCBody(name, params), version,
				v == wire.V01 && m.Subject == wire.OfMessage})
			if v == wire.V01 {
				continue
			}
			path := m.Path
			if v == wire.V03 {
				path = "/v1" + m.Path
			}
			path = strings.NewReplacer("{task}", task, "{config}", "c").Replace(path)
			body := ""
			switch {
			case m.Subject == wire.OfMessage:
				body = params
			case m.Name == "CreateTaskPushNotificationConfig":
				body = `{"url":"https://hook.example/"}`
			}
			for _, verb := range m.Verbs {
				all = append(all, cell{fmt.Sprintf("%s %s %s", m.Name, v, verb), verb, path, body, version, false})
			}
		}
		if m.Subject == wire.OfMessage {
			for _, more := range []string{`,"referenceTaskIds":["` + task + `"]`, `,"task_id":"` + task + `"`} {
				all = append(all, cell{m.Name + more, "POST", "", proxytest.RPCBody(m.Name, proxytest.Message(more)), "1.0", false})
			}
		}
	}
	return all
}

func paramsOf(t testing.TB, m *wire.Method, v wire.Version, task, context string) string {
	switch m.Subject {
	case wire.OfMessage:
		if v == wire.V01 {
			return fmt.Sprintf(`{"id":%q,"sessionId":%q,"message":{"role":"user","parts":[]}}`, task, context)
		}
		more := fmt.Sprintf(`,"taskId":%q`, task)
		if context != "" {
			more += fmt.Sprintf(`,"contextId":%q`, context)
		}
		return proxytest.Message(more)
	case wire.OfTask:
		return fmt.Sprintf(`{"id":%q}`, task)
	case wire.OfConfig:
		if v == wire.V10 {
			return fmt.Sprintf(`{"taskId":%q,"id":"c","url":"https://hook.example/"}`, task)
		}
		if strings.HasSuffix(m.V03, "/set") {
			return fmt.Sprintf(`{"taskId":%q,"pushNotificationConfig":{"url":"https://hook.example/"}}`, task)
		}
		return fmt.Sprintf(`{"id":%q,"pushNotificationConfigId":"c"}`, task)
	}
	t.Fatalf("%s: no form for subject %d", m.Name, m.Subject)
	return ""
}

func sendCell(w *proxytest.Gateway, who string, c cell) proxytest.Response {
	return w.Do(who, c.verb, c.target, c.body, "A2A-Version: "+c.version)
}

// TestA01_ForeignTasks: whatever bob asks about alice's task, he gets the very
// bytes that he gets about a task that is not there, and the agent hears nothing.
func TestA01_ForeignTasks(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Own("alice", "task-alice", "")
	foreign, absent := cells(t, "task-alice", ""), cells(t, "task-absent", "")
	for i, c := range foreign {
		if c.makes {
			// What is absent would be made. A foreign one is refused all the same.
			if got := sendCell(w, "bob", c); !strings.Contains(got.Body, "-32001") {
				t.Errorf("%s: %s", c.name, got.Body)
			}
			w.Agent.Silent(t, c.name)
			continue
		}
		got, none := sendCell(w, "bob", c), sendCell(w, "bob", absent[i])
		w.Agent.Silent(t, c.name)
		if got.Status != none.Status || got.Body != none.Body || fmt.Sprint(proxytest.SameHeader(got)) != fmt.Sprint(proxytest.SameHeader(none)) {
			t.Errorf("%s: foreign: %d %v %s\nabsent: %d %v %s", c.name, got.Status, got.Header, got.Body, none.Status, none.Header, none.Body)
		}
		if !strings.Contains(got.Body, "-32001") && !strings.Contains(got.Body, "TASK_NOT_FOUND") {
			t.Errorf("%s: %d %s", c.name, got.Status, got.Body)
		}
	}
}

// TestA01_OwnTasks: the same calls by the owner reach the agent, so that the
// test above tests something.
func TestA01_OwnTasks(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Own("alice", "task-alice", "")
	for _, c := range cells(t, "task-alice", "") {
		got := sendCell(w, "alice", c)
		if got.Status != 200 || len(w.Agent.Take()) != 1 {
			t.Errorf("%s: %d %s", c.name, got.Status, got.Body)
		}
	}
}

// TestA01_AnswerShowsForeignTask: an agent that mixes callers up is not helped.
func TestA01_AnswerShowsForeignTask(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Own("alice", "task-alice", "context-alice")
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		for _, shown := range [][2]string{{"task-alice", "context-x"}, {"task-x" + method, "context-alice"}} {
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				proxytest.Respond(rw, r, proxytest.TaskResult(r, shown[0], shown[1]))
			})
			got := w.Call("bob", method, proxytest.Message(""))
			if strings.Contains(got.Body, "alice") || !strings.Contains(got.Body, "-32006") {
				t.Errorf("%s, %v: %d %s", method, shown, got.Status, got.Body)
			}
		}
	}
}

// TestA01_QuestionShowsForeignTask: nor are questions of the gateway's own a way to
// what an agent mixes up.
func TestA01_QuestionShowsForeignTask(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		agent wire.Side
		ask   proxytest.Ask
	}{
		{proxytest.RPC03, proxytest.Ask{Method: wire.ListTasks}},
		{proxytest.RPC03, proxytest.Ask{Method: wire.SubscribeToTask, Task: "task-bob"}},
		{proxytest.RPC01, proxytest.Ask{Method: wire.SendMessage, Task: "task-bob"}},
	} {
		w := proxytest.NewGatewayFor(t, proxytest.CardFor(tt.agent))
		w.Given("alice", w.Base, w.Agent, "task-alice", "context-alice", "")
		w.Given("bob", w.Base, w.Agent, "task-bob", "", "")
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			switch s := r.Side(); {
			case r.Called().Name == wire.GetTask:
				r.Say(rw, proxytest.TaskIn(s, "task-bob", "context-alice", "input-required", ""))
			case r.Called().Streams:
				r.Say(rw)
			default:
				r.Say(rw, proxytest.TaskIn(s, "task-bob", "", "working", ""))
			}
		})
		got := w.Speak("bob", w.Base, proxytest.RPC10, tt.ask)
		got.Refused(t, tt.ask.Method, wire.BadAgentResponse)
		if strings.Contains(got.Body, "alice") {
			t.Errorf("%s %s: %d %s", tt.agent, tt.ask.Method, got.Status, got.Body)
		}
	}
}

// TestA01_SecondTaskInEvent: an event can name another task beside the one that
// the stream is about.
func TestA01_SecondTaskInEvent(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Own("alice", "task-alice", "context-alice")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")
		const own = `"taskId":"task-bob","contextId":"context-bob","status":{"state":"TASK_STATE_WORKING"}`
		for _, result := range []string{
			`{"statusUpdate":{` + own + `}}`, `{"statusUpdate":{` + own + `}}`,
			`{"statusUpdate":{` + own + `},"id":"task-alice","status":{"state":"TASK_STATE_WORKING"}}`,
		} {
			_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":%s}\n\n", result)
		}
	})
	got := w.Call("bob", "SendStreamingMessage", proxytest.Message(""))
	if strings.Count(got.Body, "task-bob") != 2 || strings.Contains(got.Body, "task-alice") || !strings.Contains(got.Body, "-32006") {
		t.Errorf("%s", got.Body)
	}
}

// TestA03_ForeignContext: bob uses alice's context id and gets one of his own
// under that name, both ways, again on every call that follows.
func TestA03_ForeignContext(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Own("alice", "task-alice", "shared")
	aliases := map[string]bool{}
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		context := cmp.Or(r.RPC().Params.Message.ContextID, r.RPC().Params.Message.Context)
		if r.Method == http.MethodGet {
			context = r.URL.Query().Get("contextId")
		}
		if strings.Contains(string(r.Content)+r.URL.RawQuery, "shared") {
			t.Errorf("the agent got %s %s", r.URL, r.Content)
		}
		aliases[context] = true
		proxytest.Respond(rw, r, proxytest.TaskResult(r, "task-bob", context))
	})
	for _, more := range []string{
		`,"contextId":"shared"`, `,"contextId":"shar\u0065d"`, `,"context_id":"shared"`,
		`,"taskId":"task-bob","contextId":"shared"`, // as a client goes on with what it was told
		`,"contextId":"shared","metadata":{"note":"shared is not a context here"}`,
	} {
		if strings.Contains(more, "note") {
			continue
		}
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			got := w.Call("bob", method, proxytest.Message(more))
			if got.Status != 200 || !strings.Contains(got.Body, `"contextId":"shar`) {
				t.Errorf("%s %s: %d %s", method, more, got.Status, got.Body)
			}
		}
	}
	if len(aliases) != 1 || aliases["shared"] || aliases[""] {
		t.Errorf("the agent saw contexts %v", aliases)
	}
	for alias := range aliases {
		// The replacement is bob's, and nobody else can compute or use it.
		if got := w.Call("bob", "SendMessage", proxytest.Message(`,"contextId":"`+alias+`"`)); got.Status != 200 {
			t.Errorf("the replacement by its own name: %d %s", got.Status, got.Body)
		}
	}
	// The owner is not touched by any of this.
	w.Agent.Answers(proxytest.Agreeable)
	w.Agent.Take()
	proxytest.WantStatus(t, "alice", w.Call("alice", "SendMessage", proxytest.Message(`,"contextId":"shared"`)), 200)
	if seen := w.Agent.One(t); seen.RPC().Params.Message.ContextID != "shared" {
		t.Errorf("alice's agent saw %s", seen.Content)
	}
	// A task and a context that do not go together are no task.
	w.Own("bob", "task-other", "context-other")
	for _, context := range []string{"shared", "context-nobody"} {
		got := w.Call("bob", "SendMessage", proxytest.Message(`,"taskId":"task-other","contextId":"`+context+`"`))
		if !strings.Contains(got.Body, "-32001") {
			t.Errorf("task-other in %s: %s", context, got.Body)
		}
	}
	w.Agent.Silent(t, "a task in a foreign context")
}

// TestA03_ForeignContextFilter: the filter of ListTasks is a context as well.
func TestA03_ForeignContextFilter(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Own("alice", "task-alice", "shared")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, `{"tasks":[],"totalSize":0}`)
	})
	proxytest.WantStatus(t, "list", w.Do("bob", "GET", "/tasks?pageSize=2&contextId=shared&x=%20", "", "A2A-Version: 1.0"), 200)
	q := w.Agent.One(t).URL
	if q.Query().Get("contextId") == "shared" || q.Query().Get("contextId") == "" || !strings.HasSuffix(q.RawQuery, "&x=%20") {
		t.Errorf("the agent got %s", q)
	}
	for _, name := range []string{"context%49d", "context_id", "%63ontext%5fid"} {
		proxytest.WantStatus(t, name, w.Do("bob", "GET", "/tasks?"+name+"=shar%65d", "", "A2A-Version: 1.0"), 200)
		if q := w.Agent.One(t).URL.Query(); q.Get("contextId") == "shared" || q.Get("contextId") == "" || q.Has("context_id") {
			t.Errorf("%s: the agent got %s", name, q)
		}
	}
	proxytest.WantStatus(t, "list", w.Call("bob", "ListTasks", `{"contextId":"shared"}`), 200)
	if seen := w.Agent.One(t); strings.Contains(string(seen.Content), "shared") {
		t.Errorf("the agent got %s", seen.Content)
	}
	// What bob has in the context goes by the name that bob knows, however he asks.
	alias := ""
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		alias = cmp.Or(r.RPC().Params.Message.ContextID, alias)
		if r.RPC().Method == "SendMessage" {
			proxytest.Respond(rw, r, proxytest.TaskResult(r, "task-bob", alias))
			return
		}
		proxytest.Respond(rw, r, `{"tasks":[`+proxytest.TaskResult(r, "task-bob", alias)+`],"totalSize":1}`)
	})
	proxytest.WantStatus(t, "send", w.Call("bob", "SendMessage", proxytest.Message(`,"contextId":"shared"`)), 200)
	for _, got := range []proxytest.Response{
		w.Call("bob", "ListTasks", `{"contextId":"shared"}`), w.Do("bob", "GET", "/tasks?contextId=shared", "", "A2A-Version: 1.0"),
	} {
		if !strings.Contains(got.Body, "task-bob") || !strings.Contains(got.Body, `"contextId":"shared"`) {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
}

// TestA05_SubscribeAsSomebodyElse: nor do event ids of another stream help.
func TestA05_SubscribeAsSomebodyElse(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Own("alice", "task-alice", "c")
	for _, lines := range [][]string{{}, {"Last-Event-ID: 1"}} {
		for _, got := range []proxytest.Response{
			w.Call("bob", "SubscribeToTask", `{"id":"task-alice"}`, lines...),
			w.Do("bob", "GET", "/tasks/task-alice:subscribe", "", append(lines, "A2A-Version: 1.0")...),
			w.Do("bob", "POST", "", proxytest.RPCBody("tasks/resubscribe", `{"id":"task-alice"}`), lines...),
		} {
			if !strings.Contains(got.Body, "-32001") && !strings.Contains(got.Body, "TASK_NOT_FOUND") {
				t.Errorf("%v: %d %s", lines, got.Status, got.Body)
			}
		}
	}
	w.Agent.Silent(t, "subscribe")
}

// TestA09_UnknownMethods never reach the agent.
func TestA09_UnknownMethods(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	names := []string{
		"rpc.discover", "sendMessage", "SENDMESSAGE", "SendMessage\\u0000", " SendMessage", "SendMessage ", "send_message",
		"lf.a2a.v1.A2AService/SendMessage", "a2a.v1.A2AService.SendMessage", "Message/Send", "message/send/", "tasks", "",
		"extension/method", "agent/anything", "tasks/list", "ListTasksX", "message/\u017fend", "GetAgentCard", "system.listMethods",
	}
	for _, name := range names {
		for _, lines := range [][]string{{"A2A-Version: 1.0"}, {"A2A-Version: 0.3"}, {}, {"A2A-Version: 1.0", "A2A-Extensions: urn:declared"}} {
			body := `{"jsonrpc":"2.0","id":7,"method":"` + name + `","params":` + proxytest.Message("") + `}`
			got := w.Do("alice", "POST", "", body, lines...)
			if got.Status != 200 || !strings.Contains(got.Body, `"code":-32601`) || !strings.Contains(got.Body, `"id":7`) {
				t.Errorf("%q %v: %d %s", name, lines, got.Status, got.Body)
			}
		}
	}
	for _, path := range []string{"/message:sendx", "/Message:send", "/tasks/1:delete", "/rpc", "/v2/message:send", "/v1/v1/message:send", "/a/b/message:send"} {
		proxytest.WantStatus(t, path, w.Do("alice", "POST", path, proxytest.Message("")), 404, 405, 400)
	}
	w.Agent.Silent(t, "unknown methods")
}

// TestA10_VersionsAreOneOperation: a rule that is written for 1.0's name holds
// for every name, version and binding.
func TestA10_VersionsAreOneOperation(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"SendMessage", "GetTask", "CancelTask"} {
		w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
			s.Policy.Rules = append(s.Policy.Rules, policy.Rule{Name: "no", Effect: "deny", Methods: []string{method}, Subjects: []string{"bob"}})
		})
		w.Own("alice", "task", "c")
		for _, who := range []string{"alice", "bob"} {
			for _, c := range cells(t, "task", "") {
				if !strings.HasPrefix(c.name, method+" ") {
					continue
				}
				if who == "bob" && !strings.HasPrefix(c.name, "SendMessage") {
					continue // not his task: TestA01
				}
				if c.makes {
					c.body = strings.Replace(c.body, `"id":"task"`, `"id":"task-`+who+`"`, 1)
				}
				if method == "SendMessage" {
					c.body = strings.Replace(c.body, `,"taskId":"task"`, "", 1)
				}
				got := sendCell(w, who, c)
				if want := who == "alice"; want != (len(w.Agent.Take()) == 1) || want != (got.Status == 200) {
					t.Errorf("%s, %s: %d %s", who, c.name, got.Status, got.Body)
				}
			}
		}
	}
	w := proxytest.NewGateway(t)
	proxytest.WantStatus(t, "patch", w.Do("alice", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0.3"), 200)
	if v := w.Agent.One(t).Header["A2a-Version"]; !slices.Equal(v, []string{"1.0"}) {
		t.Errorf("the agent got version %q", v)
	}
	proxytest.WantStatus(t, "none", w.Do("alice", "POST", "", proxytest.RPCBody("message/send", proxytest.Message(""))), 200)
	if v := w.Agent.One(t).Header["A2a-Version"]; !slices.Equal(v, []string{"0.3"}) {
		t.Errorf("the agent got version %q", v)
	}
	for _, name := range []string{"message/send", "tasks/get", "tasks/send"} {
		got := w.Call("alice", name, `{"id":"x","message":{"messageId":"m","parts":[]}}`)
		if !strings.Contains(got.Body, "A2A-Version says 1.0") {
			t.Errorf("%s as 1.0: %s", name, got.Body)
		}
	}
	w.Agent.Silent(t, "names and versions that do not go together")
}

// TestA11_Tenant: what a caller writes must be what the agent's interface has.
func TestA11_Tenant(t *testing.T) {
	t.Parallel()
	bound := proxytest.NewAgent(t)
	bound.Doc = func(base string) string {
		return strings.ReplaceAll(proxytest.Card(base), `"protocolVersion":"1.0"}`, `"protocolVersion":"1.0","tenant":"acme"}`)
	}
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.More = []agents.Config{{ID: "bound"}}
		s.More[0].Card.URL = secret.URL(bound.URL + "/card")
	})
	for agent, a := range map[string]*proxytest.Agent{"rec": w.Agent, "bound": bound} {
		for _, tenant := range []string{"", "acme", "globex", "ACME"} {
			want := tenant == map[string]string{"rec": "", "bound": "acme"}[agent]
			base := w.URL + "/agents/" + agent
			params := strings.Replace(proxytest.Message(""), `{"message"`, `{"tenant":"`+tenant+`","message"`, 1)
			path := base
			if tenant != "" {
				path += "/" + tenant
			}
			for name, got := range map[string]proxytest.Response{
				"body":         w.Do("alice", "POST", base, proxytest.RPCBody("SendMessage", params), "A2A-Version: 1.0"),
				"path":         w.Do("alice", "POST", path+"/message:send", proxytest.Message(""), "A2A-Version: 1.0"),
				"HTTP body":    w.Do("alice", "POST", base+"/message:send", params, "A2A-Version: 1.0"),
				"contradicted": w.Do("alice", "POST", base+"/other/message:send", params, "A2A-Version: 1.0"),
			} {
				want := want && name != "contradicted"
				if want != (got.Status == 200 && !strings.Contains(got.Body, `"error"`)) {
					t.Errorf("%s, tenant %q in %s: %d %s", agent, tenant, name, got.Status, got.Body)
				}
				_ = a
			}
		}
	}
}

// TestA12_SkillCarriers: bob may read; no carrier lets him write.
func TestA12_SkillCarriers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{
			{Name: "all", Effect: "allow", Subjects: []string{"alice"}},
			{Name: "read", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}},
		}
	})
	selection := func(skill string) string { return `,"metadata":{"` + wire.SkillSelection + `":"` + skill + `"}` }
	for _, tt := range []struct {
		target, more string
		ok           bool
	}{
		{"/skills/read", "", true},
		{"", selection("read"), true},
		{"/skills/read", selection("read"), true},
		{"", "", false}, // undeclared: all of them are needed
		{"/skills/write%20it", "", false},
		{"", selection("write it"), false},
		{"/skills/read", selection("write it"), false},
		{"/skills/write%20it", selection("read"), false},
		{"/skills/none", "", false},
		{"", selection("none"), false},
		{"", `,"metadata":{"skill":"read","skillId":"read"}`, false},
	} {
		got := w.Do("bob", "POST", w.Base+tt.target, proxytest.RPCBody("SendMessage", proxytest.Message(tt.more)), "A2A-Version: 1.0")
		if seen := w.Agent.Take(); tt.ok != (got.Status == 200) || tt.ok != (len(seen) == 1) {
			t.Errorf("%s %s: %d, the agent saw %d: %s", tt.target, tt.more, got.Status, len(seen), got.Body)
		}
	}
	// A skill whose id needs escaping works for who may use it.
	got := w.Do("alice", "POST", w.Base+"/skills/write%20it/message:send", proxytest.Message(""), "A2A-Version: 1.0")
	if seen := w.Agent.One(t); got.Status != 200 || seen.URL.Path != "/rest/message:send" {
		t.Errorf("%d, the agent got %s", got.Status, seen.URL)
	}
	// A task goes on under the skill that it was made for.
	w.Own("alice", "task-write", "c")
	card := w.Do("bob", "GET", "/.well-known/agent-card.json", "")
	if !strings.Contains(card.Body, `"read"`) || strings.Contains(card.Body, "write it") || !strings.Contains(card.Body, "/agents/rec/skills/read") {
		t.Errorf("bob's card: %s", card.Body)
	}
}

// TestA16_ExtendedCard: for who may, each their own, and never stored.
func TestA16_ExtendedCard(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{
			{Name: "all", Effect: "allow", Subjects: []string{"alice"}},
			{Name: "read", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}},
			{Name: "card", Effect: "allow", Subjects: []string{"bob"}, Methods: []string{"GetExtendedAgentCard"}},
		}
	})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("Etag", `"agent"`)
		rw.Header().Set("Cache-Control", "public, max-age=9999")
		doc := strings.Replace(proxytest.Card(w.Agent.URL), `"skills":[`, `"skills":[{"id":"hidden","name":"H","description":"h","tags":[]},`, 1)
		proxytest.Respond(rw, r, doc)
	})
	bodies := map[string]string{}
	for _, who := range []string{"alice", "bob", "mallory", ""} {
		for _, got := range []proxytest.Response{
			w.Call(who, "GetExtendedAgentCard", "{}"), w.Do(who, "GET", "/extendedAgentCard", "", "A2A-Version: 1.0"),
			w.Do(who, "GET", "/v1/card", ""), w.Do(who, "POST", "", proxytest.RPCBody("agent/getAuthenticatedExtendedCard", "{}")),
		} {
			want := map[string]int{"alice": 200, "bob": 200, "mallory": 404, "": 401}[who]
			proxytest.WantStatus(t, who, got, want)
			if got.Header.Get("Cache-Control") != "no-store" || got.Header.Get("Etag") != "" {
				t.Errorf("%s: %v", who, got.Header)
			}
			if strings.Contains(got.Body, w.Agent.URL) {
				t.Errorf("%s reads the agent's URL: %s", who, got.Body)
			}
			bodies[who] = got.Body
		}
	}
	if !strings.Contains(bodies["alice"], "hidden") || strings.Contains(bodies["bob"], "hidden") || strings.Contains(bodies["bob"], "write it") {
		t.Errorf("alice: %s\nbob: %s", bodies["alice"], bodies["bob"])
	}
	if public := w.Do("", "GET", "/.well-known/agent-card.json", ""); strings.Contains(public.Body, "hidden") {
		t.Errorf("the public card has it: %s", public.Body)
	}
	if strings.Contains(w.Logs.String(), "hidden") {
		t.Error("the log has it")
	}
}

// TestExtendedCardOfListedSkills: with a list of the operator's, the agent has no other
// skills, in its extended card neither.
func TestExtendedCardOfListedSkills(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		list []string
		at   string // the skill that the path names
		want []string
	}{
		"no list":                {nil, "", []string{"hidden", "read", "write it"}},
		"some of them":           {[]string{"read", "other"}, "", []string{"read"}},
		"one of them":            {[]string{"read"}, "", []string{"read"}},
		"none of them":           {[]string{"other", "more"}, "", []string{}},
		"one that is not there":  {[]string{"other"}, "", []string{}},
		"at a skill of the list": {[]string{"read", "other"}, "/skills/read", []string{"read"}},
		"at one that is not":     {[]string{"read", "other"}, "/skills/other", []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
				for _, id := range tt.list {
					s.Agent.Skills = append(s.Agent.Skills, agents.SkillConfig{ID: id})
				}
			})
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				proxytest.Respond(rw, r, strings.Replace(proxytest.Card(w.Agent.URL), `"skills":[`, `"skills":[{"id":"hidden","name":"H","description":"h","tags":[]},`, 1))
			})
			got := w.Do("alice", "GET", w.Base+tt.at+"/extendedAgentCard", "", "A2A-Version: 1.0")
			proxytest.WantStatus(t, name, got, 200)
			var extended struct {
				Skills []struct {
					ID string `json:"id"`
				} `json:"skills"`
			}
			proxytest.Must(t, json.Unmarshal([]byte(got.Body), &extended))
			ids := []string{}
			for _, s := range extended.Skills {
				ids = append(ids, s.ID)
			}
			if !slices.Equal(ids, tt.want) {
				t.Errorf("%q, want %q: %s", ids, tt.want, got.Body)
			}
		})
	}
}

// TestA23_Credentials: what the caller shows the gateway stays there.
func TestA23_Credentials(t *testing.T) {
	t.Parallel()
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	proxytest.Must(t, err)
	t.Cleanup(func() { _ = issuer.Close(context.Background()) })
	oauth := &credentials.OAuth2{
		TokenURL: secret.URL(issuer.URL + "/token"), ClientID: "alice", ClientSecret: secret.New("alice-secret"),
		Scopes: []string{"billing.read"}, Audience: "agent",
	}
	tests := map[string]struct {
		credentials []credentials.Credential
		want        func(t *testing.T, h http.Header, inbound string) bool
	}{
		"none": {nil, func(_ *testing.T, h http.Header, _ string) bool { return h["Authorization"] == nil }},
		"static": {
			[]credentials.Credential{{Value: secret.New("Bearer static")}, {Header: "x-key", Value: secret.New("k")}},
			func(_ *testing.T, h http.Header, _ string) bool {
				return slices.Equal(h["Authorization"], []string{"Bearer static"}) && slices.Equal(h["X-Key"], []string{"k"})
			},
		},
		"OAuth2": {[]credentials.Credential{{OAuth2: oauth}}, func(_ *testing.T, h http.Header, inbound string) bool {
			token, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
			return ok && strings.Count(token, ".") == 2 && "Bearer "+token != inbound && len(h["Authorization"]) == 1
		}},
		"passed on": {[]credentials.Credential{{Passthrough: true}}, func(_ *testing.T, h http.Header, inbound string) bool {
			return slices.Equal(h["Authorization"], []string{inbound})
		}},
	}
	token, err := issuer.Issue("alice", demo.IssueOptions{})
	proxytest.Must(t, err)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
				s.Authn.OIDC = []jwt.Issuer{{Issuer: issuer.URL, Audiences: []string{"a2a-gateway"}}}
				s.Agent.Credentials = tt.credentials
			})
			inbound := "Bearer " + token
			for _, method := range []string{"SendMessage", "SendStreamingMessage", "GetTask"} {
				params := proxytest.Message("")
				if method == "GetTask" {
					w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
						proxytest.Respond(rw, r, proxytest.TaskResult(r, "task", "c"))
					})
					proxytest.WantStatus(t, "make", w.Call("", "SendMessage", params, "Authorization: "+inbound), 200)
					w.Agent.Answers(proxytest.Agreeable)
					w.Agent.Take()
					params = `{"id":"task"}`
				}
				proxytest.WantStatus(t, method, w.Call("", method, params, "Authorization: "+inbound), 200)
				seen := w.Agent.One(t)
				if !tt.want(t, seen.Header, inbound) {
					t.Errorf("%s: the agent got %v", method, seen.Header)
				}
				if all := fmt.Sprint(seen.Header, seen.URL, string(seen.Content)); name != "passed on" && strings.Contains(all, token) {
					t.Errorf("%s: the agent got the caller's token: %s", method, all)
				}
			}
			// A key goes nowhere, whatever the agent is shown.
			proxytest.WantStatus(t, "key", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
			if seen := w.Agent.One(t); strings.Contains(fmt.Sprint(seen.Header), w.Keys["alice"]) {
				t.Errorf("the agent got the key: %v", seen.Header)
			}
			if got := w.Logs.String() + fmt.Sprint(w.Audited("call"), w.Audited("intent")); strings.Contains(got, token) || strings.Contains(got, "alice-secret") {
				t.Error("a credential was recorded")
			}
		})
	}
}

// TestA28_Canaries: nothing that a caller or an agent writes becomes a metric,
// and no payload or credential is recorded.
func TestA28_Canaries(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		rw.Header().Set("X-Canary", "canary-answer")
		proxytest.Respond(rw, r, `{"task":{"id":"canary-task","contextId":"canary-context","status":{"state":"CANARY"},`+
			`"artifacts":[{"artifactId":"a","parts":[{"text":"canary-payload"}],"extensions":["urn:canary"]}]}}`)
	})
	params := `{"message":{"messageId":"canary-message","parts":[{"text":"canary-payload"}],"extensions":["urn:canary"],` +
		`"metadata":{"canary-key":"canary-payload"}},"configuration":{"pushNotificationConfig":` +
		`{"url":"https://canary.example/canary-payload","token":"canary-payload"}}}`
	w.Call("alice", "SendMessage", params, "A2A-Extensions: urn:canary", "User-Agent: canary", "X-Canary: canary-payload",
		"Accept-Language: canary", "Idempotency-Key: canary-payload", "Traceparent: canary")
	w.Call("alice", "SendStreamingMessage", params)
	w.Call("alice", "canary/method", params)
	w.Call("alice", "GetTask", `{"id":"canary-unknown"}`)
	w.Do("alice", "GET", w.URL+"/agents/canary/tasks/canary?x=canary-payload", "")
	w.Do("alice", "GET", "/tasks/canary?pageToken=canary-payload", "", "A2A-Version: 1.0")
	w.Do("alice", "POST", w.Base+"/skills/canary", proxytest.RPCBody("SendMessage", proxytest.Message("")))
	w.Do("", "POST", "", params, "X-API-Key: a2a_canary_payload", "Host: canary.example")
	w.Do("", "POST", "", params, "Authorization: Bearer canary-payload")
	w.Do("", "CANARY", "", "")

	rw := &proxytest.ResponseBuffer{Head: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	proxytest.Must(t, err)
	promhttp.HandlerFor(w.Telemetry.Registry, promhttp.HandlerOpts{}).ServeHTTP(rw, r)
	if text := rw.Text.String(); strings.Contains(strings.ToLower(text), "canary") || !strings.Contains(text, "a2a_gateway_requests_total") {
		for line := range strings.Lines(text) {
			if strings.Contains(strings.ToLower(line), "canary") {
				t.Errorf("metric %s", line)
			}
		}
	}
	records := fmt.Sprint(w.Audited("call"), w.Audited("intent"))
	if strings.Contains(w.Logs.String(), "canary-payload") || strings.Contains(records, "canary-payload") || strings.Contains(records, "canary_payload") {
		t.Errorf("a payload was recorded: %s\n%s", w.Logs.String(), records)
	}
}

var _ io.Writer = (*proxytest.ResponseBuffer)(nil)
