package translate

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// What the params and results of an extension's method mean is the extension's
// business: between versions, and between JSON-RPC and HTTP+JSON, only what is around
// them changes. On gRPC they are protobuf that nobody here has the types of.

// ofExtension reports whether a call is of an extension's method.
func ofExtension(c *wire.Call) bool { return c.Method != nil && c.Method.Extension != "" }

// requestOpaque is Request for such a call.
func requestOpaque(c *wire.Call, query url.Values, to To) (Outbound, *wire.Error) {
	m, params := c.Method, c.Params
	switch {
	case c.Binding == wire.GRPC || to.Binding == wire.GRPC,
		to.Binding == wire.HTTPJSON && (m.Path == "" || m.Verbs[0] != http.MethodPost),
		to.Binding != c.Binding && params == nil && len(query) > 0:
		return Outbound{}, wire.Errorf(wire.Unsupported, "This method cannot be retold in the agent's binding")
	case params == nil:
		params = []byte("{}")
	}
	if c.Binding == wire.HTTPJSON && to.Binding == wire.JSONRPC {
		params = withTask(c, params)
	}
	o := Outbound{Call: *c}
	o.Call.Binding, o.Call.Version, o.Call.ID, o.Call.Tenant = to.Binding, to.Version, to.ID, to.Tenant
	w := writer{out: make([]byte, 0, len(to.ID)+len(m.Name)+len(params)+64), call: &o.Call, target: &to}
	if to.Binding == wire.JSONRPC {
		w.literal(`{"jsonrpc":"2.0","id":`)
		w.raw(to.ID)
		w.literal(`,"method":`)
		w.word(m.Name)
		w.literal(`,"params":`)
		w.raw(params)
		w.literal("}")
		o.Verb = http.MethodPost
	} else {
		w.raw(params)
		if e := o.route(to.Tenant); e != nil {
			return Outbound{}, e
		}
	}
	o.Call.Body, o.Call.Params, o.Body = w.out, params, w.out
	return o, nil
}

// withTask names the task in params as the path did.
func withTask(c *wire.Call, params []byte) []byte {
	names := []string{"id", "taskId", "task_id"}
	if c.Method.TaskField != "" {
		names = append([]string{c.Method.TaskField}, names...)
	}
	if c.TaskID == "" || !strings.Contains(c.Method.Path, "{task}") || has(params, names...) {
		return params
	}
	out := append([]byte("{"), quoted(names[0])...)
	out = append(append(out, ':'), quoted(c.TaskID)...)
	if rest := strings.TrimSpace(string(params[1:])); rest != "}" {
		out = append(out, ',')
	}
	return append(out, params[1:]...)
}

func quoted(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // names and ids are valid UTF-8: decoding has seen to it
	return b
}
