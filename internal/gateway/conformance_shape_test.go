package gateway_test

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// at follows a path of members and indices, "artifacts.0.parts"; nil is where it
// leads nowhere.
func at(doc any, path string) any {
	for step := range strings.SplitSeq(path, ".") {
		switch v := doc.(type) {
		case object:
			doc = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil
			}
			doc = v[i]
		default:
			return nil
		}
	}
	return doc
}

// text is the string at a path, or "".
func text(doc any, path string) string {
	s, _ := at(doc, path).(string)
	return s
}

// list is the array at a path, or nil.
func list(doc any, path string) []any {
	l, _ := at(doc, path).([]any)
	return l
}

// shapes are the objects of 1.0 (A2A 1.0 §4), member by member. A type with "!" is
// of a member that must be there, one with "[]" of an array, a required one of
// at least one element; "one" marks members of which exactly one is there, and
// "any" says what is free. A member that is not named here is none of 1.0.
var shapes = map[string]map[string]string{
	"SendMessageResponse": {"task": "one Task", "message": "one Message"},
	"StreamResponse": {
		"task": "one Task", "message": "one Message",
		"statusUpdate": "one StatusUpdate", "artifactUpdate": "one ArtifactUpdate",
	},
	"Task": {
		"id": "!string", "contextId": "!string", "status": "!TaskStatus",
		"artifacts": "[]Artifact", "history": "[]Message", "metadata": "any",
	},
	"TaskStatus": {"state": "!TaskState", "message": "Message", "timestamp": "time"},
	"Message": {
		"messageId": "!string", "contextId": "string", "taskId": "string", "role": "!Role",
		"parts": "![]Part", "metadata": "any", "extensions": "[]string", "referenceTaskIds": "[]string",
	},
	"Part": {
		"text": "one string", "raw": "one base64", "url": "one string", "data": "one any",
		"metadata": "any", "filename": "string", "mediaType": "string",
	},
	"Artifact": {
		"artifactId": "!string", "name": "string", "description": "string", "parts": "![]Part",
		"metadata": "any", "extensions": "[]string",
	},
	"StatusUpdate": {"taskId": "!string", "contextId": "!string", "status": "!TaskStatus", "metadata": "any"},
	"ArtifactUpdate": {
		"taskId": "!string", "contextId": "!string", "artifact": "!Artifact",
		"append": "bool", "lastChunk": "bool", "metadata": "any",
	},
	"ListTasksResponse": {
		"tasks": "![0]Task", "nextPageToken": "!string0", "pageSize": "!number", "totalSize": "!number",
	},
	"PushConfig": {
		"tenant": "string", "id": "!string", "taskId": "!string", "url": "!string", "token": "string",
		"authentication": "Authentication",
	},
	"Authentication":  {"scheme": "!string", "credentials": "string"},
	"PushConfigs":     {"configs": "[]PushConfig", "nextPageToken": "string0"},
	"Empty":           {},
	"AgentCapability": {"streaming": "bool", "pushNotifications": "bool", "extendedAgentCard": "bool", "extensions": "any"},
	"AgentInterface": {
		"url": "!string", "protocolBinding": "!string", "tenant": "string", "protocolVersion": "!string",
	},
	"AgentSkill": {
		"id": "!string", "name": "!string", "description": "!string", "tags": "![]string", "examples": "[]string",
		"inputModes": "[]string", "outputModes": "[]string", "securityRequirements": "any",
	},
	// security_requirements is ProtoJSON's other name for securityRequirements; see docs/cards.md.
	"AgentCard": {
		"name": "!string", "description": "!string", "supportedInterfaces": "![]AgentInterface", "provider": "any",
		"version": "!string", "documentationUrl": "string", "capabilities": "!AgentCapability",
		"securitySchemes": "any", "securityRequirements": "any", "security_requirements": "any", "defaultInputModes": "![]string",
		"defaultOutputModes": "![]string", "skills": "![]AgentSkill", "signatures": "any", "iconUrl": "string",
	},
}

// results are the shapes of what methods give.
var results = map[string]string{
	"SendMessage": "SendMessageResponse", "SendStreamingMessage": "StreamResponse", "SubscribeToTask": "StreamResponse",
	"GetTask": "Task", "CancelTask": "Task", "ListTasks": "ListTasksResponse",
	"CreateTaskPushNotificationConfig": "PushConfig", "GetTaskPushNotificationConfig": "PushConfig",
	"ListTaskPushNotificationConfigs": "PushConfigs", "DeleteTaskPushNotificationConfig": "Empty",
	"GetExtendedAgentCard": "AgentCard",
}

var words = map[string]*regexp.Regexp{
	"TaskState": regexp.MustCompile(
		`^TASK_STATE_(SUBMITTED|WORKING|COMPLETED|FAILED|CANCELED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED)$`),
	"Role":    regexp.MustCompile(`^ROLE_(USER|AGENT)$`),
	"time":    regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`),
	"string":  regexp.MustCompile(`(?s).`),
	"string0": regexp.MustCompile(``),
}

// misshapen says what is wrong with a value of the type at the path.
func misshapen(kind, path string, v any) (wrong []string) {
	kind = strings.TrimPrefix(strings.TrimPrefix(kind, "one "), "!")
	if of, ok := strings.CutPrefix(kind, "[]"); ok {
		elements, isList := v.([]any)
		if !isList {
			return []string{fmt.Sprintf("%s is %T, not an array", path, v)}
		}
		for i, e := range elements {
			wrong = append(wrong, misshapen(of, fmt.Sprintf("%s.%d", path, i), e)...)
		}
		return wrong
	}
	if of, ok := strings.CutPrefix(kind, "[0]"); ok {
		return misshapen("[]"+of, path, v)
	}
	if pattern, ok := words[kind]; ok {
		if s, isText := v.(string); !isText || !pattern.MatchString(s) {
			wrong = append(wrong, fmt.Sprintf("%s is %v, no %s", path, v, kind))
		}
		return wrong
	}
	ok := true
	switch kind {
	case "any":
	case "bool":
		_, ok = v.(bool)
	case "number":
		_, ok = v.(float64)
	case "base64":
		s, isText := v.(string)
		_, err := base64.StdEncoding.DecodeString(s)
		ok = isText && err == nil
	default:
		return misshapenObject(kind, path, v)
	}
	if !ok {
		wrong = append(wrong, fmt.Sprintf("%s is %v, no %s", path, v, kind))
	}
	return wrong
}

func misshapenObject(kind, path string, v any) (wrong []string) {
	o, ok := v.(object)
	if !ok {
		return []string{fmt.Sprintf("%s is %T, not an object", path, v)}
	}
	shape := shapes[kind]
	for _, name := range slices.Sorted(maps.Keys(o)) {
		of, known := shape[name]
		if !known {
			wrong = append(wrong, fmt.Sprintf("%s.%s is no member of %s", path, name, kind))
			continue
		}
		wrong = append(wrong, misshapen(of, path+"."+name, o[name])...)
	}
	choices, chosen := 0, 0
	for name, of := range shape {
		member, present := o[name]
		if strings.HasPrefix(of, "one ") {
			choices++
			if present {
				chosen++
			}
		}
		if elements, isList := member.([]any); strings.HasPrefix(of, "!") && !present ||
			isList && strings.HasPrefix(of, "![]") && len(elements) == 0 {
			wrong = append(wrong, fmt.Sprintf("%s has no %s", path, name))
		}
	}
	if choices > 0 && chosen != 1 {
		wrong = append(wrong, fmt.Sprintf("%s has %d of the members of which it must have one: %v", path, chosen, v))
	}
	return wrong
}
