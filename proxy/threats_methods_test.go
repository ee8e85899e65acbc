package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/policy"
)

// allNames are the names that anything could have: every name of every version and
// binding, those of extensions, and what is nearly one of them.
func allNames() (names []string) {
	for _, m := range wire.Methods() {
		names = append(names, m.Name, m.V03, m.V01, m.GRPC03)
	}
	for _, e := range bringing {
		names = append(names, e.Methods[0].Name)
	}
	var all []string
	seen := make(map[string]bool)
	for _, n := range names {
		for _, near := range []string{
			n, strings.ToUpper(n), strings.ToLower(n), strings.ToUpper(n[:min(1, len(n))]) + n[min(1, len(n)):],
			n + "\x00", n + " ", " " + n, "rpc." + n, strings.ReplaceAll(n, "/", "."), strings.ReplaceAll(n, "/", "\\"),
			strings.ReplaceAll(n, "/", "//"), n + "/", "/" + n, n + "\u200b", strings.ReplaceAll(n, "s", "\u017f"), strings.ReplaceAll(n, "a", "\u0430"),
		} {
			if n != "" && !seen[near] {
				seen[near] = true
				all = append(all, near)
			}
		}
	}
	return append(all, "", "rpc.discover", "rpc.", "*", "nobody/has", "NobodyHas")
}

// TestA09_MethodNames: of all names in JSON-RPC, those of A2A are carried out, those of
// extensions if they are activated, and the rest are one and the same.
func TestA09_MethodNames(t *testing.T) {
	testenv.Long(t, "every name of a method is called in every version")
	t.Parallel()
	w := brings(t, []wire.Side{rpc10, rpc03, rest10, rest03})
	w.given("alice", w.base, w.agent, "t", "c", "")
	w.agent.answers(bring(nil))
	const params = `{"id":"t","taskId":"t","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	brought := map[string]string{}
	for _, e := range bringing[:4] {
		brought[e.Methods[0].Name] = e.URI
	}
	core := map[string]bool{"agent/authenticatedExtendedCard": true}
	for _, m := range wire.Methods() {
		core[m.Name], core[m.V03], core[m.V01] = true, true, true
	}
	delete(core, "")
	for _, name := range allNames() {
		for _, version := range []string{"1.0", "0.3", "0.1", ""} {
			for _, active := range []string{"", everyURI + "," + uriAlien, "A2A-Extensions: " + uriAlien, "X-A2A-Extensions: " + uriNotes} {
				what := fmt.Sprintf("%q in %q with %q", name, version, active)
				header := []string{"A2A-Version: " + version, active}
				if active == "" {
					header = header[:1]
				}
				if core[name] {
					if active == "" && version == "" { // once is enough
						if got := w.do("alice", "POST", "", rpcNamed(t, name, params), header...); strings.Contains(got.body, "-32601") {
							t.Errorf("%s: %s", what, got.body)
						}
						w.agent.take()
					}
					continue
				}
				got := w.do("alice", "POST", "", rpcNamed(t, name, params), header...)
				if uri := brought[name]; uri != "" && strings.Contains(active, uri) && version != "0.1" {
					if seen := w.agent.one(t); got.status != 200 || !strings.Contains(got.body, name) || !strings.Contains(string(seen.body), name) {
						t.Errorf("%s: %d %s", what, got.status, got.body)
					}
					continue
				}
				w.agent.silent(t, what)
				nobody := strings.Repeat("x", len(name))
				if strings.Contains(name, "/") {
					nobody = "/" + nobody[1:]
				}
				none := w.do("alice", "POST", "", rpcNamed(t, nobody, params), header...)
				sameAnswer(t, what, unnamed(got, name), unnamed(none, nobody))
				if !strings.Contains(got.body, "-32601") {
					t.Errorf("%s: %s", what, got.body)
				}
			}
		}
	}
}

// rpcNamed is a JSON-RPC call of any name.
func rpcNamed(t testing.TB, name, params string) string {
	t.Helper()
	quoted, err := json.Marshal(name)
	must(t, err)
	return `{"jsonrpc":"2.0","id":7,"method":` + string(quoted) + `,"params":` + params + `}`
}

// unnamed is a refusal without the name that it repeats: up to 64 bytes of it, in Go's
// quotes.
func unnamed(a answer, name string) answer {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(fmt.Sprintf("%q", name[:min(len(name), 64)]))
	a.body = strings.Replace(a.body, quoted, "@", 1)
	a.header = a.header.Clone()
	a.header.Del("Content-Length")
	return a
}

// sameAnswer fails the test unless two answers are the same to the byte.
func sameAnswer(t testing.TB, what string, got, want answer) {
	t.Helper()
	if got.status != want.status || got.body != want.body || fmt.Sprint(sameHeader(got)) != fmt.Sprint(sameHeader(want)) {
		t.Errorf("%s: %d %v %s\nof nobody's: %d %v %s", what, got.status, sameHeader(got), got.body, want.status, sameHeader(want), want.body)
	}
}

// TestA09_MethodPaths: the same on HTTP+JSON and gRPC.
func TestA09_MethodPaths(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rest10, rest03, grpc10}, tied)
	w.given("alice", w.base, w.agent, "t", "c", "")
	w.given("tied", w.base, w.agent, "tied-t", "d", "")
	w.agent.answers(bring(nil))
	for path, tt := range map[string]struct{ verb, uri string }{
		"/tasks:search": {"POST", uriSearch}, "/v1/tasks:search": {"POST", uriSearch}, "/stats": {"GET", uriStats},
		"/v1/stats": {"GET", uriStats}, "/tasks/t:note": {"POST", uriNotes}, "/v1/tasks/t:note": {"POST", uriNotes},
		"/chat:ask": {"POST", uriChat}, "/v1/chat:ask": {"POST", uriChat}, "/alien": {"", uriAlien}, "/v1/alien": {"", uriAlien},
		"/acme/stats": {"GET", "tenant"}, "/Stats": {}, "/stats/": {}, "/s%74ats": {}, "/tasks:Search": {}, "/Tasks:search": {},
		"/tasks%3Asearch": {}, "/tasks/t:Note": {}, "/tasks/t%3Anote": {}, "/tasks/t:note/": {}, "/tasks//t:note": {},
		"/v1/v1/stats": {}, "/V1/stats": {}, "/stats%00": {}, "/tasks:search:search": {}, "/tasks/notes/add": {}, "/notes/add": {},
	} {
		for _, verb := range []string{"GET", "POST", "PUT", "DELETE", "PATCH"} {
			for _, active := range []string{"X-Nothing: x", everyURI + "," + uriAlien, "A2A-Extensions: " + uriAlien} {
				what := verb + " " + path + " with " + active
				header := []string{active}
				body := ""
				if verb == "POST" {
					body = `{"message":{"messageId":"m"}}`
				}
				got := w.do("alice", verb, path, body, header...)
				if verb == tt.verb && strings.Contains(active, tt.uri) {
					wantStatus(t, what, got, 200)
					w.agent.one(t)
					continue
				}
				w.agent.silent(t, what)
				if tt.uri == "tenant" && verb == tt.verb && strings.Contains(active, uriStats) {
					if !strings.Contains(got.body, "tenant does not match") {
						t.Errorf("%s: %s", what, got.body)
					}
				} else if tt.uri != "" {
					sameAnswer(t, what, got, w.do("alice", verb, strings.Repeat("/nobody", strings.Count(path, "/")), body, header...))
				}
			}
		}
	}
	for path, uri := range map[string]string{
		"/acme.v1.Notes/Add": uriNotes, "/acme.v1.Stats/Get": uriStats, "/acme.v1.Alien/Probe": "-",
		"/acme.v1.Notes/add": "-", "/acme.v1.notes/Add": "-", "/acme.v1.Notes/Add/": "-", "/acme.v1.Notes/": "-", "/acme.v1.Notes/Add%00": "-",
		"/acme.v1.Notes": "-", "/Acme.v1.Stats/Get": "-", "/lf.a2a.v1.A2AService/Get": "-", "/a2a.v1.A2AService/notes/add": "-",
	} {
		for _, header := range []string{"X-Nothing: x", everyURI + "," + uriAlien} {
			what := path + " with " + header
			got := w.dial("tied", path, grpcframe.Append(nil, []byte("\x12\x06tied-t")), header)
			if uri != "-" && strings.Contains(header, uri) {
				if seen := w.agent.one(t); seen.URL.Path != path {
					t.Errorf("%s: the agent got %s", what, seen.URL)
				}
				continue
			}
			w.agent.silent(t, what)
			nobody := "/acme.v1.Nobody/Has"
			if i := strings.Index(path, "A2AService/"); i > 0 {
				nobody = path[:i] + "A2AService/Nobody"
			}
			if strings.Contains(path, "%00") {
				continue // refused before anything is looked up
			}
			none := w.dial("tied", nobody, grpcframe.Append(nil, nil), header)
			sameAnswer(t, what, got.answer, none.answer)
			if fmt.Sprint(got.trailer) != fmt.Sprint(none.trailer) || got.trailer.Get("Grpc-Status")+got.header.Get("Grpc-Status") != "12" {
				t.Errorf("%s: %v, of nobody's %v", what, got.trailer, none.trailer)
			}
		}
	}
}

// TestA09_MethodConditions: a method needs its extension to be declared, allowed and
// asked for. Where anything is missing, the call gets what a name that nobody has
// gets, whatever it is about and however broken it is, and the agent hears nothing.
func TestA09_MethodConditions(t *testing.T) {
	t.Parallel()
	rule := func(e policy.RuleExtensions) func(*setup) {
		return func(s *setup) {
			s.policy.Rules = append(s.policy.Rules, policy.Rule{Name: "ext", Agents: []string{"rec"}, Extensions: &e})
		}
	}
	undeclared := func(s *setup) { s.agent.Card.URL += "?undeclared" }
	for name, tt := range map[string]struct {
		edit  func(*setup)
		ask   string // "" for what would do
		there bool
	}{
		"as it should be":         {edit: func(*setup) {}, there: true},
		"older header":            {edit: func(*setup) {}, ask: "X-A2A-Extensions: a:b, " + uriNotes, there: true},
		"not asked for":           {edit: func(*setup) {}, ask: "X-Nothing: x"},
		"another asked for":       {edit: func(*setup) {}, ask: "A2A-Extensions: " + uriStats},
		"in another case":         {edit: func(*setup) {}, ask: "A2A-Extensions: " + strings.ToUpper(uriNotes)},
		"another version":         {edit: func(*setup) {}, ask: "A2A-Extensions: " + strings.Replace(uriNotes, "v1", "v2", 1)},
		"a broken header":         {edit: func(*setup) {}, ask: "A2A-Extensions: " + uriNotes + `,"`},
		"in the query":            {edit: func(*setup) {}, ask: "X-Nothing: " + uriNotes},
		"not declared":            {edit: undeclared},
		"required undeclared":     {edit: func(s *setup) { undeclared(s); s.agent.Extensions.Require = []string{uriNotes} }, there: true},
		"denied":                  {edit: func(s *setup) { s.agent.Extensions.Deny = []string{uriNotes} }},
		"not in the list":         {edit: func(s *setup) { s.agent.Extensions.Allow = []string{uriStats} }},
		"in the list":             {edit: func(s *setup) { s.agent.Extensions.Allow = []string{uriNotes} }, there: true},
		"denied by a rule":        {edit: rule(policy.RuleExtensions{Deny: []string{uriNotes}})},
		"not allowed by a rule":   {edit: rule(policy.RuleExtensions{Allow: []string{uriStats}})},
		"allowed by a rule":       {edit: rule(policy.RuleExtensions{Allow: []string{uriNotes}}), there: true},
		"injected, not asked for": {edit: func(s *setup) { s.agent.Extensions.Inject = []string{uriNotes} }, ask: "X-Nothing: x"},
		"injected, asked for":     {edit: func(s *setup) { s.agent.Extensions.Inject = []string{uriNotes} }, there: true},
		"blocked": {edit: func(s *setup) {
			s.extensions = append(ext.Registry{}, bringing...)
			s.extensions[0].Status = ext.Blocked
		}},
		"past its sunset": {edit: func(s *setup) {
			s.extensions = append(ext.Registry{}, bringing...)
			s.extensions[0].Status, s.extensions[0].Sunset = ext.Deprecated, "2020-01-01"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := brings(t, []wire.Side{rpc10}, tt.edit, tied)
			for _, s := range []wire.Side{rpc10, rpc03, rest10, rest03, grpc10} {
				card := speaks(s)
				if name != "not declared" && name != "required undeclared" {
					card = declaring(card, uriNotes, uriSearch, uriStats, uriChat)
				}
				w.becomes(card)
				if s == grpc10 {
					w.conditionsRPC(tt.ask, tt.there)
					continue
				}
				w.conditions(s, tt.ask, tt.there, name == "blocked")
			}
		})
	}
}

// conditions calls notes/add about tasks of every owner, rightly and wrongly.
func (w *world) conditions(s wire.Side, ask string, there, blocked bool) {
	w.Helper()
	if ask == "" {
		ask = "A2A-Extensions: " + uriNotes
	}
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		made := taskIn(r.side(), "mine", "c", "completed", "")
		if s != rpc03 {
			made = `{"task":` + made + `}`
		}
		r.say(rw, made)
	})
	w.speak("alice", w.base, s, notesAsked(there)).ok(w, "make a task")
	w.agent.answers(bring(nil))
	w.agent.take()
	for _, tt := range []struct{ who, task, params string }{
		{"alice", "mine", `{"noteOf":"mine"}`},
		{"bob", "mine", `{"noteOf":"mine"}`},
		{"alice", "none", `{"noteOf":"none"}`},
		{"alice", "mine", `{"noteOf":"mine","id":"other"}`},
		{"alice", "mine", `{"noteOf":7,"noteof":"x"}`},
		{"alice", "mine", `[]`},
	} {
		what := fmt.Sprintf("%s: %s of %s's %s with %s", s, tt.params, tt.who, tt.task, ask)
		got := w.invoke(tt.who, w.base, s, "notes/add", tt.params, tt.task, ask)
		if there {
			if fine := tt.who == "alice" && tt.params == `{"noteOf":"mine"}`; fine {
				wantStatus(w, what, got, 200)
				w.agent.one(w)
			} else if strings.Contains(got.body, "METHOD_NOT_FOUND") || strings.Contains(got.body, "-32601") {
				w.Errorf("%s: %s", what, got.body)
			}
			w.agent.silent(w, what)
			continue
		}
		w.agent.silent(w, what)
		header := []string{"A2A-Version: " + string(s.Version), ask}
		if s.Binding == wire.JSONRPC {
			none := w.do(tt.who, "POST", "", rpcBody("xotes/add", tt.params), header...)
			sameAnswer(w, what, unnamed(got, "notes/add"), unnamed(none, "xotes/add"))
			continue
		}
		nobody := "/nobody/has"
		if blocked { // no registered verb ends this id
			nobody = map[wire.Version]string{wire.V10: "", wire.V03: "/v1"}[s.Version] + "/tasks/t:xote"
		}
		sameAnswer(w, what, got, w.do(tt.who, "POST", nobody, tt.params, header...))
	}
}

// notesAsked is a send that does without the extension, unless the agent requires it.
func notesAsked(there bool) ask {
	a := ask{method: wire.SendMessage}
	if there {
		a.header = []string{"A2A-Extensions: " + uriNotes}
	}
	return a
}

// conditionsRPC is conditions on gRPC, where a credential names the agent.
func (w *world) conditionsRPC(ask string, there bool) {
	w.Helper()
	if ask == "" {
		ask = "A2A-Extensions: " + uriNotes
	}
	w.agent.answers(bring(nil))
	for _, message := range []string{"\x12\x04none", "\x12\x05nobody", ""} {
		what := fmt.Sprintf("gRPC: %q with %s", message, ask)
		got := w.dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(message)), ask)
		w.agent.silent(w, what)
		if there {
			if e := failure.ReadStatus(got.header, got.trailer); e == nil || e.Kind == wire.MethodNotFound {
				w.Errorf("%s: %v", what, e)
			}
			continue
		}
		none := w.dial("tied", "/acme.v1.Nobody/Add", grpcframe.Append(nil, []byte(message)), ask)
		sameAnswer(w, what, got.answer, none.answer)
		if fmt.Sprint(got.trailer) != fmt.Sprint(none.trailer) {
			w.Errorf("%s: %v, of nobody's %v", what, got.trailer, none.trailer)
		}
	}
}
