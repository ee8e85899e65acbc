package proxy_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// fleet is a world with a second agent, "other", whose 1.0 interfaces are a
// tenant's, and a third that only alice may know of.
func fleet(t testing.TB) (w *world, other *recorder) {
	t.Helper()
	other = newRecorder(t)
	other.answers(fluent)
	other.doc = func(base string) string {
		return cardWith(base, interfaceOf(base, rpc10, "acme"), interfaceOf(base, rest10, "acme"), interfaceOf(base, grpc10, "acme"))
	}
	w = build(t, func(s *setup) {
		s.more = []agents.Config{{ID: "other"}, {ID: "hidden"}}
		s.more[0].Card.URL = secret.URL(other.URL + "/card")
		s.more[1].Card.URL = secret.URL(other.URL + "/card")
		s.bound = map[string]string{"tied": "rec", "moored": "other"}
		s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, "moored")
		s.policy.Rules = append(s.policy.Rules, policy.Rule{
			Name: "hide", Effect: "deny", Agents: []string{"hidden"}, Subjects: []string{"bob", "tied", "moored"},
		})
	})
	w.agent.answers(fluent)
	return w, other
}

// TestSharedVerbatim: the tenant that names the agent gives way to the one that the
// interface has, and not another byte changes.
func TestSharedVerbatim(t *testing.T) {
	t.Parallel()
	w, other := fleet(t)
	const odd = `"n":9007199254740993.000, "x":{"tenant":"@"}, "u":"\u0041\/" `
	for name, body := range map[string]string{
		"last":       `{ "method":"SendMessage","jsonrpc":"2.0", "id": 12345678901234567890,"params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}],` + odd + `},"tenant" : "@"  } }`,
		"first":      `{"id":"a\u0062","params":{"tenant":"@",` + odd + `,"message":{"parts":[],"messageId":"m"}},"jsonrpc":"2.0","method":"SendStreamingMessage"}`,
		"in between": `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","parts":[]},"tenant":"@","metadata":{` + odd + `}}}`,
		"in a push config": `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"configuration":{"taskPushNotificationConfig":` +
			`{"tenant":"@","url":"https://hook.example/"}},"message":{"messageId":"m","parts":[]},"tenant":"@","metadata":{` + odd + `}}}`,
		"as a push config": `{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":` +
			`{"taskId":"task-@","url":"https://hook.example/","tenant":"@",` + odd + `}}`,
	} {
		for agent, tt := range map[string]struct {
			*recorder
			tenant string
		}{"rec": {w.agent, ""}, "other": {other, "acme"}} {
			w.given("alice", w.url+"/agents/"+agent, tt.recorder, "task-"+agent, "", tt.tenant)
			// Only what is A2A's tenant is one; metadata and the like are the agent's.
			in := strings.ReplaceAll(body, `"x":{"tenant":"@"}`, `"x":{"tenant":"-"}`)
			in = strings.ReplaceAll(in, `task-@`, "task-"+agent)
			sent := strings.ReplaceAll(in, `"@"`, `"`+agent+`"`)
			got := w.do("alice", "POST", w.url+"/a2a", sent, "A2A-Version: 1.0")
			if got.status != 200 || strings.Contains(got.body, `"error"`) {
				t.Errorf("%s %s: %d %s", name, agent, got.status, got.body)
			}
			if seen, want := tt.one(t), strings.ReplaceAll(in, `"@"`, `"`+tt.tenant+`"`); string(seen.body) != want {
				t.Errorf("%s %s: the agent got\n%s, want\n%s", name, agent, seen.body, want)
			}
		}
	}
}

// TestSharedHTTP: below the shared endpoint the agent's name stands in the path, the
// query or the body, and the agent gets the path that its interface has.
func TestSharedHTTP(t *testing.T) {
	t.Parallel()
	w, other := fleet(t)
	named := func(agent string) string {
		return strings.Replace(message(`,"n":1.0`), `{"message"`, `{"tenant":"`+agent+`", "message"`, 1)
	}
	w.given("alice", w.url+"/agents/rec", w.agent, "t", "c", "")
	w.given("alice", w.url+"/agents/other", other, "t", "c", "acme")
	for name, tt := range map[string]struct {
		agent        *recorder
		verb, target string
		body         string
		url, got     string // as the agent sees them
	}{
		"path":            {w.agent, "POST", "/a2a/rec/message:send", message(`,"n":1.0`), "/rest/message:send", message(`,"n":1.0`)},
		"path to tenant":  {other, "POST", "/a2a/other/message:send", message(""), "/rest/acme/message:send", message("")},
		"body":            {w.agent, "POST", "/a2a/message:send", named("rec"), "/rest/message:send", named("")},
		"body to tenant":  {other, "POST", "/a2a/message:send", named("other"), "/rest/message:send", named("acme")},
		"both":            {other, "POST", "/a2a/other/message:send", named("other"), "/rest/acme/message:send", named("acme")},
		"query":           {w.agent, "GET", "/a2a/tasks/t?tenant=rec&historyLength=%33", "", "/rest/tasks/t?tenant=&historyLength=%33", ""},
		"query to tenant": {other, "GET", "/a2a/tasks/t?a=b&tenant=other", "", "/rest/tasks/t?a=b&tenant=acme", ""},
		"encoded query":   {other, "GET", "/a2a/tasks/t?t%65nant=o%74her&x=", "", "/rest/tasks/t?tenant=acme&x=", ""},
		"path and query":  {other, "GET", "/a2a/other/tasks/t?tenant=other", "", "/rest/acme/tasks/t?tenant=acme", ""},
		"a skill":         {w.agent, "POST", "/a2a/message:send", named("rec/skills/read"), "/rest/message:send", named("")},
		"a skill in the query": {w.agent, "GET", "/a2a/tasks/t?tenant=rec%2Fskills%2Fwrite+it", "",
			"/rest/tasks/t?tenant=", ""},
	} {
		got := w.do("alice", tt.verb, w.url+tt.target, tt.body, "A2A-Version: 1.0")
		if got.status != 200 {
			t.Errorf("%s: %d %s", name, got.status, got.body)
			tt.agent.take()
			continue
		}
		if seen := tt.agent.one(t); seen.URL.String() != tt.url || string(seen.body) != tt.got {
			t.Errorf("%s: the agent got %s %s, want %s %s", name, seen.URL, seen.body, tt.url, tt.got)
		}
	}
}

// TestSharedByCredential: a credential that is good for one agent names it, in every
// version, and the tenant is the agent's own then.
func TestSharedByCredential(t *testing.T) {
	t.Parallel()
	w, other := fleet(t)
	for _, s := range sides {
		w.speak("tied", w.url+"/a2a", s, ask{method: wire.SendMessage, task: ifOld(s, "t")}).ok(t, s.String())
		if seen := w.agent.one(t); seen.side() != best(s, []wire.Side{rpc10, rest10, rpc03, rest03, rpc01}) {
			t.Errorf("%s: the agent was called as %s", s, seen.side())
		}
	}
	for _, s := range []wire.Side{rpc10, rest10, grpc10} {
		own := ask{method: wire.SendMessage, more: `,"tenant":"acme"`}
		w.speak("moored", w.url+"/a2a", s, own).ok(t, s.String())
		if seen := other.one(t); seen.side() != s || seen.call().Tenant != "acme" {
			t.Errorf("%s: the agent was called as %s with %q", s, seen.side(), seen.call().Tenant)
		}
		named := ask{method: wire.SendMessage, more: `,"tenant":"other"`}
		w.speak("moored", w.url+"/a2a", s, named).ok(t, s.String())
		if seen := other.one(t); seen.call().Tenant != "acme" {
			t.Errorf("%s: the agent was called as %s with %q", s, seen.side(), seen.call().Tenant)
		}
	}
	w.agent.silent(t, "the other's calls")
}

// ifOld is a task id where the caller has to choose one.
func ifOld(s wire.Side, id string) string {
	if s == rpc01 {
		return id
	}
	return ""
}

// TestSharedRefusals: an agent that is not there, one that the caller may not know
// of, and one that the credential is not good for are answered in the same bytes.
func TestSharedRefusals(t *testing.T) {
	t.Parallel()
	w, other := fleet(t)
	for _, who := range []string{"bob", "mallory", "tied", "moored"} {
		for _, s := range []wire.Side{rpc10, rest10, grpc10} {
			answers := map[string]string{}
			names := []string{"nobody", "hidden", "hidden/skills/read", "nobody/skills/read", "rec/skills/none", "skills"}
			if who == "tied" {
				names = append(names, "other", "acme", "other/skills/read")
			}
			if who == "moored" {
				names = append(names, "rec", "rec/skills/read")
			}
			for _, name := range names {
				got := w.speak(who, w.url+"/a2a", s, ask{method: wire.SendMessage, more: `,"tenant":"` + name + `"`})
				got.refused(t, who+" "+name, wire.UnknownAgent)
				if want := 404; s.Binding != wire.GRPC && got.status != want {
					t.Errorf("%s, %s as %s: %d", who, name, s, got.status)
				}
				answers[got.body+got.err.Error()] = name
			}
			if len(answers) != 1 {
				t.Errorf("%s can tell them apart: %v", who, answers)
			}
		}
	}
	for _, s := range sides {
		got := w.speak("alice", w.url+"/a2a", s, ask{method: wire.SendMessage, task: ifOld(s, "t")})
		got.refused(t, s.String(), wire.InvalidParams)
	}
	for target, want := range map[string]int{
		"/a2a/": 200, "/a2a/rec": 404, "/a2a/rec/": 404, "/a2a/a/b/message:send": 404, "/a2a/rec/.well-known/agent-card.json": 404,
		"/a2a/other/message:send?tenant=rec": 400, "/a2a/rec%2Fskills%2Fread/message:send": 400,
	} {
		got := w.do("alice", "POST", w.url+target, message(""), "A2A-Version: 1.0")
		if got.status != want || !strings.Contains(got.body, `"error"`) {
			t.Errorf("%s: %d %s", target, got.status, got.body)
		}
	}
	wantStatus(t, "a stranger", w.do("", "POST", w.url+"/a2a", rpcBody("SendMessage", message("")), "A2A-Version: 1.0"), 401)
	w.agent.silent(t, "refused")
	other.silent(t, "refused")
}

// TestSharedSkill: a tenant names a skill as a path does.
func TestSharedSkill(t *testing.T) {
	t.Parallel()
	w := in(t, speaks(rpc10), func(s *setup) {
		s.policy.Rules = []policy.Rule{{Name: "read", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}}}
	})
	for _, s := range []wire.Side{rpc10, rest10, grpc10} {
		w.speak("bob", w.url+"/a2a", s, ask{method: wire.SendMessage, more: `,"tenant":"rec/skills/read"`}).ok(t, s.String())
		w.agent.one(t)
		w.speak("bob", w.url+"/a2a", s, ask{method: wire.SendMessage, more: `,"tenant":"rec/skills/write it"`}).
			refused(t, s.String(), wire.Denied)
		w.speak("bob", w.url+"/a2a", s, ask{method: wire.SendMessage, more: `,"tenant":"rec"`}).
			refused(t, s.String(), wire.Denied)
		w.agent.silent(t, s.String())
	}
}

// TestSharedForeignContext: a context that is replaced changes the length of what
// stands before or behind the tenant.
func TestSharedForeignContext(t *testing.T) {
	t.Parallel()
	w, _ := fleet(t)
	w.given("alice", w.url+"/agents/rec", w.agent, "task-alice", "c", "")
	const msg = `"message":{"messageId":"m","contextId":"c","parts":[{"text":"\u0063"}]}`
	const config = `"configuration":{"taskPushNotificationConfig":{"tenant":"@","url":"https://hook.example/"}}`
	for name, params := range map[string]string{
		"tenant first": `{"tenant":"@",` + msg + `}`,
		"tenant last":  `{` + msg + `,"tenant":"@"}`,
		"both":         `{"tenant":"@",` + msg + `,` + config + `}`,
		"behind":       `{` + config + `,` + msg + `,"tenant":"@"}`,
	} {
		for _, s := range []wire.Side{rpc10, rest10} {
			sent := strings.ReplaceAll(params, "@", "rec")
			target := "/a2a/message:send"
			if s == rpc10 {
				sent, target = rpcBody("SendMessage", sent), "/a2a"
			}
			got := w.do("bob", "POST", w.url+target, sent, "A2A-Version: 1.0")
			if got.status != 200 || !strings.Contains(got.body, `"contextId":"c"`) {
				t.Errorf("%s %s: %d %s", name, s, got.status, got.body)
			}
			seen := w.agent.one(t)
			c := seen.call()
			want := strings.Replace(strings.ReplaceAll(params, "@", ""), `"contextId":"c"`, `"contextId":"`+c.ContextID+`"`, 1)
			if s == rpc10 {
				want = rpcBody("SendMessage", want)
			}
			if string(seen.body) != want || c.ContextID == "c" || c.ContextID == "" {
				t.Errorf("%s %s: the agent got\n%s, want\n%s", name, s, seen.body, want)
			}
		}
	}
}
