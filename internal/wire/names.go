package wire

import "github.com/a2a-gateway/a2a-gateway/internal/jsonscan"

// What the members of a request mean to the gateway, whatever the version and object they
// stand in.
const (
	fieldNone jsonscan.Field = iota

	fieldProtocol  // envelope: jsonrpc
	fieldRequestID // envelope: id
	fieldMethod    // envelope: method
	fieldParams    // envelope: params

	fieldTenant
	fieldTask          // a task's id
	fieldContext       // a context's id; 0.1 calls it session
	fieldConfig        // a push config's id
	fieldName          // 0.3 HTTP+JSON and gRPC: tasks/{task}[/pushNotificationConfigs/{config}]
	fieldPageToken     //
	fieldHistory       // historyLength, which tells a 0.1 resubscribe from a 0.3 one
	fieldMessage       //
	fieldMessageID     //
	fieldReferences    // referenceTaskIds
	fieldExtensions    //
	fieldParts         //
	fieldMetadata      //
	fieldConfiguration // of a send
	fieldPush          // a push config
	fieldOpaque        // skipped, but its name must not be imitated

	// What some version has elsewhere, in a place where this one has nothing (see stray.go).
	fieldStrayTask    // a task's id or resource name
	fieldStrayContext // a context's id
	fieldStrayObject  // a message or a push config
)

// Names are the members that decide something in one kind of object.
type Names struct {
	*jsonscan.Names
	kind *Kind // what a wrong name is refused as
}

// NewNames makes a table of which a wrong name is refused as kind: InvalidRequest in the envelope,
// InvalidParams in what is the method's own.
//
// Tables are made once, when the program starts: Find is asked about every name of every call.
func NewNames(kind *Kind, sets ...map[string]jsonscan.Field) *Names {
	return &Names{jsonscan.NewNames(sets...), kind}
}

// The tables. Which one params are read by depends on the method's subject, the
// version and the binding; see decoder.table.
var (
	envelopeNames = NewNames(InvalidRequest, map[string]jsonscan.Field{
		"jsonrpc": fieldProtocol, "id": fieldRequestID, "method": fieldMethod, "params": fieldParams,
	})

	strayMembers = map[string]jsonscan.Field{
		"id": fieldStrayTask, "taskId": fieldStrayTask, "name": fieldStrayTask,
		"contextId": fieldStrayContext, "sessionId": fieldStrayContext, "referenceTaskIds": fieldReferences,
	}
	strayObjects = map[string]jsonscan.Field{
		"request": fieldStrayObject, "pushNotification": fieldStrayObject,
		"pushNotificationConfig": fieldStrayObject, "taskPushNotificationConfig": fieldStrayObject,
	}
	sendMembers = map[string]jsonscan.Field{
		"tenant": fieldTenant, "message": fieldMessage, "configuration": fieldConfiguration,
		"metadata": fieldMetadata,
	}
	sendNames = NewNames(InvalidParams, strayMembers, strayObjects, sendMembers)
	// 0.3's proto calls the message "request" and its JSON name is "message";
	// clients that write proto names send the former.
	requestMembers  = map[string]jsonscan.Field{"request": fieldMessage}
	sendNamesHTTP03 = NewNames(InvalidParams, strayMembers, strayObjects, sendMembers, requestMembers)
	send01Members   = map[string]jsonscan.Field{
		"id": fieldTask, "sessionId": fieldContext, "pushNotification": fieldPush, "historyLength": fieldOpaque,
	}
	sendNames01 = NewNames(InvalidParams, strayMembers, strayObjects, sendMembers, send01Members)

	taskMembers = map[string]jsonscan.Field{
		"tenant": fieldTenant, "id": fieldTask, "taskId": fieldTask, "metadata": fieldMetadata,
		"historyLength": fieldHistory,
	}
	nameMembers = map[string]jsonscan.Field{"name": fieldName}
	// No version has the context here. It is judged as the task's.
	contextMembers = map[string]jsonscan.Field{"contextId": fieldContext, "sessionId": fieldContext}
	taskNames      = NewNames(InvalidParams, taskMembers, nameMembers, contextMembers)

	// Flat in 1.0; nested in "config" for its release candidate, whose clients
	// are still about.
	configMembers = map[string]jsonscan.Field{
		"tenant": fieldTenant, "taskId": fieldTask, "id": fieldConfig, "configId": fieldConfig,
		"pushNotificationConfigId": fieldConfig, "config": fieldPush, "pushNotificationConfig": fieldPush, "metadata": fieldMetadata,
		"url": fieldOpaque, "token": fieldOpaque, "authentication": fieldOpaque, "pageToken": fieldPageToken,
	}
	config03Members = map[string]jsonscan.Field{"id": fieldTask}
	resourceMembers = map[string]jsonscan.Field{"name": fieldName, "parent": fieldName}
	configNames     = NewNames(InvalidParams, configMembers, resourceMembers, contextMembers)
	configNames03   = NewNames(InvalidParams, configMembers, resourceMembers, contextMembers, config03Members)

	listMembers = map[string]jsonscan.Field{
		"tenant": fieldTenant, "contextId": fieldContext, "pageToken": fieldPageToken,
	}
	listNames = NewNames(InvalidParams, strayMembers, listMembers)
	// The card is nobody's, whatever stands in the params.
	agentNames = NewNames(InvalidParams, map[string]jsonscan.Field{"tenant": fieldTenant})

	// A message's own id is called id by some, which is no task's.
	messageNames = NewNames(InvalidParams, map[string]jsonscan.Field{
		"sessionId": fieldStrayContext,
		"messageId": fieldMessageID, "taskId": fieldTask, "contextId": fieldContext,
		"referenceTaskIds": fieldReferences, "extensions": fieldExtensions, "metadata": fieldMetadata,
		"parts": fieldParts, "content": fieldParts,
	})
	// Every version's name for the inline push config is read in every version:
	// SDKs accept the older ones too.
	configurationNames = NewNames(InvalidParams, strayMembers, map[string]jsonscan.Field{
		"pushNotificationConfig": fieldPush, "taskPushNotificationConfig": fieldPush, "pushNotification": fieldPush,
	})
	pushMembers = map[string]jsonscan.Field{
		"tenant": fieldTenant, "taskId": fieldTask, "id": fieldConfig,
		"url": fieldOpaque, "token": fieldOpaque, "authentication": fieldOpaque,
	}
	pushNames = NewNames(InvalidParams, pushMembers, map[string]jsonscan.Field{
		"name": fieldName, "pushNotificationConfig": fieldPush,
	})
)

// table is how the params, body or query of this call are read. A gRPC request is
// the body of HTTP+JSON with the members of path and query in it.
//
//	subject     1.0 JSON-RPC        0.3 HTTP+JSON, gRPC      0.1
//	OfMessage   sendNames           sendNamesHTTP03          sendNames01
//	OfTask      taskNames           taskNames                taskNames
//	OfConfig    configNames         configNames03            configNames03
//	OfCaller    listNames           listNames
//	OfAgent     agentNames          agentNames
func (d *decoder) table() *Names {
	http, v := d.call.Binding != JSONRPC, d.call.Version
	if d.call.Method.Extension != "" {
		return d.call.Extra.params[d.call.Method].table(http, v)
	}
	switch d.call.Method.Subject {
	case OfMessage:
		switch {
		case v == V01:
			return sendNames01
		case http && v == V03:
			return sendNamesHTTP03
		}
		return sendNames
	case OfTask:
		return taskNames
	case OfConfig:
		if v == V10 {
			return configNames
		}
		return configNames03
	case OfCaller:
		return listNames
	}
	return agentNames
}
