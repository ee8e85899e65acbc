package translate

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// To is how an interface wants to be spoken to.
type To struct {
	wire.Side
	Tenant      string   // of the interface, as its card says
	ID          []byte   // JSON-RPC id of the outgoing call, verbatim
	OutputModes []string // stand in for absent acceptedOutputModes toward 0.3 JSON-RPC; nil for none
	Alternative bool     // the second of two body forms, where implementations disagree
	Bytes       Bytes    // of files, as the agent has them
	CallerBytes Bytes    // and the caller
	Room        []byte   // for the document, as long as Room says; where it is shorter there is another
}

// Outbound is a request as an agent's interface wants it.
type Outbound struct {
	Call    wire.Call // the call as the agent sees it: side, method, ids; Body is its document
	Verb    string    // HTTP verb
	Path    string    // escaped, below the interface's URL; "" on JSON-RPC; the RPC's path on gRPC
	Query   string    // raw query, "" for none
	Body    []byte    // what to send: a document, or a framed protobuf message on gRPC; nil for none
	History *int      // messages of history the caller asked for, nil for as many as there are
	Wait    bool      // the caller waits for the task's end, and the interface cannot be told so
}

// Request retells a call. The ids, the method and the side of c are the truth and
// those in its params are not looked at; query is the URL query of an HTTP+JSON
// call. c.Params must have been read by package wire.
//
// A get of a push notification config without naming one becomes a list where the
// target must have it named; Retelling.Answer makes one of it again.
//
// What the target has no operation for is refused as Unsupported, what it cannot be
// told as InvalidParams. The method and the ids are checked, other values are for
// the agent to judge.
func Request(c *wire.Call, query url.Values, to To) (Outbound, *wire.Error) {
	if ofExtension(c) {
		return requestOpaque(c, query, to)
	}
	call := *c
	w := writer{
		from: dialectOf(wire.Side{Version: c.Version, Binding: c.Binding}), to: dialectOf(to.Side),
		reads: to.CallerBytes, writes: to.Bytes,
		call: &call, target: &to, inPath: to.Binding == wire.HTTPJSON,
	}
	if e := retarget(&call, w.to); e != nil {
		return Outbound{}, e
	}
	w.quiet = call.Method.Name == wire.SubscribeToTask && w.to != d01
	w.proper = c.Mixed || to.Binding == wire.GRPC || w.inPath && inURL(verbOf(call.Method, to.Version))
	w.task.known, w.context.known = call.TaskID, call.ContextID
	source := jsonscan.Mend(c.Params)
	if source == nil && c.Binding == wire.HTTPJSON {
		source = paramsOfQuery(query)
	}
	w.out = to.Room[:0]
	if n := len(to.ID) + Room(len(source)); cap(w.out) < n {
		w.out = make([]byte, 0, n)
	}
	start, end := writeEnvelope(&w, source)
	if w.wrong != "" {
		return Outbound{}, wire.Errorf(wire.InvalidParams, "Invalid parameters: %s", w.wrong)
	}
	o := Outbound{
		Call: wire.Call{
			Binding: to.Binding, Version: to.Version, Method: call.Method, Streaming: call.Method.Streams,
			ID: to.ID, Body: w.out, Params: w.out[start:end:end], Accept: c.Accept, Extra: c.Extra,
			Tenant: to.Tenant, MessageID: c.MessageID, TaskID: call.TaskID, ContextID: call.ContextID,
			ConfigID: call.ConfigID, Skill: c.Skill, PageToken: c.PageToken,
			ReferenceTaskIDs: c.ReferenceTaskIDs, MessageExtensions: c.MessageExtensions, HasPushConfig: c.HasPushConfig,
		},
		History: w.settings.history,
		Wait:    w.to == d01 && call.Method.Name == wire.SendMessage && w.settings.blocking,
	}
	return o, o.dress(to)
}

var callRules = []rule{
	{every, every, lost, "Members that A2A does not define. Extensions put theirs into `metadata`, which is kept."},
	{only01, after01, changed, "Task ids are chosen by the caller in 0.1 and by the agent later: the gateway keeps which " +
		"is which and says each its own. The same goes for `sessionId` and `contextId`."},
	{after01, only01, added, "A task id for a message that begins a task."},
	{only10, every, changed, "`tenant` is what the interface's card says, never what the caller said."},
	{every, only10, added, "`tenant`, if the interface's card has one."},
	{every, proto, refused, "An id that cannot be part of a path or resource name (`..`, a slash, a verb at its end), " +
		"where the binding has it in one: `INVALID_PARAMS`."},
}

// Room is how long a document of n bytes may become before it has to be copied once
// more. What grows are names; large documents are large by their values.
func Room(n int) int { return n + min(n/8, 64<<10) + 512 }

// retarget makes of the caller's method and ids what the target has for them.
func retarget(c *wire.Call, to dialect) *wire.Error {
	m := c.Method
	switch {
	case m == nil || m.Subject == 0: // an extension's
		return wire.Errorf(wire.Unsupported, "This method cannot be retold in another version or binding")
	case to == d01 && m.Name == listConfigs: // 0.1 has one config per task
		c.Method = methodNamed(getConfig)
	case to == d01 && m.V01 == "", to != d01 && to != d10 && m.V03 == "":
		return wire.Errorf(wire.Unsupported, "The agent's version of A2A has no %s", m.Name)
	case to == d01 && c.TaskID == "":
		return wire.Errorf(wire.Internal, "").Because(errNoTaskID)
	case (to == d10 || to == p03) && m.Name == getConfig && c.ConfigID == "":
		c.Method = methodNamed(listConfigs)
	case m.Does == wire.Deletes && c.ConfigID == "":
		return wire.Errorf(wire.InvalidParams, "Invalid parameters: the push notification config id is missing")
	case c.ConfigID == "" && (to == p03 || c.Version == wire.V01) && m.Push && m.Does == wire.Creates,
		c.ConfigID == "" && to == d03 && m.Name == getConfig:
		// As the SDKs' servers name one that has no name; and so a 0.1 caller, whose
		// task has one config, replaces it.
		c.ConfigID = c.TaskID
	}
	if to == p03 && m.Subject != wire.OfMessage && strings.Contains(c.TaskID+c.ConfigID, "/") {
		return wire.Errorf(wire.InvalidParams, "Invalid parameters: an id cannot be part of a resource name")
	}
	return nil
}

// methodNamed finds an operation that this package singles out.
func methodNamed(name string) *wire.Method {
	m, _ := wire.ByName(wire.V10, name)
	return m
}

// writeEnvelope writes the call's document and returns where its params stand.
func writeEnvelope(w *writer, source []byte) (start, end int) {
	rpc := w.target.Binding == wire.JSONRPC
	if rpc {
		w.literal(`{"jsonrpc":"2.0","id":`)
		if w.target.ID == nil {
			w.literal("null")
		}
		w.raw(w.target.ID)
		w.literal(`,"method":`)
		w.word(nameIn(w.call.Method, w.target.Version))
		w.literal(`,"params":`)
	}
	start = len(w.out)
	w.params(source)
	end = len(w.out)
	if rpc {
		w.literal("}")
	}
	return start, end
}

// nameIn is what a version's JSON-RPC calls an operation.
func nameIn(m *wire.Method, v wire.Version) string {
	switch v {
	case wire.V01:
		return m.V01
	case wire.V03:
		return m.V03
	}
	return m.Name
}

// dress makes of the document what the binding sends.
func (o *Outbound) dress(to To) *wire.Error {
	doc := o.Call.Body
	switch to.Binding {
	case wire.JSONRPC:
		o.Verb, o.Body = http.MethodPost, doc
	case wire.HTTPJSON:
		if e := o.route(to.Tenant); e != nil {
			return e
		}
		if inURL(o.Verb) {
			o.Query, o.Call.Body, o.Call.Params = queryOf(doc), nil, nil
		}
		o.Body = o.Call.Body
	case wire.GRPC:
		o.Verb, o.Path = http.MethodPost, o.Call.Method.RPC(to.Version)
		if o.Path == "" {
			return wire.Errorf(wire.Unsupported, "A2A %s has no %s on gRPC", to.Version, o.Call.Method.Name)
		}
		message, err := wire.RequestMessage(o.Call.Method, to.Version, doc)
		if err != nil {
			return wire.Errorf(wire.InvalidParams, "Invalid parameters: they do not fit the method").Because(err)
		}
		o.Call.Message = message
		o.Body = grpcframe.Append(nil, message)
	}
	return nil
}
