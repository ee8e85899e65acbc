package frameworks_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// caller calls an agent by JSON-RPC as no SDK in particular does.
type caller struct {
	version  string // "1.0", "0.3" or "0.1"
	endpoint string
	methods  map[string]string // the endpoints of methods that have their own
	key      string            // for the gateway
	card     string            // what it says of itself: its name and description
}

// newCaller reads the card below the base, and finds where its calls go.
func newCaller(t *testing.T, version, base, key, at, endpoint string) *caller {
	t.Helper()
	c := &caller{version: version, key: key}
	var card struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		URL         string `json:"url"`
		Interfaces  []struct {
			URL     string `json:"url"`
			Binding string `json:"protocolBinding"`
			Version string `json:"protocolVersion"`
		} `json:"supportedInterfaces"`
	}
	status, text, err := c.do(http.MethodGet, strings.TrimSuffix(base, "/")+at, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &card); err != nil {
		t.Fatalf("the card at %s%s: HTTP %d, %v", base, at, status, err)
	}
	c.card, c.endpoint = card.Name+": "+card.Description, card.URL
	for _, i := range card.Interfaces {
		if i.Binding == "JSONRPC" && strings.HasPrefix(i.Version, version) {
			c.endpoint = i.URL
			break
		}
	}
	if endpoint != "" {
		c.endpoint = strings.TrimSuffix(base, "/") + endpoint
	}
	if c.endpoint == "" {
		t.Fatalf("the card at %s names no interface for JSON-RPC of %s", base, version)
	}
	return c
}

// elsewhere has methods called at paths below the base.
func (c *caller) elsewhere(base string, paths map[string]string) {
	c.methods = map[string]string{}
	for method, path := range paths {
		c.methods[method] = strings.TrimSuffix(base, "/") + path
	}
}

// do does a request and gives the whole answer.
func (c *caller) do(method, url string, body []byte) (status int, text []byte, err error) {
	request, err := http.NewRequest(method, url, bytes.NewReader(body)) //nolint:noctx // bounded by the client's timeout
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	if c.version == "1.0" {
		request.Header.Set("A2A-Version", "1.0")
	}
	if c.key != "" {
		request.Header.Set("X-API-Key", c.key)
	}
	client := http.Client{Timeout: patience}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	text, err = io.ReadAll(response.Body)
	return response.StatusCode, text, err
}

// methodNames are the names of methods before 1.0.
var methodNames = map[string]map[string]string{
	"0.3": {
		"SendMessage": "message/send", "SendStreamingMessage": "message/stream", "GetTask": "tasks/get", "CancelTask": "tasks/cancel",
	},
	"0.1": {
		"SendMessage": "tasks/send", "SendStreamingMessage": "tasks/sendSubscribe", "GetTask": "tasks/get", "CancelTask": "tasks/cancel",
	},
}

// call calls a method, by its name in 1.0, and gives the events that were answered, one if
// it does not stream.
func (c *caller) call(method string, params map[string]any) []event {
	endpoint := cmp.Or(c.methods[method], c.endpoint)
	method = cmp.Or(methodNames[c.version][method], method)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "1", "method": method, "params": params})
	if err != nil {
		return []event{{failure: err.Error()}}
	}
	status, text, err := c.do(http.MethodPost, endpoint, body)
	if err != nil {
		return []event{{failure: err.Error()}}
	}
	return events(status, text)
}

// send sends a text, and a file if there shall be one.
func (c *caller) send(method, text, contextID, taskID string, file bool) []event {
	id := fmt.Sprint("m", time.Now().UnixNano())
	message := map[string]any{"role": "user", "parts": c.parts(text, file)}
	if c.version == "0.1" {
		params := map[string]any{"id": cmp.Or(taskID, id), "message": message}
		if contextID != "" {
			params["sessionId"] = contextID
		}
		return c.call(method, params)
	}
	message["messageId"] = id
	if c.version == "0.3" {
		message["kind"] = "message"
	} else {
		message["role"] = "ROLE_USER"
	}
	if contextID != "" {
		message["contextId"] = contextID
	}
	if taskID != "" {
		message["taskId"] = taskID
	}
	return c.call(method, map[string]any{"message": message})
}

// parts are those of a message.
func (c *caller) parts(text string, file bool) []map[string]any {
	var parts []map[string]any
	if c.version == "1.0" {
		parts = append(parts, map[string]any{"text": text})
		if file {
			parts = append(parts, map[string]any{"raw": "aGVsbG8=", "mediaType": "text/plain", "filename": "hello.txt"})
		}
		return parts
	}
	kind := map[string]string{"0.3": "kind", "0.1": "type"}[c.version]
	parts = append(parts, map[string]any{kind: "text", "text": text})
	if file {
		parts = append(parts, map[string]any{
			kind: "file", "file": map[string]any{"bytes": "aGVsbG8=", "mimeType": "text/plain", "name": "hello.txt"},
		})
	}
	return parts
}

// settled is the first of the events, or what became of its task if that goes on.
func (c *caller) settled(all []event) event {
	e := all[0]
	deadline := time.Now().Add(patience / 3)
	for e.taskID != "" && slices.Contains([]string{"submitted", "working"}, e.state) && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
		e = c.call("GetTask", map[string]any{"id": e.taskID})[0]
	}
	return e
}
