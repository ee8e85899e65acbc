package exchange

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents/interfaces"
	"github.com/a2a-gateway/a2a-gateway/proxy/buffers"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// UpstreamCall is one call on its way to the agent, as the interface it goes to wants it: the
// caller's call, passed through or translated, or a call of the gateway's own, such as a look
// at a task.
type UpstreamCall struct {
	*agents.Endpoint
	Call   *wire.Call // as the agent sees it
	Verb   string
	Path   string // escaped, below the interface's URL
	Query  string
	Body   []byte
	Holder *buffers.Buffer // holds body, where that is the caller's own bytes or retold for them; else nil

	Own    bool                          // the call is the gateway's, whatever the answer is passed on as
	Shows  *credentials.Demand           // what a task wants to see that the call answers; nil for none
	Retell *translate.Retelling          // how answers come back; nil where both sides speak alike
	Wait   bool                          // the caller waits for the task's end, and the agent was not told so
	Trail  *telemetry.Trail              // its spans; nil where it is not traced
	Served upstream.Served               // what became of it on its way
	Other  func() (*UpstreamCall, error) // the second of two forms that agents disagree about, or nil
}

// Describe sets what the request says about its body and the answer it wants.
// Where the call was not retold, that is the caller's own word, accept among it.
func (l *UpstreamCall) Describe(out http.Header, accept []string) {
	switch {
	case l.Binding == wire.GRPC:
		out["Content-Type"] = []string{mediatype.GRPC}
		out["Te"] = []string{"trailers"} // or proxies in between may drop the status
		return
	case l.Retell == nil && !l.Own:
		if accept != nil {
			out["Accept"] = accept
		}
		return
	}
	if out["Accept"] = []string{"application/json"}; l.Call.Streaming {
		out["Accept"] = []string{mediatype.Events}
	}
	if delete(out, "Content-Type"); len(l.Body) > 0 {
		out["Content-Type"] = []string{"application/json"}
	}
}

// Reader implements upstream.Body.
func (l *UpstreamCall) Reader() io.ReadCloser { return l.Holder.Reader(l.Body) }

// Stray keeps from the caller that there is no such task, where that is the word of an
// instance that was asked in the place of the one that has it.
func (x *Forwarding) Stray(reason string) error {
	if !x.Upstream.Served.Elsewhere || reason != wire.TaskNotFound.Reason {
		return nil
	}
	return RetryLater("5", "the agent is not reachable at the moment")
}

// Apart is the upstream call for the goroutine that reads the agent's stream, while the client's goroutine lets go of
// what came with the request; see unload.
func (l *UpstreamCall) Apart() *UpstreamCall {
	as, call := *l, *l.Call
	call.Unload()
	as.Call, as.Body, as.Holder, as.Other = &call, nil, nil, nil
	return &as
}

// WithoutStream is the answer of an agent to a subscription as one whose stream says nothing,
// where it is an error that says so; else nil.
func (x *Forwarding) WithoutStream(resp *http.Response, a Received) *http.Response {
	e := a.Failed
	if e == nil && IsError(a.Seen) {
		e = a.AgentError(x.Upstream, resp, a.Doc)
	}
	if e == nil || e.Kind != wire.TaskNotFound {
		return nil
	}
	empty := EmptyStream(resp.Header.Clone())
	empty.Header.Del("Grpc-Status")
	return empty
}

// idFor is the JSON-RPC id toward the agent where the gateway writes the call: the caller's own
// where it has one. Null tells no call from another, and is a notification to some servers.
func (x *Exchange) idFor(c *wire.Call) []byte {
	if c.Binding == wire.JSONRPC && c.ID != nil && !wire.NullID(c.ID) {
		return c.ID
	}
	return []byte(`"` + x.Rec.RequestID + `"`)
}

// Parameters are the request's query.
func (x *Exchange) Parameters() url.Values {
	if x.Call.Binding != wire.HTTPJSON || x.Request.URL.RawQuery == "" {
		return nil
	}
	return x.Request.URL.Query()
}

// Target is the URL of an upstream call: the interface's for JSON-RPC, below it for
// HTTP+JSON, and the RPC's path at its host for gRPC.
func (l *UpstreamCall) Target() (*url.URL, error) {
	path := l.Path
	switch l.Binding {
	case wire.JSONRPC:
		if l.Methods {
			return interfaces.MethodURL(l.URL, l.Call.Method), nil
		}
		return l.URL, nil
	case wire.HTTPJSON:
		path = strings.TrimSuffix(l.URL.EscapedPath(), "/") + path
	}
	u, err := l.URL.Parse(path)
	if err != nil {
		return nil, wire.Errorf(wire.Malformed, "the path cannot be forwarded").Because(err)
	}
	u.RawQuery = l.Query
	return u, nil
}

// About is what spans say of an upstream call.
func (x *Destination) About(l *UpstreamCall) telemetry.Ask {
	return telemetry.Ask{
		Agent: x.Agent.ID, Method: l.Call.Method.Name, Version: string(l.Version), Binding: l.Binding,
		Task: l.Call.TaskID, Endpoint: l.Address, Own: l.Own,
	}
}
