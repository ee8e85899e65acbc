package gateway_test

// family makes some tasks in a context of their own, and gives the context and the
// ids, the last task first.
func (c *conversation) family(words ...string) (string, []string) {
	var contextID string
	var ids []string
	for _, word := range words {
		more := object{}
		if contextID != "" {
			more["contextId"] = contextID
		}
		task := c.task(word, more)
		contextID = text(task, "contextId")
		ids = append([]string{text(task, "id")}, ids...)
	}
	return contextID, ids
}

// listed lists tasks and gives the answer and their ids.
func (c *conversation) listed(params object) (any, []string) {
	answer := c.ok("ListTasks", params)
	ids := []string{}
	for _, t := range list(answer, "tasks") {
		ids = append(ids, text(t, "id"))
	}
	return answer, ids
}

// listRequirements are those of A2A 1.0 §3.1.4.
var listRequirements = []requirement{
	{"CORE-LIST-001", "must", "", func(c *conversation) {
		contextID, ids := c.family("task", "fail", "input")
		answer, got := c.listed(object{"contextId": contextID})
		c.want("number", at(answer, "totalSize"), 3)
		c.want("page", at(answer, "pageSize"), 50)
		c.want("tasks", len(got), len(ids))
		for _, t := range list(answer, "tasks") {
			c.want("context", text(t, "contextId"), contextID)
		}
	}},
	{"CORE-LIST-001a", "must", "", func(c *conversation) {
		answer, ids := c.listed(object{"contextId": "of nobody"})
		c.want("tasks of nobody", ids, []string{})
		c.want("their number", at(answer, "totalSize"), 0)
	}},
	{"CORE-LIST-002", "must", "", func(c *conversation) {
		contextID, ids := c.family("task", "fail", "input", "reject", "stream")
		var got []string
		params := object{"contextId": contextID, "pageSize": 2}
		for range ids {
			answer, page := c.listed(params)
			c.want("number", at(answer, "totalSize"), len(ids))
			c.want("page size", at(answer, "pageSize"), 2)
			got = append(got, page...)
			next := text(answer, "nextPageToken")
			if next == "" {
				break
			}
			c.want("page", len(page), 2)
			params = object{"contextId": contextID, "pageSize": 2, "pageToken": next}
		}
		c.want("pages", got, ids)
		c.invalid("ListTasks", object{"pageToken": "made up"})
	}},
	{"CORE-LIST-003", "must", "", func(c *conversation) {
		contextID, ids := c.family("input", "task", "input")
		_, got := c.listed(object{"contextId": contextID})
		c.want("order", got, ids)
		c.task("this", object{"taskId": ids[2]})
		_, got = c.listed(object{"contextId": contextID})
		c.want("order after the first has changed", got, []string{ids[2], ids[0], ids[1]})
	}},
	{"CORE-LIST-004", "must", "", func(c *conversation) {
		contextID, _ := c.family("task", "task")
		for _, size := range []int{2, 100} {
			answer, _ := c.listed(object{"contextId": contextID, "pageSize": size})
			next, present := at(answer, "nextPageToken").(string)
			if !present || next != "" {
				c.errorf("next page of the last: %v", at(answer, "nextPageToken"))
			}
		}
		for _, size := range []int{-1, 101} {
			c.invalid("ListTasks", object{"pageSize": size})
		}
	}},
	{"CORE-LIST-005", "must", "", func(c *conversation) {
		contextID, _ := c.family("task")
		for _, no := range []object{{}, {"includeArtifacts": false}} {
			no["contextId"] = contextID
			answer, _ := c.listed(no)
			c.want("artifacts", at(answer, "tasks.0.artifacts"), nil)
		}
		answer, _ := c.listed(object{"contextId": contextID, "includeArtifacts": true})
		c.want("artifact", text(answer, "tasks.0.artifacts.0.parts.0.text"), "result")
	}},
	{"CORE-LIST-006", "must", "", func(c *conversation) {
		contextID, ids := c.family("task", "fail", "input", "task")
		for state, want := range map[string][]string{
			"TASK_STATE_COMPLETED": {ids[0], ids[3]}, "TASK_STATE_FAILED": {ids[2]},
			"TASK_STATE_INPUT_REQUIRED": {ids[1]},
		} {
			answer, got := c.listed(object{"contextId": contextID, "status": state})
			c.want(state, got, want)
			c.want("number of "+state, at(answer, "totalSize"), len(want))
		}
	}},
	{"CORE-LIST-007", "must", "", func(c *conversation) {
		contextID, ids := c.family("task", "task", "task")
		second := text(c.ok("GetTask", object{"id": ids[1]}), "status.timestamp")
		_, got := c.listed(object{"contextId": contextID, "statusTimestampAfter": second})
		c.want("not before the second", got, ids[:2])
	}},
	{"CORE-LIST-008", "must", "", func(c *conversation) {
		contextID, _ := c.family("task")
		answer, _ := c.listed(object{"contextId": contextID, "historyLength": 0})
		c.want("history", at(answer, "tasks.0.history"), nil)
		answer, _ = c.listed(object{"contextId": contextID, "historyLength": 1})
		c.want("history of one", len(list(answer, "tasks.0.history")), 1)
	}},
}
