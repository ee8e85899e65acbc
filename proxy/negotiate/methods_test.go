package negotiate_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// broughtMethod is a method of bringing, and its URI.
func broughtMethod(name string) (m ext.MethodConfig, uri string) {
	for _, e := range proxytest.Bringing {
		for _, m := range e.Methods {
			if m.Name == name {
				return m, e.URI
			}
		}
	}
	panic("no method " + name)
}

// invoke calls an extension's method at base in the words of a side. On HTTP+JSON task
// stands in the path, and a GET has params for its query.
func invoke(w *proxytest.Gateway, who, base string, s wire.Side, name, params, task string, header ...string) proxytest.Response {
	w.Helper()
	header = append([]string{"A2A-Version: " + string(s.Version)}, header...)
	if s.Binding == wire.JSONRPC {
		return w.Do(who, "POST", base, proxytest.RPCBody(name, params), header...)
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
	return w.Do(who, m.Verb, base+path, params, header...)
}

// jsonSides are those on which extensions' methods can be retold.
var jsonSides = []wire.Side{proxytest.RPC10, proxytest.REST10, proxytest.RPC03, proxytest.REST03}

// TestMethodsRetold: between versions, and between JSON-RPC and HTTP+JSON, the params
// and the result of an extension's method stay what they are.
func TestMethodsRetold(t *testing.T) {
	t.Parallel()
	const odd = `"n":9007199254740993.000,"x":{"tenant":"-","a":[1,null]},"u":"\u0041\/","m":{"é":""}`
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10})
	for _, agent := range jsonSides {
		w.BecomeCard(proxytest.Declaring(proxytest.CardFor(agent), proxytest.URINotes, proxytest.URISearch, proxytest.URIStats, proxytest.URIChat))
		w.Given("alice", w.Base, w.Agent, "t/1", "c", "")
		w.Agent.Answers(proxytest.AnswerMethods(map[string]string{
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
				got := invoke(w, "alice", w.Base, caller, name, params, "t/1", "A2A-Extensions: "+uri)
				proxytest.WantStatus(t, what, got, 200)
				seen := w.Agent.One(t)
				wantBrought(t, what, seen, agent, name, uri)
				_, sent := seen.Brought()
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
func wantBrought(t testing.TB, what string, seen *proxytest.Request, agent wire.Side, name, uri string) {
	t.Helper()
	extensions := seen.Header.Get("A2A-Extensions")
	if agent.Version == wire.V03 {
		extensions = seen.Header.Get("X-A2A-Extensions")
	}
	got, _ := seen.Brought()
	if seen.Side() != agent || got != name || extensions != uri {
		t.Errorf("%s: the agent got %s on %s with %q: %v", what, got, seen.Side(), extensions, seen.Header)
	}
	if under := strings.HasPrefix(seen.URL.Path, "/rest/v1/"); under != (agent == proxytest.REST03) {
		t.Errorf("%s: the agent got %s", what, seen.URL)
	}
}

// wantResult holds what a caller got against what the agent said.
func wantResult(t testing.TB, what string, caller wire.Side, name string, got proxytest.Response) {
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
	if got.Body != want {
		t.Errorf("%s: the caller got\n%s, want\n%s", what, got.Body, want)
	}
}

// TestMethodsTask: the task of a path is named in params and the other way round.
func TestMethodsTask(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10})
	const ask = "A2A-Extensions: " + proxytest.URINotes
	for _, agent := range jsonSides {
		w.BecomeCard(proxytest.Declaring(proxytest.CardFor(agent), proxytest.URINotes))
		w.Given("alice", w.Base, w.Agent, "t:1", "c", "")
		w.Agent.Answers(proxytest.AnswerMethods(nil))
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
				proxytest.WantStatus(t, what, invoke(w, "alice", w.Base, caller, "notes/add", tt.params, "t:1", ask), 200)
				seen := w.Agent.One(t)
				_, got := seen.Brought()
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
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10})
	for name, tt := range map[string]struct {
		caller wire.Side
		agent  []wire.Side
		method string
		params string
		want   string // "" for an answer
	}{
		"params for a query":         {proxytest.RPC10, []wire.Side{proxytest.REST10}, "stats/get", `{"window":"1h"}`, "cannot be retold in the query"},
		"metadata for a query":       {proxytest.RPC03, []wire.Side{proxytest.REST03}, "stats/get", `{"metadata":{"a":1}}`, "cannot be retold in the query"},
		"nothing for a query":        {proxytest.RPC10, []wire.Side{proxytest.REST10}, "stats/get", `{"window":null,"of":""}`, ""},
		"query for params":           {proxytest.REST10, []wire.Side{proxytest.RPC10}, "stats/get", "window=1h", "query cannot be retold"},
		"query for query":            {proxytest.REST10, []wire.Side{proxytest.REST03}, "stats/get", "window=1h&A2A-Extensions=x", ""},
		"versions of headers":        {proxytest.REST10, []wire.Side{proxytest.RPC10}, "stats/get", "A2A-Version=1.0", ""},
		"better another version":     {proxytest.RPC10, []wire.Side{proxytest.REST10, proxytest.RPC03}, "stats/get", `{"window":"1h"}`, ""},
		"better another version too": {proxytest.REST03, []wire.Side{proxytest.RPC03, proxytest.REST10}, "stats/get", "window=1h", ""},
		"gRPC agent":                 {proxytest.RPC10, []wire.Side{proxytest.GRPC10}, "stats/get", `{}`, "no interface that this method can be called at"},
		"0.1 agent":                  {proxytest.RPC10, []wire.Side{proxytest.RPC01}, "stats/get", `{}`, "no interface that this method can be called at"},
	} {
		w.BecomeCard(proxytest.Declaring(proxytest.CardFor(tt.agent...), proxytest.URIStats))
		w.Agent.Answers(proxytest.AnswerMethods(nil))
		got := invoke(w, "alice", w.Base, tt.caller, tt.method, tt.params, "", proxytest.AskEveryURI)
		switch {
		case tt.want == "":
			proxytest.WantStatus(t, name, got, 200)
			seen := w.Agent.One(t)
			if !strings.Contains(got.Body, `{"from":"stats/get"}`) || strings.Contains(seen.URL.RawQuery, "A2A") {
				t.Errorf("%s: %s, and the agent got %s", name, got.Body, seen.URL)
			}
		case !strings.Contains(got.Body, tt.want) ||
			!strings.Contains(got.Body, "UNSUPPORTED_OPERATION") && !strings.Contains(got.Body, "-32004"):
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
		w.Agent.Silent(t, name)
	}
}

// TestMethodsErrors: an agent's error is the caller's, in the form of its side, with
// codes that A2A does not know.
func TestMethodsErrors(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10})
	for _, agent := range jsonSides {
		w.BecomeCard(proxytest.Declaring(proxytest.CardFor(agent), proxytest.URISearch, proxytest.URIChat))
		for _, caller := range jsonSides {
			for _, name := range []string{"tasks/search", "chat/ask"} {
				params := `{"message":{"messageId":"m"}}`
				for _, own := range []bool{false, true} {
					w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
						if !own || agent.Binding != wire.JSONRPC {
							r.Fail(rw, wire.InvalidParams, "the index is closed")
							return
						}
						rw.Header().Set("Content-Type", "application/json")
						_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32077,"message":"the index is closed"}}`, r.RPC().ID)
					})
					what := fmt.Sprintf("%s from %s to %s, own %t", name, caller, agent, own)
					got := invoke(w, "alice", w.Base, caller, name, params, "", proxytest.AskEveryURI)
					if !strings.Contains(got.Body, "the index is closed") || strings.Contains(got.Body, "result") ||
						own && agent.Binding == wire.JSONRPC && caller.Binding == wire.JSONRPC && !strings.Contains(got.Body, "-32077") {
						t.Errorf("%s: %d %s", what, got.Status, got.Body)
					}
					if caller.Binding == wire.HTTPJSON && got.Status < 400 && name != "chat/ask" {
						t.Errorf("%s: %d", what, got.Status)
					}
					w.Agent.One(t)
				}
			}
		}
	}
}
