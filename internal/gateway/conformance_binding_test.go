package gateway_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/emptypb"
)

// raw sends what it is told to.
func (c *conversation) raw(verb, path, body string, header ...string) (*http.Response, string) {
	if c.tenant != "" && path != "" {
		path = "/" + c.tenant + path
	}
	req, err := http.NewRequestWithContext(c.ctx, verb, c.base+path, strings.NewReader(body))
	if err != nil {
		c.errorf("%v", err)
		return new(http.Response), ""
	}
	req.Header = http.Header{"A2a-Version": {"1.0"}}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if req.Header.Set(name, value); value == "" {
			req.Header.Del(name)
		}
	}
	resp, err := c.site.client.Do(req)
	if err != nil {
		c.errorf("%s %s: %v", verb, path, err)
		return new(http.Response), ""
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(resp.Body)
	return resp, string(answer)
}

// members are the parameters that a method has, about a task that does not exist.
func members(method string) object {
	switch method {
	case "SendMessage", "SendStreamingMessage":
		return hear("message", object{"taskId": nobodys})
	case "ListTasks", "GetExtendedAgentCard":
		return object{}
	case "GetTask", "CancelTask", "SubscribeToTask":
		return object{"id": nobodys}
	}
	return object{"taskId": nobodys, "id": "c", "url": "https://hooks.example"}
}

// failures are what an agent of 0.3 may answer, and what becomes of it (A2A 1.0 §5.4).
var failures = map[string]refusal{
	"-32001": taskNotFound, "-32002": notCancelable, "-32003": noPush, "-32004": unsupported, "-32005": contentType,
	"-32006": badAgent, "-32007": noExtended, "-32602": invalidParams,
	"-32603": {-32603, 500, codes.Internal, "INTERNAL_ERROR", "", ""},
}

// bindingRequirements are those of A2A 1.0 §5.1, §5.4 and §9 to §11.
var bindingRequirements = []requirement{
	{"BIND-EQUIV-001", "must", "", func(c *conversation) {
		for _, method := range slices.Sorted(maps.Keys(rpcs)) {
			switch method {
			case "ListTasks", "GetExtendedAgentCard":
				if method == "ListTasks" {
					c.ok(method, object{"contextId": text(c.task("task"), "contextId")})
				} else {
					c.ok(method, object{})
				}
			default:
				c.refused(method, members(method), taskNotFound)
			}
		}
	}},
	{"BIND-EQUIV-002", "must", "", func(c *conversation) {
		id := text(c.task("stream"), "id")
		here := c.ok("GetTask", object{"id": id})
		for _, on := range []string{"jsonrpc", "http_json", "grpc"} {
			there := c.across(on).ok("GetTask", object{"id": id})
			for _, task := range []any{here, there} {
				// How many zeros end a second is the one thing that bindings write differently.
				since, _ := time.Parse(time.RFC3339Nano, text(task, "status.timestamp"))
				at(task, "status").(object)["timestamp"] = since.Format(time.RFC3339Nano)
			}
			c.same("task over "+on, there, here)
		}
	}},
	{"BIND-EQUIV-003", "must", "", func(c *conversation) {
		failing := c.elsewhere(failingAgent)
		for code, kind := range failures {
			failing.refused("SendMessage", hear(code), kind)
			failing.refused("SendStreamingMessage", hear(code), kind)
		}
	}},
	{"JSONRPC-FMT-001", "must", "jsonrpc", func(c *conversation) {
		for body, code := range map[string]string{
			`{"jsonrpc":"2.0","id":7,"method":"GetTask"`:                                   "-32700 <nil>",
			`{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"` + "\xff" + `"}}`: "-32700 <nil>",
			`{"id":7,"method":"GetTask","params":{"id":"x"}}`:                              "-32600 7",
			`{"jsonrpc":"1.0","id":7,"method":"GetTask","params":{"id":"x"}}`:              "-32600 7",
			`{"jsonrpc":"2.0","id":7}`:                                                     "-32600 7",
			`[{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"x"}}]`:            "-32600 <nil>",
			`"text"`: "-32600 <nil>",
			`{"jsonrpc":"2.0","id":"a","method":"NoSuchMethod","params":{}}`:           "-32601 a",
			`{"jsonrpc":"2.0","id":"a","method":"getTask","params":{}}`:                "-32601 a",
			`{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{}}`:                "-32602 a",
			`{"jsonrpc":"2.0","id":"a","method":"GetTask","params":{"id":5}}`:          "-32602 a",
			`{"jsonrpc":"2.0","id":"a","method":"GetTask","params":["x"]}`:             "-32602 a",
			`{"jsonrpc":"2.0","id":"a","method":"GetTask"}`:                            "-32602 a",
			`{"jsonrpc":"2.0","id":"a","method":"SendMessage","params":{"message":1}}`: "-32602 a",
		} {
			resp, answer := c.raw("POST", "", body)
			resp.Body = io.NopCloser(strings.NewReader(answer))
			doc, err := readJSON(resp, "application/json")
			if err != nil {
				c.errorf("%s: %v", body, err)
				continue
			}
			c.want(body, fmt.Sprint(at(doc, "error.code"), " ", at(doc, "id")), code)
			_, present := doc.(object)["id"]
			c.want("id in the answer to "+body, present, true)
		}
	}},
	{"JSONRPC-FMT-002", "must", "jsonrpc", func(c *conversation) {
		_, answer := c.raw("POST", "", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, "Content-Type: text/plain")
		if !strings.Contains(answer, "-32005") || !strings.Contains(answer, "CONTENT_TYPE_NOT_SUPPORTED") {
			c.errorf("text/plain: %s", answer)
		}
	}},
	{"JSONRPC-SVC-002", "must", "jsonrpc http_json", func(c *conversation) {
		body, path := `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"task"}]}}`, "/message:send"
		if c.on == "jsonrpc" {
			body, path = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+body+`}`, ""
		}
		resp, answer := c.raw("POST", path, body, "A2A-Extensions: https://example.com/ext/unheard-of")
		if resp.StatusCode != http.StatusOK || !strings.Contains(answer, "TASK_STATE_COMPLETED") {
			c.errorf("an unknown extension is not ignored: %s", answer)
		}
	}},
	{"HTTP_JSON-URL-001", "must", "http_json", func(c *conversation) {
		task := text(c.task("auth"), "id")
		for _, verb := range []string{"GET", "POST"} {
			// The text and the proto of 1.0 disagree about the verb: either is right.
			resp, body := c.raw(verb, "/tasks/"+nobodys+":subscribe", "")
			if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, "TASK_NOT_FOUND") {
				c.errorf("%s :subscribe: %d %s", verb, resp.StatusCode, body)
			}
		}
		for _, body := range []string{"", "{}"} {
			resp, answer := c.raw("POST", "/tasks/"+task+":cancel", body)
			if resp.StatusCode != http.StatusOK && !strings.Contains(answer, "TASK_NOT_CANCELABLE") {
				c.errorf("cancel with body %q: %s", body, answer)
			}
		}
		for _, wrong := range [][2]string{
			{"GET", "/message:send"}, {"DELETE", "/tasks/" + task}, {"POST", "/tasks"}, {"GET", "/tasks/" + task + ":cancel"},
			{"GET", "/nowhere"}, {"POST", "/a/b/message:send"}, {"POST", "/tasks/" + task + ":unheardof"},
		} {
			resp, body := c.raw(wrong[0], wrong[1], "")
			if resp.StatusCode != http.StatusNotFound && resp.StatusCode != http.StatusMethodNotAllowed ||
				!strings.Contains(body, `"details"`) {
				c.errorf("%v: %d %s", wrong, resp.StatusCode, body)
			}
		}
	}},
	{"HTTP_JSON-SVC-001", "should", "http_json", func(c *conversation) {
		for _, kind := range []string{"application/json", "application/a2a+json"} {
			resp, body := c.raw("POST", "/message:send",
				`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"task"}]}}`,
				"Content-Type: "+kind+"; charset=utf-8", "Accept: "+kind)
			if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), kind) {
				c.errorf("%s: %d %q %s", kind, resp.StatusCode, resp.Header.Get("Content-Type"), body)
			}
		}
		resp, body := c.raw("POST", "/message:send", `{}`, "Content-Type: text/plain")
		if resp.StatusCode < 400 || !strings.Contains(body, "CONTENT_TYPE_NOT_SUPPORTED") {
			c.errorf("text/plain: %d %s", resp.StatusCode, body)
		}
	}},
	{"HTTP_JSON-QP-001", "must", "http_json", func(c *conversation) {
		contextID, ids := c.family("task", "fail")
		resp, body := c.raw("GET", "/tasks?contextId="+contextID+"&pageSize=1&includeArtifacts=true&status=TASK_STATE_COMPLETED", "")
		if resp.StatusCode != http.StatusOK || !strings.Contains(body, ids[1]) || strings.Contains(body, ids[0]) ||
			!strings.Contains(body, `"artifacts"`) {
			c.errorf("list: %d %s", resp.StatusCode, body)
		}
		for _, query := range []string{
			"pageSize=x", "historyLength=x", "includeArtifacts=maybe", "status=none", "statusTimestampAfter=yesterday",
		} {
			resp, body := c.raw("GET", "/tasks?"+query, "")
			if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, `"INVALID_ARGUMENT"`) {
				c.errorf("%s: %d %s", query, resp.StatusCode, body)
			}
		}
	}},
	{"HTTP_JSON-ERR-001", "must", "http_json", func(c *conversation) {
		for body, reason := range map[string]string{
			`{"message":`: "PARSE_ERROR", `[]`: "", `{"message":1}`: "INVALID_PARAMS", `{}`: "INVALID_PARAMS",
		} {
			resp, answer := c.raw("POST", "/message:send", body)
			if resp.StatusCode != http.StatusBadRequest || !strings.Contains(answer, `"status":"INVALID_ARGUMENT"`) ||
				!strings.Contains(answer, reason) {
				c.errorf("%s: %d %s", body, resp.StatusCode, answer)
			}
		}
	}},
	{"GRPC-SVC-001", "must", "grpc", func(c *conversation) {
		_, r, err := c.call(c.ctx, "NoSuchMethod", object{})
		if err != nil || r == nil || r.grpc != codes.Unimplemented {
			c.errorf("a method that does not exist: %v, %v", r, err)
		}
		err = c.site.conn.Invoke(c.ctx, "/no.such.Service/GetTask", new(emptypb.Empty), new(emptypb.Empty))
		if r, _ := new(overGRPC).refused(err); r == nil || r.grpc != codes.Unimplemented {
			c.errorf("a service that does not exist: %v", err)
		}
	}},
}
