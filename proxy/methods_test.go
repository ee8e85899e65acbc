package proxy_test

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Extensions that bring methods: one of every subject, and one more that agents in
// these tests do not declare.
const (
	uriNotes  = "https://example.com/ext/notes/v1"
	uriSearch = "https://example.com/ext/search/v1"
	uriStats  = "https://example.com/ext/stats/v1"
	uriChat   = "https://example.com/ext/chat/v1"
	uriAlien  = "https://example.com/ext/alien/v1"
)

var bringing = ext.Registry{
	{URI: uriNotes, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "notes/add", About: "task", Task: "noteOf", Writes: true, Skill: "write it",
		Verb: "POST", Path: "/tasks/{task}:note", RPC: "/acme.v1.Notes/Add", TaskTag: 2,
	}}},
	{URI: uriSearch, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "tasks/search", About: "tasks", Verb: "POST", Path: "/tasks:search",
	}}},
	{URI: uriStats, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "stats/get", Task: "of", Verb: "GET", Path: "/stats", RPC: "/acme.v1.Stats/Get", TaskTag: 1,
	}}},
	{URI: uriChat, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "chat/ask", About: "message", Verb: "POST", Path: "/chat:ask", Streaming: true, Writes: true,
	}}},
	{URI: uriAlien, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "alien/probe", Verb: "POST", Path: "/alien", RPC: "/acme.v1.Alien/Probe", Writes: true,
	}}},
}

// broughtMethod is a method of bringing, and its URI.
func broughtMethod(name string) (m ext.MethodConfig, uri string) {
	for _, e := range bringing {
		for _, m := range e.Methods {
			if m.Name == name {
				return m, e.URI
			}
		}
	}
	panic("no method " + name)
}

// everyURI asks for all that the agent declares.
const everyURI = "A2A-Extensions: " + uriNotes + "," + uriSearch + "," + uriStats + "," + uriChat

// declaring is a card whose agent has the extensions.
func declaring(card func(base string) string, uris ...string) func(string) string {
	var list []string
	for _, uri := range uris {
		list = append(list, fmt.Sprintf(`{"uri":%q}`, uri))
	}
	return func(base string) string {
		return strings.Replace(card(base), `"extensions":[`, `"extensions":[`+strings.Join(append(list, ""), ","), 1)
	}
}

// brings is a world whose agent has the extensions' methods on these sides.
func brings(t testing.TB, list []wire.Side, edit ...func(*setup)) *world {
	t.Helper()
	edit = append([]func(*setup){func(s *setup) { s.extensions = bringing }}, edit...)
	w := in(t, declaring(speaks(list...), uriNotes, uriSearch, uriStats, uriChat), edit...)
	w.agent.answers(bring(nil))
	return w
}

// brought is what an agent reads of a call of an extension's method: its name, and
// params, body or query.
func (r *record) brought() (name, params string) {
	if r.isRPC() {
		var c struct {
			Method string  `json:"method"`
			Params jsonRaw `json:"params"`
		}
		_ = json.Unmarshal(r.body, &c)
		return c.Method, string(c.Params)
	}
	path := r.URL.EscapedPath()
	for _, e := range bringing {
		for _, m := range e.Methods {
			at, end, ok := strings.Cut(m.Path, "{task}")
			if !ok {
				at, end = "", at
			}
			if r.Method == m.Verb && strings.Contains(path, at) && strings.HasSuffix(path, end) || path == m.RPC {
				return m.Name, cmp.Or(string(r.body), r.URL.RawQuery)
			}
		}
	}
	return "", ""
}

// bring answers calls of extensions' methods with these results, by name, and others
// as fluent does. A stream has the lines of a result as its events.
func bring(results map[string]string) func(http.ResponseWriter, *record) {
	return func(w http.ResponseWriter, r *record) {
		name, _ := r.brought()
		for _, e := range bringing {
			if e.Methods[0].Name == name {
				r.told(w, cmp.Or(results[name], `{"from":"`+name+`"}`))
				return
			}
		}
		fluent(w, r)
	}
}

// told answers a call of an extension's method.
func (r *record) told(w http.ResponseWriter, result string) {
	if name, _ := r.brought(); name != "chat/ask" {
		w.Header().Set("Content-Type", "application/json")
		if r.isRPC() {
			result = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.rpc().ID, result)
		}
		_, _ = io.WriteString(w, result)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for event := range strings.Lines(result) {
		event = strings.TrimSpace(event)
		if r.isRPC() {
			event = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.rpc().ID, event)
		}
		_, _ = io.WriteString(w, "data: "+event+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
}

// invoke calls an extension's method at base in the words of a side. On HTTP+JSON task
// stands in the path, and a GET has params for its query.
func (w *world) invoke(who, base string, s wire.Side, name, params, task string, header ...string) answer {
	w.Helper()
	header = append([]string{"A2A-Version: " + string(s.Version)}, header...)
	if s.Binding == wire.JSONRPC {
		return w.do(who, "POST", base, rpcBody(name, params), header...)
	}
	m, _ := broughtMethod(name)
	path := strings.Replace(m.Path, "{task}", url.PathEscape(task), 1)
	if s.Version == wire.V03 {
		path = "/v1" + path
	}
	if m.Verb == "GET" {
		if params != "" {
			path += "?" + params
		}
		params = ""
	}
	return w.do(who, m.Verb, base+path, params, header...)
}

// jsonSides are those on which extensions' methods can be retold.
var jsonSides = []wire.Side{rpc10, rest10, rpc03, rest03}

// TestMethodsRetold: between versions, and between JSON-RPC and HTTP+JSON, the params
// and the result of an extension's method stay what they are.
func TestMethodsRetold(t *testing.T) {
	t.Parallel()
	const odd = `"n":9007199254740993.000,"x":{"tenant":"-","a":[1,null]},"u":"\u0041\/","m":{"é":""}`
	w := brings(t, []wire.Side{rpc10})
	for _, agent := range jsonSides {
		w.becomes(declaring(speaks(agent), uriNotes, uriSearch, uriStats, uriChat))
		w.given("alice", w.base, w.agent, "t/1", "c", "")
		w.agent.answers(bring(map[string]string{
			"notes/add": `{"ok":1.0,"e":"\u00e9"}`, "tasks/search": `{"hits":[{"id":1e2}]}`, "stats/get": `"many"`,
			"chat/ask": `{"n":1.0}` + "\n" + `[2]` + "\n" + `null`,
		}))
		for _, caller := range jsonSides {
			for name, tt := range map[string]struct {
				params, query string // as the caller says them, on JSON-RPC or in a body, or in a query
				want          string // as the agent gets them, on JSON-RPC or in a body
			}{
				"notes/add":    {`{"noteOf":"t/1",` + odd + `}`, "", `{"noteOf":"t/1",` + odd + `}`},
				"tasks/search": {`{ ` + odd + ` ,"contextId": "c"}`, "", `{` + odd + `,"contextId":"c"}`},
				"stats/get":    {`{"of":"t/1"}`, "of=t%2F1", `{"of":"t/1"}`},
				"chat/ask":     {`{"message":{"messageId":"m","taskId":"t/1",` + odd + `}}`, "", `{"message":{"messageId":"m","taskId":"t/1",` + odd + `}}`},
			} {
				if name == "notes/add" && (caller.Binding == wire.HTTPJSON || agent.Binding == wire.HTTPJSON) {
					continue // the id has a slash; see TestMethodsTask
				}
				m, uri := broughtMethod(name)
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				params := tt.params
				if m.Verb == "GET" && caller.Binding == wire.HTTPJSON {
					params = tt.query
				}
				got := w.invoke("alice", w.base, caller, name, params, "t/1", "A2A-Extensions: "+uri)
				wantStatus(t, what, got, 200)
				seen := w.agent.one(t)
				wantBrought(t, what, seen, agent, name, uri)
				_, sent := seen.brought()
				if m.Verb == "GET" && agent.Binding == wire.HTTPJSON {
					if sent != tt.query {
						t.Errorf("%s: the agent got %q", what, sent)
					}
				} else if sent != tt.want && (sent != tt.params || agent != caller) {
					t.Errorf("%s: the agent got\n%s, want\n%s", what, sent, tt.want)
				}
				wantResult(t, what, caller, name, got)
			}
		}
	}
}

// wantBrought looks at what is around the params of a call.
func wantBrought(t testing.TB, what string, seen *record, agent wire.Side, name, uri string) {
	t.Helper()
	extensions := seen.Header.Get("A2A-Extensions")
	if agent.Version == wire.V03 {
		extensions = seen.Header.Get("X-A2A-Extensions")
	}
	got, _ := seen.brought()
	if seen.side() != agent || got != name || extensions != uri {
		t.Errorf("%s: the agent got %s on %s with %q: %v", what, got, seen.side(), extensions, seen.Header)
	}
	if under := strings.HasPrefix(seen.URL.Path, "/rest/v1/"); under != (agent == rest03) {
		t.Errorf("%s: the agent got %s", what, seen.URL)
	}
}

// wantResult holds what a caller got against what the agent said.
func wantResult(t testing.TB, what string, caller wire.Side, name string, got answer) {
	t.Helper()
	results := map[string][]string{
		"notes/add": {`{"ok":1.0,"e":"\u00e9"}`}, "tasks/search": {`{"hits":[{"id":1e2}]}`}, "stats/get": {`"many"`},
		"chat/ask": {`{"n":1.0}`, `[2]`, `null`},
	}[name]
	var want string
	for _, result := range results {
		if caller.Binding == wire.JSONRPC {
			result = `{"jsonrpc":"2.0","id":7,"result":` + result + `}`
		}
		if name == "chat/ask" {
			result = "data: " + result + "\n\n"
		}
		want += result
	}
	if got.body != want {
		t.Errorf("%s: the caller got\n%s, want\n%s", what, got.body, want)
	}
}

// TestMethodsTask: the task of a path is named in params and the other way round.
func TestMethodsTask(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10})
	const ask = "A2A-Extensions: " + uriNotes
	for _, agent := range jsonSides {
		w.becomes(declaring(speaks(agent), uriNotes))
		w.given("alice", w.base, w.agent, "t:1", "c", "")
		w.agent.answers(bring(nil))
		for _, caller := range jsonSides {
			for _, tt := range []struct{ params, rpc, rest string }{ // and what agents get
				{`{"text":"hi"}`, `{"noteOf":"t:1","text":"hi"}`, `{"text":"hi"}`},
				{`{"noteOf":"t:1"}`, `{"noteOf":"t:1"}`, `{"noteOf":"t:1"}`},
				{`{"id":"t:1","noteOf":null,"text":"hi"}`, `{"id":"t:1","text":"hi"}`, `{"id":"t:1","text":"hi"}`},
				{`{"taskId":"t:1"}`, `{"taskId":"t:1"}`, `{"taskId":"t:1"}`},
				{``, `{"noteOf":"t:1"}`, ``},
				{`null`, `{"noteOf":"t:1"}`, ``},
			} {
				named := strings.Contains(tt.params, "t:1")
				if caller.Binding == wire.JSONRPC && !named {
					continue // names no task
				}
				what := fmt.Sprintf("%s from %s to %s", tt.params, caller, agent)
				wantStatus(t, what, w.invoke("alice", w.base, caller, "notes/add", tt.params, "t:1", ask), 200)
				seen := w.agent.one(t)
				_, got := seen.brought()
				want := tt.rest
				if agent.Binding == wire.JSONRPC {
					want = tt.rpc
				} else if path := seen.URL.EscapedPath(); !strings.HasSuffix(path, "/tasks/t:1:note") {
					t.Errorf("%s: the agent got %s", what, path)
				}
				if got != want && (caller != agent || got != tt.params) {
					t.Errorf("%s: the agent got %s, want %s", what, got, want)
				}
			}
		}
	}
}

// TestMethodsUnsupported: what cannot be retold is refused as that, before the agent
// hears of it.
func TestMethodsUnsupported(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10})
	for name, tt := range map[string]struct {
		caller wire.Side
		agent  []wire.Side
		method string
		params string
		want   string // "" for an answer
	}{
		"params for a query":         {rpc10, []wire.Side{rest10}, "stats/get", `{"window":"1h"}`, "cannot be retold in the query"},
		"metadata for a query":       {rpc03, []wire.Side{rest03}, "stats/get", `{"metadata":{"a":1}}`, "cannot be retold in the query"},
		"nothing for a query":        {rpc10, []wire.Side{rest10}, "stats/get", `{"window":null,"of":""}`, ""},
		"query for params":           {rest10, []wire.Side{rpc10}, "stats/get", "window=1h", "query cannot be retold"},
		"query for query":            {rest10, []wire.Side{rest03}, "stats/get", "window=1h&A2A-Extensions=x", ""},
		"versions of headers":        {rest10, []wire.Side{rpc10}, "stats/get", "A2A-Version=1.0", ""},
		"better another version":     {rpc10, []wire.Side{rest10, rpc03}, "stats/get", `{"window":"1h"}`, ""},
		"better another version too": {rest03, []wire.Side{rpc03, rest10}, "stats/get", "window=1h", ""},
		"gRPC agent":                 {rpc10, []wire.Side{grpc10}, "stats/get", `{}`, "no interface that this method can be called at"},
		"0.1 agent":                  {rpc10, []wire.Side{rpc01}, "stats/get", `{}`, "no interface that this method can be called at"},
	} {
		w.becomes(declaring(speaks(tt.agent...), uriStats))
		w.agent.answers(bring(nil))
		got := w.invoke("alice", w.base, tt.caller, tt.method, tt.params, "", everyURI)
		switch {
		case tt.want == "":
			wantStatus(t, name, got, 200)
			seen := w.agent.one(t)
			if !strings.Contains(got.body, `{"from":"stats/get"}`) || strings.Contains(seen.URL.RawQuery, "A2A") {
				t.Errorf("%s: %s, and the agent got %s", name, got.body, seen.URL)
			}
		case !strings.Contains(got.body, tt.want) ||
			!strings.Contains(got.body, "UNSUPPORTED_OPERATION") && !strings.Contains(got.body, "-32004"):
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		w.agent.silent(t, name)
	}
}

// TestMethodsErrors: an agent's error is the caller's, in the form of its side, with
// codes that A2A does not know.
func TestMethodsErrors(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10})
	for _, agent := range jsonSides {
		w.becomes(declaring(speaks(agent), uriSearch, uriChat))
		for _, caller := range jsonSides {
			for _, name := range []string{"tasks/search", "chat/ask"} {
				params := `{"message":{"messageId":"m"}}`
				for _, own := range []bool{false, true} {
					w.agent.answers(func(rw http.ResponseWriter, r *record) {
						if !own || agent.Binding != wire.JSONRPC {
							r.fail(rw, wire.InvalidParams, "the index is closed")
							return
						}
						rw.Header().Set("Content-Type", "application/json")
						_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32077,"message":"the index is closed"}}`, r.rpc().ID)
					})
					what := fmt.Sprintf("%s from %s to %s, own %t", name, caller, agent, own)
					got := w.invoke("alice", w.base, caller, name, params, "", everyURI)
					if !strings.Contains(got.body, "the index is closed") || strings.Contains(got.body, "result") ||
						own && agent.Binding == wire.JSONRPC && caller.Binding == wire.JSONRPC && !strings.Contains(got.body, "-32077") {
						t.Errorf("%s: %d %s", what, got.status, got.body)
					}
					if caller.Binding == wire.HTTPJSON && got.status < 400 && name != "chat/ask" {
						t.Errorf("%s: %d", what, got.status)
					}
					w.agent.one(t)
				}
			}
		}
	}
}
