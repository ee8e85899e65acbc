package wire

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// FuzzNewExtra: a row that is accepted takes nothing from A2A, and no path is that of
// two templates.
func FuzzNewExtra(f *testing.F) {
	for _, row := range extraRows() {
		f.Add(row.Name, row.Path, row.RPCPath, row.TaskField, "/acme/tasks/7:annotate")
	}
	for _, seed := range [][2]string{
		{"/tasks/{task}:x", "/tasks/7:X"}, {"/a/{task}", "/a/tasks"}, {"/{task}:x", "/v1:x"}, {"/a", "/%61/a"},
		{"/tasks/{task}/a", "/tasks/tasks/a"}, {"/a/b/{task}", "/x/a/b/c"}, {"/card", "/v1/card"}, {"/b:c", "/tasks/b:c"},
	} {
		f.Add("acme/x", seed[0], "", "", seed[1])
	}
	f.Fuzz(func(t *testing.T, name, template, rpcPath, member, path string) {
		row := Method{
			Name: name, Extension: testURI, Subject: OfTask, Verbs: []string{"POST"}, Path: template,
			RPCPath: rpcPath, TaskField: member,
		}
		if rpcPath != "" {
			row.TaskTag = 1
		}
		beside := Method{Name: "acme/beside", Extension: testURI, Subject: OfAgent, Verbs: []string{"GET"}, Path: "/beside/{task}:note"}
		e, err := NewExtra([]Method{row, beside})
		if err != nil {
			return
		}
		if methodNames[name].method != nil || rpcs[rpcPath] != nil || !utf8.ValidString(name) {
			t.Fatalf("took %q, %q", name, rpcPath)
		}
		paths := []string{path, "/v1" + path, strings.ReplaceAll(template, "{task}", "7"), "/v1" + template}
		for _, r := range coreRoutes.v10.paths {
			for _, m := range r.methods {
				paths = append(paths, strings.NewReplacer("{task}", "7", "{config}", "c").Replace(m.Path), m.Path, "/acme"+m.Path)
			}
		}
		for _, verb := range []string{"GET", "POST", "PUT"} {
			for _, p := range paths {
				checkRoute(t, e, verb, p)
			}
		}
		r, ok := e.ByRoute(http.MethodPost, strings.ReplaceAll(template, "{task}", "7"))
		if template != "" && (!ok || r.Method != e.Methods()[0]) {
			t.Fatalf("%q is not found: %+v", template, r)
		}
	})
}

// TestA09_NoPathIsTwo makes rows of the pieces that paths have in common, and asks for
// all that these pieces make.
func TestA09_NoPathIsTwo(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom([]string{
		"tasks", "Tasks", "a", "b", "acme", "a:x", "tasks:x", "message:send", "pushNotificationConfigs", "card", "{task}", "{task}:x", "{task}:cancel",
	})
	values := rapid.SampledFrom([]string{
		"tasks", "Tasks", "a", "b", "acme", "a:x", "tasks:x", "a:X", "a%3Ax", "%61", "message:send", "pushNotificationConfigs", "card", "7:cancel", "v1", "extendedAgentCard",
	})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		var rows []Method
		for i, verb := range rapid.SliceOfN(rapid.SampledFrom([]string{"GET", "POST"}), 1, 3).Draw(t, "verbs") {
			rows = append(rows, Method{
				Name: "acme/" + string(rune('a'+i)), Extension: testURI, Subject: OfAgent, Verbs: []string{verb},
				Path: "/" + strings.Join(rapid.SliceOfN(pieces, 1, 4).Draw(t, "path"), "/"),
			})
		}
		e, err := NewExtra(rows)
		if err != nil {
			return
		}
		accepted++
		for _, m := range rows {
			for _, task := range []string{"7", "tasks", "a:x"} {
				path := strings.ReplaceAll(m.Path, "{task}", task)
				for _, p := range []string{path, "/v1" + path, "/acme" + path, "/tasks" + path} {
					checkRoute(t, e, "GET", p)
					checkRoute(t, e, "POST", p)
				}
			}
		}
		for _, path := range rapid.SliceOfN(rapid.SliceOfN(values, 1, 5), 20, 20).Draw(t, "paths") {
			checkRoute(t, e, "GET", "/"+strings.Join(path, "/"))
			checkRoute(t, e, "POST", "/"+strings.Join(path, "/"))
		}
	})
	if accepted == 0 {
		t.Error("every row was refused")
	}
}

// checkRoute holds the route of a path with extensions to the one without.
func checkRoute(t rapid.TB, e *Extra, verb, path string) {
	t.Helper()
	core, wasCore := ByRoute(verb, path)
	r, ok := e.ByRoute(verb, path)
	if ok && (r.Method == nil) == (len(r.Allow) == 0) {
		t.Fatalf("%s %s: %+v", verb, path, r)
	}
	segments, valid := split(path)
	if !valid {
		if ok {
			t.Fatalf("%s %s: %+v", verb, path, r)
		}
		return
	}
	for _, rs := range []*routes{&e.routes.v10, &e.routes.v03} {
		n := 0
		for _, p := range rs.paths {
			if len(p.segments) == len(segments) && rs.fits(p, segments, new(Route)) {
				n++
			}
		}
		if n > 1 {
			t.Fatalf("%s %s is %d paths", verb, path, n)
		}
	}
	if !wasCore || core.Method == nil {
		return
	}
	verbAtEnd := false // which is no part of the id any more, encoded or not
	plain, err := url.PathUnescape(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range e.routes.v10.suffixes {
		verbAtEnd = verbAtEnd || strings.Contains(strings.ToLower(plain), strings.ToLower(s))
	}
	sameTenant := core.Tenant == "tasks" // see hidesTenant
	if !verbAtEnd && !sameTenant && (r.Method != core.Method || r.TaskID != core.TaskID || r.Tenant != core.Tenant || r.ConfigID != core.ConfigID) {
		t.Fatalf("%s %s was %+v and is %+v", verb, path, core, r)
	}
}

// FuzzDecodeExtra feeds bodies to the decoders of extensions' methods. What FuzzDecode
// promises holds here; and what any parser may take for the task is the one task.
func FuzzDecodeExtra(f *testing.F) {
	for _, seed := range []string{
		rpc("tasks/search", `{"contextId":"c","taskId":"t"}`), rpc("tasks/annotate", `{"id":"t","targetTask":"t"}`),
		rpc("message/simulate", `{"message":{"messageId":"m","taskId":"t"},"replay_of":"t"}`), rpc("acme.limits", `{"of":"t"}`),
		rpc("tasks/search\\u0000", `{}`), rpc("Tasks/Search", `{}`), rpc("SendMessage", `{"message":{}}`),
		`{"params":{"targetTask":"t"},"method":"tasks/annotate","id":1,"jsonrpc":"2.0"}`,
		`{"targetTask":"t","message":{"taskId":"t"}}`, "\x1a\x01t", "\x0a\x01t\x0a\x01u", "null", "",
	} {
		f.Add([]byte(seed))
	}
	e := testExtra(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, header := range []Version{"", V01, V03, V10} {
			c := Call{Extra: e}
			if err := c.DecodeJSONRPC(body, header, Limits{}); err == nil {
				checkAccepted(t, &c)
				if c.Method.Extension != "" && c.Method != e.names[c.Method.Name] {
					t.Fatalf("%q is another's", c.Method.Name)
				}
				checkTaskNamed(t, &c)
			}
		}
		for _, path := range []string{"/tasks/t:annotate", "/v1/tasks/t:annotate", "/message:simulate", "/v1/message:simulate", "/limits", "/a/tasks:search"} {
			r, ok := e.ByRoute(http.MethodPost, path)
			if !ok || r.Method == nil {
				t.Fatal(path)
			}
			c := Call{Extra: e}
			if err := c.DecodeHTTP(r, url.Values{}, body, "", Limits{}); err == nil {
				checkAccepted(t, &c)
				checkTaskNamed(t, &c)
			}
		}
		for _, m := range e.Methods() {
			c := Call{Extra: e}
			err := c.DecodeGRPC(m, V10, body, "", Limits{})
			if err == nil && (m.RPCPath == "" || m.Subject == OfTask && c.TaskID == "" || c.Body != nil || !utf8.ValidString(c.TaskID)) {
				t.Fatalf("%s: %+v", m.Name, c)
			}
		}
	})
}

// checkTaskNamed reads the params as encoding/json does, which takes any case.
func checkTaskNamed(t *testing.T, c *Call) {
	t.Helper()
	if c.Method.TaskField == "" || len(c.Params) == 0 || c.Params[0] != '{' {
		return
	}
	for name, value := range members(t, c.Params) {
		if strings.EqualFold(name, c.Method.TaskField) && value != "" && value != c.TaskID {
			t.Fatalf("%s: %q names %q, the call %q", c.Params, name, value, c.TaskID)
		}
	}
	if c.Method.Subject == OfTask && c.TaskID == "" {
		t.Fatalf("%s: no task", c.Params)
	}
}

// members are the members of an object that are strings.
func members(t *testing.T, object []byte) map[string]string {
	t.Helper()
	var all map[string]any
	if err := json.Unmarshal(object, &all); err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]string)
	for name, value := range all {
		if s, ok := value.(string); ok {
			texts[name] = s
		}
	}
	return texts
}
