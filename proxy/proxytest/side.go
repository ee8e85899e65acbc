package proxytest

import (
	"fmt"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// WaysToWait are the calls that can find a task waiting.
var WaysToWait = []string{wire.SendMessage, wire.GetTask, wire.SendStreamingMessage, wire.SubscribeToTask}

// CallersOf are two callers of the agent at sides[i]: one that speaks as it does, where
// there is one, and another, whose turn it is.
func CallersOf(i, turn int) []wire.Side {
	same := i % 6 // 0.1's callers choose their tasks' ids, and are left out
	return []wire.Side{Sides[same], Sides[(same+1+turn%5)%6]}
}

// ListSides are the sides that have ListTasks.
var ListSides = []wire.Side{RPC10, REST10, GRPC10}

// The seven ways to speak A2A.
var (
	RPC10  = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	REST10 = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	GRPC10 = wire.Side{Version: wire.V10, Binding: wire.GRPC}
	RPC03  = wire.Side{Version: wire.V03, Binding: wire.JSONRPC}
	REST03 = wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}
	GRPC03 = wire.Side{Version: wire.V03, Binding: wire.GRPC}
	RPC01  = wire.Side{Version: wire.V01, Binding: wire.JSONRPC}

	Sides = []wire.Side{RPC10, REST10, GRPC10, RPC03, REST03, GRPC03, RPC01}
)

// StateIn is what a side calls the state of a task.
func StateIn(s wire.Side, state string) string {
	if s.Version == wire.V10 || s.Binding != wire.JSONRPC {
		state = "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
		if state == "TASK_STATE_CANCELED" && s.Version != wire.V10 {
			state = "TASK_STATE_CANCELLED"
		}
	}
	return state
}

// TaskIn is a task in the words of a side; more are members.
func TaskIn(s wire.Side, id, context, state, more string) string {
	switch s {
	case RPC01:
		return fmt.Sprintf(`{"id":%q,"sessionId":%q,"status":{"state":%q}%s}`, id, context, state, more)
	case RPC03:
		return fmt.Sprintf(`{"kind":"task","id":%q,"contextId":%q,"status":{"state":%q}%s}`, id, context, state, more)
	}
	return fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":%q}%s}`, id, context, StateIn(s, state), more)
}

// StatusIn is a status event in the words of a side.
func StatusIn(s wire.Side, id, context, state, more string) string {
	last := state == "completed"
	switch s {
	case RPC01:
		return fmt.Sprintf(`{"id":%q,"status":{"state":%q%s},"final":%t}`, id, state, more, last)
	case RPC03:
		return fmt.Sprintf(`{"kind":"status-update","taskId":%q,"contextId":%q,"status":{"state":%q%s},"final":%t}`,
			id, context, state, more, last)
	case REST03, GRPC03:
		return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":%q%s},"final":%t}}`,
			id, context, StateIn(s, state), more, last)
	}
	return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":%q%s}}}`,
		id, context, StateIn(s, state), more)
}

var getTaskMethod = MethodOf(wire.GetTask)

// MethodOf is a method by its name in 1.0, which there must be.
func MethodOf(name string) *wire.Method {
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		panic("no method " + name)
	}
	return m
}

// Ask is a call in the words of a side: what it is about, and members that go
// beside the ids, in the words of the side.
type Ask struct {
	Method        string // 1.0 name
	Task, Context string
	More          string // of the params or request
	InMessage     string // of the message
	InPart        string // of its part
	Query         string // raw
	Path          string // before the method's; "/acme"
	Header        []string
	Unversioned   bool // no A2A-Version says which version it is
}

// Params are the JSON-RPC params, the HTTP+JSON body or the gRPC message of an ask.
func (a Ask) Params(s wire.Side) string {
	m := MethodOf(a.Method)
	switch {
	case m.Subject == wire.OfMessage:
		return a.Message(s)
	case s.Binding == wire.HTTPJSON && m.Subject != wire.OfConfig:
		return ""
	case s == GRPC03:
		return fmt.Sprintf(`{"name":"tasks/%s"%s}`, a.Task, a.More)
	case m.Subject == wire.OfTask:
		return fmt.Sprintf(`{"id":%q%s}`, a.Task, a.More)
	}
	return "{" + strings.TrimPrefix(a.More, ",") + "}"
}

// Message are the params of a send.
func (a Ask) Message(s wire.Side) string {
	ids := ""
	if a.Task != "" {
		ids += fmt.Sprintf(`,"taskId":%q`, a.Task)
	}
	if a.Context != "" {
		ids += fmt.Sprintf(`,"contextId":%q`, a.Context)
	}
	switch {
	case s == RPC01:
		session := ""
		if a.Context != "" {
			session = fmt.Sprintf(`,"sessionId":%q`, a.Context)
		}
		return fmt.Sprintf(`{"id":%q%s,"message":{"role":"user","parts":[{"type":"text","text":"hi"%s}]%s}%s}`,
			a.Task, session, a.InPart, a.InMessage, a.More)
	case s == RPC03:
		return `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"` + a.InPart + `}]` +
			ids + a.InMessage + `}` + a.More + `}`
	case s.Version == wire.V03:
		return `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"` + a.InPart + `}]` + ids +
			a.InMessage + `}` + a.More + `}`
	}
	return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"` + a.InPart + `}]` + ids +
		a.InMessage + `}` + a.More + `}`
}

// ArtifactIn is an artifact event in the words of a side.
func ArtifactIn(s wire.Side, id, context string) string {
	switch s {
	case RPC01:
		return fmt.Sprintf(`{"id":%q,"artifact":{"index":0,"parts":[{"type":"text","text":"x"}]}}`, id)
	case RPC03:
		return fmt.Sprintf(`{"kind":"artifact-update","taskId":%q,"contextId":%q,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":"x"}]}}`, id, context)
	}
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":%q,"contextId":%q,"artifact":{"artifactId":"a","parts":[{"text":"x"}]}}}`, id, context)
}
