package proxytest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/push"
)

// Mailbox keeps what is to be delivered to callers.
type Mailbox struct {
	Mu   sync.Mutex
	mail []*push.Delivery
	Err  error  // of the next deliveries
	Last string // ID of the latest, queued or not
}

// Enqueue is for webhooks.Relay.
func (m *Mailbox) Enqueue(_ context.Context, d *push.Delivery) (bool, error) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.Last = d.ID
	if m.Err == nil {
		m.mail = append(m.mail, d)
	}
	return m.Err == nil, m.Err
}

// Drop is for webhooks.Relay.
func (m *Mailbox) Drop(_ context.Context, h *push.Webhook) error {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.mail = slices.DeleteFunc(m.mail, func(d *push.Delivery) bool { return d.Config == h.ID() })
	return nil
}

// All gives what has come so far for one address; "" for all of them.
func (m *Mailbox) All(at string) []*push.Delivery {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	var list []*push.Delivery
	for _, d := range m.mail {
		if at == "" || d.URL == at {
			list = append(list, d)
		}
	}
	return list
}

// Given is what an agent was given in the place of a webhook.
type Given struct {
	URL            string `json:"url"`
	Token          string `json:"token"`
	Authentication struct {
		Scheme      string   `json:"scheme"`
		Schemes     []string `json:"schemes"`
		Credentials string   `json:"credentials"`
	} `json:"authentication"`
}

// GivenIn finds it in what the agent was sent.
func GivenIn(t testing.TB, r *Request) Given {
	t.Helper()
	var g Given
	start := strings.Index(string(r.Content), `"url":"`)
	if start < 0 {
		t.Fatalf("the agent was given no webhook: %s", r.Content)
	}
	open := strings.LastIndexByte(string(r.Content[:start]), '{')
	Must(t, json.UnmarshalDecode(decoderAt(r.Content[open:]), &g))
	return g
}

// Path is that of the gateway's webhook.
func (g Given) Path(t testing.TB) string {
	t.Helper()
	u, err := url.Parse(g.URL)
	Must(t, err)
	return u.Path
}

// Headers are what an agent shows with what it delivers.
func (g Given) Headers() []string {
	return []string{"X-A2A-Notification-Token: " + g.Token, "Authorization: Bearer " + g.Authentication.Credentials}
}

// Notify posts to a webhook of the gateway's as an agent does.
func (w *Gateway) Notify(g Given, doc string, header ...string) Response {
	w.Helper()
	if header == nil {
		header = g.Headers()
	}
	return w.Do("", http.MethodPost, w.URL+g.Path(w), doc, header...)
}

// Registrar keeps configs as the servers of the SDKs do: one that has no id gets that of
// the task.
func Registrar(w http.ResponseWriter, r *Request) {
	s, c := r.Side(), r.Call()
	if c.Method.Name != wire.CreatePushConfig {
		Fluent(w, r)
		return
	}
	id := cmp.Or(c.ConfigID, c.TaskID)
	_, rest, _ := strings.Cut(string(r.Content), `"url":"`)
	url, _, _ := strings.Cut(rest, `"`)
	switch {
	case s.Version == wire.V01:
		r.Say(w, fmt.Sprintf(`{"id":%q,"pushNotificationConfig":{"url":%q}}`, c.TaskID, url))
	case s.Version == wire.V10:
		r.Say(w, fmt.Sprintf(`{"taskId":%q,"id":%q,"url":%q}`, c.TaskID, id, url))
	case s.Binding == wire.JSONRPC:
		r.Say(w, fmt.Sprintf(`{"taskId":%q,"pushNotificationConfig":{"id":%q,"url":%q}}`, c.TaskID, id, url))
	default:
		r.Say(w, fmt.Sprintf(`{"name":"tasks/%s/pushNotificationConfigs/%s","pushNotificationConfig":{"id":%[2]q,"url":%[3]q}}`, c.TaskID, id, url))
	}
}

// Registers brings a webhook for a task, by a create or inline in a send, under an id, or
// under none.
func (w *Gateway) Registers(who string, s wire.Side, inline bool, task, id string) Response {
	w.Helper()
	named := ""
	if id != "" {
		named = fmt.Sprintf(`"id":%q,`, id)
	}
	hook := `{` + named + `"url":"` + WebhookURL + `"}`
	send := `{"message":{"messageId":"m","taskId":"` + task + `",%s},"configuration":{%q:` + hook + `}}`
	verb, target, body := "POST", "", ""
	switch {
	case s == RPC10 && inline:
		body = RPCBody("SendMessage", fmt.Sprintf(send, `"role":"ROLE_USER","parts":[]`, "taskPushNotificationConfig"))
	case s == RPC10:
		body = RPCBody("CreateTaskPushNotificationConfig", fmt.Sprintf(`{"taskId":%q,%s"url":%q}`, task, named, WebhookURL))
	case s == RPC03 && inline:
		body = RPCBody("message/send", fmt.Sprintf(send, `"kind":"message","role":"user","parts":[]`, "pushNotificationConfig"))
	case s == RPC03:
		body = RPCBody("tasks/pushNotificationConfig/set", fmt.Sprintf(`{"taskId":%q,"pushNotificationConfig":%s}`, task, hook))
	case inline:
		target, body = "/v1/message:send", fmt.Sprintf(send, `"role":"ROLE_USER","content":[]`, "pushNotification")
	default:
		target = "/v1/tasks/" + task + "/pushNotificationConfigs"
		body = fmt.Sprintf(`{"parent":"tasks/%s","configId":%q,"config":{"pushNotificationConfig":%s}}`, task, id, hook)
	}
	return w.Do(who, verb, target, body, "A2A-Version: "+string(s.Version))
}

const (
	WebhookURL = "https://hooks.example/notify?key=hush-query"
	config     = `"url":"` + WebhookURL + `","token":"hush-token"`
	login      = `"credentials":"hush-credentials"`

	Config10 = config + `,"authentication":{"scheme":"Bearer",` + login + `}`
	config03 = config + `,"authentication":{"schemes":["Bearer"],` + login + `}`
)

// WebhookCall is a call that brings a webhook, in one version and binding.
type WebhookCall struct {
	verb, Target, Version, Body string
	Inline                      bool
}

// WebhookCalls are all of them over HTTP; %s is a task of the caller's.
var WebhookCalls = map[string]WebhookCall{
	"1.0 create": {Body: RPCBody("CreateTaskPushNotificationConfig", `{"taskId":"%s",`+Config10+`}`)},
	"1.0 send": {Inline: true, Body: RPCBody("SendMessage",
		`{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{`+Config10+`}}}`)},
	"1.0 stream": {Inline: true, Body: RPCBody("SendStreamingMessage",
		`{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{`+Config10+`}}}`)},
	"1.0 REST create": {Target: "/tasks/%s/pushNotificationConfigs", Body: `{` + Config10 + `}`},
	"1.0 REST send": {Inline: true, Target: "/message:send",
		Body: `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":{"taskPushNotificationConfig":{` + Config10 + `}}}`},
	"0.3 create": {Version: "0.3", Body: RPCBody("tasks/pushNotificationConfig/set",
		`{"taskId":"%s","pushNotificationConfig":{`+config03+`}}`)},
	"0.3 send": {Inline: true, Version: "0.3", Body: RPCBody("message/send",
		`{"message":{"messageId":"m","role":"user","parts":[]},"configuration":{"pushNotificationConfig":{`+config03+`}}}`)},
	"0.3 REST create": {Version: "0.3", Target: "/v1/tasks/%s/pushNotificationConfigs",
		Body: `{"parent":"tasks/%[1]s","configId":"c","config":{"name":"tasks/%[1]s/pushNotificationConfigs/c","pushNotificationConfig":{` + config03 + `}}}`},
	"0.3 REST send": {Inline: true, Version: "0.3", Target: "/v1/message:send",
		Body: `{"message":{"messageId":"m","role":"ROLE_USER","content":[]},"configuration":{"pushNotification":{` + config03 + `}}}`},
	"0.1 send": {Inline: true, Version: "0.1", Body: RPCBody("tasks/send",
		`{"id":"of-0.1","message":{"role":"user","parts":[]},"pushNotification":{`+config03+`}}`)},
}

// KeepConfigs answers creates with what it was given, and all else as agreeable does.
func KeepConfigs(w http.ResponseWriter, r *Request) {
	if !strings.Contains(r.RPC().Method, "ush") && !strings.HasSuffix(r.URL.Path, "pushNotificationConfigs") {
		Agreeable(w, r)
		return
	}
	if r.IsRPC() {
		var c struct {
			Params RawJSON `json:"params"`
		}
		_ = json.Unmarshal(r.Content, &c)
		Respond(w, r, string(c.Params))
		return
	}
	Respond(w, r, string(r.Content))
}

// Webhook makes a call with a webhook in it, and gives what the agent got instead.
func (w *Gateway) Webhook(c WebhookCall, task string) (Given, Response) {
	w.Helper()
	target, body := c.Target, c.Body
	if strings.Contains(target, "%s") {
		target = fmt.Sprintf(target, task)
	}
	if strings.Contains(body, "%") {
		body = fmt.Sprintf(body, task)
	}
	got := w.Do("alice", "POST", target, body, "A2A-Version: "+cmp.Or(c.Version, "1.0"))
	WantStatus(w, body, got, 200)
	if strings.Contains(got.Body, `"error"`) {
		w.Fatalf("%s: %s", body, got.Body)
	}
	return GivenIn(w, w.Agent.One(w)), got
}
