package gateway_test

import (
	"encoding/json"
	"strings"

	"google.golang.org/grpc/codes"
)

const nobodys = "0a0a0a0a-0000-7000-8000-000000000000"

// canceled cancels a task that waits for its client. The SDKs' servers answer a send
// when its task begins to wait, and tidy up after the execution that came to that a
// little later: in between some refuse, and the task waits as before.
func (c *conversation) canceled(id string) any {
	for {
		result, refused, err := c.call(c.ctx, "CancelTask", object{"id": id})
		if err != nil || refused == nil || c.ctx.Err() != nil {
			return c.judged("CancelTask", result, refused, err)
		}
		switch text(c.ok("GetTask", object{"id": id}), "status.state") {
		case "TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED":
		default:
			return c.judged("CancelTask", result, refused, err)
		}
	}
}

// invalid makes a call that must be refused as one that 1.0 does not allow. Which of
// the words of JSON-RPC an agent has for that is its own affair.
func (c *conversation) invalid(method string, params object) {
	_, r, err := c.call(c.ctx, method, params)
	if err != nil || r == nil || r.http != 400 && r.grpc != codes.InvalidArgument && (r.code < -32700 || r.code > -32600) {
		raw, _ := json.Marshal(params)
		c.errorf("%s: %v, %v: %s", method, r, err, raw)
	}
}

// coreRequirements are those of A2A 1.0 §3.1 to §3.4.
var coreRequirements = []requirement{
	{"CORE-SEND-001", "must", "", func(c *conversation) {
		c.want("state", text(c.task("task"), "status.state"), "TASK_STATE_COMPLETED")
		reply := at(c.ok("SendMessage", hear("message")), "message")
		c.want("answer", text(reply, "parts.0.text"), "answer")
		c.want("role", text(reply, "role"), "ROLE_AGENT")
	}},
	{"CORE-SEND-002", "must", "", func(c *conversation) {
		for _, word := range []string{"task", "fail", "reject"} {
			again := hear("more", object{"taskId": text(c.task(word), "id")})
			c.refused("SendMessage", again, unsupported)
			c.refused("SendStreamingMessage", again, unsupported)
		}
	}},
	{"CORE-SEND-003", "must", "", func(c *conversation) {
		c.refused("SendMessage", hear("task", object{"parts": []any{
			object{"raw": "AAAA", "mediaType": "application/x-unheard-of"},
		}}), contentType)
	}},
	{"CORE-GET-001", "must", "", func(c *conversation) {
		sent := c.task("task")
		got := c.ok("GetTask", object{"id": text(sent, "id")})
		c.want("context", text(got, "contextId"), text(sent, "contextId"))
		c.want("state", text(got, "status.state"), "TASK_STATE_COMPLETED")
		c.want("artifact", text(got, "artifacts.0.parts.0.text"), "result")
	}},
	{"CORE-GET-002", "must", "", func(c *conversation) {
		c.refused("GetTask", object{"id": nobodys}, taskNotFound)
	}},
	{"CORE-CANCEL-001", "must", "", func(c *conversation) {
		for _, word := range []string{"auth", "input"} {
			id := text(c.task(word), "id")
			canceled := c.canceled(id)
			c.want("task", text(canceled, "id"), id)
			c.want("state", text(canceled, "status.state"), "TASK_STATE_CANCELED")
			c.want("state since", text(c.ok("GetTask", object{"id": id}), "status.state"), "TASK_STATE_CANCELED")
		}
	}},
	{"CORE-CANCEL-002", "must", "", func(c *conversation) {
		c.refused("CancelTask", object{"id": text(c.task("task"), "id")}, notCancelable)
		c.refused("CancelTask", object{"id": text(c.task("fail"), "id")}, notCancelable)
	}},
	{"CORE-CANCEL-003", "must", "", func(c *conversation) {
		c.refused("CancelTask", object{"id": nobodys}, taskNotFound)
	}},
	{"CORE-EXECUTION-MODE-001", "must", "", func(c *conversation) {
		for word, state := range map[string]string{
			"stream": "COMPLETED", "fail": "FAILED", "reject": "REJECTED", "input": "INPUT_REQUIRED", "auth": "AUTH_REQUIRED",
		} {
			for _, configuration := range []object{{}, {"returnImmediately": false}, {"acceptedOutputModes": []any{"text/plain"}}} {
				task := at(c.ok("SendMessage", configured(hear(word), configuration)), "task")
				c.want(word, text(task, "status.state"), "TASK_STATE_"+state)
			}
		}
	}},
	{"CORE-EXECUTION-MODE-002", "must", "", func(c *conversation) {
		// The task goes on until it is cancelled: there is an answer only at once.
		send := configured(hear("tick"), object{"returnImmediately": true})
		id := text(c.ok("SendMessage", send), "task.id")
		c.ok("CancelTask", object{"id": id})
	}},
	{"CORE-ERR-002", "must", "", func(c *conversation) {
		for _, member := range []string{"message", "messageId", "role", "parts"} {
			bad := hear("task")
			if member == "message" {
				delete(bad, "message")
			} else {
				delete(bad["message"].(object), member)
			}
			c.invalid("SendMessage", bad)
		}
		c.invalid("SendMessage", hear("task", object{"parts": []any{}}))
		c.invalid("SendMessage", hear("task", object{"parts": []any{object{"metadata": object{"no": "content"}}}}))
		c.invalid("SendMessage", hear("task", object{"role": "ROLE_UNSPECIFIED"}))
	}},
	{"CORE-CAP-001", "must", "", func(c *conversation) {
		poor := c.elsewhere(poorAgent)
		task := text(poor.task("task"), "id")
		poor.refused("CreateTaskPushNotificationConfig", object{"taskId": task, "id": "c", "url": hooks}, noPush)
		poor.refused("GetTaskPushNotificationConfig", one(task, "c"), noPush)
		poor.refused("ListTaskPushNotificationConfigs", object{"taskId": task}, noPush)
		poor.refused("DeleteTaskPushNotificationConfig", one(task, "c"), noPush)
	}},
	{"CORE-CAP-002", "must", "", func(c *conversation) {
		poor := c.elsewhere(poorAgent)
		poor.refused("SendStreamingMessage", hear("stream"), unsupported)
		poor.refused("SubscribeToTask", object{"id": text(poor.task("task"), "id")}, unsupported)
	}},
	{"CORE-CAP-003", "must", "", func(c *conversation) {
		c.elsewhere(poorAgent).refused("GetExtendedAgentCard", object{}, unsupported)
	}},
	{"CORE-CAP-004", "must", "", func(c *conversation) {
		c.elsewhere(demandingAgent).refused("SendMessage", hear("task"), needExtension)
	}},
	{"CARD-EXT-002", "must", "", func(c *conversation) {
		c.elsewhere(failingAgent).refused("GetExtendedAgentCard", object{}, noExtended)
	}},
	{"CORE-MULTI-001a", "must", "", func(c *conversation) {
		task := c.task("task")
		c.want("context later", text(c.ok("GetTask", object{"id": text(task, "id")}), "contextId"), text(task, "contextId"))
		if text(c.ok("SendMessage", hear("message")), "message.contextId") == "" {
			c.errorf("a message without contextId")
		}
	}},
	{"CORE-MULTI-002a", "must", "", func(c *conversation) {
		// A context that the client names is kept, or refused: never replaced.
		task := c.task("task", object{"contextId": "mine"})
		c.want("context", text(task, "contextId"), "mine")
		next := c.task("task", object{"contextId": text(task, "contextId")})
		c.want("context again", text(next, "contextId"), "mine")
	}},
	{"CORE-MULTI-003", "must", "", func(c *conversation) {
		first, second := text(c.task("task"), "id"), text(c.task("task"), "id")
		if first == second {
			c.errorf("two tasks have the id %q", first)
		}
	}},
	{"CORE-MULTI-004", "must", "", func(c *conversation) {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			c.refused(method, hear("task", object{"taskId": nobodys}), taskNotFound)
		}
	}},
	{"CORE-MULTI-005", "must", "", func(c *conversation) {
		asked := c.task("input")
		done := c.task("this", object{"taskId": text(asked, "id")})
		c.want("task", text(done, "id"), text(asked, "id"))
		c.want("context", text(done, "contextId"), text(asked, "contextId"))
		c.want("state", text(done, "status.state"), "TASK_STATE_COMPLETED")
	}},
	{"CORE-MULTI-006", "must", "", func(c *conversation) {
		id := text(c.task("input"), "id")
		other := text(c.task("task"), "contextId")
		// 1.0 does not say how; a task that is not in the context named is none of it.
		for _, contextID := range []string{other, "new"} {
			c.refused("SendMessage", hear("this", object{"taskId": id, "contextId": contextID}), invalidParams, taskNotFound)
		}
	}},
	{"CORE-MULTI-007", "must", "", func(c *conversation) {
		// Other tasks may be referred to, without being continued.
		first := c.task("task")
		next := c.task("task", object{
			"contextId": text(first, "contextId"), "referenceTaskIds": []any{text(first, "id")},
		})
		c.want("context", text(next, "contextId"), text(first, "contextId"))
		if text(next, "id") == text(first, "id") {
			c.errorf("the task that was referred to was continued")
		}
	}},
	{"CORE-HIST-001", "should", "", func(c *conversation) {
		id := text(c.task("task"), "id")
		c.want("history", at(c.ok("GetTask", object{"id": id, "historyLength": 0}), "history"), nil)
	}},
	{"CORE-HIST-002", "must", "", func(c *conversation) {
		id := text(c.task("input"), "id")
		c.task("this", object{"taskId": id})
		all := list(c.ok("GetTask", object{"id": id}), "history")
		if len(all) < 2 {
			c.errorf("the history has %d messages", len(all))
			return
		}
		for n := 1; n <= len(all); n++ {
			some := list(c.ok("GetTask", object{"id": id, "historyLength": n}), "history")
			c.want("messages", len(some), n)
			c.want("last message", text(some[len(some)-1], "messageId"), text(all[len(all)-1], "messageId"))
		}
	}},
	{"CORE-HIST-002a", "must", "", func(c *conversation) {
		id := text(c.task("task"), "id")
		c.refused("GetTask", object{"id": id, "historyLength": -1}, invalidParams)
	}},
	{"CORE-HIST-003", "should", "", func(c *conversation) {
		sent := c.ok("SendMessage", configured(hear("task"), object{"historyLength": 0}))
		c.want("history", at(sent, "task.history"), nil)
	}},
	{"CORE-HIST-005", "should", "", func(c *conversation) {
		id := text(c.task("input"), "id")
		c.task("this", object{"taskId": id})
		var said []string
		for _, m := range list(c.ok("GetTask", object{"id": id}), "history") {
			said = append(said, text(m, "parts.0.text"))
		}
		if heard := strings.Join(said, " "); !strings.HasPrefix(heard, "input") || !strings.Contains(heard, "this") {
			c.errorf("the history is %q", heard)
		}
	}},
}
