package proxy_test

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
)

// TestA01_ExtensionMethods: whatever bob asks about alice's task or context by an
// extension's method, he gets what he would get about one that is not there, and the
// agent hears nothing.
func TestA01_ExtensionMethods(t *testing.T) {
	t.Parallel()
	w := brings(t, jsonSides, func(s *setup) { s.bound = map[string]string{"tied": "rec", "other": "rec"} }, subjects("other"))
	w.given("alice", w.base, w.agent, "task-alice", "context-alice", "")
	w.given("tied", w.base, w.agent, "task-tied", "context-tied", "")
	w.agent.answers(bring(nil))
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
				ask := func(who, task string) answer {
					return w.invoke(who, w.base, s, name, strings.ReplaceAll(form, "@", task), task, everyURI)
				}
				what := fmt.Sprintf("%s %s %s", s, name, form)
				got, none := ask("bob", "task-alice"), ask("bob", "task-absent")
				w.agent.silent(t, what)
				sameAnswer(t, what, got, none)
				if !strings.Contains(got.body, "-32001") && !strings.Contains(got.body, "TASK_NOT_FOUND") {
					t.Errorf("%s: %s", what, got.body)
				}
				wantStatus(t, what, ask("alice", "task-alice"), 200)
				w.agent.one(t)
			}
		}
	}
	w.becomes(declaring(speaks(grpc10), uriNotes, uriStats))
	for path, tag := range map[string]string{"/acme.v1.Notes/Add": "\x12", "/acme.v1.Stats/Get": "\x0a"} {
		ask := func(who, task string) rawRPC {
			return w.dial(who, path, grpcframe.Append(nil, []byte(tag+string(rune(len(task)))+task)), everyURI)
		}
		got, none := ask("other", "task-tied"), ask("other", "task-none")
		sameAnswer(t, path, got.answer, none.answer)
		if e := failure.ReadStatus(got.header, got.trailer); fmt.Sprint(got.trailer) != fmt.Sprint(none.trailer) || e == nil || e.Kind != wire.TaskNotFound {
			t.Errorf("%s: %v, %v", path, got.trailer, none.trailer)
		}
		for _, message := range []string{tag + "\x09task-tied" + tag + "\x09task-tied", tag + "\x09task-none" + tag + "\x09task-tied", string(tag[0]-2) + "\x01"} {
			got := w.dial("tied", path, grpcframe.Append(nil, []byte(message)), everyURI)
			if e := failure.ReadStatus(got.header, got.trailer); e == nil || e.Kind != wire.InvalidParams {
				t.Errorf("%s %q: %v", path, message, e)
			}
		}
		w.agent.silent(t, path)
		ask("tied", "task-tied")
		w.agent.one(t)
	}
}

// subjects lets more callers in.
func subjects(names ...string) func(*setup) {
	return func(s *setup) { s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, names...) }
}

// TestA01_ExtensionContexts: a context of somebody else's is replaced, also where the
// call is retold.
func TestA01_ExtensionContexts(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10})
	for _, agent := range jsonSides {
		w.becomes(declaring(speaks(agent), uriNotes, uriSearch, uriStats, uriChat))
		w.given("alice", w.base, w.agent, "task-"+agent.String(), "context-alice", "")
		for _, caller := range jsonSides {
			for name, params := range map[string]string{
				"tasks/search": `{"contextId":"context-alice"}`, "stats/get": `{"contextId":"context-alice"}`,
				"chat/ask": `{"message":{"messageId":"m","contextId":"context-alice"}}`,
			} {
				if name == "stats/get" && caller.Binding == wire.HTTPJSON {
					params = "contextId=context-alice"
				}
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.agent.answers(bring(nil))
				wantStatus(t, what, w.invoke("alice", w.base, caller, name, params, "", everyURI), 200)
				if seen := w.agent.one(t); !strings.Contains(string(seen.body)+seen.URL.RawQuery, "context-alice") {
					t.Errorf("%s: alice's own is missing: %s %s", what, seen.URL, seen.body)
				}
				w.agent.answers(func(rw http.ResponseWriter, r *record) {
					_, got := r.brought()
					_, alias, _ := strings.Cut(strings.NewReplacer(`"`, "", "contextId=", "contextId:").Replace(got), "contextId:")
					alias = strings.TrimRight(alias, "}")
					if len(alias) != 36 {
						t.Errorf("%s: the agent got %s", what, got)
					}
					r.told(rw, `{"in":"`+alias+`"}`)
				})
				got := w.invoke("bob", w.base, caller, name, params, "", everyURI)
				if seen := w.agent.one(t); strings.Contains(string(seen.body)+seen.URL.RawQuery, "alice") {
					t.Errorf("%s: the agent got %s %s", what, seen.URL, seen.body)
				}
				if !strings.Contains(got.body, `{"in":"context-alice"}`) {
					t.Errorf("%s: bob got %s", what, got.body)
				}
			}
		}
	}
}

// TestA01_ExtensionAnswers: tasks in answers become the caller's, and those of others
// are cut out of lists and withheld elsewhere.
func TestA01_ExtensionAnswers(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10})
	for _, agent := range jsonSides {
		w.becomes(declaring(speaks(agent), uriNotes, uriSearch, uriStats, uriChat))
		own := "own-" + agent.String()
		w.given("alice", w.base, w.agent, own, "", "")
		w.given("bob", w.base, w.agent, "bob-"+agent.String(), "", "")
		task := func(id string) string { return taskIn(agent, id, "", "completed", "") }
		foreign := task("bob-" + agent.String())
		list := `{"tasks":[` + foreign + `,` + task(own) + `,` + task("unknown") + `],"totalSize":3}`
		bare := `[` + task(own) + `,` + foreign + `]`
		for _, caller := range jsonSides {
			ask := func(name string) answer {
				params := `{"message":{"messageId":"m"},"noteOf":"` + own + `"}`
				if name == "stats/get" {
					params = ""
				}
				if params == "" && caller.Binding == wire.JSONRPC {
					params = "{}"
				}
				return w.invoke("alice", w.base, caller, name, params, own, everyURI)
			}
			for _, name := range []string{"tasks/search", "stats/get", "chat/ask"} {
				what := fmt.Sprintf("%s from %s to %s", name, caller, agent)
				w.agent.answers(bring(map[string]string{name: list}))
				if got := ask(name); strings.Contains(got.body, "bob") || strings.Contains(got.body, "unknown") ||
					!strings.Contains(got.body, `"tasks":[`+task(own)+`],"totalSize":1`) {
					t.Errorf("%s: %s", what, got.body)
				}
				w.agent.answers(bring(map[string]string{name: bare}))
				if got := ask(name); strings.Contains(got.body, "bob") || !strings.Contains(got.body, `[`+task(own)+`]`) {
					t.Errorf("%s, bare: %s", what, got.body)
				}
				for _, result := range []string{foreign, `{"task":` + foreign + `}`} {
					w.agent.answers(bring(map[string]string{name: result}))
					if got := ask(name); strings.Contains(got.body, "bob") || !strings.Contains(got.body, "-32006") && !strings.Contains(got.body, "INVALID_AGENT_RESPONSE") {
						t.Errorf("%s, %s: %s", what, result, got.body)
					}
				}
			}
			for _, name := range []string{"notes/add", "chat/ask"} {
				made := fmt.Sprintf("made-%s-%s-%s", name[:4], caller, agent)
				made = strings.ReplaceAll(made, " ", "-")
				w.agent.answers(bring(map[string]string{name: task(made)}))
				wantStatus(t, made, ask(name), 200)
				w.agent.answers(fluent)
				w.speak("alice", w.base, rpc10, ask10(made)).ok(t, made)
				w.speak("bob", w.base, rpc10, ask10(made)).refused(t, made, wire.TaskNotFound)
			}
			w.agent.take()
		}
	}
}

func ask10(task string) ask { return ask{method: wire.GetTask, task: task} }

// TestMethodsAllowed: rules name an extension's method as they do A2A's own, and its
// skill is needed as theirs are.
func TestMethodsAllowed(t *testing.T) {
	t.Parallel()
	w := brings(t, jsonSides, func(s *setup) {
		s.policy.Rules = []policy.Rule{
			{Name: "search", Effect: "allow", Subjects: []string{"alice"}, Methods: []string{"SendMessage", "tasks/search"}},
			{Name: "skilled", Effect: "allow", Subjects: []string{"bob"}, Skills: []string{"write it"}},
			{Name: "but", Effect: "deny", Subjects: []string{"bob"}, Methods: []string{"stats/get"}},
			{Name: "reads", Effect: "allow", Subjects: []string{"mallory"}, Skills: []string{"read"}},
			{
				Name: "without", Methods: []string{"tasks/search"}, Subjects: []string{"mallory"},
				Extensions: &policy.RuleExtensions{Deny: []string{uriSearch}},
			},
		}
	})
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		reply(rw, r, taskResult(r, "task-"+r.rpc().ID.text(), ""))
	})
	for who, id := range map[string]string{"alice": `"a"`, "bob": `"b"`, "mallory": `"m"`} {
		skill := map[string]string{"bob": "/skills/write%20it", "mallory": "/skills/read"}[who]
		body := strings.Replace(rpcBody("SendMessage", message("")), "7", id, 1)
		wantStatus(t, who, w.do(who, "POST", w.base+skill, body, "A2A-Version: 1.0"), 200)
	}
	w.agent.answers(bring(nil))
	w.agent.take()
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
			got := w.invoke(tt.who, w.base, s, tt.name, params, "task-"+tt.task, everyURI)
			if tt.want == nil {
				wantStatus(t, what, got, 200)
				w.agent.one(t)
				continue
			}
			w.agent.silent(t, what)
			if !strings.Contains(got.body, tt.want.Reason) && !strings.Contains(got.body, fmt.Sprint(tt.want.Code)) {
				t.Errorf("%s: %d %s", what, got.status, got.body)
			}
			if tt.want == wire.MethodNotFound && s.Binding == wire.JSONRPC {
				none := w.invoke(tt.who, w.base, s, "xasks/search", params, "", everyURI)
				sameAnswer(t, what, unnamed(got, tt.name), unnamed(none, "xasks/search"))
			}
		}
	}
}

// text is a JSON string without its quotes.
func (r jsonRaw) text() string { return strings.Trim(string(r), `"`) }

// TestMethodsRecorded: records and metrics have the method's name, and no other that a
// caller makes up.
func TestMethodsRecorded(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10})
	w.invoke("alice", w.base, rpc10, "tasks/search", "{}", "", everyURI)
	w.invoke("alice", w.base, rest10, "tasks/search", "{}", "", everyURI)
	w.invoke("alice", w.base, rpc10, "alien/probe", "{}", "", "A2A-Extensions: "+uriAlien)
	w.invoke("alice", w.base, rpc10, "stats/get", "{}", "")
	w.invoke("alice", w.base, rpc10, "canary/name", "{}", "", everyURI)
	var got []string
	for _, r := range w.audited("call") {
		got = append(got, fmt.Sprint(r["method"], " ", r["decision"]))
	}
	want := "[tasks/search allow tasks/search allow alien/probe error <nil> error <nil> error]"
	if fmt.Sprint(got) != want {
		t.Errorf("records: %v, want %s", got, want)
	}
	if n := len(w.audited("intent")); n != 2 {
		t.Errorf("%d intents", n)
	}
	rw := &responseBuffer{header: http.Header{}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil)
	must(t, err)
	promhttp.HandlerFor(w.tel.Registry, promhttp.HandlerOpts{}).ServeHTTP(rw, r)
	text := rw.text.String()
	if !strings.Contains(text, `method="tasks/search"`) || strings.Contains(text, "canary") {
		t.Errorf("metrics: %s", text)
	}
}

// TestMethodsProvided: what the gateway implements in an agent's place has no methods
// there.
func TestMethodsProvided(t *testing.T) {
	t.Parallel()
	for uri := range provided.Providers() {
		w := brings(t, []wire.Side{rpc10}, func(s *setup) {
			s.extensions = ext.Registry{{URI: uri, Kind: ext.Method, Methods: []ext.MethodConfig{{Name: "alien/probe", Verb: "POST", Path: "/alien"}}}}
			s.agent.Extensions.Provide = []string{uri}
		})
		got := w.invoke("alice", w.base, rpc10, "alien/probe", "{}", "", "A2A-Extensions: "+uri)
		none := w.invoke("alice", w.base, rpc10, "xlien/probe", "{}", "", "A2A-Extensions: "+uri)
		sameAnswer(t, uri, unnamed(got, "alien/probe"), unnamed(none, "xlien/probe"))
		w.agent.silent(t, uri)
	}
}

// TestA07_MethodsMetadata: metadata in the params and answers of extensions' methods is
// governed as that of A2A's own.
func TestA07_MethodsMetadata(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10}, func(s *setup) {
		s.extensions = append(ext.Registry{}, bringing...)
		s.extensions[1].Schemas.Request = schema.Source{Inline: []byte(`{"type":"object","required":["limit"]}`)}
	})
	mark := func(uri, value string) string { return fmt.Sprintf(`"metadata":{"plain":1,%q:%s}`, uri, value) }
	for _, agent := range jsonSides {
		w.becomes(declaring(speaks(agent), uriSearch, uriStats, uriChat))
		for _, caller := range jsonSides {
			what := fmt.Sprintf("%s to %s", caller, agent)
			own := strings.ReplaceAll("own "+what, " ", "-")
			w.given("alice", w.base, w.agent, own, "", "")
			w.agent.answers(bring(map[string]string{
				"tasks/search": `{"tasks":[` + taskIn(agent, own, "", "completed", ","+mark(uriNotes, "1")) + `]}`,
				"chat/ask":     `{"message":{"messageId":"x","role":"agent","parts":[],` + mark(uriStats, "1") + `}}`,
			}))
			for _, tt := range []struct{ name, params, ask, sent string }{
				{"tasks/search", `{` + mark(uriStats, "1") + `}`, uriSearch, `{"metadata":{"plain":1}}`},
				{"tasks/search", `{` + mark(uriSearch, `{"limit":1}`) + `}`, uriSearch, `{` + mark(uriSearch, `{"limit":1}`) + `}`},
				{"chat/ask", `{"message":{"messageId":"m",` + mark(uriStats, "1") + `}}`, uriChat, `{"message":{"messageId":"m","metadata":{"plain":1}}}`},
			} {
				got := w.invoke("alice", w.base, caller, tt.name, tt.params, "", "A2A-Extensions: "+tt.ask)
				wantStatus(t, what, got, 200)
				if _, sent := w.agent.one(t).brought(); sent != tt.sent {
					t.Errorf("%s %s: the agent got %s, want %s", what, tt.name, sent, tt.sent)
				}
				if strings.Contains(got.body, uriStats) || strings.Contains(got.body, uriNotes) || !strings.Contains(got.body, `"metadata":{"plain":1}`) {
					t.Errorf("%s %s: the caller got %s", what, tt.name, got.body)
				}
			}
			got := w.invoke("alice", w.base, caller, "tasks/search", `{`+mark(uriSearch, "{}")+`}`, "", "A2A-Extensions: "+uriSearch)
			if !strings.Contains(got.body, "limit") || !strings.Contains(got.body, "INVALID") && !strings.Contains(got.body, "-32602") {
				t.Errorf("%s: %s", what, got.body)
			}
			w.agent.silent(t, what)
		}
	}
}

// TestMethodsRPC: a gRPC call goes through as it came, both ways, with the extensions
// as metadata; and so do an agent's status and its details.
func TestMethodsRPC(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{grpc10}, tied, func(s *setup) { s.agent.Hosts = []string{"rec.example"} })
	w.given("tied", w.base, w.agent, "t", "c", "")
	sent, answered := "\x12\x01t"+unknown+"\x1a\x02\xff\xfe", "\x09answered"+unknown
	for name, tt := range map[string]struct {
		who    string
		header []string
	}{
		"by credential": {"tied", []string{"A2A-Extensions: " + uriNotes}},
		"older header":  {"tied", []string{"X-A2A-Extensions: " + uriNotes, "A2A-Version: 1.0"}},
		"by host":       {"tied", []string{"A2A-Extensions: " + uriNotes, "Host: rec.example"}},
	} {
		w.agent.answers(func(rw http.ResponseWriter, _ *record) {
			rw.Header().Set("Content-Type", "application/grpc")
			_, _ = rw.Write(grpcframe.Append(nil, []byte(answered)))
			rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
			rw.Header().Set(http.TrailerPrefix+"A2a-Extensions", uriNotes)
		})
		got := w.dialHost(tt.who, "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), tt.header...)
		seen := w.agent.one(t)
		if string(seen.body) != frame(0, sent) || seen.URL.Path != "/acme.v1.Notes/Add" || seen.Header.Get("A2A-Extensions") != uriNotes ||
			seen.Header.Get("A2A-Version") != "1.0" || seen.Header.Get("Te") != "trailers" || seen.Header.Get("X-Api-Key") != "" {
			t.Errorf("%s: the agent got %s %q %v", name, seen.URL, seen.body, seen.Header)
		}
		if got.body != frame(0, answered) || got.trailer.Get("Grpc-Status") != "0" || got.header.Get("A2A-Extensions")+got.header.Get("X-A2A-Extensions") != uriNotes {
			t.Errorf("%s: %q %v %v", name, got.body, got.header, got.trailer)
		}
	}
	w.agent.answers(func(rw http.ResponseWriter, _ *record) {
		rw.Header().Set("Content-Type", "application/grpc")
		rw.WriteHeader(http.StatusOK)
		rw.Header().Set(http.TrailerPrefix+"Grpc-Status", "9")
		rw.Header().Set(http.TrailerPrefix+"Grpc-Message", "closed%20today")
		rw.Header().Set(http.TrailerPrefix+"Grpc-Status-Details-Bin", "CAkSBXRvZGF5")
	})
	got := w.dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), everyURI)
	if want := "map[Grpc-Message:[closed%20today] Grpc-Status:[9] Grpc-Status-Details-Bin:[CAkSBXRvZGF5]]"; fmt.Sprint(got.trailer) != want {
		t.Errorf("an error: %v %v", got.header, got.trailer)
	}
	w.agent.one(t)
	w.becomes(declaring(func(base string) string { return cardWith(base, interfaceOf(base, grpc10, "acme")) }, uriNotes))
	got = w.dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), everyURI)
	if e := failure.ReadStatus(got.header, got.trailer); e == nil || e.Kind != wire.InvalidParams {
		t.Errorf("a tenant that the message may contradict: %v", e)
	}
	w.becomes(declaring(speaks(rpc10), uriNotes))
	got = w.dial("tied", "/acme.v1.Notes/Add", grpcframe.Append(nil, []byte(sent)), everyURI)
	if e := failure.ReadStatus(got.header, got.trailer); e == nil || e.Kind != wire.Unsupported {
		t.Errorf("no gRPC: %v", e)
	}
	w.agent.silent(t, "what cannot be sent")
}

// dialHost is dial with the host among the header.
func (w *world) dialHost(who, path string, body []byte, header ...string) rawRPC {
	w.Helper()
	r := w.request(who, "POST", w.url+path, string(body), append([]string{"Te: trailers"}, header...)...)
	r.Header.Set("Content-Type", "application/grpc")
	resp, err := w.h2().Do(r)
	must(w, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	must(w, err)
	return rawRPC{answer{resp.StatusCode, resp.Header, string(got)}, resp.Trailer}
}

// TestMethodsShared: an extension's method finds its agent by tenant on the shared
// endpoint, by host, and under a skill; the agent gets the tenant that its interface has.
func TestMethodsShared(t *testing.T) {
	t.Parallel()
	w := brings(t, []wire.Side{rpc10}, func(s *setup) { s.agent.Hosts = []string{"rec.example"} })
	for _, agent := range jsonSides {
		for _, tenant := range []string{"", "acme"} {
			if tenant != "" && agent.Version != wire.V10 {
				continue
			}
			w.becomes(declaring(func(base string) string { return cardWith(base, interfaceOf(base, agent, tenant)) }, uriNotes, uriSearch, uriStats, uriChat))
			for _, caller := range []wire.Side{rpc10, rest10} {
				for _, name := range []string{"tasks/search", "stats/get", "chat/ask"} {
					what := fmt.Sprintf("%s from %s to %s of %q", name, caller, agent, tenant)
					w.agent.answers(bring(nil))
					base, params := w.url+"/a2a", `{"tenant":"rec","message":{"messageId":"m"}}`
					if name == "stats/get" {
						params = `{"tenant":"rec"}`
					}
					if caller.Binding == wire.HTTPJSON {
						base += "/rec"
						params = strings.TrimPrefix(params, `{"tenant":"rec"}`)
					}
					wantStatus(t, what, w.invoke("alice", base, caller, name, params, "", everyURI), 200)
					seen := w.agent.one(t)
					_, got := seen.brought()
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
	w.becomes(declaring(speaks(rpc10), uriSearch))
	for _, tt := range []struct{ base, host string }{{w.url, "rec.example"}, {w.url + "/skills/read", "rec.example"}, {w.base + "/skills/read", strings.TrimPrefix(w.url, "http://")}} {
		for _, caller := range jsonSides {
			got := w.invoke("alice", tt.base, caller, "tasks/search", "{}", "", everyURI, "Host: "+tt.host)
			wantStatus(t, tt.base+tt.host, got, 200)
			w.agent.one(t)
		}
	}
	wantStatus(t, "a skill that is not there", w.invoke("alice", w.base+"/skills/none", rest10, "tasks/search", "{}", "", everyURI), 404)
	for _, params := range []string{`{"tenant":"none"}`, `{}`} {
		got := w.invoke("alice", w.url+"/a2a", rpc10, "tasks/search", params, "", everyURI)
		if !strings.Contains(got.body, "error") {
			t.Errorf("%s: %s", params, got.body)
		}
	}
	w.agent.silent(t, "no agent")
}
