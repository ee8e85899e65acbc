package frameworks_test

import (
	"fmt"
	"strings"
)

// converse does the steps with a framework's agent.
func converse(c *caller) []step {
	first := c.settled(c.send("SendMessage", "hello", "", "", false))
	steps := []step{
		{Name: "card", OK: c.card != ": ", Said: c.card},
		{Name: "send", OK: first.ended() && strings.Contains(first.String(), "hello"), Said: first.String()},
		stream(c), twoTurns(c),
	}
	steps = append(steps, ofTask(c, first)...)
	file := c.settled(c.send("SendMessage", "look", "", "", true))
	failed := c.settled(c.send("SendMessage", "fail", "", "", false))
	return append(steps,
		step{Name: "file", OK: file.ended() && strings.Contains(file.String(), "files: 1"), Said: file.String()},
		step{Name: "error", OK: failed.state == "failed" || strings.HasPrefix(failed.failure, "error "), Said: failed.String()})
}

// stream has the answer come by SSE. What is compared is which events there are.
func stream(c *caller) step {
	all := c.send("SendStreamingMessage", "hello", "", "", false)
	var said []string
	for _, e := range all {
		said = append(said, e.String())
	}
	last, text := all[len(all)-1], strings.Join(said, "; ")
	return step{Name: "stream", OK: last.ended() && strings.Contains(text, "hello"), Said: text}
}

// twoTurns has a second message in the context of the first.
func twoTurns(c *caller) step {
	first := c.settled(c.send("SendMessage", "one", "", "", false))
	task := ""
	if first.state == "input-required" {
		task = first.taskID
	}
	second := c.settled(c.send("SendMessage", "two", first.contextID, task, false))
	same := second.contextID != "" && second.contextID == first.contextID
	return step{
		Name: "two turns", OK: second.ended() && same && strings.Contains(second.String(), "two"),
		Said: fmt.Sprintf("%s, in the same context: %t", second, same),
	}
}

// ofTask asks for the task of an answer, and cancels it, too late.
func ofTask(c *caller, first event) []step {
	if first.taskID == "" {
		return []step{
			{Name: "get", OK: true, Said: "no task"},
			{Name: "cancel", OK: true, Said: "no task"},
		}
	}
	got := c.call("GetTask", map[string]any{"id": first.taskID})[0]
	cancelled := c.call("CancelTask", map[string]any{"id": first.taskID})[0]
	return []step{
		{Name: "get", OK: got.ended(), Said: got.String()},
		{Name: "cancel", OK: cancelled.state == "canceled" || cancelled.failure == "error -32002", Said: cancelled.String()},
	}
}
