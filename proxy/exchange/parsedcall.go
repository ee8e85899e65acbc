package exchange

import (
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/approvals"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
)

// ParsedCall is the call as the wire had it (decode).
type ParsedCall struct {
	Call wire.Call       // locate: binding and version hint; decode: the rest
	Body *buffers.Buffer // decode; holds call.Body until the exchange ends, or unload
	Told *buffers.Buffer // prepare; holds the call as it is retold, likewise
}

// WantsEvents reports whether a result is to be an event although the agent gave it
// whole: clients that stream read nothing else of what is a success by its status, and
// some take it for a stream of none. An error passes as it came: the JavaScript client tells
// which one it is by a document, and not by an event.
func (x *ParsedCall) WantsEvents(resp *http.Response) bool {
	return x.Call.Streaming && x.Call.Binding != wire.GRPC && resp.StatusCode < http.StatusMultipleChoices
}

// Mend is for whoever judges what the call carries: where that has half of a surrogate
// pair, which every parser reads as it likes, U+FFFD is what is judged, and then it is
// what the agent gets. It is done where the body lies, so that all that was found in it
// stays where it was.
func (x *ParsedCall) Mend() {
	if !x.Call.MayHalf {
		return
	}
	jsonscan.MendHere(x.Call.Body)
	jsonscan.MendHere(x.Call.Params) // of which a webhook may have been replaced
}

// Binding is the binding as rules, authorizers and records know it: MCP for a call of a tool, else
// the one that the call is written in.
func (x *Exchange) Binding() wire.Binding {
	if x.Site.Tool != nil {
		return wire.MCP
	}
	return x.Call.Binding
}

// Side is how the caller speaks.
func (x *ParsedCall) Side() wire.Side {
	return wire.Side{Version: x.Call.Version, Binding: x.Call.Binding}
}

// InOtherContext reports whether a call names both a task and a context, so that
// a task that seems absent may be one of the caller's in a context that was
// replaced: the caller knows that context by the name it had before.
func (x *ParsedCall) InOtherContext() bool {
	return x.Call.TaskID != "" && x.Call.ContextID != ""
}

// WithParams is the call's body with other params.
func (x *ParsedCall) WithParams(params []byte) ([]byte, error) {
	if x.Call.Binding != wire.JSONRPC {
		if len(x.Call.Body) == 0 {
			return nil, errors.New("it gave a body to a call that has none")
		}
		return params, nil
	}
	from, to := jsonscan.MemberSpan(x.Call.Body, "params")
	if from == to {
		return nil, errors.New("it gave params to a call that has none")
	}
	return jsonscan.Replaced(x.Call.Body, from, to, params), nil
}

// Opaque reports whether nobody here can read what the call carries: the protobuf
// messages of an extension's method are the extension's own.
func (x *ParsedCall) Opaque() bool {
	return x.Call.Binding == wire.GRPC && x.Call.Method.Extension != ""
}

// MayBeEnvelope reports whether the body decides which binding a call has.
func (x *Exchange) MayBeEnvelope() bool {
	return x.Call.Binding == wire.HTTPJSON && x.Request.Method == http.MethodPost && wire.TakesEnvelopes(x.Rest)
}

// MixedVersion is what records have as the version of the owner of a task that such a
// call made.
const MixedVersion = "1.0 mixed"

// SaidTo names how the caller's answers are said.
func (x *ParsedCall) SaidTo() string {
	if x.Call.Mixed {
		return x.Side().String() + ", mixed"
	}
	return x.Side().String()
}

// Alike reports whether the caller speaks as a side of the agent's, so that what one says can
// pass to the other as it is.
func (x *ParsedCall) Alike(s wire.Side) bool { return s == x.Side() && !x.Call.Mixed }

// Alike reports the same where the ids in what passes are the caller's, too: a task that waited for
// approval goes by the name that its caller was given then.
func (x *Exchange) Alike(s wire.Side) bool {
	return x.ParsedCall.Alike(s) && (x.Task.Caller == "" || !approvals.IsID(x.Task.Caller))
}

// Spoken is what the caller speaks, as records of tasks have it.
func (x *ParsedCall) Spoken() string {
	if x.Call.Mixed {
		return MixedVersion
	}
	return string(x.Call.Version)
}

// Waits reports whether the caller of a send waits for the task to settle. What says
// nothing means something else in every version.
func (x *ParsedCall) Waits() bool {
	var c struct {
		Configuration *struct {
			Blocking *bool `json:"blocking"`
			Now      bool  `json:"returnImmediately"`
			NowToo   bool  `json:"return_immediately"`
		} `json:"configuration"`
	}
	switch err := json.Unmarshal(jsonscan.Mend(x.Call.Params), &c); {
	case err != nil || c.Configuration == nil || x.Call.Version == wire.V01:
		return true
	case c.Configuration.Blocking != nil:
		return *c.Configuration.Blocking
	case x.Call.Version == wire.V03:
		return x.Call.Binding == wire.JSONRPC // ProtoJSON does not say false
	}
	return !c.Configuration.Now && !c.Configuration.NowToo
}

// PassEvent passes a gRPC message on, as it came unless something in it had to be
// put in another's place.
func (x *ParsedCall) PassEvent(e stream.Entry, doc, out []byte, emit Telling) error {
	if Same(doc, out) {
		return emit("", e.Data)
	}
	message, err := wire.ResponseMessage(x.Call.Method, x.Call.Version, out)
	if err != nil {
		return wire.Errorf(wire.BadAgentResponse, "").Because(err)
	}
	return emit("", message)
}

// Lend is room for the caller's call as it is retold, until the exchange ends.
func (x *ParsedCall) Lend(n int) []byte {
	x.Told.Release() // an agent is asked for one thing after the other
	x.Told = buffers.NewFor(int64(n))
	return x.Told.Room(n)
}
