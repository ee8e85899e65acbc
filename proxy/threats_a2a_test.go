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
			all = append(all, cell{fmt.Sprintf("%s %s JSON-RPC", m.Name, v), "POST", "", rpcBody(name, params), version,
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
				all = append(all, cell{m.Name + more, "POST", "", rpcBody(m.Name, message(more)), "1.0", false})
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
		return message(more)
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

func (w *world) cell(who string, c cell) answer {
	return w.do(who, c.verb, c.target, c.body, "A2A-Version: "+c.version)
}

// own has alice make a task of an id, in a context.
func (w *world) own(who, task, context string) {
	w.Helper()
	w.agent.answers(func(rw http.ResponseWriter, r *record) { reply(rw, r, taskResult(r, task, context)) })
	wantStatus(w, "make a task", w.call(who, "SendMessage", message("")), 200)
	w.agent.answers(agreeable)
	w.agent.take()
}

// TestA01_ForeignTasks: whatever bob asks about alice's task, he gets the very
// bytes that he gets about a task that is not there, and the agent hears nothing.
func TestA01_ForeignTasks(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.own("alice", "task-alice", "")
	foreign, absent := cells(t, "task-alice", ""), cells(t, "task-absent", "")
	for i, c := range foreign {
		if c.makes {
			// What is absent would be made. A foreign one is refused all the same.
			if got := w.cell("bob", c); !strings.Contains(got.body, "-32001") {
				t.Errorf("%s: %s", c.name, got.body)
			}
			w.agent.silent(t, c.name)
			continue
		}
		got, none := w.cell("bob", c), w.cell("bob", absent[i])
		w.agent.silent(t, c.name)
		if got.status != none.status || got.body != none.body || fmt.Sprint(sameHeader(got)) != fmt.Sprint(sameHeader(none)) {
			t.Errorf("%s: foreign: %d %v %s\nabsent: %d %v %s", c.name, got.status, got.header, got.body, none.status, none.header, none.body)
		}
		if !strings.Contains(got.body, "-32001") && !strings.Contains(got.body, "TASK_NOT_FOUND") {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
}

// sameHeader is a header without what differs from answer to answer.
func sameHeader(a answer) http.Header {
	h := a.header.Clone()
	h.Del("X-Request-Id")
	h.Del("Date")
	return h
}

// TestA01_OwnTasks: the same calls by the owner reach the agent, so that the
// test above tests something.
func TestA01_OwnTasks(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.own("alice", "task-alice", "")
	for _, c := range cells(t, "task-alice", "") {
		got := w.cell("alice", c)
		if got.status != 200 || len(w.agent.take()) != 1 {
			t.Errorf("%s: %d %s", c.name, got.status, got.body)
		}
	}
}

// TestA01_AnswerShowsForeignTask: an agent that mixes callers up is not helped.
func TestA01_AnswerShowsForeignTask(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.own("alice", "task-alice", "context-alice")
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		for _, shown := range [][2]string{{"task-alice", "context-x"}, {"task-x" + method, "context-alice"}} {
			w.agent.answers(func(rw http.ResponseWriter, r *record) { reply(rw, r, taskResult(r, shown[0], shown[1])) })
			got := w.call("bob", method, message(""))
			if strings.Contains(got.body, "alice") || !strings.Contains(got.body, "-32006") {
				t.Errorf("%s, %v: %d %s", method, shown, got.status, got.body)
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
		ask   ask
	}{
		{rpc03, ask{method: wire.ListTasks}},
		{rpc03, ask{method: wire.SubscribeToTask, task: "task-bob"}},
		{rpc01, ask{method: wire.SendMessage, task: "task-bob"}},
	} {
		w := in(t, speaks(tt.agent))
		w.given("alice", w.base, w.agent, "task-alice", "context-alice", "")
		w.given("bob", w.base, w.agent, "task-bob", "", "")
		w.agent.answers(func(rw http.ResponseWriter, r *record) {
			switch s := r.side(); {
			case r.method().Name == wire.GetTask:
				r.say(rw, taskIn(s, "task-bob", "context-alice", "input-required", ""))
			case r.method().Streams:
				r.say(rw)
			default:
				r.say(rw, taskIn(s, "task-bob", "", "working", ""))
			}
		})
		got := w.speak("bob", w.base, rpc10, tt.ask)
		got.refused(t, tt.ask.method, wire.BadAgentResponse)
		if strings.Contains(got.body, "alice") {
			t.Errorf("%s %s: %d %s", tt.agent, tt.ask.method, got.status, got.body)
		}
	}
}

// TestA01_SecondTaskInEvent: an event can name another task beside the one that
// the stream is about.
func TestA01_SecondTaskInEvent(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.own("alice", "task-alice", "context-alice")
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Content-Type", "text/event-stream")
		const own = `"taskId":"task-bob","contextId":"context-bob","status":{"state":"TASK_STATE_WORKING"}`
		for _, result := range []string{
			`{"statusUpdate":{` + own + `}}`, `{"statusUpdate":{` + own + `}}`,
			`{"statusUpdate":{` + own + `},"id":"task-alice","status":{"state":"TASK_STATE_WORKING"}}`,
		} {
			_, _ = fmt.Fprintf(rw, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":%s}\n\n", result)
		}
	})
	got := w.call("bob", "SendStreamingMessage", message(""))
	if strings.Count(got.body, "task-bob") != 2 || strings.Contains(got.body, "task-alice") || !strings.Contains(got.body, "-32006") {
		t.Errorf("%s", got.body)
	}
}

// TestA03_ForeignContext: bob uses alice's context id and gets one of his own
// under that name, both ways, again on every call that follows.
func TestA03_ForeignContext(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.own("alice", "task-alice", "shared")
	aliases := map[string]bool{}
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		context := cmp.Or(r.rpc().Params.Message.ContextID, r.rpc().Params.Message.Context)
		if r.Method == http.MethodGet {
			context = r.URL.Query().Get("contextId")
		}
		if strings.Contains(string(r.body)+r.URL.RawQuery, "shared") {
			t.Errorf("the agent got %s %s", r.URL, r.body)
		}
		aliases[context] = true
		reply(rw, r, taskResult(r, "task-bob", context))
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
			got := w.call("bob", method, message(more))
			if got.status != 200 || !strings.Contains(got.body, `"contextId":"shar`) {
				t.Errorf("%s %s: %d %s", method, more, got.status, got.body)
			}
		}
	}
	if len(aliases) != 1 || aliases["shared"] || aliases[""] {
		t.Errorf("the agent saw contexts %v", aliases)
	}
	for alias := range aliases {
		// The replacement is bob's, and nobody else can compute or use it.
		if got := w.call("bob", "SendMessage", message(`,"contextId":"`+alias+`"`)); got.status != 200 {
			t.Errorf("the replacement by its own name: %d %s", got.status, got.body)
		}
	}
	// The owner is not touched by any of this.
	w.agent.answers(agreeable)
	w.agent.take()
	wantStatus(t, "alice", w.call("alice", "SendMessage", message(`,"contextId":"shared"`)), 200)
	if seen := w.agent.one(t); seen.rpc().Params.Message.ContextID != "shared" {
		t.Errorf("alice's agent saw %s", seen.body)
	}
	// A task and a context that do not go together are no task.
	w.own("bob", "task-other", "context-other")
	for _, context := range []string{"shared", "context-nobody"} {
		got := w.call("bob", "SendMessage", message(`,"taskId":"task-other","contextId":"`+context+`"`))
		if !strings.Contains(got.body, "-32001") {
			t.Errorf("task-other in %s: %s", context, got.body)
		}
	}
	w.agent.silent(t, "a task in a foreign context")
}

// TestA03_ForeignContextFilter: the filter of ListTasks is a context as well.
func TestA03_ForeignContextFilter(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.own("alice", "task-alice", "shared")
	w.agent.answers(func(rw http.ResponseWriter, r *record) { reply(rw, r, `{"tasks":[],"totalSize":0}`) })
	wantStatus(t, "list", w.do("bob", "GET", "/tasks?pageSize=2&contextId=shared&x=%20", "", "A2A-Version: 1.0"), 200)
	q := w.agent.one(t).URL
	if q.Query().Get("contextId") == "shared" || q.Query().Get("contextId") == "" || !strings.HasSuffix(q.RawQuery, "&x=%20") {
		t.Errorf("the agent got %s", q)
	}
	for _, name := range []string{"context%49d", "context_id", "%63ontext%5fid"} {
		wantStatus(t, name, w.do("bob", "GET", "/tasks?"+name+"=shar%65d", "", "A2A-Version: 1.0"), 200)
		if q := w.agent.one(t).URL.Query(); q.Get("contextId") == "shared" || q.Get("contextId") == "" || q.Has("context_id") {
			t.Errorf("%s: the agent got %s", name, q)
		}
	}
	wantStatus(t, "list", w.call("bob", "ListTasks", `{"contextId":"shared"}`), 200)
	if seen := w.agent.one(t); strings.Contains(string(seen.body), "shared") {
		t.Errorf("the agent got %s", seen.body)
	}
	// What bob has in the context goes by the name that bob knows, however he asks.
	alias := ""
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		alias = cmp.Or(r.rpc().Params.Message.ContextID, alias)
		if r.rpc().Method == "SendMessage" {
			reply(rw, r, taskResult(r, "task-bob", alias))
			return
		}
		reply(rw, r, `{"tasks":[`+taskResult(r, "task-bob", alias)+`],"totalSize":1}`)
	})
	wantStatus(t, "send", w.call("bob", "SendMessage", message(`,"contextId":"shared"`)), 200)
	for _, got := range []answer{
		w.call("bob", "ListTasks", `{"contextId":"shared"}`), w.do("bob", "GET", "/tasks?contextId=shared", "", "A2A-Version: 1.0"),
	} {
		if !strings.Contains(got.body, "task-bob") || !strings.Contains(got.body, `"contextId":"shared"`) {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// TestA05_SubscribeAsSomebodyElse: nor do event ids of another stream help.
func TestA05_SubscribeAsSomebodyElse(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.own("alice", "task-alice", "c")
	for _, lines := range [][]string{{}, {"Last-Event-ID: 1"}} {
		for _, got := range []answer{
			w.call("bob", "SubscribeToTask", `{"id":"task-alice"}`, lines...),
			w.do("bob", "GET", "/tasks/task-alice:subscribe", "", append(lines, "A2A-Version: 1.0")...),
			w.do("bob", "POST", "", rpcBody("tasks/resubscribe", `{"id":"task-alice"}`), lines...),
		} {
			if !strings.Contains(got.body, "-32001") && !strings.Contains(got.body, "TASK_NOT_FOUND") {
				t.Errorf("%v: %d %s", lines, got.status, got.body)
			}
		}
	}
	w.agent.silent(t, "subscribe")
}

// TestA09_UnknownMethods never reach the agent.
func TestA09_UnknownMethods(t *testing.T) {
	t.Parallel()
	w := build(t)
	names := []string{
		"rpc.discover", "sendMessage", "SENDMESSAGE", "SendMessage\\u0000", " SendMessage", "SendMessage ", "send_message",
		"lf.a2a.v1.A2AService/SendMessage", "a2a.v1.A2AService.SendMessage", "Message/Send", "message/send/", "tasks", "",
		"extension/method", "agent/anything", "tasks/list", "ListTasksX", "message/\u017fend", "GetAgentCard", "system.listMethods",
	}
	for _, name := range names {
		for _, lines := range [][]string{{"A2A-Version: 1.0"}, {"A2A-Version: 0.3"}, {}, {"A2A-Version: 1.0", "A2A-Extensions: urn:declared"}} {
			body := `{"jsonrpc":"2.0","id":7,"method":"` + name + `","params":` + message("") + `}`
			got := w.do("alice", "POST", "", body, lines...)
			if got.status != 200 || !strings.Contains(got.body, `"code":-32601`) || !strings.Contains(got.body, `"id":7`) {
				t.Errorf("%q %v: %d %s", name, lines, got.status, got.body)
			}
		}
	}
	for _, path := range []string{"/message:sendx", "/Message:send", "/tasks/1:delete", "/rpc", "/v2/message:send", "/v1/v1/message:send", "/a/b/message:send"} {
		wantStatus(t, path, w.do("alice", "POST", path, message("")), 404, 405, 400)
	}
	w.agent.silent(t, "unknown methods")
}

// TestA10_VersionsAreOneOperation: a rule that is written for 1.0's name holds
// for every name, version and binding.
func TestA10_VersionsAreOneOperation(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"SendMessage", "GetTask", "CancelTask"} {
		w := build(t, func(s *setup) {
			s.policy.Rules = append(s.policy.Rules, policy.Rule{Name: "no", Effect: "deny", Methods: []string{method}, Subjects: []string{"bob"}})
		})
		w.own("alice", "task", "c")
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
				got := w.cell(who, c)
				if want := who == "alice"; want != (len(w.agent.take()) == 1) || want != (got.status == 200) {
					t.Errorf("%s, %s: %d %s", who, c.name, got.status, got.body)
				}
			}
		}
	}
	w := build(t)
	wantStatus(t, "patch", w.do("alice", "POST", "", rpcBody("SendMessage", message("")), "A2A-Version: 1.0.3"), 200)
	if v := w.agent.one(t).Header["A2a-Version"]; !slices.Equal(v, []string{"1.0"}) {
		t.Errorf("the agent got version %q", v)
	}
	wantStatus(t, "none", w.do("alice", "POST", "", rpcBody("message/send", message(""))), 200)
	if v := w.agent.one(t).Header["A2a-Version"]; !slices.Equal(v, []string{"0.3"}) {
		t.Errorf("the agent got version %q", v)
	}
	for _, name := range []string{"message/send", "tasks/get", "tasks/send"} {
		got := w.call("alice", name, `{"id":"x","message":{"messageId":"m","parts":[]}}`)
		if !strings.Contains(got.body, "A2A-Version says 1.0") {
			t.Errorf("%s as 1.0: %s", name, got.body)
		}
	}
	w.agent.silent(t, "names and versions that do not go together")
}

// TestA11_Tenant: what a caller writes must be what the agent's interface has.
func TestA11_Tenant(t *testing.T) {
	t.Parallel()
	bound := newRecorder(t)
	bound.doc = func(base string) string {
		return strings.ReplaceAll(cardOf(base), `"protocolVersion":"1.0"}`, `"protocolVersion":"1.0","tenant":"acme"}`)
	}
	w := build(t, func(s *setup) {
		s.more = []agents.Config{{ID: "bound"}}
		s.more[0].Card.URL = secret.URL(bound.URL + "/card")
	})
	for agent, a := range map[string]*recorder{"rec": w.agent, "bound": bound} {
		for _, tenant := range []string{"", "acme", "globex", "ACME"} {
			want := tenant == map[string]string{"rec": "", "bound": "acme"}[agent]
			base := w.url + "/agents/" + agent
			params := strings.Replace(message(""), `{"message"`, `{"tenant":"`+tenant+`","message"`, 1)
			path := base
			if tenant != "" {
				path += "/" + tenant
			}
			for name, got := range map[string]answer{
				"body":         w.do("alice", "POST", base, rpcBody("SendMessage", params), "A2A-Version: 1.0"),
				"path":         w.do("alice", "POST", path+"/message:send", message(""), "A2A-Version: 1.0"),
				"HTTP body":    w.do("alice", "POST", base+"/message:send", params, "A2A-Version: 1.0"),
				"contradicted": w.do("alice", "POST", base+"/other/message:send", params, "A2A-Version: 1.0"),
			} {
				want := want && name != "contradicted"
				if want != (got.status == 200 && !strings.Contains(got.body, `"error"`)) {
					t.Errorf("%s, tenant %q in %s: %d %s", agent, tenant, name, got.status, got.body)
				}
				_ = a
			}
		}
	}
}

// TestA12_SkillCarriers: bob may read; no carrier lets him write.
func TestA12_SkillCarriers(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) {
		s.policy.Rules = []policy.Rule{
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
		got := w.do("bob", "POST", w.base+tt.target, rpcBody("SendMessage", message(tt.more)), "A2A-Version: 1.0")
		if seen := w.agent.take(); tt.ok != (got.status == 200) || tt.ok != (len(seen) == 1) {
			t.Errorf("%s %s: %d, the agent saw %d: %s", tt.target, tt.more, got.status, len(seen), got.body)
		}
	}
	// A skill whose id needs escaping works for who may use it.
	got := w.do("alice", "POST", w.base+"/skills/write%20it/message:send", message(""), "A2A-Version: 1.0")
	if seen := w.agent.one(t); got.status != 200 || seen.URL.Path != "/rest/message:send" {
		t.Errorf("%d, the agent got %s", got.status, seen.URL)
	}
	// A task goes on under the skill that it was made for.
	w.own("alice", "task-write", "c")
	card := w.do("bob", "GET", "/.well-known/agent-card.json", "")
	if !strings.Contains(card.body, `"read"`) || strings.Contains(card.body, "write it") || !strings.Contains(card.body, "/agents/rec/skills/read") {
		t.Errorf("bob's card: %s", card.body)
	}
}

// TestA16_ExtendedCard: for who may, each their own, and never stored.
func TestA16_ExtendedCard(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) {
		s.policy.Rules = []policy.Rule{
			{Name: "all", Effect: "allow", Subjects: []string{"alice"}},
			{Name: "read", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}},
			{Name: "card", Effect: "allow", Subjects: []string{"bob"}, Methods: []string{"GetExtendedAgentCard"}},
		}
	})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("Etag", `"agent"`)
		rw.Header().Set("Cache-Control", "public, max-age=9999")
		doc := strings.Replace(cardOf(w.agent.URL), `"skills":[`, `"skills":[{"id":"hidden","name":"H","description":"h","tags":[]},`, 1)
		reply(rw, r, doc)
	})
	bodies := map[string]string{}
	for _, who := range []string{"alice", "bob", "mallory", ""} {
		for _, got := range []answer{
			w.call(who, "GetExtendedAgentCard", "{}"), w.do(who, "GET", "/extendedAgentCard", "", "A2A-Version: 1.0"),
			w.do(who, "GET", "/v1/card", ""), w.do(who, "POST", "", rpcBody("agent/getAuthenticatedExtendedCard", "{}")),
		} {
			want := map[string]int{"alice": 200, "bob": 200, "mallory": 404, "": 401}[who]
			wantStatus(t, who, got, want)
			if got.header.Get("Cache-Control") != "no-store" || got.header.Get("Etag") != "" {
				t.Errorf("%s: %v", who, got.header)
			}
			if strings.Contains(got.body, w.agent.URL) {
				t.Errorf("%s reads the agent's URL: %s", who, got.body)
			}
			bodies[who] = got.body
		}
	}
	if !strings.Contains(bodies["alice"], "hidden") || strings.Contains(bodies["bob"], "hidden") || strings.Contains(bodies["bob"], "write it") {
		t.Errorf("alice: %s\nbob: %s", bodies["alice"], bodies["bob"])
	}
	if public := w.do("", "GET", "/.well-known/agent-card.json", ""); strings.Contains(public.body, "hidden") {
		t.Errorf("the public card has it: %s", public.body)
	}
	if strings.Contains(w.logs.String(), "hidden") {
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
			w := build(t, func(s *setup) {
				for _, id := range tt.list {
					s.agent.Skills = append(s.agent.Skills, agents.SkillConfig{ID: id})
				}
			})
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				reply(rw, r, strings.Replace(cardOf(w.agent.URL), `"skills":[`, `"skills":[{"id":"hidden","name":"H","description":"h","tags":[]},`, 1))
			})
			got := w.do("alice", "GET", w.base+tt.at+"/extendedAgentCard", "", "A2A-Version: 1.0")
			wantStatus(t, name, got, 200)
			var extended struct {
				Skills []struct {
					ID string `json:"id"`
				} `json:"skills"`
			}
			must(t, json.Unmarshal([]byte(got.body), &extended))
			ids := []string{}
			for _, s := range extended.Skills {
				ids = append(ids, s.ID)
			}
			if !slices.Equal(ids, tt.want) {
				t.Errorf("%q, want %q: %s", ids, tt.want, got.body)
			}
		})
	}
}

// TestA23_Credentials: what the caller shows the gateway stays there.
func TestA23_Credentials(t *testing.T) {
	t.Parallel()
	issuer, err := demo.NewIssuer(demo.IssuerOptions{})
	must(t, err)
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
	must(t, err)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, func(s *setup) {
				s.authn.OIDC = []jwt.Issuer{{Issuer: issuer.URL, Audiences: []string{"a2a-gateway"}}}
				s.agent.Credentials = tt.credentials
			})
			inbound := "Bearer " + token
			for _, method := range []string{"SendMessage", "SendStreamingMessage", "GetTask"} {
				params := message("")
				if method == "GetTask" {
					w.agent.answers(func(rw http.ResponseWriter, r *record) { reply(rw, r, taskResult(r, "task", "c")) })
					wantStatus(t, "make", w.call("", "SendMessage", params, "Authorization: "+inbound), 200)
					w.agent.answers(agreeable)
					w.agent.take()
					params = `{"id":"task"}`
				}
				wantStatus(t, method, w.call("", method, params, "Authorization: "+inbound), 200)
				seen := w.agent.one(t)
				if !tt.want(t, seen.Header, inbound) {
					t.Errorf("%s: the agent got %v", method, seen.Header)
				}
				if all := fmt.Sprint(seen.Header, seen.URL, string(seen.body)); name != "passed on" && strings.Contains(all, token) {
					t.Errorf("%s: the agent got the caller's token: %s", method, all)
				}
			}
			// A key goes nowhere, whatever the agent is shown.
			wantStatus(t, "key", w.call("alice", "SendMessage", message("")), 200)
			if seen := w.agent.one(t); strings.Contains(fmt.Sprint(seen.Header), w.keys["alice"]) {
				t.Errorf("the agent got the key: %v", seen.Header)
			}
			if got := w.logs.String() + fmt.Sprint(w.audited("call"), w.audited("intent")); strings.Contains(got, token) || strings.Contains(got, "alice-secret") {
				t.Error("a credential was recorded")
			}
		})
	}
}

// TestA28_Canaries: nothing that a caller or an agent writes becomes a metric,
// and no payload or credential is recorded.
func TestA28_Canaries(t *testing.T) {
	t.Parallel()
	w := build(t)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		rw.Header().Set("X-Canary", "canary-answer")
		reply(rw, r, `{"task":{"id":"canary-task","contextId":"canary-context","status":{"state":"CANARY"},`+
			`"artifacts":[{"artifactId":"a","parts":[{"text":"canary-payload"}],"extensions":["urn:canary"]}]}}`)
	})
	params := `{"message":{"messageId":"canary-message","parts":[{"text":"canary-payload"}],"extensions":["urn:canary"],` +
		`"metadata":{"canary-key":"canary-payload"}},"configuration":{"pushNotificationConfig":` +
		`{"url":"https://canary.example/canary-payload","token":"canary-payload"}}}`
	w.call("alice", "SendMessage", params, "A2A-Extensions: urn:canary", "User-Agent: canary", "X-Canary: canary-payload",
		"Accept-Language: canary", "Idempotency-Key: canary-payload", "Traceparent: canary")
	w.call("alice", "SendStreamingMessage", params)
	w.call("alice", "canary/method", params)
	w.call("alice", "GetTask", `{"id":"canary-unknown"}`)
	w.do("alice", "GET", w.url+"/agents/canary/tasks/canary?x=canary-payload", "")
	w.do("alice", "GET", "/tasks/canary?pageToken=canary-payload", "", "A2A-Version: 1.0")
	w.do("alice", "POST", w.base+"/skills/canary", rpcBody("SendMessage", message("")))
	w.do("", "POST", "", params, "X-API-Key: a2a_canary_payload", "Host: canary.example")
	w.do("", "POST", "", params, "Authorization: Bearer canary-payload")
	w.do("", "CANARY", "", "")

	rw := &responseBuffer{header: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	must(t, err)
	promhttp.HandlerFor(w.tel.Registry, promhttp.HandlerOpts{}).ServeHTTP(rw, r)
	if text := rw.text.String(); strings.Contains(strings.ToLower(text), "canary") || !strings.Contains(text, "a2a_gateway_requests_total") {
		for line := range strings.Lines(text) {
			if strings.Contains(strings.ToLower(line), "canary") {
				t.Errorf("metric %s", line)
			}
		}
	}
	records := fmt.Sprint(w.audited("call"), w.audited("intent"))
	if strings.Contains(w.logs.String(), "canary-payload") || strings.Contains(records, "canary-payload") || strings.Contains(records, "canary_payload") {
		t.Errorf("a payload was recorded: %s\n%s", w.logs.String(), records)
	}
}

// responseBuffer is a ResponseWriter that keeps the body.
type responseBuffer struct {
	header http.Header
	text   strings.Builder
}

func (b *responseBuffer) Header() http.Header         { return b.header }
func (b *responseBuffer) WriteHeader(int)             {}
func (b *responseBuffer) Write(p []byte) (int, error) { return b.text.Write(p) }

var _ io.Writer = (*responseBuffer)(nil)
