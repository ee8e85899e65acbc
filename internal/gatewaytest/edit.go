package gatewaytest

import (
	"encoding/json"
	"slices"
	"strings"
)

// edited changes every object in the documents of lines.
func edited(change func(object map[string]any)) func([]string) []string {
	return func(lines []string) []string {
		var out []string
		for _, line := range lines {
			what, text, _ := strings.Cut(line, ": ")
			var document any
			if json.Unmarshal([]byte(text), &document) == nil {
				walk(document, change)
				written, _ := json.Marshal(document) // of what was JSON
				line = what + ": " + string(written)
			}
			out = append(out, line)
		}
		return out
	}
}

func walk(v any, change func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		change(v)
		for _, member := range v {
			walk(member, change)
		}
	case []any:
		for _, element := range v {
			walk(element, change)
		}
	}
}

// sameIDs makes all ids of messages and contexts the same; an empty one stays. What
// a message says of its task and context is left out.
func sameIDs(object map[string]any) {
	for _, name := range []string{"messageId", "contextId"} {
		if object[name] != nil && object[name] != "" {
			object[name] = name
		}
	}
	if object["messageId"] != nil {
		delete(object, "contextId")
		delete(object, "taskId")
	}
}

// anyIDs is what sameIDs makes of documents in which no id is missing.
func anyIDs(object map[string]any) {
	for _, name := range []string{"messageId", "contextId"} {
		if object[name] == "" {
			object[name] = name
		}
	}
	sameIDs(object)
}

// onlyStatus is what remains of a task that was made of a message.
func onlyStatus(object map[string]any) {
	delete(object, "history")
	if status, ok := object["status"].(map[string]any); ok {
		delete(status, "timestamp")
	}
}

func noHistory(object map[string]any) { delete(object, "history") }

func noConfigID(object map[string]any) {
	if object["url"] != nil && object["taskId"] != nil {
		delete(object, "id")
	}
}

// onlyConfig makes the list of push configs, which 0.1 has not, of the one config.
func onlyConfig(lines []string) []string {
	var out []string
	var config string
	for _, line := range edited(noConfigID)(lines) {
		if text, ok := strings.CutPrefix(line, "get: "); ok {
			config = text
		}
		if strings.HasPrefix(line, "list: ") {
			line = "list: [" + config + "]"
		}
		out = append(out, line)
	}
	return out
}

// beginning puts a task before the first event of a stream, with members as they
// stand in its JSON.
func beginning(stream, history, status string) func([]string) []string {
	return func(lines []string) []string {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, stream+": {") })
		if i < 0 {
			return lines
		}
		var event struct {
			StatusUpdate struct{ TaskID string }
		}
		_ = json.Unmarshal([]byte(lines[i][len(stream)+2:]), &event) // else the task has no id
		task := `{"contextId":"contextId",` + history + `"id":"` + event.StatusUpdate.TaskID + `",` + status + `}`
		return slices.Insert(slices.Clone(lines), i, stream+`: {"task":`+task+`}`)
	}
}
