package intake_test

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// fleet is a world with a second agent, "other", whose 1.0 interfaces are a
// tenant's, and a third that only alice may know of.
func fleet(t testing.TB) (w *proxytest.Gateway, other *proxytest.Agent) {
	t.Helper()
	other = proxytest.NewAgent(t)
	other.Answers(proxytest.Fluent)
	other.Doc = func(base string) string {
		return proxytest.CardWith(base, proxytest.InterfaceOf(base, proxytest.RPC10, "acme"), proxytest.InterfaceOf(base, proxytest.REST10, "acme"), proxytest.InterfaceOf(base, proxytest.GRPC10, "acme"))
	}
	w = proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.More = []agents.Config{{ID: "other"}, {ID: "hidden"}}
		s.More[0].Card.URL = secret.URL(other.URL + "/card")
		s.More[1].Card.URL = secret.URL(other.URL + "/card")
		s.Bound = map[string]string{"tied": "rec", "moored": "other"}
		s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, "moored")
		s.Policy.Rules = append(s.Policy.Rules, policy.Rule{
			Name: "hide", Effect: "deny", Agents: []string{"hidden"}, Subjects: []string{"bob", "tied", "moored"},
		})
	})
	w.Agent.Answers(proxytest.Fluent)
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
			*proxytest.Agent
			tenant string
		}{"rec": {w.Agent, ""}, "other": {other, "acme"}} {
			w.Given("alice", w.URL+"/agents/"+agent, tt.Agent, "task-"+agent, "", tt.tenant)
			// Only what is A2A's tenant is one; metadata and the like are the agent's.
			in := strings.ReplaceAll(body, `"x":{"tenant":"@"}`, `"x":{"tenant":"-"}`)
			in = strings.ReplaceAll(in, `task-@`, "task-"+agent)
			sent := strings.ReplaceAll(in, `"@"`, `"`+agent+`"`)
			got := w.Do("alice", "POST", w.URL+"/a2a", sent, "A2A-Version: 1.0")
			if got.Status != 200 || strings.Contains(got.Body, `"error"`) {
				t.Errorf("%s %s: %d %s", name, agent, got.Status, got.Body)
			}
			if seen, want := tt.One(t), strings.ReplaceAll(in, `"@"`, `"`+tt.tenant+`"`); string(seen.Content) != want {
				t.Errorf("%s %s: the agent got\n%s, want\n%s", name, agent, seen.Content, want)
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
		return strings.Replace(proxytest.Message(`,"n":1.0`), `{"message"`, `{"tenant":"`+agent+`", "message"`, 1)
	}
	w.Given("alice", w.URL+"/agents/rec", w.Agent, "t", "c", "")
	w.Given("alice", w.URL+"/agents/other", other, "t", "c", "acme")
	for name, tt := range map[string]struct {
		agent        *proxytest.Agent
		verb, target string
		body         string
		url, got     string // as the agent sees them
	}{
		"path":            {w.Agent, "POST", "/a2a/rec/message:send", proxytest.Message(`,"n":1.0`), "/rest/message:send", proxytest.Message(`,"n":1.0`)},
		"path to tenant":  {other, "POST", "/a2a/other/message:send", proxytest.Message(""), "/rest/acme/message:send", proxytest.Message("")},
		"body":            {w.Agent, "POST", "/a2a/message:send", named("rec"), "/rest/message:send", named("")},
		"body to tenant":  {other, "POST", "/a2a/message:send", named("other"), "/rest/message:send", named("acme")},
		"both":            {other, "POST", "/a2a/other/message:send", named("other"), "/rest/acme/message:send", named("acme")},
		"query":           {w.Agent, "GET", "/a2a/tasks/t?tenant=rec&historyLength=%33", "", "/rest/tasks/t?tenant=&historyLength=%33", ""},
		"query to tenant": {other, "GET", "/a2a/tasks/t?a=b&tenant=other", "", "/rest/tasks/t?a=b&tenant=acme", ""},
		"encoded query":   {other, "GET", "/a2a/tasks/t?t%65nant=o%74her&x=", "", "/rest/tasks/t?tenant=acme&x=", ""},
		"path and query":  {other, "GET", "/a2a/other/tasks/t?tenant=other", "", "/rest/acme/tasks/t?tenant=acme", ""},
		"a skill":         {w.Agent, "POST", "/a2a/message:send", named("rec/skills/read"), "/rest/message:send", named("")},
		"a skill in the query": {w.Agent, "GET", "/a2a/tasks/t?tenant=rec%2Fskills%2Fwrite+it", "",
			"/rest/tasks/t?tenant=", ""},
	} {
		got := w.Do("alice", tt.verb, w.URL+tt.target, tt.body, "A2A-Version: 1.0")
		if got.Status != 200 {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
			tt.agent.Take()
			continue
		}
		if seen := tt.agent.One(t); seen.URL.String() != tt.url || string(seen.Content) != tt.got {
			t.Errorf("%s: the agent got %s %s, want %s %s", name, seen.URL, seen.Content, tt.url, tt.got)
		}
	}
}

// TestSharedByCredential: a credential that is good for one agent names it, in every
// version, and the tenant is the agent's own then.
func TestSharedByCredential(t *testing.T) {
	t.Parallel()
	w, other := fleet(t)
	for _, s := range proxytest.Sides {
		w.Speak("tied", w.URL+"/a2a", s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.IDForV01(s, "t")}).OK(t, s.String())
		if seen := w.Agent.One(t); seen.Side() != proxytest.BestInterface(s, []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.REST03, proxytest.RPC01}) {
			t.Errorf("%s: the agent was called as %s", s, seen.Side())
		}
	}
	for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
		own := proxytest.Ask{Method: wire.SendMessage, More: `,"tenant":"acme"`}
		w.Speak("moored", w.URL+"/a2a", s, own).OK(t, s.String())
		if seen := other.One(t); seen.Side() != s || seen.Call().Tenant != "acme" {
			t.Errorf("%s: the agent was called as %s with %q", s, seen.Side(), seen.Call().Tenant)
		}
		named := proxytest.Ask{Method: wire.SendMessage, More: `,"tenant":"other"`}
		w.Speak("moored", w.URL+"/a2a", s, named).OK(t, s.String())
		if seen := other.One(t); seen.Call().Tenant != "acme" {
			t.Errorf("%s: the agent was called as %s with %q", s, seen.Side(), seen.Call().Tenant)
		}
	}
	w.Agent.Silent(t, "the other's calls")
}

// TestSharedRefusals: an agent that is not there, one that the caller may not know
// of, and one that the credential is not good for are answered in the same bytes.
func TestSharedRefusals(t *testing.T) {
	t.Parallel()
	w, other := fleet(t)
	for _, who := range []string{"bob", "mallory", "tied", "moored"} {
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
			answers := map[string]string{}
			names := []string{"nobody", "hidden", "hidden/skills/read", "nobody/skills/read", "rec/skills/none", "skills"}
			if who == "tied" {
				names = append(names, "other", "acme", "other/skills/read")
			}
			if who == "moored" {
				names = append(names, "rec", "rec/skills/read")
			}
			for _, name := range names {
				got := w.Speak(who, w.URL+"/a2a", s, proxytest.Ask{Method: wire.SendMessage, More: `,"tenant":"` + name + `"`})
				got.Refused(t, who+" "+name, wire.UnknownAgent)
				if want := 404; s.Binding != wire.GRPC && got.Status != want {
					t.Errorf("%s, %s as %s: %d", who, name, s, got.Status)
				}
				answers[got.Body+got.Err.Error()] = name
			}
			if len(answers) != 1 {
				t.Errorf("%s can tell them apart: %v", who, answers)
			}
		}
	}
	for _, s := range proxytest.Sides {
		got := w.Speak("alice", w.URL+"/a2a", s, proxytest.Ask{Method: wire.SendMessage, Task: proxytest.IDForV01(s, "t")})
		got.Refused(t, s.String(), wire.InvalidParams)
	}
	for target, want := range map[string]int{
		"/a2a/": 200, "/a2a/rec": 404, "/a2a/rec/": 404, "/a2a/a/b/message:send": 404, "/a2a/rec/.well-known/agent-card.json": 404,
		"/a2a/other/message:send?tenant=rec": 400, "/a2a/rec%2Fskills%2Fread/message:send": 400,
	} {
		got := w.Do("alice", "POST", w.URL+target, proxytest.Message(""), "A2A-Version: 1.0")
		if got.Status != want || !strings.Contains(got.Body, `"error"`) {
			t.Errorf("%s: %d %s", target, got.Status, got.Body)
		}
	}
	proxytest.WantStatus(t, "a stranger", w.Do("", "POST", w.URL+"/a2a", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"), 401)
	w.Agent.Silent(t, "refused")
	other.Silent(t, "refused")
}

// TestSharedSkill: a tenant names a skill as a path does.
func TestSharedSkill(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(proxytest.RPC10), func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{{Name: "read", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"read"}}}
	})
	for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.GRPC10} {
		w.Speak("bob", w.URL+"/a2a", s, proxytest.Ask{Method: wire.SendMessage, More: `,"tenant":"rec/skills/read"`}).OK(t, s.String())
		w.Agent.One(t)
		w.Speak("bob", w.URL+"/a2a", s, proxytest.Ask{Method: wire.SendMessage, More: `,"tenant":"rec/skills/write it"`}).
			Refused(t, s.String(), wire.Denied)
		w.Speak("bob", w.URL+"/a2a", s, proxytest.Ask{Method: wire.SendMessage, More: `,"tenant":"rec"`}).
			Refused(t, s.String(), wire.Denied)
		w.Agent.Silent(t, s.String())
	}
}

// TestSharedForeignContext: a context that is replaced changes the length of what
// stands before or behind the tenant.
func TestSharedForeignContext(t *testing.T) {
	t.Parallel()
	w, _ := fleet(t)
	w.Given("alice", w.URL+"/agents/rec", w.Agent, "task-alice", "c", "")
	const msg = `"message":{"messageId":"m","contextId":"c","parts":[{"text":"\u0063"}]}`
	const config = `"configuration":{"taskPushNotificationConfig":{"tenant":"@","url":"https://hook.example/"}}`
	for name, params := range map[string]string{
		"tenant first": `{"tenant":"@",` + msg + `}`,
		"tenant last":  `{` + msg + `,"tenant":"@"}`,
		"both":         `{"tenant":"@",` + msg + `,` + config + `}`,
		"behind":       `{` + config + `,` + msg + `,"tenant":"@"}`,
	} {
		for _, s := range []wire.Side{proxytest.RPC10, proxytest.REST10} {
			sent := strings.ReplaceAll(params, "@", "rec")
			target := "/a2a/message:send"
			if s == proxytest.RPC10 {
				sent, target = proxytest.RPCBody("SendMessage", sent), "/a2a"
			}
			got := w.Do("bob", "POST", w.URL+target, sent, "A2A-Version: 1.0")
			if got.Status != 200 || !strings.Contains(got.Body, `"contextId":"c"`) {
				t.Errorf("%s %s: %d %s", name, s, got.Status, got.Body)
			}
			seen := w.Agent.One(t)
			c := seen.Call()
			want := strings.Replace(strings.ReplaceAll(params, "@", ""), `"contextId":"c"`, `"contextId":"`+c.ContextID+`"`, 1)
			if s == proxytest.RPC10 {
				want = proxytest.RPCBody("SendMessage", want)
			}
			if string(seen.Content) != want || c.ContextID == "c" || c.ContextID == "" {
				t.Errorf("%s %s: the agent got\n%s, want\n%s", name, s, seen.Content, want)
			}
		}
	}
}
