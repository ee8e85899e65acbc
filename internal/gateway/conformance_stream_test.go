package gateway_test

import (
	"fmt"
	"slices"
)

// told is a stream in short: the kinds of its events, with states and texts.
func told(events []any) []string {
	var all []string
	for _, e := range events {
		for kind, v := range e.(object) {
			switch kind {
			case "task", "statusUpdate":
				all = append(all, kind+" "+text(v, "status.state"))
			case "artifactUpdate":
				all = append(all, fmt.Sprintf("%s %q append %v last %v", kind,
					text(v, "artifact.parts.0.text"), at(v, "append") == true, at(v, "lastChunk") == true))
			case "message":
				all = append(all, kind+" "+text(v, "parts.0.text"))
			}
		}
	}
	return all
}

// moments are the times of the updates in a stream.
func moments(events []any) []string {
	var all []string
	for _, e := range events {
		if at := text(e, "statusUpdate.status.timestamp"); at != "" {
			all = append(all, at)
		}
	}
	return all
}

// rest reads what is left of a stream.
func (c *conversation) rest(s *eventStream) (events []any) {
	if s == nil {
		return nil
	}
	defer s.close()
	for e := c.event(s); e != nil; e = c.event(s) {
		events = append(events, e)
	}
	return events
}

// ticking begins a stream of a task that goes on, and reads until it works.
func (c *conversation) ticking() (s *eventStream, id string) {
	s = c.opened("SendStreamingMessage", hear("tick"))
	id = text(c.event(s), "task.id")
	for e := c.event(s); e != nil; e = c.event(s) {
		if text(e, "statusUpdate.status.state") == "TASK_STATE_WORKING" {
			return s, id
		}
	}
	c.errorf("the task does not begin to work")
	return s, id
}

// streamRequirements are those of A2A 1.0 §3.1.2, §3.1.6 and §3.5.2.
var streamRequirements = []requirement{
	{"CORE-STREAM-001", "must", "", func(c *conversation) {
		// An event is there before the task is over: it goes on until cancelled.
		s, id := c.ticking()
		c.ok("CancelTask", object{"id": id})
		c.rest(s)
	}},
	{"CORE-STREAM-002", "must", "", func(c *conversation) {
		c.want("stream", told(c.stream("SendStreamingMessage", hear("message"))), []string{"message answer"})
	}},
	{"CORE-STREAM-003", "must", "", func(c *conversation) {
		for word, state := range map[string]string{"task": "COMPLETED", "fail": "FAILED", "reject": "REJECTED"} {
			events := told(c.stream("SendStreamingMessage", hear(word)))
			if len(events) < 2 || events[0] != "task TASK_STATE_SUBMITTED" ||
				events[len(events)-1] != "statusUpdate TASK_STATE_"+state {
				c.errorf("%s: %q", word, events)
			}
		}
	}},
	{"CORE-STREAM-004", "must", "", func(c *conversation) {
		// An interrupted task's stream need not close; where it does, the task goes on by another send.
		events := c.stream("SendStreamingMessage", hear("input"))
		c.want("stream", told(events), []string{"task TASK_STATE_SUBMITTED", "statusUpdate TASK_STATE_INPUT_REQUIRED"})
		if len(events) == 0 {
			return
		}
		events = c.stream("SendStreamingMessage", hear("this", object{"taskId": text(events[0], "task.id")}))
		if all := told(events); len(all) == 0 || len(all[0]) < 4 || all[0][:4] != "task" ||
			all[len(all)-1] != "statusUpdate TASK_STATE_COMPLETED" {
			c.errorf("continued: %q", all)
		}
	}},
	{"STREAM-ORDER-001", "must", "", func(c *conversation) {
		events := c.stream("SendStreamingMessage", hear("stream"))
		c.want("stream", fmt.Sprintf("%q", told(events)), fmt.Sprintf("%q", []string{
			"task TASK_STATE_SUBMITTED", "statusUpdate TASK_STATE_WORKING",
			`artifactUpdate "one" append false last false`,
			`artifactUpdate "two\nlines" append true last false`,
			`artifactUpdate "three\u2028and <html>" append true last true`,
			"statusUpdate TASK_STATE_COMPLETED",
		}))
		for _, e := range events {
			for _, v := range e.(object) {
				if id := text(v, "taskId") + text(v, "id"); id != text(events[0], "task.id") {
					c.errorf("an event of task %q", id)
				}
			}
		}
	}},
	{"STREAM-ORDER-002", "must", "", func(c *conversation) {
		first, id := c.ticking()
		second := c.opened("SubscribeToTask", object{"id": id})
		c.want("first event", told([]any{c.event(second)}), []string{"task TASK_STATE_WORKING"})
		seen := []any{c.event(second)}
		c.ok("CancelTask", object{"id": id})
		all, some := moments(c.rest(first)), moments(append(seen, c.rest(second)...))
		// Everything that the later stream told, the earlier did as well, in that order.
		if from := slices.Index(all, some[0]); from < 0 || !slices.Equal(all[from:], some) {
			c.errorf("two streams differ: %q and %q", all, some)
		}
	}},
	{"STREAM-ORDER-004", "must", "", func(c *conversation) {
		first, id := c.ticking()
		second := c.opened("SubscribeToTask", object{"id": id})
		c.event(second)
		if second != nil {
			second.close()
		}
		c.event(first)
		c.ok("CancelTask", object{"id": id})
		events := told(c.rest(first))
		c.want("end", events[max(0, len(events)-1):], []string{"statusUpdate TASK_STATE_CANCELED"})
	}},
	{"STREAM-SUB-001", "must", "", func(c *conversation) {
		first, id := c.ticking()
		first.close()
		second := c.opened("SubscribeToTask", object{"id": id})
		c.want("task", text(c.event(second), "task.id"), id)
		c.ok("CancelTask", object{"id": id})
		events := told(c.rest(second))
		c.want("end", events[max(0, len(events)-1):], []string{"statusUpdate TASK_STATE_CANCELED"})
	}},
	{"STREAM-SUB-003", "must", "", func(c *conversation) {
		for _, word := range []string{"task", "fail", "reject"} {
			c.refused("SubscribeToTask", object{"id": text(c.task(word), "id")}, unsupported)
		}
	}},
	{"STREAM-SUB-004", "must", "", func(c *conversation) {
		c.refused("SubscribeToTask", object{"id": nobodys}, taskNotFound)
	}},
}
