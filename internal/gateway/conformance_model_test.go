package gateway_test

import (
	"encoding/json"
	"regexp"
	"strings"
)

// repeated sends parts to an agent that repeats them, and gives them back.
func (c *conversation) repeated(parts ...any) []any {
	send := hear("message", object{"parts": append([]any{object{"text": "message"}}, parts...)})
	all := list(c.ok("SendMessage", send), "message.parts")
	if len(all) != len(parts)+1 {
		c.errorf("%d parts of %d came back", len(all), len(parts)+1)
		return make([]any, len(parts))
	}
	return all[1:]
}

// same compares as JSON does.
func (c *conversation) same(what string, got, want any) {
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	c.want(what, string(a), string(b))
}

var snake = regexp.MustCompile(`"[a-z]+_[a-z_]+":`)

// modelRequirements are those of A2A 1.0 §4 and §5.5 to §5.7. Every result of every
// check is compared with the shape it has in 1.0; these only make sure that each
// shape occurs.
var modelRequirements = []requirement{
	{"DM-PART-001", "must", "", func(c *conversation) {
		sent := []any{
			object{"text": "text"},
			object{"raw": "AAEC", "filename": "f.bin", "mediaType": "application/octet-stream"},
			object{"url": "https://files.example/f", "filename": "f", "mediaType": "image/png"},
			object{"data": object{"a": object{"b": []any{1, nil, "c"}}, "d": true}},
		}
		c.same("parts", c.repeated(sent...), sent)
	}},
	{"DM-PART-002", "must", "", func(c *conversation) {
		for _, v := range []any{[]any{"an", "array", 3}, []any{}, "text", 3.5, true, object{}} {
			c.same("data", c.repeated(object{"data": v})[0], object{"data": v})
		}
	}},
	{"DM-PART-003", "must", "", func(c *conversation) {
		c.same("data", c.repeated(object{"data": nil})[0], object{"data": nil})
	}},
	{"DM-PART-004", "must", "", func(c *conversation) {
		sent := object{"text": "x", "metadata": object{"https://example.com/key": []any{object{"deep": 1}}}}
		c.same("part", c.repeated(sent)[0], sent)
	}},
	{"DM-PART-005", "should", "", func(c *conversation) {
		got := c.repeated(object{"text": "x", "mediaType": "text/markdown"})[0]
		c.want("media type", text(got, "mediaType"), "text/markdown")
	}},
	{"DM-MSG-001", "must", "", func(c *conversation) {
		// What a message lists in its extensions goes with what the call has activated,
		// and is not the model's business alone.
		said := object{"messageId": "an id of its own", "metadata": object{"https://example.com/m": "kept"}}
		heard := at(c.ok("GetTask", object{"id": text(c.task("task", said), "id")}), "history.0")
		c.want("message", text(heard, "messageId"), "an id of its own")
		c.want("role", text(heard, "role"), "ROLE_USER")
		c.same("metadata", at(heard, "metadata"), said["metadata"])
	}},
	{"DM-ART-001", "must", "", func(c *conversation) {
		artifact := at(c.task("task"), "artifacts.0")
		c.want("name", text(artifact, "name"), "artifact")
		c.same("metadata", at(artifact, "metadata"), object{
			"big": 9007199254740992, "list": []any{1, object{"two": nil}},
		})
	}},
	{"DM-STATUS-001", "must", "", func(c *conversation) {
		task := c.task("input")
		c.want("text", text(task, "status.message.parts.0.text"), "what?")
		if text(task, "status.timestamp") == "" {
			c.errorf("a status without a time")
		}
	}},
	{"DM-SERIAL-001", "must", "jsonrpc http_json", func(c *conversation) {
		raw, _ := json.Marshal([]any{c.task("stream"), c.stream("SendStreamingMessage", hear("stream"))})
		for _, alien := range append(snake.FindAllString(string(raw), -1), `"kind":`, `"final":`) {
			if strings.Contains(string(raw), alien) {
				c.errorf("%s in %s", alien, raw)
			}
		}
	}},
	{"DM-SERIAL-005", "should", "jsonrpc http_json", func(c *conversation) {
		send := hear("task", object{"unheardOf": object{"a": 1}})
		send["alsoUnheardOf"] = 42
		c.want("state", text(c.ok("SendMessage", send), "task.status.state"), "TASK_STATE_COMPLETED")
	}},
}
