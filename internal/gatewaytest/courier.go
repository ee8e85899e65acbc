package gatewaytest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Courier is an agent of 1.0 that notifies webhooks when it is told to, and lets the
// answers be seen. A message makes a task, which is called after it.
type Courier struct {
	URL, CardURL string

	mu     sync.Mutex
	given  map[string]webhook // by task: what callers registered, or was put in its place
	client *http.Client
}

// webhook is a push notification config as an agent is given it.
type webhook struct {
	URL            string
	Token          string
	Authentication struct{ Scheme, Credentials string }
}

// NewCourier starts one that ends with the test.
func NewCourier(t testing.TB) *Courier {
	t.Helper()
	c := &Courier{given: map[string]webhook{}, client: &http.Client{Transport: &http.Transport{}, Timeout: 10 * time.Second}}
	server := httptest.NewServer(http.HandlerFunc(c.serve))
	c.URL, c.CardURL = server.URL, server.URL+"/card"
	t.Cleanup(func() {
		c.client.CloseIdleConnections()
		server.CloseClientConnections()
		server.Close()
	})
	return c
}

// courierCall is what a courier reads of a call.
type courierCall struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
}

func (c *Courier) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/card" {
		_, _ = fmt.Fprintf(w, `{"name":"Courier","description":"Notifies.","version":"1",`+
			`"supportedInterfaces":[{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}],`+
			`"capabilities":{"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],`+
			`"skills":[{"id":"work","name":"Work","description":"Works.","tags":["t"]}]}`, c.URL)
		return
	}
	var call courierCall
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, c.answer(&call))
}

func (c *Courier) answer(call *courierCall) string {
	var params struct {
		TaskID        string
		Message       struct{ MessageID string }
		Configuration struct{ TaskPushNotificationConfig *webhook }
		webhook
	}
	_ = json.Unmarshal(call.Params, &params)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch call.Method {
	case "SendMessage":
		task := "task-" + params.Message.MessageID
		if h := params.Configuration.TaskPushNotificationConfig; h != nil {
			c.given[task] = *h
		}
		return fmt.Sprintf(`{"task":%s}`, courierTask(task))
	case "GetTask":
		var about struct{ ID string }
		_ = json.Unmarshal(call.Params, &about)
		return courierTask(about.ID)
	case "CreateTaskPushNotificationConfig":
		c.given[params.TaskID] = params.webhook
		return string(call.Params)
	}
	return "{}" // to a delete; the webhook is used all the same
}

func courierTask(id string) string {
	return fmt.Sprintf(`{"id":%q,"contextId":"context-of-%s","status":{"state":"TASK_STATE_WORKING"}}`, id, id)
}

// Notify posts the n-th notification of a task to its webhook, and returns the status
// of the answer. via is where the webhook's host is to be found just now; "" for there.
func (c *Courier) Notify(via, task string, n int, header http.Header) (int, error) {
	c.mu.Lock()
	h := c.given[task]
	c.mu.Unlock()
	target := h.URL
	if i := strings.Index(target, "/push/"); via != "" && i >= 0 {
		target = via + target[i:]
	}
	r, err := http.NewRequest(http.MethodPost, target, strings.NewReader(fmt.Sprintf(
		`{"statusUpdate":{"taskId":%q,"contextId":"context-of-%s","status":{"state":"TASK_STATE_WORKING"},"metadata":{"n":%d}}}`, task, task, n)))
	if err != nil {
		return 0, err
	}
	for name, values := range header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/a2a+json")
	r.Header.Set("X-A2A-Notification-Token", h.Token)
	r.Header.Set("Authorization", h.Authentication.Scheme+" "+h.Authentication.Credentials)
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode, nil
}
