package proxy_test

import (
	"bytes"
	"cmp"
	"context"
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

// The seven ways to speak A2A.
var (
	rpc10  = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	rest10 = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	grpc10 = wire.Side{Version: wire.V10, Binding: wire.GRPC}
	rpc03  = wire.Side{Version: wire.V03, Binding: wire.JSONRPC}
	rest03 = wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}
	grpc03 = wire.Side{Version: wire.V03, Binding: wire.GRPC}
	rpc01  = wire.Side{Version: wire.V01, Binding: wire.JSONRPC}

	sides = []wire.Side{rpc10, rest10, grpc10, rpc03, rest03, grpc03, rpc01}
)

// interfaceOf is a card's entry for a side of the agent at base.
func interfaceOf(base string, s wire.Side, tenant string) string {
	at := map[wire.Binding]string{wire.JSONRPC: base + "/rpc", wire.HTTPJSON: base + "/rest", wire.GRPC: base}[s.Binding]
	if tenant != "" {
		tenant = `,"tenant":"` + tenant + `"`
	}
	return fmt.Sprintf(`{"url":%q,"protocolBinding":%q,"protocolVersion":%q%s}`, at, s.Binding, s.Version, tenant)
}

// speaks makes cards of an agent that has these interfaces only.
func speaks(list ...wire.Side) func(string) string {
	return func(base string) string {
		var all []string
		for _, s := range list {
			all = append(all, interfaceOf(base, s, ""))
		}
		return cardWith(base, all...)
	}
}

// cardWith is the usual card with other interfaces.
func cardWith(base string, interfaces ...string) string {
	before, rest, _ := strings.Cut(cardOf(base), `"supportedInterfaces":[`)
	_, after, _ := strings.Cut(rest, "]")
	return before + `"supportedInterfaces":[` + strings.Join(interfaces, ",") + "]" + after
}

// becomes gives the first agent another card.
func (w *world) becomes(doc func(string) string) {
	w.Helper()
	w.agent.doc = doc
	must(w, w.sources[0].Refresh(context.Background()))
}

// in builds a world whose agent has these interfaces and answers on all of them.
func in(t testing.TB, doc func(string) string, edit ...func(*setup)) *world {
	t.Helper()
	w := build(t, append(edit, func(s *setup) { s.agent.Card.URL += "?" })...)
	w.becomes(doc)
	w.agent.answers(fluent)
	return w
}

// side is how a request speaks.
func (r *record) side() wire.Side {
	s := wire.Side{Version: wire.Version(r.Header.Get("A2a-Version")), Binding: wire.HTTPJSON}
	switch {
	case r.URL.Path == "/rpc":
		s.Binding = wire.JSONRPC
	case strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc"):
		s.Binding = wire.GRPC
	}
	return s
}

// method is what a request asks for, by its 1.0 name.
func (r *record) method() *wire.Method {
	switch s := r.side(); s.Binding {
	case wire.JSONRPC:
		m, _ := wire.ByName(s.Version, r.rpc().Method)
		return m
	case wire.GRPC:
		m, _, _ := wire.ByRPC(r.URL.Path)
		return m
	}
	route, _ := wire.ByRoute(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/rest"))
	return route.Method
}

// call reads a request as an agent would.
func (r *record) call() *wire.Call {
	c := new(wire.Call)
	s := r.side()
	var e *wire.Error
	switch s.Binding {
	case wire.JSONRPC:
		e = c.DecodeJSONRPC(r.body, s.Version, wire.Limits{})
	case wire.GRPC:
		m, v, _ := wire.ByRPC(r.URL.Path)
		e = c.DecodeGRPC(m, v, r.body[5:], s.Version, wire.Limits{})
	default:
		route, _ := wire.ByRoute(r.Method, strings.TrimPrefix(r.URL.EscapedPath(), "/rest"))
		e = c.DecodeHTTP(route, r.URL.Query(), r.body, s.Version, wire.Limits{})
	}
	if e != nil {
		panic(fmt.Sprintf("the agent got what it cannot read: %v: %s %s %s", e, r.Method, r.URL, r.body))
	}
	return c
}

// stateIn is what a side calls the state of a task.
func stateIn(s wire.Side, state string) string {
	if s.Version == wire.V10 || s.Binding != wire.JSONRPC {
		state = "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(state, "-", "_"))
		if state == "TASK_STATE_CANCELED" && s.Version != wire.V10 {
			state = "TASK_STATE_CANCELLED"
		}
	}
	return state
}

// taskIn is a task in the words of a side; more are members.
func taskIn(s wire.Side, id, context, state, more string) string {
	switch s {
	case rpc01:
		return fmt.Sprintf(`{"id":%q,"sessionId":%q,"status":{"state":%q}%s}`, id, context, state, more)
	case rpc03:
		return fmt.Sprintf(`{"kind":"task","id":%q,"contextId":%q,"status":{"state":%q}%s}`, id, context, state, more)
	}
	return fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":%q}%s}`, id, context, stateIn(s, state), more)
}

// statusIn is a status event in the words of a side.
func statusIn(s wire.Side, id, context, state, more string) string {
	last := state == "completed"
	switch s {
	case rpc01:
		return fmt.Sprintf(`{"id":%q,"status":{"state":%q%s},"final":%t}`, id, state, more, last)
	case rpc03:
		return fmt.Sprintf(`{"kind":"status-update","taskId":%q,"contextId":%q,"status":{"state":%q%s},"final":%t}`,
			id, context, state, more, last)
	case rest03, grpc03:
		return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":%q%s},"final":%t}}`,
			id, context, stateIn(s, state), more, last)
	}
	return fmt.Sprintf(`{"statusUpdate":{"taskId":%q,"contextId":%q,"status":{"state":%q%s}}}`,
		id, context, stateIn(s, state), more)
}

// fluent answers every call of every side with a finished task: the one that is
// named, or a new one.
func fluent(w http.ResponseWriter, r *record) {
	s, c := r.side(), r.call()
	fresh := r.Header.Get("X-Request-Id")
	id, context := cmp.Or(c.TaskID, "task-"+fresh), cmp.Or(c.ContextID, "context-"+fresh)
	task := taskIn(s, id, context, "completed", "")
	switch {
	case c.Method.Name == wire.GetTask, c.Method.Name == wire.CancelTask:
		r.say(w, task)
	case c.Method.Name == wire.ListTasks:
		r.say(w, `{"tasks":[],"nextPageToken":"","pageSize":50,"totalSize":0}`)
	case c.Method.Streams && s == rpc01:
		r.say(w, statusIn(s, id, context, "completed", ""))
	case s.Binding == wire.JSONRPC && s.Version != wire.V10:
		r.say(w, task)
	default:
		r.say(w, `{"task":`+task+`}`)
	}
}

// say answers with results: one for a unary call, events for a stream.
func (r *record) say(w http.ResponseWriter, results ...string) {
	s, m := r.side(), r.method()
	if s.Binding == wire.GRPC {
		w.Header().Set("Content-Type", "application/grpc")
	} else if m.Streams {
		w.Header().Set("Content-Type", "text/event-stream")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	for _, result := range results {
		r.event(w, result)
	}
	if s.Binding == wire.GRPC {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}
}

// event writes one result or event of an answer and flushes it.
func (r *record) event(w http.ResponseWriter, result string) {
	s, m := r.side(), r.method()
	body := []byte(result)
	switch {
	case s.Binding == wire.GRPC:
		message, err := wire.ResponseMessage(m, s.Version, body)
		if err != nil {
			panic(err)
		}
		body = grpcframe.Append(nil, message)
	case s.Binding == wire.JSONRPC:
		body = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, r.rpc().ID, result)
	}
	if s.Binding != wire.GRPC && m.Streams {
		body = fmt.Appendf(nil, "data: %s\n\n", body)
	}
	_, _ = w.Write(body)
	_ = http.NewResponseController(w).Flush()
}

// fail answers with an error: on JSON-RPC as one, on HTTP+JSON with a status, on
// gRPC as a status.
func (r *record) fail(w http.ResponseWriter, k *wire.Kind, text string) {
	s := r.side()
	c := &wire.Call{Version: s.Version, Binding: s.Binding, Method: getTaskMethod}
	if s.Binding == wire.JSONRPC {
		c.ID = r.rpc().ID
	}
	failure.Write(w, c, wire.Errorf(k, "%s", text))
}

var getTaskMethod = methodOf(wire.GetTask)

func methodOf(name string) *wire.Method {
	m, ok := wire.ByName(wire.V10, name)
	if !ok {
		panic("no method " + name)
	}
	return m
}

// ask is a call in the words of a side: what it is about, and members that go
// beside the ids, in the words of the side.
type ask struct {
	method        string // 1.0 name
	task, context string
	more          string // of the params or request
	inMessage     string // of the message
	inPart        string // of its part
	query         string // raw
	path          string // before the method's; "/acme"
	header        []string
	unversioned   bool // no A2A-Version says which version it is
}

// params are the JSON-RPC params, the HTTP+JSON body or the gRPC message of an ask.
func (a ask) params(s wire.Side) string {
	m := methodOf(a.method)
	switch {
	case m.Subject == wire.OfMessage:
		return a.message(s)
	case s.Binding == wire.HTTPJSON && m.Subject != wire.OfConfig:
		return ""
	case s == grpc03:
		return fmt.Sprintf(`{"name":"tasks/%s"%s}`, a.task, a.more)
	case m.Subject == wire.OfTask:
		return fmt.Sprintf(`{"id":%q%s}`, a.task, a.more)
	}
	return "{" + strings.TrimPrefix(a.more, ",") + "}"
}

func (a ask) message(s wire.Side) string {
	ids := ""
	if a.task != "" {
		ids += fmt.Sprintf(`,"taskId":%q`, a.task)
	}
	if a.context != "" {
		ids += fmt.Sprintf(`,"contextId":%q`, a.context)
	}
	switch {
	case s == rpc01:
		session := ""
		if a.context != "" {
			session = fmt.Sprintf(`,"sessionId":%q`, a.context)
		}
		return fmt.Sprintf(`{"id":%q%s,"message":{"role":"user","parts":[{"type":"text","text":"hi"%s}]%s}%s}`,
			a.task, session, a.inPart, a.inMessage, a.more)
	case s == rpc03:
		return `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"` + a.inPart + `}]` +
			ids + a.inMessage + `}` + a.more + `}`
	case s.Version == wire.V03:
		return `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"hi"` + a.inPart + `}]` + ids +
			a.inMessage + `}` + a.more + `}`
	}
	return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"` + a.inPart + `}]` + ids +
		a.inMessage + `}` + a.more + `}`
}

// said is what a caller heard: documents, and an error if there was one.
type said struct {
	answer
	docs []string    // JSON-RPC results, HTTP+JSON bodies or events, gRPC messages as ProtoJSON
	err  *wire.Error // nil for none
	code int         // of gRPC
}

// speak makes a call in the words of a side to the agent at base.
func (w *world) speak(who, base string, s wire.Side, a ask) said {
	w.Helper()
	m := methodOf(a.method)
	if s.Binding == wire.GRPC {
		doc := a.params(s)
		message, err := wire.RequestMessage(m, s.Version, []byte(doc))
		must(w, err)
		return w.heardRPC(m, s, w.dial(who, m.RPC(s.Version), grpcframe.Append(nil, message), a.header...))
	}
	verb, target, body := "POST", base, a.params(s)
	if s.Binding == wire.JSONRPC {
		body = rpcBody(map[wire.Version]string{wire.V10: m.Name, wire.V03: m.V03, wire.V01: m.V01}[s.Version], body)
	} else {
		path := m.Path
		if s.Version == wire.V03 {
			path = cmp.Or(m.Path03, "/v1"+m.Path)
		}
		verb = m.Verbs[0]
		target += a.path + strings.NewReplacer("{task}", url.PathEscape(a.task), "{config}", "c").Replace(path)
		if a.query != "" {
			target += "?" + a.query
		}
	}
	header := a.header
	if !a.unversioned {
		header = append([]string{"A2A-Version: " + string(s.Version)}, header...)
	}
	return w.heard(m, s, w.do(who, verb, target, body, header...))
}

// heard takes an answer in JSON apart.
func (w *world) heard(m *wire.Method, s wire.Side, got answer) said {
	w.Helper()
	out := said{answer: got}
	docs := []string{got.body}
	if got.header.Get("Content-Type") == "text/event-stream" {
		docs = nil
		for event := range strings.SplitSeq(strings.TrimSuffix(got.body, "\n\n"), "\n\n") {
			if _, data, ok := strings.Cut(event, "data: "); ok {
				docs = append(docs, data)
			}
		}
	}
	for _, doc := range docs {
		seen, err := wire.ReadAnswer(s.Binding, s.Version, m, []byte(doc), wire.Limits{})
		switch {
		case err != nil:
			w.Errorf("%s %s: %v: %d %s", s, m.Name, err, got.status, got.body)
		case seen.Error != 0 || seen.Reason != "" || got.status >= 400:
			out.err = failure.ReadError(s, got.status, []byte(doc))
		case s.Binding == wire.JSONRPC:
			var envelope struct {
				Result jsonRaw `json:"result"`
			}
			must(w, json.Unmarshal([]byte(doc), &envelope, jsontext.AllowInvalidUTF8(true)))
			out.docs = append(out.docs, string(envelope.Result))
		default:
			out.docs = append(out.docs, doc)
		}
	}
	return out
}

// dial makes a raw gRPC call in plaintext HTTP/2. The body is a frame or more.
func (w *world) dial(who, path string, body []byte, header ...string) rawRPC {
	w.Helper()
	target := w.url + path
	r := w.request(who, "POST", target, string(body), "Te: trailers")
	r.Header.Set("Content-Type", "application/grpc")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	resp, err := w.h2().Do(r)
	must(w, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		got = append(got, "\n"+err.Error()...)
	}
	return rawRPC{answer{resp.StatusCode, resp.Header, string(got)}, resp.Trailer}
}

// rawRPC is a response to a gRPC call as it came.
type rawRPC struct {
	answer
	trailer http.Header
}

// h2 is a client that speaks plaintext HTTP/2 only.
func (w *world) h2() *http.Client {
	if w.http2 == nil {
		transport := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}
		transport.Protocols.SetUnencryptedHTTP2(true)
		w.Cleanup(transport.CloseIdleConnections)
		w.http2 = &http.Client{Transport: transport, Timeout: patience}
	}
	return w.http2
}

// heardRPC takes an answer in gRPC apart.
func (w *world) heardRPC(m *wire.Method, s wire.Side, got rawRPC) said {
	w.Helper()
	out := said{answer: got.answer, err: failure.ReadStatus(got.header, got.trailer)}
	_, _ = fmt.Sscan(cmp.Or(got.trailer.Get("Grpc-Status"), got.header.Get("Grpc-Status")), &out.code)
	messages := grpcframe.NewReader(bytes.NewReader([]byte(got.body)), 1<<20)
	for {
		message, err := messages.Next()
		if err != nil {
			return out
		}
		doc, err := wire.ResponseJSON(m, s.Version, message)
		must(w, err)
		out.docs = append(out.docs, string(doc))
	}
}

// ok fails the test if a call did.
func (s said) ok(t testing.TB, what string) said {
	t.Helper()
	if s.err != nil || s.status != 200 || len(s.docs) == 0 {
		t.Errorf("%s: %d %v %v %s", what, s.status, s.header, s.err, s.body)
	}
	return s
}

// refused fails the test unless a call was refused in this way.
func (s said) refused(t testing.TB, what string, want *wire.Kind) {
	t.Helper()
	if s.err == nil || s.err.Reason != want.Reason && s.err.Code != want.Code {
		t.Errorf("%s: want %s, got %d %v %s", what, want.Reason, s.status, s.err, s.body)
	}
}

// given has an agent give a caller a task of an id, in a context.
func (w *world) given(who, base string, a *recorder, task, context, tenant string) {
	w.Helper()
	a.answers(func(rw http.ResponseWriter, r *record) {
		made := taskIn(r.side(), task, context, "working", "")
		if r.side().Version == wire.V10 || r.side().Binding != wire.JSONRPC {
			made = `{"task":` + made + `}`
		}
		r.say(rw, made)
	})
	more := ""
	if tenant != "" {
		more = fmt.Sprintf(`,"tenant":%q`, tenant)
	}
	w.speak(who, base, rpc10, ask{method: wire.SendMessage, more: more + `,"configuration":{"returnImmediately":true}`}).ok(w, "make a task")
	a.answers(fluent)
	a.take()
}
