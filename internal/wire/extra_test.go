package wire

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// misprintedCard is what one paragraph of 0.3 calls the extended card.
const misprintedCard = "agent/authenticatedExtendedCard"

const testURI = "https://acme.example/ext/search/v1"

// rows are methods of every subject.
func extraRows() []Method {
	get, post := []string{http.MethodGet}, []string{http.MethodPost}
	return []Method{
		{Name: "tasks/search", Extension: testURI, Subject: OfCaller, Verbs: post, Path: "/tasks:search"},
		{
			Name: "tasks/annotate", Extension: testURI, Subject: OfTask, Writes: true, TaskField: "targetTask",
			Verbs: post, Path: "/tasks/{task}:annotate", RPCPath: "/acme.v1.Notes/Annotate", TaskTag: 3,
		},
		{Name: "tasks/notes", Extension: testURI, Subject: OfTask, Verbs: get, Path: "/tasks/{task}/notes"},
		{Name: "message/simulate", Extension: testURI, Subject: OfMessage, Verbs: post, Path: "/message:simulate", TaskField: "replay_of"},
		{
			Name: "acme.limits", Extension: testURI, Subject: OfAgent, TaskField: "of",
			Verbs: []string{http.MethodGet, http.MethodPost}, Path: "/limits",
			RPCPath: "/lf.a2a.v1.A2AService/Limits", TaskTag: 1,
		},
		{Name: "tasks/create", Extension: testURI, Subject: OfAgent, Writes: true, Verbs: post, Path: "/tasks"},
		{Name: "tasks/watch", Extension: testURI, Subject: OfCaller, Streams: true},
	}
}

func testExtra(t testing.TB) *Extra {
	t.Helper()
	e, err := NewExtra(extraRows())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// extraNamed is a row of e.
func extraNamed(t testing.TB, e *Extra, name string) *Method {
	t.Helper()
	i := slices.IndexFunc(e.Methods(), func(m *Method) bool { return m.Name == name })
	if i < 0 {
		t.Fatalf("no method %q", name)
	}
	return e.Methods()[i]
}

func TestNewExtra(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	for i, row := range extraRows() {
		m := e.Methods()[i]
		if m.Name != row.Name || m.V03 != row.Name || m.V01 != "" {
			t.Errorf("row %d is %+v", i, m)
		}
		if m.RPC(V03) != "" || m.RPC(V10) != row.RPCPath {
			t.Errorf("%s: RPCs %q, %q", m.Name, m.RPC(V03), m.RPC(V10))
		}
	}
	if got := e.RPCs(); !slices.Equal(got, []string{"/acme.v1.Notes/Annotate", "/lf.a2a.v1.A2AService/Limits"}) {
		t.Errorf("RPCs %q", got)
	}
	if e, err := NewExtra(nil); err != nil || e.Methods() != nil {
		t.Errorf("no rows: %v, %v", e.Methods(), err)
	}
	var none *Extra
	if none.Methods() != nil || none.RPCs() != nil {
		t.Error("a nil Extra has methods")
	}
}

// TestA09_RefusedRows changes one thing about a row that is right.
func TestA09_RefusedRows(t *testing.T) {
	t.Parallel()
	row := func(change func(*Method)) Method {
		m := Method{Name: "acme/note", Extension: testURI, Subject: OfTask, Verbs: []string{"POST"}, Path: "/tasks/{task}:note"}
		change(&m)
		return m
	}
	name := func(s string) Method { return row(func(m *Method) { m.Name = s }) }
	path := func(s string) Method { return row(func(m *Method) { m.Path = s }) }
	get := func(s string) Method { return row(func(m *Method) { m.Path, m.Verbs = s, []string{"GET"} }) }
	verbs := func(s ...string) Method { return row(func(m *Method) { m.Verbs = s }) }
	field := func(s string) Method { return row(func(m *Method) { m.TaskField = s }) }
	rpc := func(s string) Method { return row(func(m *Method) { m.RPCPath, m.TaskTag = s, 1 }) }
	about := func(s Subject, change func(*Method)) Method {
		return row(func(m *Method) { m.Subject = s; change(m) })
	}
	for _, list := range map[string][]Method{
		"names": {
			name(""), name("SendMessage"), name("sendMessage"), name("SEND_MESSAGE"), name("message/send"),
			name("Message-Send"), name("tasks/get"), name("tasks.get"), name("tasksget"), name("TaskSubscription"),
			name(misprintedCard), name("agent/getAuthenticatedExtendedCard"), name("tasks/sendSubscribe"),
			name("ListTaskPushNotificationConfig"), name("rpc.discover"), name("RPC.x"), name("acme/\x00note"),
			name("acme note"), name("acme/n\u043ete"), name(`acme"note`), name(strings.Repeat("n", 129)), name("Li\u017ftTasks"),
		},
		"paths": {
			path("tasks:note"), path("/"), get("/tasks/{task}"), get("/tasks"),
			path("//note"), path("/note/"), path("/a/b/c/d/e"), path("/{config}"), path("/tasks/{config}"), path("/tasks/{task}/{task}"),
			path("/tasks/{task}note"), path("/tasks/{task}:"), path("/tasks/{task}:a:b"), path("/tasks/{task}:a/b"),
			path("/tasks/{task}:cancel"), path("/tasks/{task}:Cancel"), path("/Tasks/{task}:cancel"), path("/{id}"), path("/{task}"),
			path("/message:send"), path("/Message:Send"), get("/extendedAgentCard"), get("/card"), path("/v1/note"), path("/V1"),
			path("/.well-known/note"), path("/a%20b"), path("/a b"), path("/tasks/note"), path("/acme/message:send"),
			path("/acme/tasks/{task}:cancel"), get("/acme/{task}"), path("/{task}/message:send"), path("/tasks/tasks/{task}"),
			path("/tasks/x:cancel"), path("/x/../y"), path("/note?x=y"), path("/note#x"),
			path("/tasks/{task}/pushNotificationConfigs/note"),
		},
		"verbs": {
			verbs(), verbs("PUT"), verbs("post"), verbs("POST", "POST"), verbs("DELETE"), verbs("POST", "PATCH"),
			row(func(m *Method) { m.Path = "" }),
			about(OfMessage, func(m *Method) { m.Verbs = []string{"GET"} }),
		},
		"members": {
			field("metadata"), field("Metadata"), field("tenant"), field("contextId"), field("task_id"), field("taskID"), field("ID"),
			field("historyLength"), field("name"), field("a b"), field("a\x00"), field("1st"), field(strings.Repeat("f", 33)),
			about(OfMessage, func(m *Method) { m.TaskField = "message" }),
			about(OfMessage, func(m *Method) { m.TaskField = "session_id" }),
			about(OfCaller, func(m *Method) { m.TaskField = "pageToken" }),
		},
		"RPCs": {
			rpc("acme.v1.Notes/Note"), rpc("/acme.v1.Notes"), rpc("/acme.v1.Notes/"), rpc("/acme..Notes/Note"), rpc("/acme.v1.Notes/No/te"),
			rpc("/acme v1/Note"), rpc("/" + strings.Repeat("a", 256) + "/Note"),
			rpc("/lf.a2a.v1.A2AService/SendMessage"), rpc("/lf.a2a.v1.A2AService/sendmessage"), rpc("/lf.a2a.v1.A2AService/GetAgentCard"),
			rpc("/LF.a2a.v1.A2AService/Note"), rpc("/a2a.v1.A2AService/Note"), rpc("/a2a.v1.a2aservice/Note"),
			rpc("/grpc.health.v1.Health/Check"), rpc("/GRPC.x/Y"),
			row(func(m *Method) { m.RPCPath = "/acme.v1.Notes/Note" }), // of which task?
			row(func(m *Method) { m.TaskTag = 1 }),
			row(func(m *Method) { m.RPCPath, m.TaskTag = "/acme.v1.Notes/Note", -1 }),
			row(func(m *Method) { m.RPCPath, m.TaskTag = "/acme.v1.Notes/Note", 19_500 }),
			row(func(m *Method) { m.RPCPath, m.TaskTag = "/acme.v1.Notes/Note", 1<<29 }),
			about(OfMessage, func(m *Method) { m.RPCPath, m.TaskTag = "/acme.v1.Notes/Note", 1 }),
			about(OfCaller, func(m *Method) { m.RPCPath = "/acme.v1.Notes/Note" }),
		},
		"rows": {
			row(func(m *Method) { m.Extension = "" }),
			row(func(m *Method) { m.V01 = "acme/old" }), row(func(m *Method) { m.Path03 = "/v1/x" }),
			row(func(m *Method) { m.GRPC03 = "X" }), row(func(m *Method) { m.Push = true }),
			about(0, func(*Method) {}), about(OfConfig, func(*Method) {}), about(OfAgent+1, func(*Method) {}),
		},
	} {
		for _, m := range list {
			if _, err := NewExtra([]Method{m}); err == nil {
				t.Errorf("accepted: %+v", m)
			} else if m.Name != "" && !strings.Contains(err.Error(), "method ") {
				t.Errorf("the error does not say whose it is: %v", err)
			}
		}
	}
	if _, err := NewExtra([]Method{row(func(*Method) {})}); err != nil {
		t.Errorf("the row that was changed is wrong itself: %v", err)
	}
}

// TestA09_RefusedPairs has rows of which each alone is right.
func TestA09_RefusedPairs(t *testing.T) {
	t.Parallel()
	a := Method{Name: "acme/a", Extension: testURI, Subject: OfAgent, Verbs: []string{"POST"}, Path: "/a", RPCPath: "/acme.v1.A/Do"}
	for name, change := range map[string]func(*Method){
		"same name":            func(m *Method) { m.Name = a.Name },
		"name in another case": func(m *Method) { m.Name = "Acme.A" },
		"same path":            func(m *Method) { m.Path, m.Verbs = a.Path, []string{"GET", "POST"} },
		"path in another case": func(m *Method) { m.Path, m.Verbs = "/A", []string{"GET"} },
		"path with a tenant":   func(m *Method) { m.Path = "/b/a" },
		"id or literal":        func(m *Method) { m.Path = "/{task}" },
		"same RPC":             func(m *Method) { m.RPCPath = a.RPCPath },
		"RPC in another case":  func(m *Method) { m.RPCPath = "/acme.v1.a/do" },
	} {
		b := Method{Name: "acme/b", Extension: testURI, Subject: OfAgent, Verbs: []string{"POST"}, Path: "/b", RPCPath: "/acme.v1.B/Do"}
		if _, err := NewExtra([]Method{a, b}); err != nil {
			t.Fatal(err)
		}
		change(&b)
		for _, rows := range [][]Method{{a, b}, {b, a}} {
			if _, err := NewExtra(rows); err == nil {
				t.Errorf("%s: accepted", name)
			}
		}
	}
	x := Method{Name: "acme/x", Extension: testURI, Subject: OfTask, Verbs: []string{"POST"}, Path: "/tasks/{task}:x"}
	y := Method{Name: "acme/y", Extension: testURI, Subject: OfTask, Verbs: []string{"GET"}, Path: "/jobs/{task}:X"}
	if _, err := NewExtra([]Method{x, y}); err == nil {
		t.Error("verbs behind ids in two cases: accepted")
	}
	y.Path = "/tasks/{task}:x"
	if _, err := NewExtra([]Method{x, y}); err != nil {
		t.Errorf("one path with two verbs: %v", err)
	}
}

func TestExtraByRoute(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	for request, want := range map[string]Route{
		"POST /tasks:search":             {Version: V10, Method: extraNamed(t, e, "tasks/search")},
		"POST /acme/tasks:search":        {Version: V10, Tenant: "acme", Method: extraNamed(t, e, "tasks/search")},
		"POST /v1/tasks:search":          {Version: V03, Method: extraNamed(t, e, "tasks/search")},
		"GET /tasks:search":              {Version: V10, Allow: []string{"POST"}},
		"POST /tasks/7:annotate":         {Version: V10, TaskID: "7", Method: extraNamed(t, e, "tasks/annotate")},
		"POST /acme/tasks/a:b:annotate":  {Version: V10, Tenant: "acme", TaskID: "a:b", Method: extraNamed(t, e, "tasks/annotate")},
		"POST /v1/tasks/7:annotate":      {Version: V03, TaskID: "7", Method: extraNamed(t, e, "tasks/annotate")},
		"GET /tasks/7:annotate":          {Version: V10, TaskID: "7", Allow: []string{"POST"}}, // no longer the task 7:annotate
		"GET /tasks/7:annotate/notes":    {Version: V10, TaskID: "7:annotate", Method: extraNamed(t, e, "tasks/notes")},
		"GET /acme/tasks/7/notes":        {Version: V10, Tenant: "acme", TaskID: "7", Method: extraNamed(t, e, "tasks/notes")},
		"GET /limits":                    {Version: V10, Method: extraNamed(t, e, "acme.limits")},
		"POST /v1/limits":                {Version: V03, Method: extraNamed(t, e, "acme.limits")},
		"POST /tasks":                    {Version: V10, Method: extraNamed(t, e, "tasks/create")},
		"POST /acme/tasks":               {Version: V10, Tenant: "acme", Method: extraNamed(t, e, "tasks/create")},
		"DELETE /tasks":                  {Version: V10, Allow: []string{"GET", "POST"}},
		"GET /tasks/limits":              {Version: V10, TaskID: "limits", Method: byRoute(t, "GET /tasks/1").Method},
		"POST /message:simulate":         {Version: V10, Method: extraNamed(t, e, "message/simulate")},
		"POST /v1/v1":                    {},
		"POST /tasks/7:Annotate":         {},
		"POST /tasks/7%3Aannotate":       {},
		"POST /Tasks:search":             {},
		"POST /tasks%3Asearch":           {},
		"POST /tasks:search/":            {},
		"POST /limits%2f":                {},
		"POST /a/b/limits":               {},
		"POST /v1/acme/limits":           {},
		"POST /limits/v1":                {},
		"GET /li%6dits":                  {},
		"POST /t%61sks/7:annotate":       {},
		"GET /tasks/7:annotate/unlisted": {},
	} {
		verb, path, _ := strings.Cut(request, " ")
		r, ok := e.ByRoute(verb, path)
		if ok != (want.Version != "") {
			t.Errorf("%s: found %v", request, ok)
			continue
		}
		if ok && (r.Method != want.Method || r.Version != want.Version || r.Tenant != want.Tenant ||
			r.TaskID != want.TaskID || !slices.Equal(r.Allow, want.Allow)) {
			t.Errorf("%s: %+v", request, r)
		}
	}
	// Without the extension its names mean nothing, and the id is one again.
	if r := byRoute(t, "GET /tasks/7:annotate"); r.TaskID != "7:annotate" || r.Method.Name != GetTask {
		t.Errorf("core: %+v", r)
	}
	var none *Extra
	if _, ok := none.ByRoute("POST", "/tasks:search"); ok {
		t.Error("a nil Extra has a path")
	}
}

func byRoute(t testing.TB, request string) Route {
	t.Helper()
	verb, path, _ := strings.Cut(request, " ")
	r, ok := ByRoute(verb, path)
	if !ok {
		t.Fatalf("%s: no route", request)
	}
	return r
}

func TestExtraByRPC(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	var none *Extra
	for _, tt := range []struct {
		extra *Extra
		path  string
		name  string
		ok    bool
	}{
		{e, "/acme.v1.Notes/Annotate", "tasks/annotate", true},
		{e, "/lf.a2a.v1.A2AService/Limits", "acme.limits", true},
		{e, "/lf.a2a.v1.A2AService/limits", "", true}, // A2A's service, without such an RPC
		{e, "/lf.a2a.v1.A2AService/GetTask", GetTask, true},
		{e, "/acme.v1.Notes/annotate", "", false},
		{e, "/acme.v1.Notes/", "", false},
		{none, "/acme.v1.Notes/Annotate", "", false},
		{none, "/lf.a2a.v1.A2AService/Limits", "", true},
	} {
		m, v, ok := tt.extra.ByRPC(tt.path)
		if ok != tt.ok || (m != nil) != (tt.name != "") || m != nil && (m.Name != tt.name || v != V10) {
			t.Errorf("%s: %v, %s, %v", tt.path, m, v, ok)
		}
	}
}
