package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// letter is a notification as a webhook got it.
type letter struct {
	header http.Header
	body   string
}

// receiver is a webhook.
func receiver(t *testing.T) (url string, got <-chan letter) {
	t.Helper()
	letters := make(chan letter, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		letters <- letter{r.Header, string(body)}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/hook?key=hush", letters
}

// says reports whether a notification is a finished task in a version's words, or an
// update that says so to a client of 1.0.
func says(body string, v a2a.ProtocolVersion, task a2a.TaskID) bool {
	var doc map[string]json.RawMessage
	if json.Unmarshal([]byte(body), &doc) != nil || !strings.Contains(body, `"`+string(task)+`"`) {
		return false
	}
	_, whole := doc["task"]
	_, update := doc["statusUpdate"]
	_, kind := doc["kind"]
	switch v[:3] {
	case "1.0":
		return (whole || update) && strings.Contains(body, `"TASK_STATE_COMPLETED"`)
	case "0.3":
		return kind && strings.Contains(body, `"completed"`)
	}
	return !kind && !whole && strings.Contains(body, `"status"`) && strings.Contains(body, `"completed"`)
}

// TestRelayedPush: a client of any version and binding registers a webhook at an agent of
// any other, reads its own URL back without secrets, and gets what the agent says in its
// own version, with the token and authentication that it asked for.
func TestRelayedPush(t *testing.T) {
	t.Parallel()
	var agents []*gatewaytest.Agent
	for _, f := range gatewaytest.AllFlavours() {
		agents = append(agents, gatewaytest.Start(t, f))
	}
	gateway := openWith(t, agents, "push: {mode: relay, allowPrivateNetworks: true, plaintext: true}\n"+everyRule)
	for _, a := range agents {
		for _, f := range gatewaytest.AllFlavours() {
			t.Run(f.Name+" to "+a.Name, func(t *testing.T) {
				t.Parallel()
				hc := gatewaytest.HTTPClient(t, gateway.Credential(f.Name, a.ID), nil)
				client, _ := gatewaytest.Dial(t, f.SDKs()[0], hc, gateway.Base(a.ID), f.Version, f.Binding)
				ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
				defer cancel()
				task, got := registered(ctx, t, client, f)
				if a.Version == "0.1" {
					return // sends no notifications: there is no SDK for it
				}
				notified(ctx, t, client, f, task, got)
			})
		}
	}
}

// registered makes a task that waits for its caller, with a webhook.
func registered(
	ctx context.Context, t *testing.T, client gatewaytest.Client, f gatewaytest.Flavour,
) (*a2a.Task, <-chan letter) {
	t.Helper()
	url, got := receiver(t)
	sent, err := client.SendMessage(ctx, &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("input"))})
	task, ok := sent.(*a2a.Task)
	if err != nil || !ok {
		t.Fatalf("send: %v %v", sent, err)
	}
	made, err := client.CreateTaskPushConfig(ctx, &a2a.PushConfig{
		TaskID: task.ID, ID: "mine", URL: url, Token: "hush-token", Auth: &a2a.PushAuthInfo{Scheme: "Bearer", Credentials: "hush-credentials"},
	})
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	own(t, "create", made, url)
	read, err := client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigRequest{TaskID: task.ID, ID: made.ID})
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	own(t, "get", read, url)
	if f.Version != "0.1" {
		list, err := client.ListTaskPushConfigs(ctx, &a2a.ListTaskPushConfigRequest{TaskID: task.ID})
		if err != nil || len(list) != 1 {
			t.Fatalf("list: %v %v", list, err)
		}
		own(t, "list", list[0], url)
	}
	return task, got
}

// notified ends the task, of which its webhook has to hear.
func notified(
	ctx context.Context, t *testing.T, client gatewaytest.Client, f gatewaytest.Flavour, task *a2a.Task, got <-chan letter,
) {
	t.Helper()
	proof := "Bearer hush-credentials"
	if f.Version == "0.1" {
		proof = "" // the client has no word for it
	}
	more := a2a.NewMessageForTask(a2a.MessageRoleUser, task, a2a.NewTextPart("this"))
	if _, err := client.SendMessage(ctx, &a2a.SendMessageRequest{Message: more}); err != nil {
		t.Fatalf("go on: %v", err)
	}
	for done := false; !done; {
		select {
		case l := <-got:
			if l.header.Get("Authorization") != proof || l.header.Get("X-A2A-Notification-Token") != "hush-token" {
				t.Errorf("header %v", l.header)
			}
			done = says(l.body, f.Version, task.ID)
			if !done {
				t.Logf("notified of %s", l.body)
			}
		case <-time.After(patience):
			t.Fatal("no notification of the end")
		}
	}
}

// own makes sure that a config is the caller's own, and that it has no secret.
func own(t *testing.T, what string, c *a2a.PushConfig, url string) {
	t.Helper()
	if c.URL != url || c.Token != "" || c.Auth != nil && c.Auth.Credentials != "" {
		t.Errorf("%s: %+v %+v, want %s", what, c, c.Auth, url)
	}
}
