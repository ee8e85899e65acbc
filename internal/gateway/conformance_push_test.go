package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
)

const hooks = "https://hooks.example/a"

// notification is what a webhook received.
type notification struct {
	header http.Header
	body   any
}

// webhook receives notifications until the test ends.
func (c *conversation) webhook() (string, <-chan notification) {
	received := make(chan notification, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n := notification{header: r.Header}
		_ = json.NewDecoder(r.Body).Decode(&n.body)
		select {
		case received <- n:
		default:
		}
	}))
	c.t.Cleanup(server.Close)
	return server.URL, received
}

// notified waits for a notification.
func (c *conversation) notified(received <-chan notification) notification {
	select {
	case n := <-received:
		return n
	case <-c.ctx.Done():
		c.errorf("no notification")
		return notification{}
	}
}

// one is what names a push configuration.
func one(task, id string) object { return object{"taskId": task, "id": id} }

// pushRequirements are those of A2A 1.0 §3.1.7 to §3.1.10 and §4.3.
var pushRequirements = []requirement{
	{"PUSH-CREATE-001", "must", "", func(c *conversation) {
		task := text(c.task("input"), "id")
		made := c.ok("CreateTaskPushNotificationConfig", object{
			"taskId": task, "id": "mine", "url": hooks, "token": "t",
			"authentication": object{"scheme": "Bearer", "credentials": "c"},
		})
		for name, want := range map[string]string{
			"taskId": task, "id": "mine", "url": hooks, "token": "t", "authentication.scheme": "Bearer",
		} {
			c.want(name, text(made, name), want)
		}
	}},
	{"PUSH-CREATE-001a", "must", "", func(c *conversation) {
		// Who names no id is given one, under which the configuration is found.
		task := text(c.task("input"), "id")
		id := text(c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "url": hooks}), "id")
		c.want("url", text(c.ok("GetTaskPushNotificationConfig", one(task, id)), "url"), hooks)
	}},
	{"PUSH-CREATE-002", "must", "", func(c *conversation) {
		task := text(c.task("input"), "id")
		c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "id": "mine", "url": "https://hooks.example"})
		c.want("url", text(c.ok("GetTaskPushNotificationConfig", one(task, "mine")), "url"), "https://hooks.example")
	}},
	{"PUSH-CREATE-003", "must", "", func(c *conversation) {
		c.refused("CreateTaskPushNotificationConfig", object{"taskId": nobodys, "id": "x", "url": hooks}, taskNotFound)
		task := text(c.task("input"), "id")
		c.invalid("CreateTaskPushNotificationConfig", object{"taskId": task, "id": "x"})
	}},
	{"PUSH-GET-001", "must", "", func(c *conversation) {
		task := text(c.task("input"), "id")
		made := c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "id": "mine", "url": hooks, "token": "t"})
		c.want("configuration", c.ok("GetTaskPushNotificationConfig", one(task, "mine")), made)
	}},
	{"PUSH-GET-002", "must", "", func(c *conversation) {
		_, r, err := c.call(c.ctx, "GetTaskPushNotificationConfig", one(text(c.task("input"), "id"), "absent"))
		if r == nil || err != nil {
			c.errorf("a configuration that does not exist: %v, %v", r, err)
		}
		c.refused("GetTaskPushNotificationConfig", one(nobodys, "absent"), taskNotFound)
	}},
	{"PUSH-LIST-001", "must", "", func(c *conversation) {
		task := text(c.task("input"), "id")
		c.want("none", len(list(c.ok("ListTaskPushNotificationConfigs", object{"taskId": task}), "configs")), 0)
		for _, id := range []string{"a", "b"} {
			c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "id": id, "url": "https://hooks.example/" + id})
		}
		found := map[string]string{}
		for _, config := range list(c.ok("ListTaskPushNotificationConfigs", object{"taskId": task}), "configs") {
			found[text(config, "id")] = text(config, "taskId") + " " + text(config, "url")
		}
		c.want("configurations", found, map[string]string{
			"a": task + " https://hooks.example/a", "b": task + " https://hooks.example/b",
		})
		c.refused("ListTaskPushNotificationConfigs", object{"taskId": nobodys}, taskNotFound)
	}},
	{"PUSH-DEL-001", "must", "", func(c *conversation) {
		task := text(c.task("input"), "id")
		for _, id := range []string{"a", "b"} {
			c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "id": id, "url": hooks})
		}
		c.ok("DeleteTaskPushNotificationConfig", one(task, "a"))
		if _, r, err := c.call(c.ctx, "GetTaskPushNotificationConfig", one(task, "a")); r == nil || err != nil {
			c.errorf("it is still there: %v, %v", r, err)
		}
		c.want("left", len(list(c.ok("ListTaskPushNotificationConfigs", object{"taskId": task}), "configs")), 1)
	}},
	{"PUSH-DEL-002", "must", "", func(c *conversation) {
		task := text(c.task("input"), "id")
		c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "id": "a", "url": hooks})
		c.ok("DeleteTaskPushNotificationConfig", one(task, "a"))
		c.ok("DeleteTaskPushNotificationConfig", one(task, "a"))
		c.refused("DeleteTaskPushNotificationConfig", one(nobodys, "a"), taskNotFound)
	}},
	{"PUSH-DELIVER-001", "must", "", func(c *conversation) {
		url, received := c.webhook()
		task := text(c.ok("SendMessage", configured(hear("input"), object{"taskPushNotificationConfig": object{
			"id": "c", "url": url, "authentication": object{"scheme": "Bearer", "credentials": "secret"},
		}})), "task.id")
		c.task("this", object{"taskId": task})
		c.want("credentials", c.notified(received).header.Get("Authorization"), "Bearer secret")
	}},
	{"PUSH-DELIVER-002", "must", "", func(c *conversation) {
		url, received := c.webhook()
		task := text(c.task("input"), "id")
		c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "id": "c", "url": url})
		c.task("this", object{"taskId": task})
		c.notified(received)
	}},
	{"PUSH-DELIVER-003", "must", "", func(c *conversation) {
		url, received := c.webhook()
		task := text(c.task("input"), "id")
		c.ok("CreateTaskPushNotificationConfig", object{"taskId": task, "id": "c", "url": url})
		c.task("this", object{"taskId": task})
		for _, w := range misshapen("StreamResponse", "notification", c.notified(received).body) {
			c.errorf("%s", w)
		}
	}},
}
