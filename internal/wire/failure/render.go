package failure

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
)

// view is all that the form of an error depends on.
type view struct {
	Binding   wire.Binding
	Version   wire.Version
	Streaming bool   // the call's answer would have been an event stream
	ID        []byte // JSON-RPC id, verbatim
	Accept    string
}

// viewOf reads a call as far as it got. A call of which nothing is known yet is
// taken for HTTP+JSON 1.0: that body explains itself to a person and to every
// HTTP client, and a JSON-RPC envelope would claim a call where none was seen.
// Where only the version is unknown the error has its 1.0 form, which older
// JSON-RPC clients can read too ("data" was always free for servers to fill).
func viewOf(c *wire.Call) view {
	if c == nil {
		return view{Binding: wire.HTTPJSON, Version: wire.V10}
	}
	v := view{Binding: c.Binding, Version: c.Version, Accept: c.Accept, Streaming: c.Streaming}
	switch {
	case c.Method != nil:
		v.Streaming = c.Streaming || c.Method.Streams
	case !c.Streaming:
		// The call was refused before its method was known; a client that asks for
		// events and nothing else is in the middle of a streaming call.
		v.Streaming = mediatype.Accepts(c.Accept, mediatype.Events) && !mediatype.Accepts(c.Accept, mediatype.JSON)
	}
	// The id goes out as it came in, so it must be what an id can be: a raw
	// object or line break would be a way to write into the answer.
	if id := jsontext.Value(c.ID); id.IsValid() && (id.Kind() == '"' || id.Kind() == '0') {
		v.ID = c.ID
	}
	if v.Binding == 0 {
		v.Binding = wire.HTTPJSON
	}
	if v.Version == "" {
		v.Version = wire.V10
	}
	return v
}

// Write answers a call with e, in the form of the call's binding and version.
// It and Event are the only places that write error bytes. c may be nil or
// as far decoded as it got. Nothing may have been written to w yet.
//
// The status is Kind.RPC on JSON-RPC and Kind.HTTP elsewhere. An agent's broken
// answer is 502 on both: A2A 1.0.0 had 502 for it, 1.0.1 made it 500, but 500 is
// the server's word about itself, and this server is only in between.
//
// A refusal that JSON-RPC answers with 200 goes to a streaming call as a stream
// of one event: a2a-go's streaming client reads data lines only, and would take
// a JSON body for a stream that ended without error.
//
// The net/http server leaves the body out on HEAD, so nothing is done about it.
//
// On gRPC there is no body: the status is in the trailers (see SetStatus), and HTTP
// says 200 to everything.
func Write(w http.ResponseWriter, c *wire.Call, e *wire.Error) {
	v := viewOf(c)
	h := w.Header()
	for name, values := range e.Header {
		h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
	}
	if v.Binding == wire.GRPC {
		h.Set("Content-Type", mediatype.GRPC)
		SetStatus(h, v.Version, e)
		w.WriteHeader(http.StatusOK)
		return
	}
	status, contentType, body := v.response(e)
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")         // it answers this caller, now
	h.Set("X-Content-Type-Options", "nosniff") // messages may quote the request
	w.WriteHeader(status)
	_, _ = w.Write(body) // the only thing to do about a client that is gone is nothing
}

// Event is e as the last event of a stream that has begun: one whole frame,
// blank line included. A Retry-After of e, seconds or a date, is in it as retry, in milliseconds from now,
// which is how a stream says it; a frame of its own would be an event to some parsers. On JSON-RPC it is a plain event like every other; on
// HTTP+JSON it is named "error", which is where the JavaScript and Python clients
// look, while a2a-go's ignores the name and looks into the data. On gRPC it is nil:
// a stream ends with a status, which SetStatus writes.
func Event(c *wire.Call, e *wire.Error) []byte {
	v := viewOf(c)
	if v.Binding == wire.GRPC {
		return nil
	}
	return v.event(e)
}

// response chooses status, content type and body of a whole response.
func (v view) response(e *wire.Error) (status int, contentType string, body []byte) {
	if v.Binding != wire.JSONRPC {
		return e.HTTP, v.contentType(), v.append(nil, e)
	}
	if v.Streaming && e.RPC == http.StatusOK {
		return e.RPC, mediatype.Events, v.event(e)
	}
	return e.RPC, mediatype.JSON, v.append(nil, e)
}

// event writes the error as one frame of an event stream:
//
//	JSON-RPC   data: {"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"…"}}
//	HTTP+JSON  event: error
//	           data: {"error":{"code":500,"status":"INTERNAL","message":"…","details":[…]}}
func (v view) event(e *wire.Error) []byte {
	var b []byte
	if v.Binding != wire.JSONRPC {
		b = append(b, "event: error\n"...)
	}
	if after, ok := RetryAfter(e.Header, time.Now()); ok {
		b = append(b, "retry: "...)
		b = append(strconv.AppendInt(b, after.Milliseconds(), 10), '\n')
	}
	// JSON text as written here has no line breaks, so it is one data line.
	b = append(b, "data: "...)
	return append(v.append(b, e), "\n\n"...)
}

// contentType is application/a2a+json (A2A 1.0.1 §11.1) only for a client that
// names it: a2a-go reads an error body only if it is application/json.
func (v view) contentType() string {
	if v.Version == wire.V10 && mediatype.Accepts(v.Accept, mediatype.A2A) {
		return mediatype.A2A
	}
	return mediatype.JSON
}

// append writes the JSON document for v's binding and version. gRPC, which has no
// document but a status and trailers, leaves before this point.
func (v view) append(b []byte, e *wire.Error) []byte {
	switch {
	case v.Binding == wire.JSONRPC:
		return v.appendRPC(b, e)
	case v.Version == wire.V10:
		b = append(b, `{"error":`...)
		return append(appendStatus(b, e, true), '}')
	default:
		return appendHTTP03(b, e, v.Version)
	}
}

// appendRPC writes a JSON-RPC 2.0 error response. Only 1.0 fills "data".
func (v view) appendRPC(b []byte, e *wire.Error) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	if v.ID == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, v.ID...)
	}
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(codeIn(v.Version, e.Kind)), 10)
	b = append(b, `,"message":`...)
	b = appendString(b, e.Text())
	if v.Version == wire.V10 {
		b = append(b, `,"data":`...)
		b = appendDetails(b, e, true)
	}
	return append(b, "}}"...)
}

// same reports whether k is a row of the table, or one that differs from it in how it is
// said: an agent's own code under the row's reason.
func same(k, row *wire.Kind) bool { return k.Reason == row.Reason }

// codeIn is k's JSON-RPC code for clients of a version, where the 1.0 code means
// nothing or something else in it. 0.1's schema ends at -32004, and its text gives
// the numbers after -32005 other meanings than later versions do.
func codeIn(v wire.Version, k *wire.Kind) int {
	switch {
	case v == wire.V10:
	case same(k, wire.VersionUnsupported):
		return wire.InvalidRequest.Code
	case v != wire.V01:
	case same(k, wire.BadAgentResponse):
		return wire.Internal.Code
	case same(k, wire.NoExtendedCard), same(k, wire.ExtensionRequired):
		return wire.Unsupported.Code
	}
	return k.Code
}

// appendHTTP03 writes the one body that the 0.3 clients in the field all read; the
// specification never defined one. JavaScript's takes code and message from the
// top, Python's the message, a2a-go's the 1.0 object under "error".
func appendHTTP03(b []byte, e *wire.Error, v wire.Version) []byte {
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(codeIn(v, e.Kind)), 10)
	b = append(b, `,"message":`...)
	b = appendString(b, e.Text())
	b = append(b, `,"error":`...)
	return append(appendStatus(b, e, false), '}')
}

// appendStatus writes google.rpc.Status in the ProtoJSON form of Google's HTTP
// APIs (A2A 1.0 §11.6), where code is the HTTP status.
func appendStatus(b []byte, e *wire.Error, all bool) []byte {
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, int64(e.HTTP), 10)
	b = append(b, `,"status":`...)
	b = appendString(b, e.GRPC)
	b = append(b, `,"message":`...)
	b = appendString(b, e.Text())
	b = append(b, `,"details":`...)
	return append(appendDetails(b, e, all), '}')
}

// appendDetails writes the list of details: one google.rpc.ErrorInfo, with the
// metadata in a fixed order so that equal errors are equal bytes, and if all the
// error's other details behind it.
func appendDetails(b []byte, e *wire.Error, all bool) []byte {
	b = append(b, `[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":`...)
	b = appendString(b, e.Reason)
	b = append(b, `,"domain":"a2a-protocol.org"`...)
	if len(e.Meta) > 0 {
		b = append(b, `,"metadata":{`...)
		for i, key := range slices.Sorted(maps.Keys(e.Meta)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, key)
			b = append(b, ':')
			b = appendString(b, e.Meta[key])
		}
		b = append(b, '}')
	}
	b = append(b, '}')
	for _, detail := range e.Details {
		// A line break inside would end the data line of an event.
		if detail = detail.Clone(); all && detail.Compact() == nil && detail.Kind() == '{' {
			b = append(append(b, ','), detail...)
		}
	}
	return append(b, ']')
}

// appendString quotes s. A message may quote what a client sent; bytes that are
// not UTF-8 become U+FFFD.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // the error says that bytes were replaced
	return b
}
