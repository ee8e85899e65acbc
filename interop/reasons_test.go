package interop_test

import "regexp"

// reason explains why an operation goes another way through the gateway than
// without. Pairs are written as in the names of the tests.
type reason struct{ pair, operation, why string }

// reasons are all that is known; the first that fits explains. docs/interop.md
// has them as notes.
var reasons = []reason{
	{
		`go-v01`, `message reply|stream of one message|data and file parts|one megabyte`,
		"0.1 has tasks only: a message becomes a completed task.",
	},
	{`go-v01`, `rejected task`, "0.1 has no `rejected`: the task has failed."},
	{
		`go-v01`, `stream to completion|cancel a stream|subscribe to a running task`,
		"0.1 has no task in a stream: for a caller of 1.0 the gateway begins with what it knows of it, for others the " +
			"stream begins with the first update.",
	},
	{`^go-v01.* to js-v03-`, `subscribe to an ended task`, "0.1 has no task in a stream: it becomes updates."},
	{`go-v01`, `push configurations`, "0.1 has one push configuration for a task, and neither a list nor a delete."},
	{`go-v01`, `extended card`, "0.1 has no extended card."},
	{`^go-v01`, `unknown task`, "A caller of 0.1 chooses the ids of its tasks: one that is not known begins a task."},
	{
		`to java-v03-`, `unknown task`,
		"The Java agent begins a task under any id; the gateway lets callers name the tasks that are theirs.",
	},
	{
		`^(js|python)-v1-rest to `, `unknown task|subscribe to an ended task`,
		"The Go agent refuses a subscription over HTTP+JSON by an event, which this client cannot read as an error; the " +
			"gateway refuses it by a status.",
	},
	{
		`^go-.* to (js|python)-v1-`, `unknown task|subscribe to an ended task`,
		"This agent refuses a subscription over JSON-RPC and HTTP+JSON by a document, which the Go client takes for a " +
			"stream without events; retold it is an error.",
	},
	{
		`^go-v10-.* to js-v03-`, `subscribe to an ended task`,
		"This agent streams the task that has ended; a caller of 1.0 is told that there is no subscribing to it.",
	},
	{
		`^(js|python)-v1-.* to go-v0`, `subscribe to an ended task|message to an ended task`,
		"The Go agent has other words for it (no such task, invalid parameters) than A2A 1.0, which the gateway follows " +
			"where it retells an older agent's refusal: an operation that is not supported.",
	},
	{
		`^(js|python)-v03-rest to go-`, `subscribe to an ended task|cancel an ended task`,
		"From the Go agent's refusal over HTTP+JSON of 0.3 this client cannot tell what is wrong; from the gateway's it can.",
	},
	{
		`-v03-grpc to go-v|-v03-rest to go-v03-grpc`, `stream to completion|cancel a stream|subscribe to a running task`,
		"The Go agent never says `final` over gRPC of 0.3. Where the gateway retells updates it says it; between gRPC and " +
			"HTTP+JSON of 0.3 nothing is retold.",
	},
	{
		`^python-v1-(jsonrpc|rest) to go-`, `push configurations`,
		"The Go agent leaves out the result of a delete, which this client misses; retold there is one.",
	},
	{
		`^(js|python)-v1-.* to go-v0`, `list`,
		"Agents before 1.0 have no list: the gateway makes one of the caller's tasks, without a history unless it is asked for.",
	},
	{
		`^(js|python)-v1-.* to go-v10-grpc|^(js|python)-v1-grpc to go-`, `data and file parts`,
		"The Go agent reads data that is no object as an empty object over gRPC.",
	},
	{
		`^js-v03-(rest|grpc) to go-`, `data and file parts`,
		"This client sends a file's bytes as they are over HTTP+JSON and gRPC of 0.3, where the Go agent wants base64 of " +
			"base64. Retold they arrive; between the two bindings nothing is retold.",
	},
	{
		`^js-v03-rest to go-`, `push configurations`,
		"The Go agent does not take a push configuration over HTTP+JSON of 0.3 in the form in which this client sends it; " +
			"the gateway does.",
	},
	{
		`^js-v03-jsonrpc to java-v03-jsonrpc`, `push configurations`,
		"The Java agent answers under another id than the call's, which the gateway refuses as the client would.",
	},
	{
		`^go-v03-grpc to (js|python)-v1-`, `get with history lengths`,
		"Over gRPC of 0.3 a history length of 0 is none at all.",
	},
	{
		` to (js|python|java)-v03-`, `get with history lengths`,
		"This agent does not heed a history length of 0, or none at all; the gateway cuts the history.",
	},
	{
		` to java-v03-rest`, `subscribe to a running task`,
		"The Java agent takes a POST here, and the Go client for 0.3 sends a GET; the gateway finds out what is taken.",
	},
	{
		`^go-v10-.* to (js|python|java)-v03-`, `subscribe to a running task`,
		"A subscription of 1.0 begins with the task: the gateway asks the agent for it.",
	},
	{
		`^go-.* to js-v03-rest`, `data and file parts`,
		"This agent loses the names of files over HTTP+JSON; what is compared is from JSON-RPC.",
	},
	{
		`^go-.* to (java-v03-(rest|grpc)|js-v1-rest|python-v03-rest)`, `push configurations`,
		"The Go client fails at some of what this agent answers; at what the gateway answers it does not.",
	},
	{
		`^js-v03-rest to (java|python)-v03-rest|^java-v03-rest to python-v03-rest`, `push configurations`,
		"A call that this agent refuses is refused through the gateway as well, and this client calls it another error.",
	},
	{
		`^(java|js)-v03-rest to python-v03-rest`, `stream to completion|stream of one message|cancel a stream|subscribe to a running task`,
		"This agent writes the document of an event over several data lines, each of which this client takes for a document of its " +
			"own; through the gateway it is one line.",
	},
}

// explain gives the index of the reason for a difference, -1 for none.
func explain(m meeting, operation string) int {
	for i, r := range reasons {
		if regexp.MustCompile(r.pair).MatchString(m.String()) &&
			regexp.MustCompile("^("+r.operation+")$").MatchString(operation) {
			return i
		}
	}
	return -1
}
