package wire

import (
	"net/url"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestA09_Names sends every name that a lookup could fall for. Only an extension's
// own, letter for letter and with its tables at hand, is the extension's method; a
// core name stays the core's.
func TestA09_Names(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	names := []string{
		"", " ", "rpc.discover", "rpc.tasks/search", "__proto__", "toString", "unknown", misprintedCard,
		"SendMessage\u0000", "tasks/search\u0000", "\u0000tasks/search", "tasks/search ", " tasks/search", "tasks\\/search",
		"t\u0430sks/search", "tasks/\u017fearch", "tasks\u2215search", "tasks/search\u200b",
	}
	for _, m := range append(coreMethods(), e.Methods()...) {
		for _, name := range []string{m.Name, m.V03, m.V01, m.GRPC03} {
			names = append(names, name, strings.ToLower(name), strings.ToUpper(name), strings.ReplaceAll(name, "/", "."),
				strings.ReplaceAll(name, "/", ""), strings.ReplaceAll(name, "/", "_"), m.RPCPath)
		}
	}
	const params = `{"id":"t","taskId":"t","message":{"messageId":"m"}}`
	for _, name := range names {
		core, own := methodNames[name]
		for _, header := range []Version{"", V03, V10} {
			for _, extra := range []*Extra{nil, e} {
				c := Call{Extra: extra}
				err := c.DecodeJSONRPC([]byte(rpc(strings.ReplaceAll(name, "\u0000", `\u0000`), params)), header, Limits{})
				switch {
				case c.Extra != extra:
					t.Fatal("decoding took the tables away")
				case own && c.Method != core.method:
					t.Errorf("%q (%q): %+v, not A2A's", name, header, c.Method)
				case own:
				case extra != nil && extra.names[name] != nil:
					want := header
					if want == "" {
						want = V03
					}
					if err != nil || c.Method != extra.names[name] || c.Version != want || c.Shared {
						t.Errorf("%q (%q): %v, version %q", name, header, err, c.Version)
					}
				case err == nil || err.Kind != MethodNotFound || c.Method != nil:
					t.Errorf("%q (%q): %v, method %v", name, header, err, c.Method)
				}
			}
		}
	}
}

// TestExtraParams reads the params of every kind of method, by JSON-RPC.
func TestExtraParams(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	for _, tt := range []struct {
		method, params string
		task, context  string
		kind           *Kind
	}{
		{"tasks/search", `{"text":"x","contextId":"c","pageToken":"p","metadata":{"` + SkillSelection + `":"s"}}`, "", "c", nil},
		{"tasks/search", `null`, "", "", nil},
		{"tasks/search", `{"taskId":"t"}`, "t", "", nil}, // ownership must see it
		{"tasks/search", `{"TaskId":"t"}`, "", "", InvalidParams},
		{"tasks/search", `{"id":{"of":"search"}}`, "", "", nil},
		{"tasks/search", `[]`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":"t"}`, "t", "", nil},
		{"tasks/annotate", `{"target_task":"t"}`, "t", "", nil},
		{"tasks/annotate", `{"id":"t","targetTask":"t"}`, "t", "", nil},
		{"tasks/annotate", `{"id":"t","targetTask":"u"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"taskId":"t","targetTask":"u"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":"t","target_task":"u"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":"t","TargetTask":"u"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":"t","targetTas\u212a":"u"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":"t","targetTask\u0000":"u"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":7}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":"a\u0000b"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":"` + strings.Repeat("t", 257) + `"}`, "", "", InvalidParams},
		{"tasks/annotate", `{"targetTask":""}`, "", "", InvalidParams},
		{"tasks/annotate", `{}`, "", "", InvalidParams},
		{"tasks/notes", `{"targetTask":"t"}`, "", "", InvalidParams}, // another row's member
		{"message/simulate", `{"message":{"messageId":"m","taskId":"t","contextId":"c"}}`, "t", "c", nil},
		{"message/simulate", `{"message":{"messageId":"m"},"replay_of":"t"}`, "t", "", nil},
		{"message/simulate", `{"message":{"messageId":"m","taskId":"t"},"replay_of":"u"}`, "", "", InvalidParams},
		{"message/simulate", `{"message":{"messageId":"m"},"replayOf":"u"}`, "", "", InvalidParams},
		{"message/simulate", `{"replay_of":"t"}`, "", "", InvalidParams},
		{"acme.limits", `{"of":"t","contextId":"c"}`, "t", "c", nil},
		{"acme.limits", `{"pageToken":5,"id":6}`, "", "", nil},
		{"tasks/watch", `{}`, "", "", nil},
	} {
		for _, body := range []string{
			rpc(tt.method, tt.params),
			`{"params":` + tt.params + `,"id":1,"jsonrpc":"2.0","method":"` + tt.method + `"}`, // before the method is known
		} {
			c := Call{Extra: e}
			err := c.DecodeJSONRPC([]byte(body), V10, Limits{})
			if tt.kind != nil {
				if err == nil || err.Kind != tt.kind {
					t.Errorf("%s: %v", body, err)
				}
				continue
			}
			if err != nil || c.TaskID != tt.task || c.ContextID != tt.context || c.Streaming != c.Method.Streams {
				t.Errorf("%s: %v, task %q, context %q", body, err, c.TaskID, c.ContextID)
			}
			if strings.Contains(tt.params, SkillSelection) && c.Skill != "s" {
				t.Errorf("%s: skill %q", body, c.Skill)
			}
		}
	}
}

// TestA09_NoExtensionsIn01: a caller of 0.1 has its own names for tasks, and no way to
// tell which of an extension's params are such names.
func TestA09_NoExtensionsIn01(t *testing.T) {
	t.Parallel()
	for _, m := range testExtra(t).Methods() {
		body := []byte(rpc(m.Name, `{"id":"t","taskId":"t","message":{"taskId":"t"}}`))
		known, unknown := Call{Extra: testExtra(t)}, Call{}
		got, want := known.DecodeJSONRPC(body, V01, Limits{}), unknown.DecodeJSONRPC(body, V01, Limits{})
		if got == nil || got.Kind != MethodNotFound || got.Message != want.Message || known.Method != nil {
			t.Errorf("%s: %v, want %v", m.Name, got, want)
		}
	}
}

// TestA09_Asked: what is hidden is found in no other way than what is not there.
func TestA09_Asked(t *testing.T) {
	t.Parallel()
	rows := extraRows()
	for i := range rows {
		if rows[i].Name != "tasks/search" && rows[i].Name != "acme.limits" {
			rows[i].Extension = "https://acme.example/ext/other/v1"
		}
	}
	e, err := NewExtra(rows)
	if err != nil {
		t.Fatal(err)
	}
	view := e.Asked(func(uri string) bool { return uri == testURI })
	for _, m := range e.Methods() {
		body := []byte(rpc(m.Name, `{"id":"t","message":{}}`))
		known, unknown := Call{Extra: view}, Call{}
		got, want := known.DecodeJSONRPC(body, "", Limits{}), unknown.DecodeJSONRPC(body, "", Limits{})
		if shown := m.Extension == testURI; shown != (got == nil) || !shown && (got.Message != want.Message || known.Version != unknown.Version) {
			t.Errorf("%s: %v, without extensions %v", m.Name, got, want)
		}
	}
	for request, want := range map[string]string{
		"POST /tasks:search":       "tasks/search",
		"GET /limits":              "acme.limits",
		"POST /acme/limits":        "acme.limits",
		"POST /tasks/7:annotate":   "nothing",
		"GET /tasks/7:annotate":    "nothing", // and no task "7:annotate": agents would not read it so
		"GET /tasks/7/notes":       "nothing",
		"GET /acme/tasks/7/notes":  "nothing",
		"POST /v1/tasks/7/notes":   "nothing",
		"POST /message:simulate":   "nothing",
		"GET /message:simulate":    "nothing",
		"POST /tasks":              "use GET",
		"DELETE /tasks":            "use GET",
		"DELETE /limits":           "use GET POST",
		"GET /tasks/7":             GetTask,
		"GET /tasks/7:subscribe":   SubscribeToTask,
		"GET /tasks/7%3Asubscribe": "nothing",
	} {
		verb, path, _ := strings.Cut(request, " ")
		r, ok := view.ByRoute(verb, path)
		got := "nothing"
		switch {
		case ok && r.Method != nil:
			got = r.Method.Name
		case ok:
			got = "use " + strings.Join(r.Allow, " ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
	for path, want := range map[string]bool{
		"/acme.v1.Notes/Annotate": false, "/lf.a2a.v1.A2AService/Limits": true, "/lf.a2a.v1.A2AService/GetTask": true,
	} {
		if m, _, _ := view.ByRPC(path); (m != nil) != want {
			t.Errorf("%s: %v", path, m)
		}
	}
	if none := (*Extra)(nil).Asked(nil); none != nil {
		t.Error("a nil Extra shows something")
	}
	if len(view.Methods()) != len(rows) || len(view.RPCs()) != 2 {
		t.Error("policy and metrics must know the methods that are hidden too")
	}
}

func TestExtraHTTP(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	for _, tt := range []struct {
		request, query, body string
		header               Version
		task, tenant         string
		kind                 *Kind
	}{
		{"POST /tasks:search", "", ``, "", "", "", nil},
		{"POST /tasks:search", "", `{}`, V10, "", "", nil},
		{"POST /v1/tasks:search", "", `null`, V03, "", "", nil},
		{"POST /v1/tasks:search", "", `{}`, V10, "", "", VersionUnsupported},
		{"POST /tasks:search", "tenant=a", `{"tenant":"b"}`, "", "", "", InvalidParams},
		{"POST /acme/tasks:search", "", `{"tenant":"acme"}`, "", "", "acme", nil},
		{"POST /tasks/7:annotate", "", ``, "", "7", "", nil},
		{"POST /tasks/7:annotate", "", `{"targetTask":"7","name":"tasks/7"}`, "", "7", "", nil},
		{"POST /tasks/7:annotate", "", `{"targetTask":"8"}`, "", "", "", InvalidParams},
		{"POST /tasks/7:annotate", "", `{"name":"tasks/8"}`, "", "", "", InvalidParams},
		{"POST /tasks/7:annotate", "target_task=8", ``, "", "", "", InvalidParams},
		{"POST /tasks/7:annotate", "TargetTask=7", ``, "", "", "", InvalidParams},
		{"POST /tasks/7:annotate", "targetTask=7&targetTask=7", ``, "", "", "", InvalidParams},
		{"POST /tasks/7:annotate", "", `[]`, "", "", "", InvalidRequest},
		{"GET /tasks/7/notes", "limit=5", ``, "", "7", "", nil},
		{"GET /tasks/7/notes", "", `{}`, "", "", "", InvalidRequest},
		{"GET /limits", "of=7", ``, "", "7", "", nil},
		{"POST /message:simulate", "", ``, "", "", "", parseError},
		{"POST /message:simulate", "", `{"message":{"messageId":"m","task_id":"7"}}`, "", "7", "", nil},
		{"POST /v1/message:simulate", "", `{"request":{"messageId":"m","taskId":"7"},"replay_of":"8"}`, "", "", "", InvalidParams},
		{"POST /v1/message:simulate", "", `{"request":{"messageId":"m","taskId":"7"}}`, "", "7", "", nil},
		{"GET /tasks:search", "", ``, "", "", "", VerbNotAllowed},
	} {
		verb, path, _ := strings.Cut(tt.request, " ")
		r, ok := e.ByRoute(verb, path)
		query, qerr := url.ParseQuery(tt.query)
		if !ok || qerr != nil {
			t.Fatal(tt.request, qerr)
		}
		c := Call{Extra: e}
		err := c.DecodeHTTP(r, query, []byte(tt.body), tt.header, Limits{})
		if tt.kind != nil {
			if err == nil || err.Kind != tt.kind {
				t.Errorf("%s?%s %s: %v", tt.request, tt.query, tt.body, err)
			}
			continue
		}
		if err != nil || c.TaskID != tt.task || c.Tenant != tt.tenant || c.Extra != e {
			t.Errorf("%s?%s %s: %v, task %q, tenant %q", tt.request, tt.query, tt.body, err, c.TaskID, c.Tenant)
		}
	}
}

// TestA09_OtherTables: a row of other tables is no method, for its params could not be
// read as it asks.
func TestA09_OtherTables(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	r, _ := e.ByRoute("POST", "/tasks/7:annotate")
	for _, extra := range []*Extra{nil, testExtra(t)} {
		c := Call{Extra: extra}
		if err := c.DecodeHTTP(r, nil, []byte(`{}`), "", Limits{}); err == nil || err.Kind != MethodNotFound {
			t.Errorf("HTTP+JSON: %v", err)
		}
		if err := c.DecodeGRPC(r.Method, V10, nil, "", Limits{}); err == nil || err.Kind != MethodNotFound {
			t.Errorf("gRPC: %v", err)
		}
	}
}

func TestExtraGRPC(t *testing.T) {
	t.Parallel()
	e := testExtra(t)
	text := func(number protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), s)
	}
	varint := func(number protowire.Number) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), 7)
	}
	group := func(number protowire.Number, inner []byte) []byte {
		return protowire.AppendGroup(protowire.AppendTag(nil, number, protowire.StartGroupType), number, inner)
	}
	join := func(fields ...[]byte) (b []byte) {
		for _, f := range fields {
			b = append(b, f...)
		}
		return b
	}
	const limits = "acme.limits" // whose field is 1, and annotate's 3
	for name, tt := range map[string]struct {
		method  string
		message []byte
		header  Version
		task    string
		kind    *Kind
	}{
		"the field":                {"tasks/annotate", join(text(1, "x"), text(3, "t"), varint(4)), V10, "t", nil},
		"an optional field":        {limits, text(1, "t"), "", "t", nil},
		"no field":                 {limits, nil, "", "", nil},
		"the field inside another": {limits, join(text(2, string(text(1, "u"))), group(4, text(1, "v"))), "", "", nil},
		"missing":                  {"tasks/annotate", text(1, "t"), "", "", InvalidParams},
		"empty":                    {"tasks/annotate", text(3, ""), "", "", InvalidParams},
		"twice":                    {"tasks/annotate", join(text(3, "t"), text(3, "u")), "", "", InvalidParams},
		"twice the same":           {"tasks/annotate", join(text(3, "t"), text(3, "t")), "", "", InvalidParams},
		"twice, first empty":       {"tasks/annotate", join(text(3, ""), text(3, "t")), "", "", InvalidParams},
		"of another type":          {"tasks/annotate", varint(3), "", "", InvalidParams},
		"of another type too":      {"tasks/annotate", join(text(3, "t"), varint(3)), "", "", InvalidParams},
		"a group":                  {"tasks/annotate", group(3, text(3, "t")), "", "", InvalidParams},
		"invalid UTF-8":            {"tasks/annotate", text(3, "\xff"), "", "", InvalidParams},
		"control character":        {"tasks/annotate", text(3, "a\x00b"), "", "", InvalidParams},
		"too long":                 {"tasks/annotate", text(3, strings.Repeat("t", 257)), "", "", InvalidParams},
		"broken tag":               {limits, []byte{0xff}, "", "", InvalidRequest},
		"broken field":             {limits, text(1, "t")[:2], "", "", InvalidRequest},
		"broken behind the field":  {limits, append(text(1, "t"), 0x0a), "", "", InvalidRequest},
		"open group":               {limits, protowire.AppendTag(nil, 2, protowire.StartGroupType), "", "", InvalidRequest},
		"header":                   {limits, nil, V03, "", VersionUnsupported},
		"large":                    {limits, text(2, strings.Repeat("x", 2000)), "", "", TooLarge},
		"no RPC":                   {"tasks/notes", nil, "", "", MethodNotFound},
	} {
		c := Call{Extra: e, Accept: "a"}
		err := c.DecodeGRPC(extraNamed(t, e, tt.method), V10, tt.message, tt.header, Limits{Body: 1000})
		switch {
		case tt.kind != nil:
			if err == nil || err.Kind != tt.kind {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || c.TaskID != tt.task || c.Version != V10 || c.Binding != GRPC:
			t.Errorf("%s: %v, task %q", name, err, c.TaskID)
		case c.Body != nil || c.Params != nil || string(c.Message) != string(tt.message) || c.Extra != e || c.Accept != "a":
			t.Errorf("%s: %+v", name, c)
		}
	}
}
