package negotiate_test

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
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// allNames are the names that anything could have: every name of every version and
// binding, those of extensions, and what is nearly one of them.
func allNames() (names []string) {
	for _, m := range wire.Methods() {
		names = append(names, m.Name, m.V03, m.V01, m.GRPC03)
	}
	for _, e := range proxytest.Bringing {
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
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10, proxytest.RPC03, proxytest.REST10, proxytest.REST03})
	w.Given("alice", w.Base, w.Agent, "t", "c", "")
	w.Agent.Answers(proxytest.AnswerMethods(nil))
	const params = `{"id":"t","taskId":"t","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`
	brought := map[string]string{}
	for _, e := range proxytest.Bringing[:4] {
		brought[e.Methods[0].Name] = e.URI
	}
	core := map[string]bool{"agent/authenticatedExtendedCard": true}
	for _, m := range wire.Methods() {
		core[m.Name], core[m.V03], core[m.V01] = true, true, true
	}
	delete(core, "")
	for _, name := range allNames() {
		for _, version := range []string{"1.0", "0.3", "0.1", ""} {
			for _, active := range []string{"", proxytest.AskEveryURI + "," + proxytest.URIAlien, "A2A-Extensions: " + proxytest.URIAlien, "X-A2A-Extensions: " + proxytest.URINotes} {
				what := fmt.Sprintf("%q in %q with %q", name, version, active)
				header := []string{"A2A-Version: " + version, active}
				if active == "" {
					header = header[:1]
				}
				if core[name] {
					if active == "" && version == "" { // once is enough
						if got := w.Do("alice", "POST", "", rpcNamed(t, name, params), header...); strings.Contains(got.Body, "-32601") {
							t.Errorf("%s: %s", what, got.Body)
						}
						w.Agent.Take()
					}
					continue
				}
				got := w.Do("alice", "POST", "", rpcNamed(t, name, params), header...)
				if uri := brought[name]; uri != "" && strings.Contains(active, uri) && version != "0.1" {
					if seen := w.Agent.One(t); got.Status != 200 || !strings.Contains(got.Body, name) || !strings.Contains(string(seen.Content), name) {
						t.Errorf("%s: %d %s", what, got.Status, got.Body)
					}
					continue
				}
				w.Agent.Silent(t, what)
				nobody := strings.Repeat("x", len(name))
				if strings.Contains(name, "/") {
					nobody = "/" + nobody[1:]
				}
				none := w.Do("alice", "POST", "", rpcNamed(t, nobody, params), header...)
				sameAnswer(t, what, unnamed(got, name), unnamed(none, nobody))
				if !strings.Contains(got.Body, "-32601") {
					t.Errorf("%s: %s", what, got.Body)
				}
			}
		}
	}
}

// rpcNamed is a JSON-RPC call of any name.
func rpcNamed(t testing.TB, name, params string) string {
	t.Helper()
	quoted, err := json.Marshal(name)
	proxytest.Must(t, err)
	return `{"jsonrpc":"2.0","id":7,"method":` + string(quoted) + `,"params":` + params + `}`
}

// unnamed is a refusal without the name that it repeats: up to 64 bytes of it, in Go's
// quotes.
func unnamed(a proxytest.Response, name string) proxytest.Response {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(fmt.Sprintf("%q", name[:min(len(name), 64)]))
	a.Body = strings.Replace(a.Body, quoted, "@", 1)
	a.Header = a.Header.Clone()
	a.Header.Del("Content-Length")
	return a
}

// sameAnswer fails the test unless two answers are the same to the byte.
func sameAnswer(t testing.TB, what string, got, want proxytest.Response) {
	t.Helper()
	if got.Status != want.Status || got.Body != want.Body || fmt.Sprint(proxytest.SameHeader(got)) != fmt.Sprint(proxytest.SameHeader(want)) {
		t.Errorf("%s: %d %v %s\nof nobody's: %d %v %s", what, got.Status, proxytest.SameHeader(got), got.Body, want.Status, proxytest.SameHeader(want), want.Body)
	}
}

// TestA09_MethodPaths: the same on HTTP+JSON and gRPC.
func TestA09_MethodPaths(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.REST10, proxytest.REST03, proxytest.GRPC10}, proxytest.WithTied)
	w.Given("alice", w.Base, w.Agent, "t", "c", "")
	w.Given("tied", w.Base, w.Agent, "tied-t", "d", "")
	w.Agent.Answers(proxytest.AnswerMethods(nil))
	for path, tt := range map[string]struct{ verb, uri string }{
		"/tasks:search": {"POST", proxytest.URISearch}, "/v1/tasks:search": {"POST", proxytest.URISearch}, "/stats": {"GET", proxytest.URIStats},
		"/v1/stats": {"GET", proxytest.URIStats}, "/tasks/t:note": {"POST", proxytest.URINotes}, "/v1/tasks/t:note": {"POST", proxytest.URINotes},
		"/chat:ask": {"POST", proxytest.URIChat}, "/v1/chat:ask": {"POST", proxytest.URIChat}, "/alien": {"", proxytest.URIAlien}, "/v1/alien": {"", proxytest.URIAlien},
		"/acme/stats": {"GET", "tenant"}, "/Stats": {}, "/stats/": {}, "/s%74ats": {}, "/tasks:Search": {}, "/Tasks:search": {},
		"/tasks%3Asearch": {}, "/tasks/t:Note": {}, "/tasks/t%3Anote": {}, "/tasks/t:note/": {}, "/tasks//t:note": {},
		"/v1/v1/stats": {}, "/V1/stats": {}, "/stats%00": {}, "/tasks:search:search": {}, "/tasks/notes/add": {}, "/notes/add": {},
	} {
		for _, verb := range []string{"GET", "POST", "PUT", "DELETE", "PATCH"} {
			for _, active := range []string{"X-Nothing: x", proxytest.AskEveryURI + "," + proxytest.URIAlien, "A2A-Extensions: " + proxytest.URIAlien} {
				what := verb + " " + path + " with " + active
				header := []string{active}
				body := ""
				if verb == "POST" {
					body = `{"message":{"messageId":"m"}}`
				}
				got := w.Do("alice", verb, path, body, header...)
				if verb == tt.verb && strings.Contains(active, tt.uri) {
					proxytest.WantStatus(t, what, got, 200)
					w.Agent.One(t)
					continue
				}
				w.Agent.Silent(t, what)
				if tt.uri == "tenant" && verb == tt.verb && strings.Contains(active, proxytest.URIStats) {
					if !strings.Contains(got.Body, "tenant does not match") {
						t.Errorf("%s: %s", what, got.Body)
					}
				} else if tt.uri != "" {
					sameAnswer(t, what, got, w.Do("alice", verb, strings.Repeat("/nobody", strings.Count(path, "/")), body, header...))
				}
			}
		}
	}
	for path, uri := range map[string]string{
		"/acme.v1.Notes/Add": proxytest.URINotes, "/acme.v1.Stats/Get": proxytest.URIStats, "/acme.v1.Alien/Probe": "-",
		"/acme.v1.Notes/add": "-", "/acme.v1.notes/Add": "-", "/acme.v1.Notes/Add/": "-", "/acme.v1.Notes/": "-", "/acme.v1.Notes/Add%00": "-",
		"/acme.v1.Notes": "-", "/Acme.v1.Stats/Get": "-", "/lf.a2a.v1.A2AService/Get": "-", "/a2a.v1.A2AService/notes/add": "-",
	} {
		for _, header := range []string{"X-Nothing: x", proxytest.AskEveryURI + "," + proxytest.URIAlien} {
			what := path + " with " + header
			got := w.Dial("tied", path, grpcframe.Append(nil, []byte("\x12\x06tied-t")), header)
			if uri != "-" && strings.Contains(header, uri) {
				if seen := w.Agent.One(t); seen.URL.Path != path {
					t.Errorf("%s: the agent got %s", what, seen.URL)
				}
				continue
			}
			w.Agent.Silent(t, what)
			nobody := "/acme.v1.Nobody/Has"
			if i := strings.Index(path, "A2AService/"); i > 0 {
				nobody = path[:i] + "A2AService/Nobody"
			}
			if strings.Contains(path, "%00") {
				continue // refused before anything is looked up
			}
			none := w.Dial("tied", nobody, grpcframe.Append(nil, nil), header)
			sameAnswer(t, what, got.Response, none.Response)
			if fmt.Sprint(got.Trailer) != fmt.Sprint(none.Trailer) || got.Trailer.Get("Grpc-Status")+got.Header.Get("Grpc-Status") != "12" {
				t.Errorf("%s: %v, of nobody's %v", what, got.Trailer, none.Trailer)
			}
		}
	}
}

// TestA09_MethodConditions: a method needs its extension to be declared, allowed and
// asked for. Where anything is missing, the call gets what a name that nobody has
// gets, whatever it is about and however broken it is, and the agent hears nothing.
func TestA09_MethodConditions(t *testing.T) {
	t.Parallel()
	rule := func(e policy.RuleExtensions) func(*proxytest.Setup) {
		return func(s *proxytest.Setup) {
			s.Policy.Rules = append(s.Policy.Rules, policy.Rule{Name: "ext", Agents: []string{"rec"}, Extensions: &e})
		}
	}
	undeclared := func(s *proxytest.Setup) { s.Agent.Card.URL += "?undeclared" }
	for name, tt := range map[string]struct {
		edit  func(*proxytest.Setup)
		ask   string // "" for what would do
		there bool
	}{
		"as it should be":         {edit: func(*proxytest.Setup) {}, there: true},
		"older header":            {edit: func(*proxytest.Setup) {}, ask: "X-A2A-Extensions: a:b, " + proxytest.URINotes, there: true},
		"not asked for":           {edit: func(*proxytest.Setup) {}, ask: "X-Nothing: x"},
		"another asked for":       {edit: func(*proxytest.Setup) {}, ask: "A2A-Extensions: " + proxytest.URIStats},
		"in another case":         {edit: func(*proxytest.Setup) {}, ask: "A2A-Extensions: " + strings.ToUpper(proxytest.URINotes)},
		"another version":         {edit: func(*proxytest.Setup) {}, ask: "A2A-Extensions: " + strings.Replace(proxytest.URINotes, "v1", "v2", 1)},
		"a broken header":         {edit: func(*proxytest.Setup) {}, ask: "A2A-Extensions: " + proxytest.URINotes + `,"`},
		"in the query":            {edit: func(*proxytest.Setup) {}, ask: "X-Nothing: " + proxytest.URINotes},
		"not declared":            {edit: undeclared},
		"required undeclared":     {edit: func(s *proxytest.Setup) { undeclared(s); s.Agent.Extensions.Require = []string{proxytest.URINotes} }, there: true},
		"denied":                  {edit: func(s *proxytest.Setup) { s.Agent.Extensions.Deny = []string{proxytest.URINotes} }},
		"not in the list":         {edit: func(s *proxytest.Setup) { s.Agent.Extensions.Allow = []string{proxytest.URIStats} }},
		"in the list":             {edit: func(s *proxytest.Setup) { s.Agent.Extensions.Allow = []string{proxytest.URINotes} }, there: true},
		"denied by a rule":        {edit: rule(policy.RuleExtensions{Deny: []string{proxytest.URINotes}})},
		"not allowed by a rule":   {edit: rule(policy.RuleExtensions{Allow: []string{proxytest.URIStats}})},
		"allowed by a rule":       {edit: rule(policy.RuleExtensions{Allow: []string{proxytest.URINotes}}), there: true},
		"injected, not asked for": {edit: func(s *proxytest.Setup) { s.Agent.Extensions.Inject = []string{proxytest.URINotes} }, ask: "X-Nothing: x"},
		"injected, asked for":     {edit: func(s *proxytest.Setup) { s.Agent.Extensions.Inject = []string{proxytest.URINotes} }, there: true},
		"blocked": {edit: func(s *proxytest.Setup) {
			s.Extensions = append(ext.Registry{}, proxytest.Bringing...)
			s.Extensions[0].Status = ext.Blocked
		}},
		"past its sunset": {edit: func(s *proxytest.Setup) {
			s.Extensions = append(ext.Registry{}, proxytest.Bringing...)
			s.Extensions[0].Status, s.Extensions[0].Sunset = ext.Deprecated, "2020-01-01"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10}, tt.edit, proxytest.WithTied)
			for _, s := range []wire.Side{proxytest.RPC10, proxytest.RPC03, proxytest.REST10, proxytest.REST03, proxytest.GRPC10} {
				card := proxytest.CardFor(s)
				if name != "not declared" && name != "required undeclared" {
					card = proxytest.Declaring(card, proxytest.URINotes, proxytest.URISearch, proxytest.URIStats, proxytest.URIChat)
				}
				w.BecomeCard(card)
				if s == proxytest.GRPC10 {
					conditionsRPC(w, tt.ask, tt.there)
					continue
				}
				conditions(w, s, tt.ask, tt.there, name == "blocked")
			}
		})
	}
}

// conditions calls notes/add about tasks of every owner, rightly and wrongly.
func conditions(w *proxytest.Gateway, s wire.Side, ask string, there, blocked bool) {
	w.Helper()
	if ask == "" {
		ask = "A2A-Extensions: " + proxytest.URINotes
	}
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		made := proxytest.TaskIn(r.Side(), "mine", "c", "completed", "")
		if s != proxytest.RPC03 {
			made = `{"task":` + made + `}`
		}
		r.Say(rw, made)
	})
	w.Speak("alice", w.Base, s, notesAsked(there)).OK(w, "make a task")
	w.Agent.Answers(proxytest.AnswerMethods(nil))
	w.Agent.Take()
	for _, tt := range []struct{ who, task, params string }{
		{"alice", "mine", `{"noteOf":"mine"}`},
		{"bob", "mine", `{"noteOf":"mine"}`},
		{"alice", "none", `{"noteOf":"none"}`},
		{"alice", "mine", `{"noteOf":"mine","id":"other"}`},
		{"alice", "mine", `{"noteOf":7,"noteof":"x"}`},
		{"alice", "mine", `[]`},
	} {
		what := fmt.Sprintf("%s: %s of %s's %s with %s", s, tt.params, tt.who, tt.task, ask)
		got := invoke(w, tt.who, w.Base, s, "notes/add", tt.params, tt.task, ask)
		if there {
			if fine := tt.who == "alice" && tt.params == `{"noteOf":"mine"}`; fine {
				proxytest.WantStatus(w, what, got, 200)
				w.Agent.One(w)
			} else if strings.Contains(got.Body, "METHOD_NOT_FOUND") || strings.Contains(got.Body, "-32601") {
				w.Errorf("%s: %s", what, got.Body)
			}
			w.Agent.Silent(w, what)
			continue
		}
		w.Agent.Silent(w, what)
		header := []string{"A2A-Version: " + string(s.Version), ask}
		if s.Binding == wire.JSONRPC {
			none := w.Do(tt.who, "POST", "", proxytest.RPCBody("xotes/add", tt.params), header...)
			sameAnswer(w, what, unnamed(got, "notes/add"), unnamed(none, "xotes/add"))
			continue
		}
		nobody := "/nobody/has"
		if blocked { // no registered verb ends this id
			nobody = map[wire.Version]string{wire.V10: "", wire.V03: "/v1"}[s.Version] + "/tasks/t:xote"
		}
		sameAnswer(w, what, got, w.Do(tt.who, "POST", nobody, tt.params, header...))
	}
}

// notesAsked is a send that does without the extension, unless the agent requires it.
func notesAsked(there bool) proxytest.Ask {
	a := proxytest.Ask{Method: wire.SendMessage}
	if there {
		a.Header = []string{"A2A-Extensions: " + proxytest.URINotes}
	}
	return a
}

// conditionsRPC is conditions on gRPC, where a credential names the agent.
func conditionsRPC(w *proxytest.Gateway, ask string, there bool) {
	w.Helper()
	if ask == "" {
		ask = "A2A-Extensions: " + proxytest.URINotes
	}
	w.Agent.Answers(proxytest.AnswerMethods(nil))
	for _, message := range []string{"\x12\x04none", "\x12\x05nobody", ""} {
		what := fmt.Sprintf("gRPC: %q with %s", message, ask)
		got := w.Dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(message)), ask)
		w.Agent.Silent(w, what)
		if there {
			if e := failure.ReadStatus(got.Header, got.Trailer); e == nil || e.Kind == wire.MethodNotFound {
				w.Errorf("%s: %v", what, e)
			}
			continue
		}
		none := w.Dial("tied", "/acme.v1.Nobody/Add", grpcframe.Append(nil, []byte(message)), ask)
		sameAnswer(w, what, got.Response, none.Response)
		if fmt.Sprint(got.Trailer) != fmt.Sprint(none.Trailer) {
			w.Errorf("%s: %v, of nobody's %v", what, got.Trailer, none.Trailer)
		}
	}
}
