package notifications_test

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA18_AgentsSeeTheRelayOnly: whatever call a webhook comes with, the agent gets one of
// the gateway's in its place, and not a byte of the caller's; what the agent delivers
// there is for the caller.
func TestA18_AgentsSeeTheRelayOnly(t *testing.T) {
	t.Parallel()
	for name, c := range proxytest.WebhookCalls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, proxytest.WithRelay)
			w.Agent.Answers(proxytest.KeepConfigs)
			task := w.NewTask("alice")
			var sent string
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				sent = string(r.Content)
				proxytest.KeepConfigs(rw, r)
			})
			g, got := w.Webhook(c, task)
			for _, secret := range []string{"hooks.example", "hush"} {
				if strings.Contains(sent, secret) {
					t.Errorf("the agent was sent %s", sent)
				}
			}
			if !strings.HasPrefix(g.URL, w.URL+"/push/") || g.Token == "" || g.Authentication.Credentials == "" ||
				g.Authentication.Scheme+strings.Join(g.Authentication.Schemes, "") != "Bearer" {
				t.Errorf("the agent was given %+v", g)
			}
			if strings.Contains(got.Body, g.URL) || strings.Contains(got.Body, g.Token) || strings.Contains(got.Body, "hush-token") {
				t.Errorf("the caller was shown %s", got.Body)
			}
			if !c.Inline && !strings.Contains(got.Body, proxytest.WebhookURL) {
				t.Errorf("the caller was not shown its own: %s", got.Body)
			}
			named := task
			if c.Inline {
				_, rest, _ := strings.Cut(got.Body, `"id":"`)
				named, _, _ = strings.Cut(rest, `"`)
			}
			doc := `{"task":{"id":"` + named + `","contextId":"","status":{"state":"TASK_STATE_WORKING"}}}`
			proxytest.WantStatus(t, "deliver", w.Notify(g, doc), 200)
			mail := w.Mail.All(proxytest.WebhookURL)
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
	w := proxytest.NewGateway(t, proxytest.WithRelay)
	task := w.NewTask("alice")
	for _, bad := range []string{
		"http://hooks.example/", "https://127.0.0.1/", "https://169.254.169.254/latest", "https://[::1]/", "https://localhost/",
		"https://0x7f000001/", "https://user@hooks.example/", "ftp://hooks.example/", "https://hooks.example:22/", "",
	} {
		for name, c := range proxytest.WebhookCalls {
			body := strings.ReplaceAll(c.Body, proxytest.WebhookURL, bad)
			target := c.Target
			if strings.Contains(target, "%s") {
				target = fmt.Sprintf(target, task)
			}
			if strings.Contains(body, "%") {
				body = fmt.Sprintf(body, task)
			}
			got := w.Do("alice", "POST", target, body, "A2A-Version: "+cmp.Or(c.Version, "1.0"))
			if !strings.Contains(got.Body, "URL") || strings.Contains(got.Body, `"result"`) {
				t.Errorf("%s to %q: %d %s", name, bad, got.Status, got.Body)
			}
			w.Agent.Silent(t, name+" to "+bad)
		}
	}
}

// TestA18_WebhooksInExtensionMethods: a message that an extension's method brings may have
// a webhook as well. The relay does not know what the method makes of it, and so the agent
// never hears of the call.
func TestA18_WebhooksInExtensionMethods(t *testing.T) {
	t.Parallel()
	const brings10 = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{` + proxytest.Config10 + `}}}`
	for _, mode := range []string{"relay", "off", "passthrough"} {
		w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10, proxytest.REST10}, func(s *proxytest.Setup) { s.Push = mode })
		for what, got := range map[string]func() proxytest.Response{
			"JSON-RPC": func() proxytest.Response { return w.Call("alice", "chat/ask", brings10, proxytest.AskEveryURI) },
			"HTTP+JSON": func() proxytest.Response {
				return w.Do("alice", "POST", "/chat:ask", brings10, "A2A-Version: 1.0", proxytest.AskEveryURI)
			},
		} {
			got := got()
			if mode == "passthrough" {
				if asked := w.Agent.One(t); got.Status != 200 || !strings.Contains(string(asked.Content), proxytest.WebhookURL) {
					t.Errorf("%s, %s: %d %s", mode, what, got.Status, got.Body)
				}
				continue
			}
			if !strings.Contains(got.Body, "PUSH_NOTIFICATION_NOT_SUPPORTED") || strings.Contains(got.Body, "relayed") != (mode == "relay") {
				t.Errorf("%s, %s: %d %s", mode, what, got.Status, got.Body)
			}
			w.Agent.Silent(t, mode+" "+what)
		}
		proxytest.WantStatus(t, "without a webhook", w.Call("alice", "chat/ask", proxytest.Message(""), proxytest.AskEveryURI), 200)
		if len(w.Agent.Take()) != 1 {
			t.Errorf("%s: the agent was not asked", mode)
		}
	}
}

// TestA20_ConfigsAreMasked: the owner sees its own URL and no secret; nobody else sees
// anything, and a config that the registry does not know as the caller's is not there.
func TestA20_ConfigsAreMasked(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithRelay)
	task := w.NewTask("alice")
	w.Agent.Answers(proxytest.KeepConfigs)
	g, _ := w.Webhook(proxytest.WebhookCalls["1.0 create"], task)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		one := fmt.Sprintf(`{"taskId":%q,"id":"c","url":%q,"token":%q,"authentication":{"scheme":"Bearer","credentials":%q}}`,
			task, g.URL, g.Token, g.Authentication.Credentials)
		if strings.HasPrefix(r.RPC().Method, "List") {
			one = `{"configs":[{"taskId":"` + task + `","id":"x","url":"https://elsewhere.example/"},` + one + `]}`
		}
		proxytest.Respond(rw, r, one)
	})
	for _, c := range []struct{ method, params, want string }{
		{"GetTaskPushNotificationConfig", `{"taskId":"` + task + `","id":"c"}`,
			`{"taskId":"` + task + `","id":"c","url":"` + proxytest.WebhookURL + `","authentication":{"scheme":"Bearer"}}`},
		{"ListTaskPushNotificationConfigs", `{"taskId":"` + task + `"}`,
			`{"configs":[{"taskId":"` + task + `","id":"c","url":"` + proxytest.WebhookURL + `","authentication":{"scheme":"Bearer"}}]}`},
	} {
		got := w.Call("alice", c.method, c.params)
		if want := `{"jsonrpc":"2.0","id":7,"result":` + c.want + `}`; got.Body != want {
			t.Errorf("%s: %s\nwant %s", c.method, got.Body, want)
		}
		w.Agent.Take()
		got = w.Call("bob", c.method, c.params)
		if !strings.Contains(got.Body, "-32001") {
			t.Errorf("bob: %s", got.Body)
		}
		w.Agent.Silent(t, c.method)
	}
	if logs := w.Logs.String() + fmt.Sprint(w.Audited("call")); strings.Contains(logs, "hush") ||
		strings.Contains(logs, strings.TrimPrefix(g.URL, w.URL+"/push/")) {
		t.Error("a secret is in logs or records")
	}
}

// TestRelayedConfigsThatFail: a webhook that the agent has refused is forgotten; of one
// whose delivery cannot be kept the agent hears, and sends it again.
func TestRelayedConfigsThatFail(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, proxytest.WithRelay)
	task := w.NewTask("alice")
	var g proxytest.Given
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		g = proxytest.GivenIn(t, r)
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32003,"message":"no"}}`, r.RPC().ID)
	})
	got := w.Call("alice", "CreateTaskPushNotificationConfig", `{"taskId":"`+task+`",`+proxytest.Config10+`}`)
	if !strings.Contains(got.Body, "-32003") {
		t.Errorf("refused: %s", got.Body)
	}
	doc := `{"task":{"id":"` + task + `","status":{"state":"TASK_STATE_WORKING"}}}`
	proxytest.WantStatus(t, "to a refused webhook", w.Notify(g, doc), 404)

	w.Agent.Answers(proxytest.KeepConfigs)
	w.Agent.Take()
	g, _ = w.Webhook(proxytest.WebhookCalls["1.0 create"], task)
	for _, err := range []error{errors.New("disk"), state.ErrFull} {
		fail(w.Mail, err)
		got = w.Notify(g, doc)
		if got.Status != 503 || got.Header.Get("Retry-After") == "" || got.Body != "" {
			t.Errorf("not kept: %+v", got)
		}
	}
	if last := w.Audited("call"); last[len(last)-1]["limit"] != "push.queue" {
		t.Errorf("the record of a full queue: %v", last[len(last)-1])
	}
	fail(w.Mail, nil)
	proxytest.WantStatus(t, "once more", w.Notify(g, doc), 200)
	if mail := w.Mail.All(""); len(mail) != 1 || string(mail[0].Body) != doc {
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
		w := proxytest.NewGateway(t, proxytest.WithRelay, func(s *proxytest.Setup) { s.Relay.Payload = payload }, proxytest.OnlyInterface("JSONRPC", "1.0"))
		task := w.NewTask("alice")
		w.Agent.Answers(proxytest.KeepConfigs)
		newer, _ := w.Webhook(proxytest.WebhookCalls["1.0 create"], task)
		older := proxytest.WebhookCalls["0.3 create"]
		older.Body = strings.Replace(older.Body, "/notify", "/older", 1)
		old, _ := w.Webhook(older, task)
		w.Agent.Answers(proxytest.Agreeable)
		doc := `{"statusUpdate":{"taskId":"` + task + `","contextId":"c","status":{"state":"TASK_STATE_WORKING"}, "new":1}}`
		proxytest.WantStatus(t, "newer", w.Notify(newer, doc), 200)
		proxytest.WantStatus(t, "older", w.Notify(old, doc), 200)
		mail := w.Mail.All("")
		if len(mail) != 2 {
			t.Fatalf("%d deliveries", len(mail))
		}
		if string(mail[0].Body) != doc || mail[0].Version != "1.0" {
			t.Errorf("to 1.0: %s", mail[0].Body)
		}
		want = strings.NewReplacer("TASK", task, "CONTEXT", strings.Replace(task, "task", "context", 1)).Replace(want)
		if !proxytest.SameJSON(t, string(mail[1].Body), want) || mail[1].Version != "0.3" {
			t.Errorf("payload %q: to 0.3: %s\nwant %s", payload, mail[1].Body, want)
		}
	}
}
