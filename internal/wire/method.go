package wire

import (
	"net/http"
	"slices"
	"strings"
)

// Subject says which resource a method's request names, and so what ownership
// has to be proved before an agent may see the call.
//
// The subject is what a rule, a route and the ownership check have to know of a method; with it, an
// extension's method is checked as A2A's own are, without a line about it anywhere.
type Subject uint8

// The subjects. Every row of the method table has one; a row without is a
// programming error that a test reports.
const (
	OfMessage Subject = iota + 1 // message.taskId, message.contextId, referenceTaskIds: all optional
	OfTask                       // exactly one task
	OfConfig                     // a task's push notification configs
	OfCaller                     // the caller's tasks as a whole (list)
	OfAgent                      // the agent itself (extended card)
)

// Action is what a method does to what it is about, in the four words that audit formats and
// access models have for it.
type Action uint8

// The actions. Every row of A2A's own has one; what an extension's method does is known as far
// as Writes says.
const (
	Reads   Action = iota + 1
	Creates        // a task, or a config
	Updates
	Deletes
)

// Method is one A2A operation under every name it has had. Two Methods are the
// same operation if and only if their pointers are equal.
type Method struct {
	Name    string  // 1.0: JSON-RPC and gRPC. Policy, metrics and audit use this name only.
	V03     string  // 0.2 and 0.3 JSON-RPC; empty where the operation did not exist
	V01     string  // 0.1 JSON-RPC; empty where the operation did not exist
	Also03  string  // a second name in 0.3, by which clients call it and the gateway does not
	Streams bool    // the answer is an event stream
	Subject Subject // what the request names
	Writes  bool    // changes a task or its configs; false for pure reads
	Push    bool    // is about push notification configs
	Does    Action  // in one word; Reads if and only if it does not write
	Cancels bool    // ends a task before it is done
	Lists   bool    // the answer is a list, perhaps in pages

	// Since is the version that an agent's card says at least where the agent has the method,
	// if the method is younger than the version it is listed under: 0.2 is V03 here, and did
	// not have all of it from the beginning. "" for all others.
	Since string

	// Addresses are the ends of the URLs at which two frameworks take the method's JSON-RPC
	// envelope, each method at its own: agno's and python-a2a's. "" where they have none.
	Addresses [2]string

	// Try says that the console's form for trying calls offers the method. Those about push
	// notification configs are not for people: a webhook would answer to nobody.
	Try bool

	// HTTP+JSON. Path is 1.0's, relative to the interface URL, with {task} and
	// {config} standing for one segment each; 0.3 has the same path under /v1
	// unless Path03 says otherwise. Verbs lists every verb that agents in the
	// field accept; the first is the one to send.
	Verbs  []string
	Path   string
	Path03 string

	// gRPC. 1.0's RPCs have the operation's name; this is 0.3's, empty where the
	// operation did not exist.
	GRPC03 string

	// Of an extension's method only; see NewExtra. Its Name is that of every version,
	// and its paths are the same in both.
	Extension string // the extension's URI; "" for A2A's own methods
	TaskField string // member of the params that names the task, beside those A2A has for it
	RPCPath   string // gRPC: "/package.Service/Method"; its messages stay protobuf
	TaskTag   int    // gRPC: number of the request's field that names the task; 0 for none
}

// Names of the operations, in 1.0 spelling, for code that has to single one out.
const (
	SendMessage          = "SendMessage"
	SendStreamingMessage = "SendStreamingMessage"
	GetTask              = "GetTask"
	ListTasks            = "ListTasks"
	CancelTask           = "CancelTask"
	SubscribeToTask      = "SubscribeToTask"
	GetExtendedAgentCard = "GetExtendedAgentCard"
	CreatePushConfig     = "CreateTaskPushNotificationConfig" // brings a webhook, as sends may
)

const configsPath = "/tasks/{task}/pushNotificationConfigs"

// methods is the whole of A2A. 0.3's text knows GET /v1/tasks but no JSON-RPC
// name for it and no SDK serves it; it stays in the table so that the path is
// recognised and refused by name; likewise for gRPC, where one SDK made an RPC of
// it that the released proto does not have. 0.1's tasks/get and tasks/cancel share their
// names with 0.3; which of the two a call is, is settled from its other marks
// (see Call).
var methods = [...]Method{
	{
		Name: SendMessage, V03: "message/send", V01: "tasks/send",
		Subject: OfMessage, Writes: true,
		Does: Creates, Try: true,
		Verbs: []string{http.MethodPost}, Path: "/message:send",
		GRPC03:    "SendMessage",
		Addresses: [2]string{"/message:send", "/tasks/send"},
	},
	{
		Name: SendStreamingMessage, V03: "message/stream", V01: "tasks/sendSubscribe",
		Subject: OfMessage, Writes: true, Streams: true,
		Does: Creates, Try: true,
		Verbs: []string{http.MethodPost}, Path: "/message:stream",
		GRPC03: "SendStreamingMessage",
		// What python-a2a streams is no JSON-RPC: a stream is asked for where sends are, and
		// answered with the task.
		Addresses: [2]string{"/message:stream", ""},
	},
	{
		Name: GetTask, V03: "tasks/get", V01: "tasks/get",
		Subject: OfTask, Does: Reads, Try: true,
		Verbs: []string{http.MethodGet}, Path: "/tasks/{task}",
		GRPC03:    "GetTask",
		Addresses: [2]string{"/tasks:get", "/tasks/get"},
	},
	{
		Name:    ListTasks,
		Subject: OfCaller, Does: Reads, Lists: true, Try: true,
		Verbs: []string{http.MethodGet}, Path: "/tasks",
	},
	{
		Name: CancelTask, V03: "tasks/cancel", V01: "tasks/cancel",
		Subject: OfTask, Writes: true, Does: Updates, Cancels: true, Try: true,
		Verbs: []string{http.MethodPost}, Path: "/tasks/{task}:cancel",
		GRPC03:    "CancelTask",
		Addresses: [2]string{"/tasks:cancel", "/tasks/cancel"},
	},
	{
		// 1.0's text says POST, its proto GET; 0.3 the same the other way round.
		Name: SubscribeToTask, V03: "tasks/resubscribe", V01: "tasks/resubscribe",
		Subject: OfTask, Streams: true, Does: Reads, Try: true,
		Verbs: []string{http.MethodGet, http.MethodPost}, Path: "/tasks/{task}:subscribe",
		GRPC03: "TaskSubscription",
	},
	{
		Name: CreatePushConfig,
		V03:  "tasks/pushNotificationConfig/set", V01: "tasks/pushNotification/set",
		Subject: OfConfig, Writes: true, Push: true, Does: Creates,
		Verbs: []string{http.MethodPost}, Path: configsPath,
		GRPC03: "CreateTaskPushNotificationConfig",
	},
	{
		Name: "GetTaskPushNotificationConfig",
		V03:  "tasks/pushNotificationConfig/get", V01: "tasks/pushNotification/get",
		Subject: OfConfig, Push: true, Does: Reads,
		Verbs: []string{http.MethodGet}, Path: configsPath + "/{config}",
		GRPC03: "GetTaskPushNotificationConfig",
	},
	{
		Name: "ListTaskPushNotificationConfigs", V03: "tasks/pushNotificationConfig/list",
		Subject: OfConfig, Push: true, Does: Reads, Lists: true, Since: "0.2.5",
		Verbs: []string{http.MethodGet}, Path: configsPath,
		GRPC03: "ListTaskPushNotificationConfig", // singular
	},
	{
		Name: "DeleteTaskPushNotificationConfig", V03: "tasks/pushNotificationConfig/delete",
		Subject: OfConfig, Writes: true, Push: true, Does: Deletes, Since: "0.2.5",
		Verbs: []string{http.MethodDelete}, Path: configsPath + "/{config}",
		GRPC03: "DeleteTaskPushNotificationConfig",
	},
	{
		// One paragraph of 0.3's text has the second name, and at least one SDK's client says it.
		Name: GetExtendedAgentCard, V03: "agent/getAuthenticatedExtendedCard", Also03: "agent/authenticatedExtendedCard",
		// Before, it was a plain GET beside the agent's URL (A2A 0.2.6 §7.10).
		Subject: OfAgent, Does: Reads, Since: "0.3", Try: true,
		Verbs: []string{http.MethodGet}, Path: "/extendedAgentCard", Path03: "/v1/card",
		GRPC03: "GetAgentCard",
	},
}

// Methods returns the table, for code that must have an entry per operation
// (metrics, policy, generated tests). Callers must not change it.
func Methods() []Method { return methods[:] }

// Sends reports whether the method is one of A2A's own that bring the agent a message, streamed
// or not. Extensions' methods may bring one as well, but promise nothing of what comes of it.
func (m *Method) Sends() bool { return m.Extension == "" && m.Subject == OfMessage }

// Core is ByName under 1.0's name, for code that has a method's name only, such as a record's. It
// does not know extensions' methods.
func Core(name string) (*Method, bool) { return ByName(V10, name) }

// ByName finds the operation that a version's JSON-RPC binding calls name.
// Names are compared byte for byte: "sendmessage" is no method.
//
// The gRPC names are not asked for here: see ByRPC.
func ByName(v Version, name string) (*Method, bool) {
	m, ok := byName[nameKey{v, name}]
	return m, ok
}

// nameKey tells names apart by version: 0.1 and 0.3 share three, which mean the same operation in
// both, but other params.
type nameKey struct {
	version Version
	name    string
}

// byName indexes methods under every name of every version.
var byName = indexNames()

// indexNames goes through the table once, when the program starts.
func indexNames() map[nameKey]*Method {
	index := make(map[nameKey]*Method, 3*len(methods))
	for i := range methods {
		m := &methods[i]
		for v, name := range map[Version]string{V10: m.Name, V03: m.V03, V01: m.V01} {
			if name != "" {
				index[nameKey{v, name}] = m
			}
		}
	}
	return index
}

// Named lists every operation under each name that it has had in any version, and under
// theirs those that extensions bring: what a configuration may call it. One name may
// stand for several.
func Named(extra []*Method) map[string][]*Method {
	names := make(map[string][]*Method, 3*len(methods)+len(extra))
	for i := range methods {
		m := &methods[i]
		for _, name := range []string{m.Name, m.V03, m.V01} {
			if name != "" && !slices.Contains(names[name], m) {
				names[name] = append(names[name], m)
			}
		}
	}
	for _, m := range extra {
		names[m.Name] = append(names[m.Name], m)
	}
	return names
}

// The gRPC services. 1.0's release candidate was called as 0.3 is, with other
// field numbers behind the same names; its few implementations are not spoken to.
const (
	service10 = "/lf.a2a.v1.A2AService/"
	service03 = "/a2a.v1.A2AService/"
)

// rpcs finds an operation by the path of its RPC.
var rpcs = indexRPCs()

// indexRPCs goes through the table once, when the program starts.
func indexRPCs() map[string]*Method {
	index := make(map[string]*Method, 2*len(methods))
	for i := range methods {
		m := &methods[i]
		for _, v := range []Version{V10, V03} {
			if path := m.RPC(v); path != "" {
				index[path] = m
			}
		}
	}
	return index
}

// ByRPC finds the operation behind the path of a gRPC request, such as
// "/lf.a2a.v1.A2AService/SendMessage"; the service says which version it is. ok is
// false for a path of no A2A service. A service without such an RPC gives its
// version and a nil Method.
//
//	/lf.a2a.v1.A2AService/GetTask   GetTask, V10, true
//	/a2a.v1.A2AService/GetTask      GetTask, V03, true
//	/a2a.v1.A2AService/ListTasks    nil, V03, true: 0.3 has no such RPC, and the refusal is in its words
//	/acme.Notes/List                nil, "", false
func ByRPC(path string) (m *Method, v Version, ok bool) {
	switch {
	case strings.HasPrefix(path, service10):
		v = V10
	case strings.HasPrefix(path, service03):
		v = V03
	default:
		return nil, "", false
	}
	return rpcs[path], v, true
}

// RPC is the path of the operation's RPC in a version, or "" where the version has
// no gRPC or no such RPC. An extension's is of V10.
func (m *Method) RPC(v Version) string {
	switch {
	case m.Extension != "" && v == V10:
		return m.RPCPath
	case m.Extension != "":
	case v == V10 && m.Name != "":
		return service10 + m.Name
	case v == V03 && m.GRPC03 != "":
		return service03 + m.GRPC03
	}
	return ""
}

// Services are the names of A2A's gRPC services, newest first.
//
//	lf.a2a.v1.A2AService   1.0
//	a2a.v1.A2AService      0.3
//
// gRPC's health checks and reflection name them so.
func Services() []string {
	return []string{strings.Trim(service10, "/"), strings.Trim(service03, "/")}
}
