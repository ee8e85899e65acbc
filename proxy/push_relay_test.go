package proxy_test

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const (
	hookURL = "https://hooks.example/notify?key=hush-query"
	config  = `"url":"` + hookURL + `","token":"hush-token"`
	login   = `"credentials":"hush-credentials"`

	config10 = config + `,"authentication":{"scheme":"Bearer",` + login + `}`
	config03 = config + `,"authentication":{"schemes":["Bearer"],` + login + `}`
)

// hookCall is a call that brings a webhook, in one version and binding.
type hookCall struct {
	verb, target, version, body string
	inline                      bool
}

// hookCalls are all of them over HTTP; %s is a task of the caller's.
var hookCalls = map[string]hookCall{
	"1.0 create": {body: rpcBody("CreateTaskPushNotificationConfig", `{"taskId":"%s",`+config10+`}`)},
	"1.0 send": {inline: true, body: rpcBody("SendMessage",
		`{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{`+config10+`}}}`)},
	"1.0 stream": {inline: true, body: rpcBody("SendStreamingMessage",
		`{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{`+config10+`}}}`)},
	"1.0 REST create": {target: "/tasks/%s/pushNotificationConfigs", body: `{` + config10 + `}`},
	"1.0 REST send": {inline: true, target: "/message:send",
		body: `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{` + config10 + `}}}`},
	"0.3 create": {version: "0.3", body: rpcBody("tasks/pushNotificationConfig/set",
		`{"taskId":"%s","pushNotificationConfig":{`+config03+`}}`)},
	"0.3 send": {inline: true, version: "0.3", body: rpcBody("message/send",
		`{"message":{"messageId":"m","role":"user","parts":[]},"configuration":{"pushNotificationConfig":{`+config03+`}}}`)},
	"0.3 REST create": {version: "0.3", target: "/v1/tasks/%s/pushNotificationConfigs",
		body: `{"parent":"tasks/%[1]s","configId":"c","config":{"name":"tasks/%[1]s/pushNotificationConfigs/c","pushNotificationConfig":{` + config03 + `}}}`},
	"0.3 REST send": {inline: true, version: "0.3", target: "/v1/message:send",
		body: `{"message":{"messageId":"m","role":"ROLE_USER","content":[]},"configuration":{"pushNotification":{` + config03 + `}}}`},
	"0.1 send": {inline: true, version: "0.1", body: rpcBody("tasks/send",
		`{"id":"of-0.1","message":{"role":"user","parts":[]},"pushNotification":{`+config03+`}}`)},
}

// keeper answers creates with what it was given, and all else as agreeable does.
func keeper(w http.ResponseWriter, r *record) {
	if !strings.Contains(r.rpc().Method, "ush") && !strings.HasSuffix(r.URL.Path, "pushNotificationConfigs") {
		agreeable(w, r)
		return
	}
	if r.isRPC() {
		var c struct {
			Params jsonRaw `json:"params"`
		}
		_ = json.Unmarshal(r.body, &c)
		reply(w, r, string(c.Params))
		return
	}
	reply(w, r, string(r.body))
}

// newTask makes a task of alice's and returns its id.
func (w *world) newTask(who string) string {
	w.Helper()
	got := w.call(who, "SendMessage", message(""))
	wantStatus(w, "a new task", got, 200)
	w.agent.take()
	_, rest, _ := strings.Cut(got.body, `"id":"task-`)
	id, _, _ := strings.Cut(rest, `"`)
	return "task-" + id
}

// hook makes a call with a webhook in it, and gives what the agent got instead.
func (w *world) hook(c hookCall, task string) (given, answer) {
	w.Helper()
	target, body := c.target, c.body
	if strings.Contains(target, "%s") {
		target = fmt.Sprintf(target, task)
	}
	if strings.Contains(body, "%") {
		body = fmt.Sprintf(body, task)
	}
	got := w.do("alice", "POST", target, body, "A2A-Version: "+cmp.Or(c.version, "1.0"))
	wantStatus(w, body, got, 200)
	if strings.Contains(got.body, `"error"`) {
		w.Fatalf("%s: %s", body, got.body)
	}
	return givenIn(w, w.agent.one(w)), got
}

// TestA18_AgentsSeeTheRelayOnly: whatever call a webhook comes with, the agent gets one of
// the gateway's in its place, and not a byte of the caller's; what the agent delivers
// there is for the caller.
func TestA18_AgentsSeeTheRelayOnly(t *testing.T) {
	t.Parallel()
	for name, c := range hookCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := build(t, relayed)
			w.agent.answers(keeper)
			task := w.newTask("alice")
			var sent string
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				sent = string(r.body)
				keeper(rw, r)
			})
			g, got := w.hook(c, task)
			for _, secret := range []string{"hooks.example", "hush"} {
				if strings.Contains(sent, secret) {
					t.Errorf("the agent was sent %s", sent)
				}
			}
			if !strings.HasPrefix(g.URL, w.url+"/push/") || g.Token == "" || g.Authentication.Credentials == "" ||
				g.Authentication.Scheme+strings.Join(g.Authentication.Schemes, "") != "Bearer" {
				t.Errorf("the agent was given %+v", g)
			}
			if strings.Contains(got.body, g.URL) || strings.Contains(got.body, g.Token) || strings.Contains(got.body, "hush-token") {
				t.Errorf("the caller was shown %s", got.body)
			}
			if !c.inline && !strings.Contains(got.body, hookURL) {
				t.Errorf("the caller was not shown its own: %s", got.body)
			}
			named := task
			if c.inline {
				_, rest, _ := strings.Cut(got.body, `"id":"`)
				named, _, _ = strings.Cut(rest, `"`)
			}
			doc := `{"task":{"id":"` + named + `","contextId":"","status":{"state":"TASK_STATE_WORKING"}}}`
			wantStatus(t, "deliver", w.notify(g, doc), 200)
			mail := w.mail.all(hookURL)
			if len(mail) != 1 || mail[0].Token.Reveal() != "hush-token" || mail[0].Scheme != "Bearer" ||
				mail[0].Credentials.Reveal() != "hush-credentials" || mail[0].Task != named {
				t.Fatalf("delivered %+v", mail)
			}
		})
	}
}

// TestA18_BadWebhooks: what the gateway must not send to is refused, with the reason,
// before the agent hears of it.
func TestA18_BadWebhooks(t *testing.T) {
	t.Parallel()
	w := build(t, relayed)
	task := w.newTask("alice")
	for _, bad := range []string{
		"http://hooks.example/", "https://127.0.0.1/", "https://169.254.169.254/latest", "https://[::1]/", "https://localhost/",
		"https://0x7f000001/", "https://user@hooks.example/", "ftp://hooks.example/", "https://hooks.example:22/", "",
	} {
		for name, c := range hookCalls {
			body := strings.ReplaceAll(c.body, hookURL, bad)
			target := c.target
			if strings.Contains(target, "%s") {
				target = fmt.Sprintf(target, task)
			}
			if strings.Contains(body, "%") {
				body = fmt.Sprintf(body, task)
			}
			got := w.do("alice", "POST", target, body, "A2A-Version: "+cmp.Or(c.version, "1.0"))
			if !strings.Contains(got.body, "URL") || strings.Contains(got.body, `"result"`) {
				t.Errorf("%s to %q: %d %s", name, bad, got.status, got.body)
			}
			w.agent.silent(t, name+" to "+bad)
		}
	}
}

// TestA18_WebhooksInExtensionMethods: a message that an extension's method brings may have
// a webhook as well. The relay does not know what the method makes of it, and so the agent
// never hears of the call.
func TestA18_WebhooksInExtensionMethods(t *testing.T) {
	t.Parallel()
	const brings10 = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{` + config10 + `}}}`
	for _, mode := range []string{"relay", "off", "passthrough"} {
		w := brings(t, []wire.Side{rpc10, rest10}, func(s *setup) { s.push = mode })
		for what, got := range map[string]func() answer{
			"JSON-RPC":  func() answer { return w.call("alice", "chat/ask", brings10, everyURI) },
			"HTTP+JSON": func() answer { return w.do("alice", "POST", "/chat:ask", brings10, "A2A-Version: 1.0", everyURI) },
		} {
			got := got()
			if mode == "passthrough" {
				if asked := w.agent.one(t); got.status != 200 || !strings.Contains(string(asked.body), hookURL) {
					t.Errorf("%s, %s: %d %s", mode, what, got.status, got.body)
				}
				continue
			}
			if !strings.Contains(got.body, "PUSH_NOTIFICATION_NOT_SUPPORTED") || strings.Contains(got.body, "relayed") != (mode == "relay") {
				t.Errorf("%s, %s: %d %s", mode, what, got.status, got.body)
			}
			w.agent.silent(t, mode+" "+what)
		}
		wantStatus(t, "without a webhook", w.call("alice", "chat/ask", message(""), everyURI), 200)
		if len(w.agent.take()) != 1 {
			t.Errorf("%s: the agent was not asked", mode)
		}
	}
}

// TestA20_ConfigsAreMasked: the owner sees its own URL and no secret; nobody else sees
// anything, and a config that the registry does not know as the caller's is not there.
func TestA20_ConfigsAreMasked(t *testing.T) {
	t.Parallel()
	w := build(t, relayed)
	task := w.newTask("alice")
	w.agent.answers(keeper)
	g, _ := w.hook(hookCalls["1.0 create"], task)
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		one := fmt.Sprintf(`{"taskId":%q,"id":"c","url":%q,"token":%q,"authentication":{"scheme":"Bearer","credentials":%q}}`,
			task, g.URL, g.Token, g.Authentication.Credentials)
		if strings.HasPrefix(r.rpc().Method, "List") {
			one = `{"configs":[{"taskId":"` + task + `","id":"x","url":"https://elsewhere.example/"},` + one + `]}`
		}
		reply(rw, r, one)
	})
	for _, c := range []struct{ method, params, want string }{
		{"GetTaskPushNotificationConfig", `{"taskId":"` + task + `","id":"c"}`,
			`{"taskId":"` + task + `","id":"c","url":"` + hookURL + `","authentication":{"scheme":"Bearer"}}`},
		{"ListTaskPushNotificationConfigs", `{"taskId":"` + task + `"}`,
			`{"configs":[{"taskId":"` + task + `","id":"c","url":"` + hookURL + `","authentication":{"scheme":"Bearer"}}]}`},
	} {
		got := w.call("alice", c.method, c.params)
		if want := `{"jsonrpc":"2.0","id":7,"result":` + c.want + `}`; got.body != want {
			t.Errorf("%s: %s\nwant %s", c.method, got.body, want)
		}
		w.agent.take()
		got = w.call("bob", c.method, c.params)
		if !strings.Contains(got.body, "-32001") {
			t.Errorf("bob: %s", got.body)
		}
		w.agent.silent(t, c.method)
	}
	if logs := w.logs.String() + fmt.Sprint(w.audited("call")); strings.Contains(logs, "hush") ||
		strings.Contains(logs, strings.TrimPrefix(g.URL, w.url+"/push/")) {
		t.Error("a secret is in logs or records")
	}
}

// TestRelayedConfigsThatFail: a webhook that the agent has refused is forgotten; of one
// whose delivery cannot be kept the agent hears, and sends it again.
func TestRelayedConfigsThatFail(t *testing.T) {
	t.Parallel()
	w := build(t, relayed)
	task := w.newTask("alice")
	var g given
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		g = givenIn(t, r)
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32003,"message":"no"}}`, r.rpc().ID)
	})
	got := w.call("alice", "CreateTaskPushNotificationConfig", `{"taskId":"`+task+`",`+config10+`}`)
	if !strings.Contains(got.body, "-32003") {
		t.Errorf("refused: %s", got.body)
	}
	doc := `{"task":{"id":"` + task + `","status":{"state":"TASK_STATE_WORKING"}}}`
	wantStatus(t, "to a refused webhook", w.notify(g, doc), 404)

	w.agent.answers(keeper)
	w.agent.take()
	g, _ = w.hook(hookCalls["1.0 create"], task)
	for _, err := range []error{errors.New("disk"), state.ErrFull} {
		w.mail.fail(err)
		got = w.notify(g, doc)
		if got.status != 503 || got.header.Get("Retry-After") == "" || got.body != "" {
			t.Errorf("not kept: %+v", got)
		}
	}
	if last := w.audited("call"); last[len(last)-1]["limit"] != "push.queue" {
		t.Errorf("the record of a full queue: %v", last[len(last)-1])
	}
	w.mail.fail(nil)
	wantStatus(t, "once more", w.notify(g, doc), 200)
	if mail := w.mail.all(""); len(mail) != 1 || string(mail[0].Body) != doc {
		t.Errorf("delivered %v", mail)
	}
}

// TestTwoClientsOfOneAgent: each gets what the agent says in its own version; before 1.0
// that is the whole task, unless it is to be the event.
func TestTwoClientsOfOneAgent(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		"":      `{"id":"TASK","contextId":"CONTEXT","status":{"state":"completed"},"kind":"task"}`,
		"event": `{"taskId":"TASK","contextId":"c","status":{"state":"working"},"final":false,"kind":"status-update"}`,
	} {
		w := build(t, relayed, func(s *setup) { s.relay.Payload = payload }, only("JSONRPC", "1.0"))
		task := w.newTask("alice")
		w.agent.answers(keeper)
		newer, _ := w.hook(hookCalls["1.0 create"], task)
		older := hookCalls["0.3 create"]
		older.body = strings.Replace(older.body, "/notify", "/older", 1)
		old, _ := w.hook(older, task)
		w.agent.answers(agreeable)
		doc := `{"statusUpdate":{"taskId":"` + task + `","contextId":"c","status":{"state":"TASK_STATE_WORKING"}, "new":1}}`
		wantStatus(t, "newer", w.notify(newer, doc), 200)
		wantStatus(t, "older", w.notify(old, doc), 200)
		mail := w.mail.all("")
		if len(mail) != 2 {
			t.Fatalf("%d deliveries", len(mail))
		}
		if string(mail[0].Body) != doc || mail[0].Version != "1.0" {
			t.Errorf("to 1.0: %s", mail[0].Body)
		}
		want = strings.NewReplacer("TASK", task, "CONTEXT", strings.Replace(task, "task", "context", 1)).Replace(want)
		if !sameJSON(t, string(mail[1].Body), want) || mail[1].Version != "0.3" {
			t.Errorf("payload %q: to 0.3: %s\nwant %s", payload, mail[1].Body, want)
		}
	}
}
