package translate

// The tables. Columns are 0.1, 0.3 on JSON-RPC, 0.3's ProtoJSON, 1.0.

var messageObject = newObject("Message", "message",
	member{say: words{"", "messageId", "messageId", "messageId"}, is: aMessageID},
	member{say: words{"", "contextId", "contextId", "contextId"}, is: aContextID},
	member{say: words{"", "taskId", "taskId", "taskId"}, is: aTaskID},
	member{say: everywhere("role"), is: aRole},
	member{say: words{"parts", "parts", "content", "parts"}, is: aPartList, also: []string{"parts", "content"}},
	member{say: everywhere("metadata")},
	member{say: words{"", "extensions", "extensions", "extensions"}},
	member{say: words{"", "referenceTaskIds", "", "referenceTaskIds"}},
).withIDs("sessionId")

var statusObject = newObject("TaskStatus", "",
	member{say: everywhere("state"), is: aState},
	// "update" is its name in 0.3's proto.
	member{say: everywhere("message"), is: anObject, of: messageObject, also: []string{"update"}},
	member{say: everywhere("timestamp"), is: aTime},
)

// Rows of artifactObject that others are written from.
const (
	artifactID = iota
	artifactIndex
)

var artifactObject = newObject("Artifact", "",
	member{say: words{"", "artifactId", "artifactId", "artifactId"}, is: anArtifactID},
	member{say: words{"index", "", "", ""}, is: anIndex},
	member{say: everywhere("name")},
	member{say: everywhere("description")},
	member{say: everywhere("parts"), is: aPartList},
	member{say: everywhere("metadata")},
	member{say: words{"", "extensions", "extensions", "extensions"}},
	member{say: words{"append", "", "", ""}, is: anAppend},
	member{say: words{"lastChunk", "", "", ""}, is: aLastChunk},
)

// Rows of taskObject that others are written from.
const (
	taskID = iota
	taskContext
	taskStatus
	taskArtifacts
	taskHistory
	taskMetadata
)

var taskObject = newObject("Task", "task",
	member{say: everywhere("id"), is: ownTaskID},
	member{say: words{"sessionId", "contextId", "contextId", "contextId"}, is: ownContextID},
	member{say: everywhere("status"), is: aStatus, of: statusObject},
	member{say: everywhere("artifacts"), is: aList, of: artifactObject},
	member{say: everywhere("history"), is: aHistory, of: messageObject},
	member{say: everywhere("metadata")},
)

// Row of the updates that others are written from.
const (
	updateStatus   = 2
	updateArtifact = 2
	updateAppend   = 3
	updateLast     = 4
)

var statusUpdateObject = newObject("TaskStatusUpdateEvent", "status-update",
	member{say: words{"id", "taskId", "taskId", "taskId"}, is: ownTaskID},
	member{say: words{"", "contextId", "contextId", "contextId"}, is: ownContextID},
	member{say: everywhere("status"), is: aStatus, of: statusObject},
	member{say: words{"final", "final", "final", ""}, is: aFinal},
	member{say: everywhere("metadata")},
)

var artifactUpdateObject = newObject("TaskArtifactUpdateEvent", "artifact-update",
	member{say: words{"id", "taskId", "taskId", "taskId"}, is: ownTaskID},
	member{say: words{"", "contextId", "contextId", "contextId"}, is: ownContextID},
	member{say: everywhere("artifact"), is: anObject, of: artifactObject},
	member{say: words{"", "append", "append", "append"}, is: anAppend},
	member{say: words{"", "lastChunk", "lastChunk", "lastChunk"}, is: aLastChunk},
	member{say: everywhere("metadata")},
)

// wrapperObject is what stands around an answer in ProtoJSON. "msg" is the name in
// 0.3's proto.
var wrapperObject = newObject("StreamResponse", "",
	member{say: words{"", "", "task", "task"}, is: anObject, of: taskObject},
	member{say: words{"", "", "message", "message"}, is: anObject, of: messageObject, also: []string{"msg"}},
	member{say: words{"", "", "statusUpdate", "statusUpdate"}, is: anObject, of: statusUpdateObject},
	member{say: words{"", "", "artifactUpdate", "artifactUpdate"}, is: anObject, of: artifactUpdateObject},
)

// tasksObject is the answer of ListTasks, which only 1.0 has.
var tasksObject = newObject("ListTasksResponse", "",
	member{say: words{"", "", "", "tasks"}, is: aList, of: taskObject},
	member{say: words{"", "", "", "nextPageToken"}},
	member{say: words{"", "", "", "pageSize"}},
	member{say: words{"", "", "", "totalSize"}},
)

// Push notification configs. What is around the webhook differs; see push.go.

var authenticationObject = newObject("AuthenticationInfo", "",
	member{say: words{"schemes", "schemes", "schemes", "scheme"}, is: aScheme, also: []string{"schemes", "scheme"}},
	member{say: everywhere("credentials")},
)

var webhookObject = newParams("PushNotificationConfig",
	member{say: everywhere("url")},
	member{say: everywhere("token")},
	member{say: everywhere("authentication"), is: anAuthentication, of: authenticationObject},
).withIDs("tenant")

// configObject is what stands around a webhook; in 1.0 they are one object.
var configObject = newObject("TaskPushNotificationConfig", "",
	member{say: words{"id", "taskId", "", "taskId"}, is: ownTaskID},
	member{say: words{"", "", "name", ""}, is: aConfigName},
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

// configsObject is the answer of ListTaskPushNotificationConfigs in ProtoJSON.
var configsObject = newObject("ListTaskPushNotificationConfigsResponse", "",
	member{say: words{"", "", "configs", "configs"}, is: aList, of: configObject},
	member{say: words{"", "", "nextPageToken", "nextPageToken"}},
)

// The params of the methods.

// Rows of the send's objects that others are written from.
const (
	sendPush          = 2
	sendHistory       = 3
	sendConfiguration = 5

	setModes   = 0
	setPush    = 1
	setHistory = 2
	setBlock   = 3
	setReturn  = 4
)

var sendObject = newParams("MessageSendParams",
	member{say: words{"id", "", "", ""}, is: ownTaskID},
	member{say: words{"sessionId", "", "", ""}, is: ownContextID},
	member{say: words{"pushNotification", "", "", ""}, is: aPushConfig, of: webhookObject},
	member{say: words{"historyLength", "", "", ""}, is: aHistoryLength},
	// "request" is its name in 0.3's proto.
	member{say: everywhere("message"), is: anObject, of: messageObject, also: []string{"request"}},
	member{say: words{"", "configuration", "configuration", "configuration"}, is: aConfiguration, of: settingsObject},
	member{say: everywhere("metadata")},
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

var settingsObject = newParams("MessageSendConfiguration",
	member{say: words{"", "acceptedOutputModes", "acceptedOutputModes", "acceptedOutputModes"}, is: aModeList},
	member{
		say: words{"", "pushNotificationConfig", "pushNotification", "taskPushNotificationConfig"},
		is:  aPushConfig, of: webhookObject,
		also: []string{"pushNotificationConfig", "pushNotification", "taskPushNotificationConfig"},
	},
	member{say: words{"", "historyLength", "historyLength", "historyLength"}, is: aHistoryLength},
	// 1.0's release candidate had "blocking" as well.
	member{say: words{"", "blocking", "blocking", ""}, is: aBlocking},
	member{say: words{"", "", "", "returnImmediately"}, is: aReturn},
)

// Row of taskParams that others are written from.
const taskParamsHistory = 2

var taskParams = newParams("TaskQueryParams",
	member{say: words{"id", "id", "", "id"}, is: ownTaskID},
	member{say: words{"", "", "name", ""}, is: aTaskName},
	member{say: everywhere("historyLength"), is: aHistoryLength},
	member{say: words{"metadata", "metadata", "", ""}},
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

// cancelParams, unlike the other params about a task, have metadata in 1.0.
var cancelParams = newParams("TaskIdParams",
	member{say: words{"id", "id", "", "id"}, is: ownTaskID},
	member{say: words{"", "", "name", ""}, is: aTaskName},
	member{say: words{"metadata", "metadata", "", "metadata"}},
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

var configParams = newParams("GetTaskPushNotificationConfigParams",
	member{say: words{"id", "id", "", "taskId"}, is: ownTaskID},
	member{say: words{"", "pushNotificationConfigId", "", "id"}, is: aConfigID},
	member{say: words{"", "", "name", ""}, is: aConfigName},
	member{say: words{"metadata", "metadata", "", ""}},
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

var configsParams = newParams("ListTaskPushNotificationConfigParams",
	member{say: words{"id", "id", "", "taskId"}, is: ownTaskID},
	member{say: words{"", "", "parent", ""}, is: aTaskName},
	member{say: words{"", "", "pageSize", "pageSize"}},
	member{say: words{"", "", "pageToken", "pageToken"}, is: aPageToken},
	member{say: words{"", "metadata", "", ""}},
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

var listParams = newParams("ListTasksRequest",
	member{say: words{"", "", "", "contextId"}, is: aFilter},
	member{say: words{"", "", "", "status"}, is: aState},
	member{say: words{"", "", "", "pageSize"}},
	member{say: words{"", "", "", "pageToken"}, is: aPageToken},
	member{say: words{"", "", "", "historyLength"}},
	// a2a-go's client says lastUpdatedAfter.
	member{say: words{"", "", "", "statusTimestampAfter"}, also: []string{"lastUpdatedAfter"}},
	member{say: words{"", "", "", "includeArtifacts"}},
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

var agentParams = newParams("GetExtendedAgentCardRequest",
	member{say: words{"", "", "", "tenant"}, is: aTenant},
)

// objects are all tables, for the document and the tests that go through them.
var objects = []*object{
	sendObject, settingsObject, messageObject, partObject, fileObject, taskObject, statusObject, artifactObject,
	statusUpdateObject, artifactUpdateObject, configObject, webhookObject, authenticationObject,
	taskParams, cancelParams, configParams, configsParams, listParams, agentParams, tasksObject, configsObject,
}
