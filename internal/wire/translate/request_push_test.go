package translate

var pushes = []requestCase{
	{
		name: "create 0.3 to 1.0", to: To{Side: rpc10, Tenant: "t"},
		from: exchange{side: rpc03, method: createConfig, doc: `{"taskId":"T","pushNotificationConfig":{"id":"c","url":"w","token":"k",
			"authentication":{"schemes":[]}}}`},
		doc: `{"taskId":"T","id":"c","url":"w","token":"k","tenant":"t"}`,
	},
	{
		name: "create 1.0 to 0.3", to: To{Side: rpc03},
		from: exchange{side: http10, method: createConfig, line: "POST /tasks/T/pushNotificationConfigs", doc: `{"url":"w","authentication":{"scheme":"Bearer"}}`},
		doc:  `{"taskId":"T","pushNotificationConfig":{"url":"w","authentication":{"schemes":["Bearer"]}}}`,
	},
	{
		name: "create 1.0 to 0.3 on HTTP", to: To{Side: http03}, line: "POST /v1/tasks/T/pushNotificationConfigs",
		from: exchange{side: rpc10, method: createConfig, doc: `{"taskId":"T","url":"w"}`},
		doc: `{"parent":"tasks/T","configId":"T","config":{"name":"tasks/T/pushNotificationConfigs/T",
			"pushNotificationConfig":{"id":"T","url":"w"}}}`,
	},
	{
		name: "create 1.0 to 0.3 on HTTP, the other form", to: To{Side: http03, Alternative: true}, line: "POST /v1/tasks/T/pushNotificationConfigs",
		from: exchange{side: rpc10, method: createConfig, doc: `{"taskId":"T","id":"c","url":"w"}`},
		doc:  `{"name":"tasks/T/pushNotificationConfigs/c","pushNotificationConfig":{"id":"c","url":"w"}}`,
	},
	{
		name: "create 0.3 on HTTP to 0.1", to: To{Side: rpc01},
		from: exchange{
			side: http03, method: createConfig, line: "POST /v1/tasks/T/pushNotificationConfigs",
			doc: `{"parent":"tasks/T","config_id":"c","config":{"push_notification_config":{"url":"w"}}}`,
		},
		doc: `{"id":"T","pushNotificationConfig":{"url":"w"}}`,
	},
	{
		name: "create 0.1 to 1.0", to: To{Side: rpc10},
		from: exchange{side: rpc01, method: createConfig, doc: `{"id":"T","pushNotificationConfig":{"url":"w"}}`},
		doc:  `{"taskId":"T","id":"T","url":"w"}`,
	},
	{
		name: "create 1.0 to 1.0 keeps what is unknown", to: To{Side: grpc10, Tenant: "u"},
		from: exchange{side: rpc10, method: createConfig, doc: `{"taskId":"T","id":"c","tenant":"t","url":"w","x":1}`},
		doc:  `{"taskId":"T","id":"c","tenant":"u","url":"w","x":1}`,
	},
	{
		name: "get 0.3 to 1.0", to: To{Side: http10}, line: "GET /tasks/T/pushNotificationConfigs/c",
		from: exchange{side: rpc03, method: getConfig, doc: `{"id":"T","pushNotificationConfigId":"c"}`},
	},
	{
		name: "get without an id is a list", to: To{Side: http10}, line: "GET /tasks/T/pushNotificationConfigs",
		from: exchange{side: rpc03, method: getConfig, doc: `{"id":"T"}`},
	},
	{
		name: "get without an id 0.1 to 0.3", to: To{Side: rpc03}, doc: `{"id":"T","pushNotificationConfigId":"T"}`,
		from: exchange{side: rpc01, method: getConfig, doc: `{"id":"T"}`},
	},
	{
		name: "get 1.0 to 0.3", to: To{Side: rpc03}, doc: `{"id":"T","pushNotificationConfigId":"c"}`,
		from: exchange{side: grpc10, method: getConfig, doc: `{"taskId":"T","id":"c"}`},
	},
	{
		name: "get 1.0 to 0.3's gRPC", to: To{Side: grpc03}, doc: `{"name":"tasks/T/pushNotificationConfigs/c"}`,
		from: exchange{side: grpc10, method: getConfig, doc: `{"taskId":"T","id":"c"}`},
	},
	{
		name: "list 1.0 to 0.3", to: To{Side: rpc03}, doc: `{"id":"T"}`,
		from: exchange{side: rpc10, method: listConfigs, doc: `{"taskId":"T","pageSize":3}`},
	},
	{
		name: "list 1.0 to 0.3's gRPC", to: To{Side: grpc03}, doc: `{"parent":"tasks/T","pageSize":3,"pageToken":"p"}`,
		from: exchange{side: http10, method: listConfigs, line: "GET /tasks/T/pushNotificationConfigs?pageSize=3&pageToken=p"},
	},
	{
		name: "list 1.0 to 0.1 is a get", to: To{Side: rpc01}, doc: `{"id":"T"}`,
		from: exchange{side: rpc10, method: listConfigs, doc: `{"taskId":"T"}`},
	},
	{
		name: "delete 0.3 to 1.0", to: To{Side: http10, Tenant: "t"}, line: "DELETE /t/tasks/T/pushNotificationConfigs/c",
		from: exchange{side: rpc03, method: deleteConfig, doc: `{"id":"T","pushNotificationConfigId":"c"}`},
	},
}
