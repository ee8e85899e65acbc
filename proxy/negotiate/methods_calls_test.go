package negotiate_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
	"github.com/a2a-gateway/a2a-gateway/internal/grpcframe"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestA01_ExtensionMethods: whatever bob asks about alice's task or context by an
// extension's method, he gets what he would get about one that is not there, and the
// agent hears nothing.
func TestA01_ExtensionMethods(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, jsonSides, func(s *proxytest.Setup) { s.Bound = map[string]string{"tied": "rec", "other": "rec"} }, subjects("other"))
	w.Given("alice", w.Base, w.Agent, "task-alice", "context-alice", "")
	w.Given("tied", w.Base, w.Agent, "task-tied", "context-tied", "")
	w.Agent.Answers(proxytest.AnswerMethods(nil))
	for _, s := range jsonSides {
		for name, forms := range map[string][]string{
			"notes/add":    {`{"noteOf":"@"}`, `{"id":"@"}`, `{"taskId":"@"}`, `{"noteOf":"@","id":"@"}`, `{"noteOf":"@","contextId":"context-alice"}`},
			"tasks/search": {`{"taskId":"@"}`},
			"stats/get":    {`{"of":"@"}`, `{"taskId":"@"}`, `{"of":"@","taskId":"@"}`},
			"chat/ask": {
				`{"message":{"messageId":"m","taskId":"@"}}`, `{"message":{"messageId":"m","referenceTaskIds":["@"]}}`,
				`{"taskId":"@","message":{"messageId":"m"}}`,
			},
		} {
			for _, form := range forms {
				if m, _ := broughtMethod(name); m.Verb == "GET" && s.Binding == wire.HTTPJSON {
					form = strings.NewReplacer(`{"`, "", `":"`, "=", `","`, "&", `"}`, "").Replace(form)
				}
				ask := func(who, task string) proxytest.Response {
					return invoke(w, who, w.Base, s, name, strings.ReplaceAll(form, "@", task), task, proxytest.AskEveryURI)
				}
				what := fmt.Sprintf("%s %s %s", s, name, form)
				got, none := ask("bob", "task-alice"), ask("bob", "task-absent")
				w.Agent.Silent(t, what)
				sameAnswer(t, what, got, none)
				if !strings.Contains(got.Body, "-32001") && !strings.Contains(got.Body, "TASK_NOT_FOUND") {
					t.Errorf("%s: %s", what, got.Body)
				}
				proxytest.WantStatus(t, what, ask("alice", "task-alice"), 200)
				w.Agent.One(t)
			}
		}
	}
	w.BecomeCard(proxytest.Declaring(proxytest.CardFor(proxytest.GRPC10), proxytest.URINotes, proxytest.URIStats))
	for path, tag := range map[string]string{"/acme.v1.Notes/Add": "\x12", "/acme.v1.Stats/Get": "\x0a"} {
		ask := func(who, task string) proxytest.RPCResponse {
			return w.Dial(who, path, grpcframe.Append(nil, []byte(tag+string(rune(len(task)))+task)), proxytest.AskEveryURI)
		}
		got, none := ask("other", "task-tied"), ask("other", "task-none")
		sameAnswer(t, path, got.Response, none.Response)
		if e := failure.ReadStatus(got.Header, got.Trailer); fmt.Sprint(got.Trailer) != fmt.Sprint(none.Trailer) || e == nil || e.Kind != wire.TaskNotFound {
			t.Errorf("%s: %v, %v", path, got.Trailer, none.Trailer)
		}
		for _, message := range []string{tag + "\x09task-tied" + tag + "\x09task-tied", tag + "\x09task-none" + tag + "\x09task-tied", string(tag[0]-2) + "\x01"} {
			got := w.Dial("tied", path, grpcframe.Append(nil, []byte(message)), proxytest.AskEveryURI)
			if e := failure.ReadStatus(got.Header, got.Trailer); e == nil || e.Kind != wire.InvalidParams {
				t.Errorf("%s %q: %v", path, message, e)
			}
		}
		w.Agent.Silent(t, path)
		ask("tied", "task-tied")
		w.Agent.One(t)
	}
}

// subjects lets more callers in.
func subjects(names ...string) func(*proxytest.Setup) {
	return func(s *proxytest.Setup) { s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, names...) }
}

// TestA01_ExtensionContexts: a context of somebody else's is replaced, also where the
// call is retold.
func TestA01_ExtensionContexts(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10})
	for _, agent := range jsonSides {
		w.BecomeCard(proxytest.Declaring(proxytest.CardFor(agent), proxytest.URINotes, proxytest.URISearch, proxytest.URIStats, proxytest.URIChat))
		w.Given("alice", w.Base, w.Agent, "task-"+agent.String(), "context-alice", "")
		for _, caller := range jsonSides {
			for name, params := range map[string]string{
				"tasks/search": `{"contextId":"context-alice"}`, "stats/get": `{"contextId":"context-alice"}`,
				"chat/ask": `{"message":{"messageId":"m","contextId":"context-alice"}}`,
			} {
				if name == "stats/get" && caller.Binding == wire.HTTPJSON {
					params = "contextId=context-alice"
				}
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.Agent.Answers(proxytest.AnswerMethods(nil))
				proxytest.WantStatus(t, what, invoke(w, "alice", w.Base, caller, name, params, "", proxytest.AskEveryURI), 200)
				if seen := w.Agent.One(t); !strings.Contains(string(seen.Content)+seen.URL.RawQuery, "context-alice") {
					t.Errorf("%s: alice's own is missing: %s %s", what, seen.URL, seen.Content)
				}
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					_, got := r.Brought()
					_, alias, _ := strings.Cut(strings.NewReplacer(`"`, "", "contextId=", "contextId:").Replace(got), "contextId:")
					alias = strings.TrimRight(alias, "}")
					if len(alias) != 36 {
						t.Errorf("%s: the agent got %s", what, got)
					}
					r.Told(rw, `{"in":"`+alias+`"}`)
				})
				got := invoke(w, "bob", w.Base, caller, name, params, "", proxytest.AskEveryURI)
				if seen := w.Agent.One(t); strings.Contains(string(seen.Content)+seen.URL.RawQuery, "alice") {
					t.Errorf("%s: the agent got %s %s", what, seen.URL, seen.Content)
				}
				if !strings.Contains(got.Body, `{"in":"context-alice"}`) {
					t.Errorf("%s: bob got %s", what, got.Body)
				}
			}
		}
	}
}

// TestA01_ExtensionAnswers: tasks in answers become the caller's, and those of others
// are cut out of lists and withheld elsewhere.
func TestA01_ExtensionAnswers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10})
	for _, agent := range jsonSides {
		w.BecomeCard(proxytest.Declaring(proxytest.CardFor(agent), proxytest.URINotes, proxytest.URISearch, proxytest.URIStats, proxytest.URIChat))
		own := "own-" + agent.String()
		w.Given("alice", w.Base, w.Agent, own, "", "")
		w.Given("bob", w.Base, w.Agent, "bob-"+agent.String(), "", "")
		task := func(id string) string { return proxytest.TaskIn(agent, id, "", "completed", "") }
		foreign := task("bob-" + agent.String())
		list := `{"tasks":[` + foreign + `,` + task(own) + `,` + task("unknown") + `],"totalSize":3}`
		bare := `[` + task(own) + `,` + foreign + `]`
		for _, caller := range jsonSides {
			ask := func(name string) proxytest.Response {
				params := `{"message":{"messageId":"m"},"noteOf":"` + own + `"}`
				if name == "stats/get" {
					params = ""
				}
				if params == "" && caller.Binding == wire.JSONRPC {
					params = "{}"
				}
				return invoke(w, "alice", w.Base, caller, name, params, own, proxytest.AskEveryURI)
			}
			for _, name := range []string{"tasks/search", "stats/get", "chat/ask"} {
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.Agent.Answers(proxytest.AnswerMethods(map[string]string{name: list}))
				if got := ask(name); strings.Contains(got.Body, "bob") || strings.Contains(got.Body, "unknown") ||
					!strings.Contains(got.Body, `"tasks":[`+task(own)+`],"totalSize":1`) {
					t.Errorf("%s: %s", what, got.Body)
				}
				w.Agent.Answers(proxytest.AnswerMethods(map[string]string{name: bare}))
				if got := ask(name); strings.Contains(got.Body, "bob") || !strings.Contains(got.Body, `[`+task(own)+`]`) {
					t.Errorf("%s, bare: %s", what, got.Body)
				}
				for _, result := range []string{foreign, `{"task":` + foreign + `}`} {
					w.Agent.Answers(proxytest.AnswerMethods(map[string]string{name: result}))
					if got := ask(name); strings.Contains(got.Body, "bob") || !strings.Contains(got.Body, "-32006") && !strings.Contains(got.Body, "INVALID_AGENT_RESPONSE") {
						t.Errorf("%s, %s: %s", what, result, got.Body)
					}
				}
			}
			for _, name := range []string{"notes/add", "chat/ask"} {
				made := fmt.Sprintf("made-%s-%s-%s", name[:4], caller, agent)
				made = strings.ReplaceAll(made, " ", "-")
				w.Agent.Answers(proxytest.AnswerMethods(map[string]string{name: task(made)}))
				proxytest.WantStatus(t, made, ask(name), 200)
				w.Agent.Answers(proxytest.Fluent)
				w.Speak("alice", w.Base, proxytest.RPC10, ask10(made)).OK(t, made)
				w.Speak("bob", w.Base, proxytest.RPC10, ask10(made)).Refused(t, made, wire.TaskNotFound)
			}
			w.Agent.Take()
		}
	}
}

func ask10(task string) proxytest.Ask { return proxytest.Ask{Method: wire.GetTask, Task: task} }

// TestMethodsAllowed: rules name an extension's method as they do A2A's own, and its
// skill is needed as theirs are.
func TestMethodsAllowed(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, jsonSides, func(s *proxytest.Setup) {
		s.Policy.Rules = []policy.Rule{
			{Name: "search", Effect: "allow", Subjects: []string{"alice"}, Methods: []string{"SendMessage", "tasks/search"}},
			{Name: "skilled", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"write it"}},
			{Name: "but", Effect: "deny", Subjects: []string{"bob"}, Methods: []string{"stats/get"}},
			{Name: "reads", Effect: "allow", Subjects: []string{"mallory"}, Skills: []string{"read"}},
			{
				Name: "without", Methods: []string{"tasks/search"}, Subjects: []string{"mallory"},
				Extensions: &policy.RuleExtensions{Deny: []string{proxytest.URISearch}},
			},
		}
	})
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, proxytest.TaskResult(r, "task-"+text(r.RPC().ID), ""))
	})
	for who, id := range map[string]string{"alice": `"a"`, "bob": `"b"`, "mallory": `"m"`} {
		skill := map[string]string{"bob": "/skills/write%20it", "mallory": "/skills/read"}[who]
		body := strings.Replace(proxytest.RPCBody("SendMessage", proxytest.Message("")), "7", id, 1)
		proxytest.WantStatus(t, who, w.Do(who, "POST", w.Base+skill, body, "A2A-Version: 1.0"), 200)
	}
	w.Agent.Answers(proxytest.AnswerMethods(nil))
	w.Agent.Take()
	for _, s := range jsonSides {
		for _, tt := range []struct {
			who, name, task string
			want            *wire.Kind // nil for allowed
		}{
			{"alice", "tasks/search", "a", nil},
			{"alice", "stats/get", "a", wire.Denied},
			{"alice", "notes/add", "a", wire.Denied},
			{"alice", "chat/ask", "a", wire.Denied},
			{"bob", "notes/add", "b", nil},
			{"bob", "tasks/search", "b", nil},
			{"bob", "stats/get", "b", wire.Denied},
			{"mallory", "notes/add", "m", wire.Denied},
			{"mallory", "stats/get", "m", nil},
			{"mallory", "tasks/search", "m", wire.MethodNotFound},
		} {
			what := fmt.Sprintf("%s: %s by %s", s, tt.name, tt.who)
			params := `{"noteOf":"task-` + tt.task + `","message":{"messageId":"m"}}`
			if m, _ := broughtMethod(tt.name); m.Verb == "GET" {
				params = map[wire.Binding]string{wire.JSONRPC: "{}"}[s.Binding]
			}
			got := invoke(w, tt.who, w.Base, s, tt.name, params, "task-"+tt.task, proxytest.AskEveryURI)
			if tt.want == nil {
				proxytest.WantStatus(t, what, got, 200)
				w.Agent.One(t)
				continue
			}
			w.Agent.Silent(t, what)
			if !strings.Contains(got.Body, tt.want.Reason) && !strings.Contains(got.Body, fmt.Sprint(tt.want.Code)) {
				t.Errorf("%s: %d %s", what, got.Status, got.Body)
			}
			if tt.want == wire.MethodNotFound && s.Binding == wire.JSONRPC {
				none := invoke(w, tt.who, w.Base, s, "xasks/search", params, "", proxytest.AskEveryURI)
				sameAnswer(t, what, unnamed(got, tt.name), unnamed(none, "xasks/search"))
			}
		}
	}
}

// text is a JSON string without its quotes.
func text(r proxytest.RawJSON) string { return strings.Trim(string(r), `"`) }

// TestMethodsRecorded: records and metrics have the method's name, and no other that a
// caller makes up.
func TestMethodsRecorded(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10})
	invoke(w, "alice", w.Base, proxytest.RPC10, "tasks/search", "{}", "", proxytest.AskEveryURI)
	invoke(w, "alice", w.Base, proxytest.REST10, "tasks/search", "{}", "", proxytest.AskEveryURI)
	invoke(w, "alice", w.Base, proxytest.RPC10, "alien/probe", "{}", "", "A2A-Extensions: "+proxytest.URIAlien)
	invoke(w, "alice", w.Base, proxytest.RPC10, "stats/get", "{}", "")
	invoke(w, "alice", w.Base, proxytest.RPC10, "canary/name", "{}", "", proxytest.AskEveryURI)
	var got []string
	for _, r := range w.Audited("call") {
		got = append(got, fmt.Sprint(r["method"], " ", r["decision"]))
	}
	want := "[tasks/search allow tasks/search allow alien/probe error <nil> error <nil> error]"
	if fmt.Sprint(got) != want {
		t.Errorf("records: %v, want %s", got, want)
	}
	if n := len(w.Audited("intent")); n != 2 {
		t.Errorf("%d intents", n)
	}
	rw := &proxytest.ResponseBuffer{Head: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	proxytest.Must(t, err)
	promhttp.HandlerFor(w.Telemetry.Registry, promhttp.HandlerOpts{}).ServeHTTP(rw, r)
	text := rw.Text.String()
	if !strings.Contains(text, `method="tasks/search"`) || strings.Contains(text, "canary") {
		t.Errorf("metrics: %s", text)
	}
}

// TestMethodsProvided: what the gateway implements in an agent's place has no methods
// there.
func TestMethodsProvided(t *testing.T) {
	t.Parallel()
	for uri := range provided.Providers() {
		w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10}, func(s *proxytest.Setup) {
			s.Extensions = ext.Registry{{URI: uri, Kind: ext.Method, Methods: []ext.MethodConfig{{Name: "alien/probe", Verb: "POST", Path: "/alien"}}}}
			s.Agent.Extensions.Provide = []string{uri}
		})
		got := invoke(w, "alice", w.Base, proxytest.RPC10, "alien/probe", "{}", "", "A2A-Extensions: "+uri)
		none := invoke(w, "alice", w.Base, proxytest.RPC10, "xlien/probe", "{}", "", "A2A-Extensions: "+uri)
		sameAnswer(t, uri, unnamed(got, "alien/probe"), unnamed(none, "xlien/probe"))
		w.Agent.Silent(t, uri)
	}
}

// TestA07_MethodsMetadata: metadata in the params and answers of extensions' methods is
// governed as that of A2A's own.
func TestA07_MethodsMetadata(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10}, func(s *proxytest.Setup) {
		s.Extensions = append(ext.Registry{}, proxytest.Bringing...)
		s.Extensions[1].Schemas.Request = schema.Source{Inline: []byte(`{"type":"object","required":["limit"]}`)}
	})
	mark := func(uri, value string) string { return fmt.Sprintf(`"metadata":{"plain":1,%q:%s}`, uri, value) }
	for _, agent := range jsonSides {
		w.BecomeCard(proxytest.Declaring(proxytest.CardFor(agent), proxytest.URISearch, proxytest.URIStats, proxytest.URIChat))
		for _, caller := range jsonSides {
			what := fmt.Sprintf("%s to %s", caller, agent)
			own := strings.ReplaceAll("own "+what, " ", "-")
			w.Given("alice", w.Base, w.Agent, own, "", "")
			w.Agent.Answers(proxytest.AnswerMethods(map[string]string{
				"tasks/search": `{"tasks":[` + proxytest.TaskIn(agent, own, "", "completed", ","+mark(proxytest.URINotes, "1")) + `]}`,
				"chat/ask":     `{"message":{"messageId":"x","role":"agent","parts":[],` + mark(proxytest.URIStats, "1") + `}}`,
			}))
			for _, tt := range []struct{ name, params, ask, sent string }{
				{"tasks/search", `{` + mark(proxytest.URIStats, "1") + `}`, proxytest.URISearch, `{"metadata":{"plain":1}}`},
				{"tasks/search", `{` + mark(proxytest.URISearch, `{"limit":1}`) + `}`, proxytest.URISearch, `{` + mark(proxytest.URISearch, `{"limit":1}`) + `}`},
				{"chat/ask", `{"message":{"messageId":"m",` + mark(proxytest.URIStats, "1") + `}}`, proxytest.URIChat, `{"message":{"messageId":"m","metadata":{"plain":1}}}`},
			} {
				got := invoke(w, "alice", w.Base, caller, tt.name, tt.params, "", "A2A-Extensions: "+tt.ask)
				proxytest.WantStatus(t, what, got, 200)
				if _, sent := w.Agent.One(t).Brought(); sent != tt.sent {
					t.Errorf("%s %s: the agent got %s, want %s", what, tt.name, sent, tt.sent)
				}
				if strings.Contains(got.Body, proxytest.URIStats) || strings.Contains(got.Body, proxytest.URINotes) || !strings.Contains(got.Body, `"metadata":{"plain":1}`) {
					t.Errorf("%s %s: the caller got %s", what, tt.name, got.Body)
				}
			}
			got := invoke(w, "alice", w.Base, caller, "tasks/search", `{`+mark(proxytest.URISearch, "{}")+`}`, "", "A2A-Extensions: "+proxytest.URISearch)
			if !strings.Contains(got.Body, "limit") || !strings.Contains(got.Body, "INVALID") && !strings.Contains(got.Body, "-32602") {
				t.Errorf("%s: %s", what, got.Body)
			}
			w.Agent.Silent(t, what)
		}
	}
}

// TestMethodsRPC: a gRPC call goes through as it came, both ways, with the extensions
// as metadata; and so do an agent's status and its details.
func TestMethodsRPC(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.GRPC10}, proxytest.WithTied, func(s *proxytest.Setup) { s.Agent.Hosts = []string{"rec.example"} })
	w.Given("tied", w.Base, w.Agent, "t", "c", "")
	sent, answered := "\x12\x01t"+proxytest.UnknownFields+"\x1a\x02\xff\xfe", "\x09answered"+proxytest.UnknownFields
	for name, tt := range map[string]struct {
		who    string
		header []string
	}{
		"by credential": {"tied", []string{"A2A-Extensions: " + proxytest.URINotes}},
		"older header":  {"tied", []string{"X-A2A-Extensions: " + proxytest.URINotes, "A2A-Version: 1.0"}},
		"by host":       {"tied", []string{"A2A-Extensions: " + proxytest.URINotes, "Host: rec.example"}},
	} {
		w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/grpc")
			_, _ = rw.Write(grpcframe.Append(nil, []byte(answered)))
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			rw.Header().Set(http.TrailerPrefix+"A2a-Extensions", proxytest.URINotes)
		})
		got := dialHost(w, tt.who, "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), tt.header...)
		seen := w.Agent.One(t)
		if string(seen.Content) != proxytest.GRPCFrame(0, sent) || seen.URL.Path != "/acme.v1.Notes/Add" || seen.Header.Get("A2A-Extensions") != proxytest.URINotes ||
			seen.Header.Get("A2A-Version") != "1.0" || seen.Header.Get("Te") != "trailers" || seen.Header.Get("X-Api-Key") != "" {
			t.Errorf("%s: the agent got %s %q %v", name, seen.URL, seen.Content, seen.Header)
		}
		if got.Body != proxytest.GRPCFrame(0, answered) || got.Trailer.Get("Grpc-Status") != "0" || got.Header.Get("A2A-Extensions")+got.Header.Get("X-A2A-Extensions") != proxytest.URINotes {
			t.Errorf("%s: %q %v %v", name, got.Body, got.Header, got.Trailer)
		}
	}
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/grpc")
		rw.WriteHeader(http.StatusOK)
		rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "9")
		rw.Header().Set(http.TrailerPrefix+"Grpc-Message", "closed%20today")
		rw.Header().Set(http.TrailerPrefix+"Grpc-Status-Details-Bin", "CAkSBXRvZGF5")
	})
	got := w.Dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), proxytest.AskEveryURI)
	if want := "map[Grpc-Message:[closed%20today] Grpc-Status:[9] Grpc-Status-Details-Bin:[CAkSBXRvZGF5]]"; fmt.Sprint(got.Trailer) != want {
		t.Errorf("an error: %v %v", got.Header, got.Trailer)
	}
	w.Agent.One(t)
	w.BecomeCard(proxytest.Declaring(func(base string) string {
		return proxytest.CardWith(base, proxytest.InterfaceOf(base, proxytest.GRPC10, "acme"))
	}, proxytest.URINotes))
	got = w.Dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), proxytest.AskEveryURI)
	if e := failure.ReadStatus(got.Header, got.Trailer); e == nil || e.Kind != wire.InvalidParams {
		t.Errorf("a tenant that the message may contradict: %v", e)
	}
	w.BecomeCard(proxytest.Declaring(proxytest.CardFor(proxytest.RPC10), proxytest.URINotes))
	got = w.Dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), proxytest.AskEveryURI)
	if e := failure.ReadStatus(got.Header, got.Trailer); e == nil || e.Kind != wire.Unsupported {
		t.Errorf("no gRPC: %v", e)
	}
	w.Agent.Silent(t, "what cannot be sent")
}

// dialHost is dial with the host among the header.
func dialHost(w *proxytest.Gateway, who, path string, body []byte, header ...string) proxytest.RPCResponse {
	w.Helper()
	r := w.Request(who, "POST", w.URL+path, string(body), append([]string{"Te: trailers"}, header...)...)
	r.Header.Set("Content-Type", "application/grpc")
	resp, err := w.H2().Do(r)
	proxytest.Must(w, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	proxytest.Must(w, err)
	return proxytest.RPCResponse{Response: proxytest.Response{Status: resp.StatusCode, Header: resp.Header, Body: string(got)}, Trailer: resp.Trailer}
}

// TestMethodsShared: an extension's method finds its agent by tenant on the shared
// endpoint, by host, and under a skill; the agent gets the tenant that its interface has.
func TestMethodsShared(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayWithMethods(t, []wire.Side{proxytest.RPC10}, func(s *proxytest.Setup) { s.Agent.Hosts = []string{"rec.example"} })
	for _, agent := range jsonSides {
		for _, tenant := range []string{"", "acme"} {
			if tenant != "" && agent.Version != wire.V10 {
				continue
			}
			w.BecomeCard(proxytest.Declaring(func(base string) string { return proxytest.CardWith(base, proxytest.InterfaceOf(base, agent, tenant)) }, proxytest.URINotes, proxytest.URISearch, proxytest.URIStats, proxytest.URIChat))
			for _, caller := range []wire.Side{proxytest.RPC10, proxytest.REST10} {
				for _, name := range []string{"tasks/search", "stats/get", "chat/ask"} {
					what := fmt.Sprintf("%s from %s to %s of %q", name, caller, agent, tenant)
					w.Agent.Answers(proxytest.AnswerMethods(nil))
					base, params := w.URL+"/a2a", `{"tenant":"rec","message":{"messageId":"m"}}`
					if name == "stats/get" {
						params = `{"tenant":"rec"}`
					}
					if caller.Binding == wire.HTTPJSON {
						base += "/rec"
						params = strings.TrimPrefix(params, `{"tenant":"rec"}`)
					}
					proxytest.WantStatus(t, what, invoke(w, "alice", base, caller, name, params, "", proxytest.AskEveryURI), 200)
					seen := w.Agent.One(t)
					_, got := seen.Brought()
					if strings.Contains(got+seen.URL.String(), "rec") {
						t.Errorf("%s: the agent got %s %s", what, seen.URL, got)
					}
					inPath := strings.Contains(seen.URL.Path, "/acme/")
					if tenant != "" && inPath != (agent.Binding == wire.HTTPJSON) || tenant != "" && !inPath && !strings.Contains(got, `"tenant":"acme"`) {
						t.Errorf("%s: the agent got %s %s", what, seen.URL, got)
					}
				}
			}
		}
	}
	w.BecomeCard(proxytest.Declaring(proxytest.CardFor(proxytest.RPC10), proxytest.URISearch))
	for _, tt := range []struct{ base, host string }{{w.URL, "rec.example"}, {w.URL + "/skills/read", "rec.example"}, {w.Base + "/skills/read", strings.TrimPrefix(w.URL, "http://")}} {
		for _, caller := range jsonSides {
			got := invoke(w, "alice", tt.base, caller, "tasks/search", "{}", "", proxytest.AskEveryURI, "Host: "+tt.host)
			proxytest.WantStatus(t, tt.base+tt.host, got, 200)
			w.Agent.One(t)
		}
	}
	proxytest.WantStatus(t, "a skill that is not there", invoke(w, "alice", w.Base+"/skills/none", proxytest.REST10, "tasks/search", "{}", "", proxytest.AskEveryURI), 404)
	for _, params := range []string{`{"tenant":"none"}`, `{}`} {
		got := invoke(w, "alice", w.URL+"/a2a", proxytest.RPC10, "tasks/search", params, "", proxytest.AskEveryURI)
		if !strings.Contains(got.Body, "error") {
			t.Errorf("%s: %s", params, got.Body)
		}
	}
	w.Agent.Silent(t, "no agent")
}
