package translate

import "github.com/a2a-gateway/a2a-gateway/internal/wire"

const (
	hello10 = `"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}`
	hello03 = `"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"go"}]}`
	helloP3 = `"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"go"}]}`
	hello01 = `"message":{"role":"user","parts":[{"type":"text","text":"go"}]}`
)

var sends = []requestCase{
	{
		name: "1.0 to 0.3: blocking is explicit",
		from: exchange{side: rpc10, method: "SendMessage", doc: `{"tenant":"acme",` + hello10 + `}`},
		to:   To{Side: rpc03},
		doc:  `{` + hello03 + `,"configuration":{"blocking":true}}`,
	},
	{
		name: "0.3 to 1.0: everything there is",
		from: exchange{side: rpc03, method: "SendMessage", doc: `{"message":{"kind":"message","messageId":"m",
			"contextId":"C","taskId":"T","role":"user","parts":[{"kind":"file","file":{"uri":"u","name":"n","mimeType":"t"}}],
			"extensions":["e"],"referenceTaskIds":["r"],"metadata":{"a":1e400}},"configuration":{"blocking":false,
			"historyLength":0,"acceptedOutputModes":["a"],"pushNotificationConfig":{"id":"c","url":"w","token":"t",
			"authentication":{"schemes":["Bearer","Basic"],"credentials":"x"}}},"metadata":{"k":9007199254740993}}`},
		to: To{Side: rpc10, Tenant: "acme"},
		doc: `{"message":{"messageId":"m","contextId":"C","taskId":"T","role":"ROLE_USER",
			"parts":[{"url":"u","filename":"n","mediaType":"t"}],"extensions":["e"],"referenceTaskIds":["r"],
			"metadata":{"a":1e400}},"configuration":{"returnImmediately":true,"historyLength":0,"acceptedOutputModes":["a"],
			"taskPushNotificationConfig":{"id":"c","url":"w","token":"t","authentication":{"scheme":"Bearer","credentials":"x"}}},
			"metadata":{"k":9007199254740993},"tenant":"acme"}`,
	},
	{
		name: "1.0 to 0.3's ProtoJSON: no references, no history of none",
		from: exchange{side: rpc10, method: "SendStreamingMessage", doc: `{"message":{"messageId":"m","role":"ROLE_USER",
			"parts":[{"data":[1]},{"raw":"aGV5","filename":"f","mediaType":"t","metadata":{"a":1}}],"referenceTaskIds":["r"]},
			"configuration":{"historyLength":0,"returnImmediately":true,"taskPushNotificationConfig":{"id":"c","taskId":"",
			"url":"w","tenant":"","authentication":{"scheme":"Bearer"}}}}`},
		to:   To{Side: http03},
		line: "POST /v1/message:stream",
		doc: `{"message":{"messageId":"m","role":"ROLE_USER","content":[
			{"data":{"data":{"value":[1]}},"metadata":{"data_part_compat":true}},
			{"file":{"fileWithBytes":"YUdWNQ==","name":"f","mimeType":"t"},"metadata":{"a":1}}]},
			"configuration":{"blocking":false,"pushNotification":{"id":"c","url":"w","authentication":{"schemes":["Bearer"]}}}}`,
	},
	{
		name: "0.3's ProtoJSON to 1.0: a configuration without blocking does not wait",
		from: exchange{
			side: http03, method: "SendMessage", line: "POST /v1/message:send",
			doc: `{"request":{"message_id":"m","role":1,"content":[{"text":"go","metadata":{"a":null}}]},
				"configuration":{"history_length":"3","push_notification":{"url":"w"}}}`,
		},
		to: To{Side: rpc10},
		doc: `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go","metadata":{"a":null}}]},
			"configuration":{"historyLength":3,"returnImmediately":true,"taskPushNotificationConfig":{"url":"w"}}}`,
	},
	{
		name: "0.3's ProtoJSON to 0.3: no configuration waits",
		from: exchange{side: grpc03, method: "SendMessage", doc: `{` + helloP3 + `}`},
		to:   To{Side: rpc03, OutputModes: []string{"text/plain", "a/b"}},
		doc:  `{` + hello03 + `,"configuration":{"blocking":true,"acceptedOutputModes":["text/plain","a/b"]}}`,
	},
	{
		name: "0.3 to its ProtoJSON on gRPC",
		from: exchange{side: rpc03, method: "SendMessage", doc: `{` + hello03 + `,"configuration":{"historyLength":0}}`},
		to:   To{Side: grpc03},
		doc:  `{` + helloP3 + `,"configuration":{"blocking":true}}`,
	},
	{
		name: "the release candidate's configuration",
		from: exchange{side: rpc10, method: "SendMessage", doc: `{` + hello10 + `,"configuration":{"blocking":false,"pushNotificationConfig":{"url":"w"}}}`},
		to:   To{Side: rpc03},
		doc:  `{` + hello03 + `,"configuration":{"blocking":false,"pushNotificationConfig":{"url":"w"}}}`,
	},
	{
		name: "0.1 to 1.0: ids are the call's",
		from: exchange{side: rpc01, method: "SendMessage", doc: `{"id":"client","sessionId":"S",` + hello01 + `,"historyLength":2,
			"pushNotification":{"url":"w","authentication":{"schemes":["Bearer"]}},"metadata":{"a":1}}`},
		to:   To{Side: rpc10},
		edit: func(c *wire.Call) { c.TaskID, c.ContextID = "", "C" },
		doc: `{"message":{"messageId":"MINTED","contextId":"C","role":"ROLE_USER","parts":[{"text":"go"}]},
			"configuration":{"historyLength":2,"returnImmediately":false,
			"taskPushNotificationConfig":{"url":"w","authentication":{"scheme":"Bearer"}}},"metadata":{"a":1}}`,
	},
	{
		name: "0.1 to 0.3",
		from: exchange{side: rpc01, method: "SendStreamingMessage", doc: `{"id":"client",` + hello01 + `}`},
		to:   To{Side: rpc03},
		edit: func(c *wire.Call) { c.TaskID = "T" },
		doc: `{"message":{"kind":"message","messageId":"MINTED","taskId":"T","role":"user","parts":[{"kind":"text","text":"go"}]},
			"configuration":{"blocking":true}}`,
	},
	{
		name: "1.0 to 0.1",
		from: exchange{side: rpc10, method: "SendMessage", doc: `{"message":{"messageId":"m","role":"ROLE_AGENT","contextId":"C",
			"parts":[{"raw":"_-8"},{"data":null}],"extensions":["e"]},"configuration":{"acceptedOutputModes":["a"],"historyLength":1,
			"taskPushNotificationConfig":{"id":"c","url":"w"}}}`},
		to:   To{Side: rpc01},
		edit: func(c *wire.Call) { c.TaskID = "new" },
		doc: `{"id":"new","sessionId":"C","message":{"role":"agent","parts":[{"type":"file","file":{"bytes":"/+8="}},
			{"type":"data","data":{"value":null},"metadata":{"data_part_compat":true}}]},"historyLength":1,"pushNotification":{"url":"w"}}`,
	},
	{
		name: "1.0 to 1.0: unknown members stay, ids and tenant are the gateway's",
		from: exchange{side: rpc10, method: "SendMessage", doc: `{"x":{"y":1.0},"tenant":"a","message":{"new":[null],"messageId":"m",
			"contextId":"mine","role":"user","parts":[{"text":"go","z":1}]},"configuration":{"q":0,
			"taskPushNotificationConfig":{"tenant":"a","url":"w","r":true}}}`},
		to:   To{Side: http10, Tenant: "b/c"},
		edit: func(c *wire.Call) { c.ContextID, c.TaskID = "theirs", "T" },
		line: "POST /b%2Fc/message:send",
		doc: `{"x":{"y":1.0},"message":{"new":[null],"messageId":"m","contextId":"theirs","taskId":"T","role":"user",
			"parts":[{"text":"go","z":1}]},"configuration":{"q":0,"taskPushNotificationConfig":{"url":"w","r":true}}}`,
	},
	{
		name: "1.0 to 1.0: the tenant on the way to gRPC",
		from: exchange{side: http10, method: "SendMessage", line: "POST /old/message:send", doc: `{` + hello10 + `}`},
		to:   To{Side: grpc10, Tenant: "new"},
		doc:  `{` + hello10 + `,"tenant":"new"}`,
	},
	{
		name: "0.3's ProtoJSON to itself: under the proto's names",
		from: exchange{
			side: http03, method: "SendMessage", line: "POST /v1/message:send",
			doc: `{"request":{"message_id":"m","role":1,"content":[{"text":"go"}],"task_id":"T"},"configuration":{"x":1}}`,
		},
		to:  To{Side: grpc03},
		doc: `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"go"}],"taskId":"T"},"configuration":{"blocking":false}}`,
	},
	{
		name: "0.3's ProtoJSON to itself: the webhook under its text's name",
		from: exchange{
			side: http03, method: "SendMessage", line: "POST /v1/message:send",
			doc: `{` + helloP3 + `,"configuration":{"blocking":true,"pushNotificationConfig":{"id":"c","url":"w","authentication":{"scheme":"Bearer"}}}}`,
		},
		to: To{Side: grpc03},
		doc: `{` + helloP3 + `,"configuration":{"blocking":true,"pushNotification":{"id":"c","url":"w",
			"authentication":{"schemes":["Bearer"]}}}}`,
	},
	{
		name: "the release candidate's configuration on gRPC",
		from: exchange{side: rpc10, method: "SendMessage", doc: `{` + hello10 + `,"configuration":{"blocking":false,
			"pushNotificationConfig":{"url":"w","authentication":{"schemes":["Bearer"],"credentials":"x"}}}}`},
		to: To{Side: grpc10},
		doc: `{` + hello10 + `,"configuration":{"returnImmediately":true,"taskPushNotificationConfig":{"url":"w",
			"authentication":{"scheme":"Bearer","credentials":"x"}}}}`,
	},
	{
		name: "the release candidate's configuration beside 1.0's on gRPC",
		from: exchange{side: http10, method: "SendMessage", line: "POST /message:send", doc: `{` + hello10 + `,"configuration":{
			"blocking":false,"pushNotificationConfig":{"url":"v"},"returnImmediately":false,"taskPushNotificationConfig":{"url":"w"}}}`},
		to:  To{Side: grpc10},
		doc: `{` + hello10 + `,"configuration":{"returnImmediately":false,"taskPushNotificationConfig":{"url":"w"}}}`,
	},
	{
		name: "the release candidate's configuration stays in JSON of 1.0",
		from: exchange{side: rpc10, method: "SendMessage", doc: `{` + hello10 + `,"configuration":{"blocking":false,"pushNotificationConfig":{"url":"w"}}}`},
		to:   To{Side: http10},
		line: "POST /message:send",
		doc:  `{` + hello10 + `,"configuration":{"blocking":false,"pushNotificationConfig":{"url":"w"}}}`,
	},
	{
		name: "1.0 to 1.0 on gRPC: authentication without a scheme stays",
		from: exchange{side: rpc10, method: "SendMessage", doc: `{` + hello10 + `,"configuration":{"taskPushNotificationConfig":{"url":"w",
			"authentication":{"schemes":[],"credentials":"x"}}}}`},
		to: To{Side: grpc10},
		doc: `{` + hello10 + `,"configuration":{"returnImmediately":false,"taskPushNotificationConfig":{"url":"w",
			"authentication":{"credentials":"x"}}}}`,
	},
}

var tasks = []requestCase{
	{
		name: "get 0.3 to 1.0", to: To{Side: rpc10, Tenant: "t"},
		from: exchange{side: rpc03, method: "GetTask", doc: `{"id":"T","historyLength":0,"metadata":{"a":1}}`},
		doc:  `{"id":"T","historyLength":0,"tenant":"t"}`,
	},
	{
		name: "get 0.3 to 1.0 on HTTP", to: To{Side: http10, Tenant: "t"}, line: "GET /t/tasks/a%20b?historyLength=0",
		from: exchange{side: rpc03, method: "GetTask", doc: `{"id":"a b","historyLength":0}`},
	},
	{
		name: "get 1.0 on HTTP to 0.3's gRPC", to: To{Side: grpc03}, doc: `{"name":"tasks/T","historyLength":7}`,
		from: exchange{side: http10, method: "GetTask", line: "GET /tasks/T?history_length=7"},
	},
	{
		name: "get 0.3 on HTTP to 1.0 gRPC", to: To{Side: grpc10}, doc: `{"id":"T","historyLength":7}`,
		from: exchange{side: http03, method: "GetTask", line: "GET /v1/tasks/T?historyLength=7"},
	},
	{
		name: "get 0.1 to 0.3", to: To{Side: rpc03}, doc: `{"id":"server","metadata":{"a":1}}`,
		edit: func(c *wire.Call) { c.TaskID = "server" },
		from: exchange{side: rpc01, method: "GetTask", doc: `{"id":"client","metadata":{"a":1}}`},
	},
	{
		name: "cancel 1.0 to 0.3", to: To{Side: rpc03}, doc: `{"id":"T","metadata":{"a":1}}`,
		from: exchange{side: http10, method: "CancelTask", line: "POST /tasks/T:cancel", doc: `{"metadata":{"a":1}}`},
	},
	{
		name: "cancel 1.0 to 1.0", to: To{Side: http10}, line: "POST /tasks/T:cancel", doc: `{"metadata":{"a":1},"x":2}`,
		from: exchange{side: rpc10, method: "CancelTask", doc: `{"id":"T","metadata":{"a":1},"x":2,"tenant":"y"}`},
	},
	{
		name: "cancel without a body", to: To{Side: grpc03}, doc: `{"name":"tasks/T"}`,
		from: exchange{side: http03, method: "CancelTask", line: "POST /v1/tasks/T:cancel", doc: `null`},
	},
	{
		name: "subscribe 1.0 to 0.3 on HTTP", to: To{Side: http03}, line: "GET /v1/tasks/T:subscribe",
		from: exchange{side: rpc10, method: "SubscribeToTask", doc: `{"id":"T"}`},
	},
	{
		name: "subscribe 0.3 to 1.0 on HTTP", to: To{Side: http10}, line: "POST /tasks/T:subscribe", doc: `{}`,
		from: exchange{side: rpc03, method: "SubscribeToTask", doc: `{"id":"T"}`},
	},
	{
		name: "subscribe 0.1 to 0.3: historyLength would make it 0.1", to: To{Side: rpc03}, doc: `{"id":"T"}`,
		from: exchange{side: rpc01, method: "SubscribeToTask", doc: `{"id":"T","historyLength":3}`},
	},
	{
		name: "list on HTTP to JSON-RPC", to: To{Side: rpc10, Tenant: "t"},
		from: exchange{side: http10, method: "ListTasks", line: "GET /tasks?status=3&page_size=5&lastUpdatedAfter=2026-01-01T00:00:00Z" +
			"&includeArtifacts=true&contextId=C&pageToken=p%2B&historyLength=2"},
		doc: `{"status":3,"pageSize":5,"statusTimestampAfter":"2026-01-01T00:00:00Z","includeArtifacts":true,"contextId":"C",
			"pageToken":"p+","historyLength":2,"tenant":"t"}`,
	},
	{
		name: "list on JSON-RPC to HTTP", to: To{Side: http10},
		line: "GET /tasks?contextId=theirs&includeArtifacts=true&pageSize=5&pageToken=p%2B&status=TASK_STATE_WORKING",
		from: exchange{side: rpc10, method: "ListTasks", doc: `{"contextId":"mine","status":"TASK_STATE_WORKING","pageSize":5,
			"pageToken":"p+","includeArtifacts":true}`},
		edit: func(c *wire.Call) { c.ContextID = "theirs" },
	},
	{
		name: "list in other words to gRPC", to: To{Side: grpc10}, doc: `{"status":"TASK_STATE_CANCELED","pageSize":5,
			"statusTimestampAfter":"2026-01-01T00:00:00Z"}`,
		from: exchange{side: rpc10, method: "ListTasks", doc: `{"status":"cancelled","page_size":5,"pageSize":null,
			"lastUpdatedAfter":"2026-01-01T00:00:00Z"}`},
	},
	{
		name: "list in other words to HTTP", to: To{Side: http10},
		line: "GET /tasks?pageSize=5&status=TASK_STATE_CANCELED&statusTimestampAfter=b&x=1",
		from: exchange{side: rpc10, method: "ListTasks", doc: `{"status":5,"page_size":5,"lastUpdatedAfter":"a","statusTimestampAfter":"b","x":1}`},
	},
	{
		name: "subscribe 1.0 to 1.0 on HTTP", to: To{Side: http10}, line: "POST /tasks/T:subscribe", doc: `{"history_length":1}`,
		from: exchange{side: rpc10, method: "SubscribeToTask", doc: `{"id":"T","history_length":1}`},
	},
	{
		name: "extended card 1.0 to 0.3", to: To{Side: http03}, line: "GET /v1/card",
		from: exchange{side: grpc10, method: "GetExtendedAgentCard", doc: `{"tenant":"x"}`},
	},
	{
		name: "extended card 0.3 to 1.0", to: To{Side: grpc10, Tenant: "t"}, doc: `{"tenant":"t"}`,
		from: exchange{side: rpc03, method: "GetExtendedAgentCard"},
	},
}
