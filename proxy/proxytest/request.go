package proxytest

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// Request is one request as the agent got it.
type Request struct {
	*http.Request
	Content []byte
}

// Envelope is what the tests read of a JSON-RPC request.
type Envelope struct {
	ID     RawJSON `json:"id"`
	Method string  `json:"method"`
	Params struct {
		ID      string `json:"id"`
		TaskID  string `json:"taskId"`
		Message struct {
			TaskID    string `json:"taskId"`
			ID        string `json:"messageId"`
			ContextID string `json:"contextId"`
			Context   string `json:"context_id"`
		} `json:"message"`
	} `json:"params"`
}

// RPC reads a JSON-RPC request; what other bindings send has nothing in it.
func (r *Request) RPC() Envelope {
	var c Envelope
	_ = json.Unmarshal(r.Content, &c) // HTTP+JSON: nothing to read
	return c
}

// IsRPC reports whether a request came over JSON-RPC.
func (r *Request) IsRPC() bool { return r.URL.Path == "/rpc" }

// is10 reports whether the call is of version 1.0.
func (r *Request) is10() bool { return r.Header.Get("A2A-Version") == "1.0" }

// TaskNamed is the id of the task that a JSON-RPC request names, "" for none.
func TaskNamed(r *Request) string {
	c := r.RPC()
	return cmp.Or(c.Params.Message.TaskID, c.Params.TaskID, c.Params.ID)
}

// Side is how a request speaks.
func (r *Request) Side() wire.Side {
	s := wire.Side{Version: wire.Version(r.Header.Get("A2a-Version")), Binding: wire.HTTPJSON}
	switch {
	case r.URL.Path == "/rpc":
		s.Binding = wire.JSONRPC
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		s.Binding = wire.GRPC
	}
	return s
}

// Called is what a request asks for, by its 1.0 name.
func (r *Request) Called() *wire.Method {
	switch s := r.Side(); s.Binding {
	case wire.JSONRPC:
		m, _ := wire.ByName(s.Version, r.RPC().Method)
		return m
	case wire.GRPC:
		m, _, _ := wire.ByRPC(r.URL.Path)
		return m
	}
	route, _ := wire.ByRoute(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/rest"))
	return route.Method
}

// Call reads a request as an agent would.
func (r *Request) Call() *wire.Call {
	c := new(wire.Call)
	s := r.Side()
	var e *wire.Error
	switch s.Binding {
	case wire.JSONRPC:
		e = c.DecodeJSONRPC(r.Content, s.Version, wire.Limits{})
	case wire.GRPC:
		m, v, _ := wire.ByRPC(r.URL.Path)
		e = c.DecodeGRPC(m, v, r.Content[5:], s.Version, wire.Limits{})
	default:
		route, _ := wire.ByRoute(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/rest"))
		e = c.DecodeHTTP(route, r.URL.Query(), r.Content, s.Version, wire.Limits{})
	}
	if e != nil {
		panic(fmt.Sprintf("the agent got what it cannot read: %v: %s %s %s", e, r.Method, r.URL, r.Content))
	}
	return c
}

// Say answers with results: one for a unary call, events for a stream.
func (r *Request) Say(w http.ResponseWriter, results ...string) {
	s, m := r.Side(), r.Called()
	if s.Binding == wire.GRPC {
		w.Header().Set("Content-Type", "application/grpc")
	} else if m.Streams {
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	for _, result := range results {
		r.Event(w, result)
	}
	if s.Binding == wire.GRPC {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}
}

// Event writes one result or event of an answer and flushes it.
func (r *Request) Event(w http.ResponseWriter, result string) {
	s, m := r.Side(), r.Called()
	body := []byte(result)
	switch {
	case s.Binding == wire.GRPC:
		message, err := wire.ResponseMessage(m, s.Version, body)
		if err != nil {
			panic(err)
		}
		body = grpcframe.Append(nil, message)
	case s.Binding == wire.JSONRPC:
		body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, result)
	}
	if s.Binding != wire.GRPC && m.Streams {
		body = fmt.Appendf(nil, "data: %s\n\n", body)
	}
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
}

// Fail answers with an error: on JSON-RPC as one, on HTTP+JSON with a status, on
// gRPC as a status.
func (r *Request) Fail(w http.ResponseWriter, k *wire.Kind, text string) {
	s := r.Side()
	c := &wire.Call{Version: s.Version, Binding: s.Binding, Method: getTaskMethod}
	if s.Binding == wire.JSONRPC {
		c.ID = r.RPC().ID
	}
	failure.Write(w, c, wire.Errorf(k, "%s", text))
}
