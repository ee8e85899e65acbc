package proxytest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// SameMeaning knows the kinds that versions cannot tell apart.
func SameMeaning(caller wire.Side, got, want *wire.Kind) bool {
	return caller.Version != wire.V10 && (got.Code == want.Code || got.GRPC == want.GRPC)
}

// Utter makes a call of a caller with these params, body or message.
func (w *Gateway) Utter(s wire.Side, method, params string, header ...string) Reply {
	w.Helper()
	m := MethodOf(method)
	if s.Binding == wire.GRPC {
		message, err := wire.RequestMessage(m, s.Version, []byte(params))
		Must(w, err)
		return w.HeardRPC(m, s, w.Dial("tied", m.RPC(s.Version), grpcframe.Append(nil, message), header...))
	}
	header = append([]string{"A2A-Version: " + string(s.Version)}, header...)
	verb, target, body := "POST", w.Base, params
	if s.Binding == wire.JSONRPC {
		body = RPCBody(map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[s.Version], params)
	} else if verb, target = m.Verbs[0], target+m.Path; s.Version == wire.V03 {
		target = w.Base + cmp.Or(m.Path03, "/v1"+m.Path)
	}
	return w.heard(m, s, w.Do("tied", verb, target, body, header...))
}

// Told fails the test unless a call was refused in this way, and in these words.
func (s Reply) Told(t testing.TB, what string, want *wire.Kind, text ...string) {
	t.Helper()
	s.Refused(t, what, want)
	for _, part := range text {
		if s.Err != nil && !strings.Contains(s.Err.Text(), part) {
			t.Errorf("%s: %q does not say %q", what, s.Err.Text(), part)
		}
	}
}

// Reply is what a caller heard: documents, and an error if there was one.
type Reply struct {
	Response
	Docs []string    // JSON-RPC results, HTTP+JSON bodies or events, gRPC messages as ProtoJSON
	Err  *wire.Error // nil for none
	Code int         // of gRPC
}

// Speak makes a call in the words of a side to the agent at base.
func (w *Gateway) Speak(who, base string, s wire.Side, a Ask) Reply {
	w.Helper()
	m := MethodOf(a.Method)
	if s.Binding == wire.GRPC {
		doc := a.Params(s)
		message, err := wire.RequestMessage(m, s.Version, []byte(doc))
		Must(w, err)
		return w.HeardRPC(m, s, w.Dial(who, m.RPC(s.Version), grpcframe.Append(nil, message), a.Header...))
	}
	verb, target, body := "POST", base, a.Params(s)
	if s.Binding == wire.JSONRPC {
		body = RPCBody(map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[s.Version], body)
	} else {
		path := m.Path
		if s.Version == wire.V03 {
			path = cmp.Or(m.Path03, "/v1"+m.Path)
		}
		verb = m.Verbs[0]
		target += a.Path + strings.NewReplacer("{task}", url.PathEscape(a.Task), "{config}", "c").Replace(path)
		if a.Query != "" {
			target += "?" + a.Query
		}
	}
	header := a.Header
	if !a.Unversioned {
		header = append([]string{"A2A-Version: " + string(s.Version)}, header...)
	}
	return w.heard(m, s, w.Do(who, verb, target, body, header...))
}

// heard takes an answer in JSON apart.
func (w *Gateway) heard(m *wire.Method, s wire.Side, got Response) Reply {
	w.Helper()
	out := Reply{Response: got}
	docs := []string{got.Body}
	if got.Header.Get("Content-Type") == "text/event-stream" {
		docs = nil
		for event := range strings.SplitSeq(strings.TrimSuffix(got.Body, "\n\n"), "\n\n") {
			if _, data, ok := strings.Cut(event, "data: "); ok {
				docs = append(docs, data)
			}
		}
	}
	for _, doc := range docs {
		seen, err := wire.ReadAnswer(s.Binding, s.Version, m, []byte(doc), wire.Limits{})
		switch {
		case err != nil:
			w.Errorf("%s %s: %v: %d %s", s, m.Name, err, got.Status, got.Body)
		case seen.Error != 0 || seen.Reason != "" || got.Status >= 400:
			out.Err = failure.ReadError(s, got.Status, []byte(doc))
		case s.Binding == wire.JSONRPC:
			var envelope struct {
				Result RawJSON `json:"result"`
			}
			Must(w, json.Unmarshal([]byte(doc), &envelope, jsontext.AllowInvalidUTF8(true)))
			out.Docs = append(out.Docs, string(envelope.Result))
		default:
			out.Docs = append(out.Docs, doc)
		}
	}
	return out
}

// Dial makes a raw gRPC call in plaintext HTTP/2. The body is a frame or more.
func (w *Gateway) Dial(who, path string, body []byte, header ...string) RPCResponse {
	w.Helper()
	target := w.URL + path
	r := w.Request(who, "POST", target, string(body), "Te: trailers")
	r.Header.Set("Content-Type", "application/grpc")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	resp, err := w.H2().Do(r)
	Must(w, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		got = append(got, "\n"+err.Error()...)
	}
	return RPCResponse{Response{resp.StatusCode, resp.Header, string(got)}, resp.Trailer}
}

// RPCResponse is a response to a gRPC call as it came.
type RPCResponse struct {
	Response
	Trailer http.Header
}

// HeardRPC takes an answer in gRPC apart.
func (w *Gateway) HeardRPC(m *wire.Method, s wire.Side, got RPCResponse) Reply {
	w.Helper()
	out := Reply{Response: got.Response, Err: failure.ReadStatus(got.Header, got.Trailer)}
	_, _ = fmt.Sscan(cmp.Or(got.Trailer.Get("Grpc-Status"), got.Header.Get("Grpc-Status")), &out.Code)
	messages := grpcframe.NewReader(bytes.NewReader([]byte(got.Body)), 1<<20)
	for {
		message, err := messages.Next()
		if err != nil {
			return out
		}
		doc, err := wire.ResponseJSON(m, s.Version, message)
		Must(w, err)
		out.Docs = append(out.Docs, string(doc))
	}
}

// OK fails the test if a call did.
func (s Reply) OK(t testing.TB, what string) Reply {
	t.Helper()
	if s.Err != nil || s.Status != 200 || len(s.Docs) == 0 {
		t.Errorf("%s: %d %v %v %s", what, s.Status, s.Header, s.Err, s.Body)
	}
	return s
}

// Refused fails the test unless a call was refused in this way.
func (s Reply) Refused(t testing.TB, what string, want *wire.Kind) {
	t.Helper()
	if s.Err == nil || s.Err.Reason != want.Reason && s.Err.Code != want.Code {
		t.Errorf("%s: want %s, got %d %v %s", what, want.Reason, s.Status, s.Err, s.Body)
	}
}
