package frameworks_test

// ofOtherLanguages are the frameworks of JavaScript, Java and Rust, and one of Python that
// bridges protocols.
func ofOtherLanguages() []framework {
	return []framework{
		{
			id: "google-adk-js", name: "@google/adk", page: "google-adk-js", speaks: "0.3", calls: "0.3", program: javaScript(),
			needs:      "a `ClientFactory` whose `fetchImpl` sends the key",
			agentNotes: map[string]string{"cancel": "the agent cancels nothing, and answers with an internal error"},
		},
		{
			id: "mastra", name: "@mastra/core", page: "mastra", speaks: "0.3", calls: "0.3", program: javaScript(),
			card: "/api/.well-known/parrot/agent-card.json", endpoint: "/api/a2a/parrot", needs: "`headers`",
		},
		{
			id: "ai-sdk", name: "a2a-ai-provider", page: "ai-sdk", calls: "0.3", program: javaScript(),
			needs: "a `fetch` of the process that sends the key",
		},
		{
			id: "ag-ui", name: "@ag-ui/a2a", page: "ag-ui", calls: "0.3", program: javaScript(),
			needs: "a `fetch` of the process that sends the key; the base without a slash",
		},
		{
			id: "langchain4j", name: "langchain4j-agentic-a2a", page: "langchain4j", calls: "0.3", program: java(),
			needs:       "`authn.mtls`, and a gateway with one agent or `agents[].hosts`",
			clientNotes: map[string]string{"through": noCredential, "to 1.0": noCredential},
		},
		{
			id: "rust-a2a-client", name: "a2a-client", page: "rust-a2a-client", calls: "1.0", program: rust(),
			needs:       "`A2A-Version: 1.0` among its HTTP client's headers, for a card in one form",
			clientNotes: map[string]string{"stream": nullRefused, "get": nullRefused},
		},
		{
			id: "a2a-mcp-connector", name: "a2a-mcp-connector", page: "a2a-mcp-connector", calls: "1.0", program: python(),
			needs: "`authn.apiKeys.bearer`, the key as `bearer`",
		},
	}
}

// nullRefused is why the crate cannot read the artifacts of the test's agent.
const nullRefused = "the crate refuses null as a value in metadata, which the neutral agent's artifacts have"

// noCredential is why the test's gateway, which wants a key, refuses LangChain4j.
const noCredential = "the client has no option for a credential, and looks for the card at the origin whatever the path of its URL; " +
	"with the certificate of its JVM, at a gateway that takes certificates, it works"
