package gateway_test

import (
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/grpc/metadata"
)

// asked is a get of a task that does not exist, with what names the version.
func (c *conversation) asked(version string, query bool) string {
	if c.on == "grpc" {
		g := *c.transport.(*overGRPC)
		ctx := metadata.AppendToOutgoingContext(c.ctx, "a2a-version", version)
		_, r, err := g.call(ctx, "GetTask", object{"id": nobodys})
		if r == nil || err != nil {
			c.errorf("%q: %v, %v", version, r, err)
			return ""
		}
		return r.reason
	}
	header, path := "A2A-Version: "+version, ""
	if query {
		header, path = "A2A-Version: ", "?A2A-Version="+url.QueryEscape(version)
	}
	verb, body := http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"`+nobodys+`"}}`
	if c.on == "http_json" {
		verb, path, body = http.MethodGet, "/tasks/"+nobodys+path, ""
	}
	resp, answer := c.raw(verb, path, body, header)
	if resp.StatusCode >= 500 {
		c.errorf("%q: %s", version, answer)
	}
	_, reason, _ := strings.Cut(answer, `"reason":"`)
	reason, _, _ = strings.Cut(reason, `"`)
	return reason
}

// versionRequirements are those of A2A 1.0 §3.6.
var versionRequirements = []requirement{
	{"VER-SERVER-001", "must", "jsonrpc http_json", func(c *conversation) {
		// Who speaks 0.3 at the same place is answered in 0.3.
		send := `{"message":{"role":"ROLE_USER","messageId":"m","content":[{"text":"task"}]},"configuration":{"blocking":true}}`
		path, want := "/v1/message:send", `"TASK_STATE_COMPLETED"`
		if c.on == "jsonrpc" {
			path, want = "", `"kind":"task"`
			send = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","role":"user",` +
				`"messageId":"m","parts":[{"kind":"text","text":"task"}]}}}`
		}
		for _, version := range []string{"0.3", "0.3.0", ""} {
			resp, body := c.raw("POST", path, send, "A2A-Version: "+version)
			if resp.StatusCode != http.StatusOK || !strings.Contains(body, want) {
				c.errorf("version %q: %d %s", version, resp.StatusCode, body)
			}
		}
	}},
	{"VER-SERVER-002", "must", "", func(c *conversation) {
		for _, version := range []string{"99.0", "2.0", "0.9", "one"} {
			c.want("version "+version, c.asked(version, false), noVersion.reason)
			if c.on != "grpc" {
				c.want("version "+version+" in the query", c.asked(version, true), noVersion.reason)
			}
		}
	}},
	{"VER-SERVER-003", "must", "jsonrpc", func(c *conversation) {
		// No version means 0.3, which has a method of this name only under another: what answers
		// knows from the method's name that 1.0 is meant, or does not know the method.
		if reason := c.asked("", false); reason != taskNotFound.reason && reason != noVersion.reason {
			c.errorf("no version: %q", reason)
		}
	}},
	{"VER-CLIENT-002", "must", "", func(c *conversation) {
		for _, version := range []string{"1.0", "1.0.1", "1.0.99"} {
			c.want("version "+version, c.asked(version, false), taskNotFound.reason)
			if c.on != "grpc" {
				c.want("version "+version+" in the query", c.asked(version, true), taskNotFound.reason)
			}
		}
	}},
}
