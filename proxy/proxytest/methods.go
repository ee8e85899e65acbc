package proxytest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// Extensions that bring methods: one of every subject, and one more that agents in
// these tests do not declare.
const (
	URINotes  = "https://example.com/ext/notes/v1"
	URISearch = "https://example.com/ext/search/v1"
	URIStats  = "https://example.com/ext/stats/v1"
	URIChat   = "https://example.com/ext/chat/v1"
	URIAlien  = "https://example.com/ext/alien/v1"
)

var Bringing = ext.Registry{
	{URI: URINotes, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "notes/add", About: "task", Task: "noteOf", Writes: true, Skill: "write it",
		Verb: "POST", Path: "/tasks/{task}:note", RPC: "/acme.v1.Notes/Add", TaskTag: 2,
	}}},
	{URI: URISearch, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "tasks/search", About: "tasks", Verb: "POST", Path: "/tasks:search",
	}}},
	{URI: URIStats, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "stats/get", Task: "of", Verb: "GET", Path: "/stats", RPC: "/acme.v1.Stats/Get", TaskTag: 1,
	}}},
	{URI: URIChat, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "chat/ask", About: "message", Verb: "POST", Path: "/chat:ask", Streaming: true, Writes: true,
	}}},
	{URI: URIAlien, Kind: ext.Method, Methods: []ext.MethodConfig{{
		Name: "alien/probe", Verb: "POST", Path: "/alien", RPC: "/acme.v1.Alien/Probe", Writes: true,
	}}},
}

// AskEveryURI asks for all that the agent declares.
const AskEveryURI = "A2A-Extensions: " + URINotes + "," + URISearch + "," + URIStats + "," + URIChat

// Declaring is a card whose agent has the extensions.
func Declaring(card func(base string) string, uris ...string) func(string) string {
	var list []string
	for _, uri := range uris {
		list = append(list, fmt.Sprintf(`{"uri":%q}`, uri))
	}
	return func(base string) string {
		return strings.Replace(card(base), `"extensions":[`, `"extensions":[`+strings.Join(append(list, ""), ","), 1)
	}
}

// NewGatewayWithMethods starts a gateway whose agent has the extensions' methods on these sides.
func NewGatewayWithMethods(t testing.TB, list []wire.Side, edit ...func(*Setup)) *Gateway {
	t.Helper()
	edit = append([]func(*Setup){func(s *Setup) { s.Extensions = Bringing }}, edit...)
	w := NewGatewayFor(t, Declaring(CardFor(list...), URINotes, URISearch, URIStats, URIChat), edit...)
	w.Agent.Answers(AnswerMethods(nil))
	return w
}

// Brought is what an agent reads of a call of an extension's method: its name, and
// params, body or query.
func (r *Request) Brought() (name, params string) {
	if r.IsRPC() {
		var c struct {
			Method string  `json:"method"`
			Params RawJSON `json:"params"`
		}
		_ = json.Unmarshal(r.Content, &c)
		return c.Method, string(c.Params)
	}
	path := r.URL.EscapedPath()
	for _, e := range Bringing {
		for _, m := range e.Methods {
			at, end, ok := strings.Cut(m.Path, "{task}")
			if !ok {
				at, end = "", at
			}
			if r.Method == m.Verb && strings.Contains(path, at) && strings.HasSuffix(path, end) || path == m.RPC {
				return m.Name, cmp.Or(string(r.Content), r.URL.RawQuery)
			}
		}
	}
	return "", ""
}

// AnswerMethods answers calls of extensions' methods with these results, by name, and others
// as fluent does. A stream has the lines of a result as its events.
func AnswerMethods(results map[string]string) func(http.ResponseWriter, *Request) {
	return func(w http.ResponseWriter, r *Request) {
		name, _ := r.Brought()
		for _, e := range Bringing {
			if e.Methods[0].Name == name {
				r.Told(w, cmp.Or(results[name], `{"from":"`+name+`"}`))
				return
			}
		}
		Fluent(w, r)
	}
}

// Told answers a call of an extension's method.
func (r *Request) Told(w http.ResponseWriter, result string) {
	if name, _ := r.Brought(); name != "chat/ask" {
		w.Header().Set("Content-Type", "application/json")
		if r.IsRPC() {
			result = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, result)
		}
		_, _ = io.WriteString(w, result)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for event := range strings.Lines(result) {
		event = strings.TrimSpace(event)
		if r.IsRPC() {
			event = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, event)
		}
		_, _ = io.WriteString(w, "data: "+event+"\n\n")
		_ = http.NewResponseController(w).Flush()
	}
}
