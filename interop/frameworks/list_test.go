package frameworks_test

// frameworks are those that are tried.
func frameworks() []framework {
	return append(ofOtherLanguages(), []framework{
		{
			id: "google-adk-2", name: "google-adk", page: "google-adk", speaks: "1.0", calls: "1.0", program: python(),
			needs: "a client with the key in `httpx_client`, and the whole URL of the card",
		},
		{
			id: "google-adk-1", name: "google-adk", page: "google-adk", speaks: "0.3", calls: "0.3", program: pythonOf("google-adk-2"),
			needs:      "a client with the key in `httpx_client`, and the whole URL of the card",
			agentNotes: map[string]string{"stream": noStreaming},
		},
		{
			id: "pydantic-ai-1", name: "pydantic-ai-slim", page: "pydantic-ai", speaks: "0.3", calls: "0.3", program: python(),
			needs:      "a client with the key in its `http_client`",
			agentNotes: map[string]string{"stream": noStreaming, "cancel": cancelsNothing},
		},
		{
			id: "pydantic-ai-2", name: "pydantic-ai-slim", page: "pydantic-ai", speaks: "1.0", program: python(),
			needs:      "nothing",
			agentNotes: map[string]string{"cancel": cancelsNothing},
		},
		{
			id: "strands", name: "strands-agents", page: "strands", speaks: "0.3", calls: "0.3", program: python(),
			needs: "a client with the key in `client_config`",
		},
		{
			id: "a2akit", name: "a2akit", page: "a2akit", speaks: "0.3", calls: "0.3", program: python(),
			needs: "a client with the key in `headers`",
		},
		{
			id: "agent-framework", name: "agent-framework-a2a", page: "agent-framework", speaks: "1.0", calls: "1.0", program: python(),
			needs:      "a client with the key in `http_client`",
			agentNotes: map[string]string{"file": textAlone},
		},
		{
			id: "ag2", name: "ag2", page: "ag2", speaks: "1.0", calls: "1.0", program: python(),
			needs: "a client with the key in `headers`",
		},
		{
			id: "beeai", name: "beeai-framework", page: "beeai", speaks: "0.3", calls: "0.3", program: python(),
			needs: "a client with the key in `httpx_async_client`, and the card",
			agentNotes: map[string]string{
				"file": textAlone, "stream from 1.0": taskFirst,
			},
		},
		{
			id: "langgraph-api", name: "langgraph-api", page: "langgraph", speaks: "1.0", program: python(),
			needs: "an `assistant_id` in the address of the card; `agents[].interfaces`, for files",
			shown: "graph.py", card: wellKnown + "?assistant_id=" + assistant,
			set: `interfaces:
  - {url: "http://127.0.0.1:2024/a2a/` + assistant + `", binding: JSONRPC, version: "1.0"}
  - {url: "http://127.0.0.1:2024/a2a/` + assistant + `", binding: JSONRPC, version: "0.3"}
`,
			agentNotes: map[string]string{
				"file": filesBefore10, "file from 0.3": filesBefore10,
			},
		},
		{
			id: "fast-agent", name: "fast-agent-mcp", page: "fast-agent", speaks: "1.0", calls: "1.0", program: python(),
			needs:      "a client with the key in `headers`",
			agentNotes: map[string]string{"file": passthrough, "error": passthrough},
		},
		{
			id: "crewai", name: "crewai", page: "crewai", speaks: "0.3", calls: "0.3", program: python(),
			needs:      "a client with `auth`, and the whole URL of the card",
			agentNotes: map[string]string{"file": "the agent hands files to a model that says it takes them, which the one here does not"},
		},
		{
			id: "nemo", name: "nvidia-nat-a2a", page: "nemo", calls: "0.3", program: python(),
			needs: "`authn.apiKeys.bearer`, and an `auth_provider` of the client",
		},
		{
			id: "agno", name: "agno", page: "agno", speaks: "0.3", calls: "0.3", program: python(),
			needs: "a client with the key in the `headers` of each call",
			card:  "/a2a/agents/parrot" + wellKnown, endpoint: "/a2a/agents/parrot/v1/message:send",
			methods: map[string]string{
				"SendStreamingMessage": "/a2a/agents/parrot/v1/message:stream",
				"GetTask":              "/a2a/agents/parrot/v1/tasks:get",
				"CancelTask":           "/a2a/agents/parrot/v1/tasks:cancel",
			},
			agentNotes: map[string]string{
				"get": "the agent wants the task's context in `tasks/get`, where A2A has none", "stream from 1.0": taskFirst,
			},
		},
		{
			id: "python-a2a", name: "python-a2a", page: "python-a2a", speaks: "0.1", calls: "0.1", program: python(),
			needs:    "`agents[].interfaces`; a client with the key in `headers`",
			set:      `interfaces: [{url: "http://127.0.0.1:5000/tasks/send", binding: JSONRPC, version: "0.1"}]`,
			endpoint: "/tasks/send",
			methods: map[string]string{
				"SendStreamingMessage": "/tasks/stream", "GetTask": "/tasks/get", "CancelTask": "/tasks/cancel",
			},
			agentNotes: map[string]string{
				"file": textAlone, "stream": streamsTasks, "stream through": streamsTasks, "stream from 1.0": streamsTasks,
			},
		},
		{
			id: "bedrock-agentcore", name: "bedrock-agentcore", page: "bedrock-agentcore", speaks: "0.3", program: python(),
			needs: "nothing",
		},
	}...)
}

// assistant is LangGraph's own id for a graph that is called agent.
const assistant = "fe096781-5601-53d2-b2f6-0d3403f7e9ca"

// Of agents.
const (
	noStreaming    = "the agent does not stream, and its card says so"
	textAlone      = "the agent is handed the text of a message, and no files"
	passthrough    = "the framework's own model for tests repeats texts, no files, and never fails"
	taskFirst      = "a stream of 1.0 begins with the task or a message; the gateway puts the task first"
	streamsTasks   = "the agent streams tasks outside of JSON-RPC; through the gateway a stream has the task as its one event"
	filesBefore10  = "the agent refuses the files of 1.0, and takes those of 0.3 at the same address; directly its card does not say so"
	cancelsNothing = "the agent answers a cancellation with the task as it is, whether or not that has ended"
)
