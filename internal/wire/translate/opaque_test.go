package translate

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const opaqueURI = "https://acme.example/ext/v1"

func opaqueExtra(t testing.TB) *wire.Extra {
	t.Helper()
	get, post := []string{http.MethodGet}, []string{http.MethodPost}
	e, err := wire.NewExtra([]wire.Method{
		{Name: "acme/say", Extension: opaqueURI, Subject: wire.OfMessage, Verbs: post, Path: "/say", Streams: true},
		{Name: "acme/note", Extension: opaqueURI, Subject: wire.OfTask, TaskField: "noteOf", Verbs: post, Path: "/tasks/{task}:note"},
		{Name: "acme/find", Extension: opaqueURI, Subject: wire.OfCaller, Verbs: get, Path: "/find"},
		{Name: "acme/look", Extension: opaqueURI, Subject: wire.OfAgent, TaskField: "lookAt", Verbs: get, Path: "/tasks/{task}/look"},
		{Name: "acme/hide", Extension: opaqueURI, Subject: wire.OfAgent},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var (
	opaqueRPC10 = wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	opaqueRPC03 = wire.Side{Version: wire.V03, Binding: wire.JSONRPC}
	opaqueWeb10 = wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	opaqueWeb03 = wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}
)

// opaqueCall decodes a call: "METHOD PARAMS" on JSON-RPC, "VERB PATH BODY" on HTTP+JSON.
func opaqueCall(t testing.TB, e *wire.Extra, from wire.Side, request string) (*wire.Call, url.Values) {
	t.Helper()
	c := &wire.Call{Extra: e}
	first, rest, _ := strings.Cut(request, " ")
	if from.Binding == wire.JSONRPC {
		body := `{"jsonrpc":"2.0", "id":"c", "params" : ` + rest + ` ,"method":"` + first + `"}`
		if err := c.DecodeJSONRPC([]byte(body), from.Version, wire.Limits{}); err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		return c, nil
	}
	target, body, _ := strings.Cut(rest, " ")
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := e.ByRoute(first, u.EscapedPath())
	if !ok {
		t.Fatalf("%s: no route", request)
	}
	if err := c.DecodeHTTP(r, u.Query(), []byte(body), from.Version, wire.Limits{}); err != nil {
		t.Fatalf("%s: %v", request, err)
	}
	return c, u.Query()
}

// TestRequestOpaque: the tenant of the interface is "acme" throughout.
func TestRequestOpaque(t *testing.T) {
	t.Parallel()
	e := opaqueExtra(t)
	for name, tt := range map[string]struct {
		from, to wire.Side
		request  string
		want     string // params on JSON-RPC, "VERB path?query body" on HTTP+JSON, or the text of the refusal
	}{
		"verbatim but for the envelope": {opaqueRPC03, opaqueRPC10, `acme/note { "noteOf" : "t", "n":1.00,"x":[ 1 ] }`, `{"tenant":"acme","noteOf":"t","n":1.00,"x":[ 1 ]}`},
		"before 1.0 no tenant":          {opaqueRPC10, opaqueRPC03, `acme/note {"tenant":"caller","noteOf":"t"}`, `{"noteOf":"t"}`},
		"a tenant that names the agent": {opaqueRPC10, opaqueWeb10, `acme/note {"tenant":"caller","noteOf":"t"}`, `POST /acme/tasks/t:note {"noteOf":"t"}`},
		"a tenant in a push config": {
			opaqueWeb10, opaqueRPC10, `POST /caller/say {"tenant":"caller","message":{},"configuration":{"taskPushNotificationConfig":{"tenant":"caller","url":"u"}}}`,
			`{"tenant":"acme","message":{},"configuration":{"taskPushNotificationConfig":{"tenant":"acme","url":"u"}}}`,
		},
		"a tenant in metadata":      {opaqueRPC10, opaqueRPC03, `acme/hide {"metadata":{"tenant":"x"},"t\u0065nant":"y"}`, `{"metadata":{"tenant":"x"}}`},
		"a name with an escape":     {opaqueRPC10, opaqueRPC03, `acme/note {"note\u004ff":"t"}`, `{"note\u004ff":"t"}`},
		"the task of a path":        {opaqueWeb03, opaqueRPC10, `POST /v1/tasks/t:note {"x":{}}`, `{"tenant":"acme","noteOf":"t","x":{}}`},
		"the task of a GET's path":  {opaqueWeb10, opaqueRPC03, `GET /tasks/t/look`, `{"lookAt":"t"}`},
		"a task in a query":         {opaqueWeb10, opaqueRPC03, `GET /tasks/t/look?look_at=t&tenant=x`, `{"look_at":"t"}`},
		"a task for a path":         {opaqueRPC03, opaqueWeb03, `acme/look {"lookAt":"a b"}`, `GET /acme/v1/tasks/a%20b/look`},
		"a context for a query":     {opaqueRPC10, opaqueWeb10, `acme/find {"contextId":"c&d","pageToken":"p","x":null}`, `GET /acme/find?contextId=c%26d&pageToken=p`},
		"a context in a query":      {opaqueWeb10, opaqueRPC10, `GET /find?context_id=c&pageToken=p`, `{"tenant":"acme","context_id":"c","pageToken":"p"}`},
		"a query for a query":       {opaqueWeb03, opaqueWeb10, `GET /v1/find?x=1&x=2&contextId=c&a2a-version=0.3`, `GET /acme/find?contextId=c&x=1&x=2`},
		"no params":                 {opaqueRPC10, opaqueWeb10, `acme/find null`, `GET /acme/find`},
		"no params at all":          {opaqueRPC10, opaqueRPC03, `acme/hide null`, `{}`},
		"no path":                   {opaqueRPC10, opaqueWeb10, `acme/hide {}`, "cannot be retold in the agent's version or binding"},
		"no task for a path":        {opaqueRPC10, opaqueWeb10, `acme/look {}`, "cannot be part of a path"},
		"an id that is no segment":  {opaqueRPC10, opaqueWeb10, `acme/look {"lookAt":"a/b"}`, "cannot be part of a path"},
		"an id that ends in a verb": {opaqueRPC10, opaqueWeb10, `acme/note {"noteOf":"t:note"}`, `POST /acme/tasks/t:note:note {"noteOf":"t:note"}`},
		"params for a query":        {opaqueRPC10, opaqueWeb10, `acme/find {"text":"x"}`, "cannot be retold in the query"},
		"a query for params":        {opaqueWeb10, opaqueRPC10, `GET /find?text=x`, "query cannot be retold"},
		"gRPC":                      {opaqueRPC10, wire.Side{Version: wire.V10, Binding: wire.GRPC}, `acme/find {}`, "cannot be retold in the agent's version or binding"},
		"0.1":                       {opaqueRPC10, wire.Side{Version: wire.V01, Binding: wire.JSONRPC}, `acme/find {}`, "cannot be retold in the agent's version or binding"},
	} {
		c, query := opaqueCall(t, e, tt.from, tt.request)
		out, err := Request(c, query, To{Side: tt.to, Tenant: "acme", ID: []byte(`"g"`)})
		got := ""
		switch {
		case err != nil:
			if got = err.Message; strings.Contains(got, tt.want) {
				got = tt.want
			}
		case tt.to.Binding == wire.JSONRPC:
			want := `{"jsonrpc":"2.0","id":"g","method":"` + c.Method.Name + `","params":` + tt.want + `}`
			if got = string(out.Call.Params); string(out.Body) != want || out.Verb != "POST" {
				t.Errorf("%s: got\n%s, want\n%s", name, out.Body, want)
			}
		default:
			got = out.Verb + " " + out.Path
			if out.Query != "" {
				got += "?" + out.Query
			}
			got = strings.TrimSpace(got + " " + string(out.Body))
		}
		if got != tt.want {
			t.Errorf("%s: got\n%s, want\n%s", name, got, tt.want)
		}
	}
}

// TestRequestOpaqueReplaced: what stands in the body goes out, and not the params that
// were read from it before some of it was replaced.
func TestRequestOpaqueReplaced(t *testing.T) {
	t.Parallel()
	e := opaqueExtra(t)
	c, _ := opaqueCall(t, e, opaqueRPC10, `acme/hide {"contextId":"theirs"}`)
	c.Body = []byte(strings.Replace(string(c.Body), "theirs", "mine", 1))
	c.ContextID = "mine"
	out, err := Request(c, nil, To{Side: opaqueRPC03, ID: []byte("1")})
	if err != nil || string(out.Call.Params) != `{"contextId":"mine"}` {
		t.Errorf("%s, %v", out.Body, err)
	}
	c, query := opaqueCall(t, e, opaqueWeb10, `GET /find?contextId=theirs`)
	c.ContextID = "mine"
	if out, err = Request(c, query, To{Side: opaqueWeb03}); err != nil || out.Query != "contextId=mine" {
		t.Errorf("%s, %v", out.Query, err)
	}
}

// FuzzRequestOpaque: whatever the params, what goes out is read as the same call, and
// every member that A2A does not know is in it.
func FuzzRequestOpaque(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"noteOf":"t"}`, `{"taskId":"t","tenant":"x","x":1e400}`, `{"contextId":"c","note_of":"t"}`, `{"id":"","noteOf":"t"}`,
		`{"message":{"taskId":"t","contextId":"c"},"\u0074enant":"y","configuration":{"pushNotificationConfig":{"tenant":"y"}}}`,
		`{"lookAt":"a/b","metadata":{"a":{}}}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	e := opaqueExtra(f)
	f.Fuzz(func(t *testing.T, params []byte) {
		for _, m := range e.Methods() {
			body := []byte(`{"jsonrpc":"2.0","id":1,"method":"` + m.Name + `","params":` + string(params) + `}`)
			c := &wire.Call{Extra: e}
			if err := c.DecodeJSONRPC(body, wire.V10, wire.Limits{}); err != nil {
				continue
			}
			for _, to := range []wire.Side{opaqueRPC10, opaqueRPC03, opaqueWeb10, opaqueWeb03} {
				out, err := Request(c, nil, To{Side: to, ID: []byte("7")})
				if err == nil {
					checkOpaque(t, c, out)
				}
			}
		}
	})
}

func checkOpaque(t *testing.T, c *wire.Call, out Outbound) {
	t.Helper()
	again := &wire.Call{Extra: c.Extra}
	var err *wire.Error
	if out.Call.Binding == wire.JSONRPC {
		err = again.DecodeJSONRPC(out.Body, out.Call.Version, wire.Limits{Body: 1 << 30})
	} else {
		r, ok := c.Extra.ByRoute(out.Verb, out.Path)
		if !ok {
			t.Fatalf("%s: %s %s is no path", c.Body, out.Verb, out.Path)
		}
		query, e := url.ParseQuery(out.Query)
		if e != nil {
			t.Fatal(e)
		}
		err = again.DecodeHTTP(r, query, out.Body, out.Call.Version, wire.Limits{Body: 1 << 30})
	}
	if err != nil || again.Method != c.Method || again.TaskID != c.TaskID || again.ContextID != c.ContextID ||
		again.PageToken != c.PageToken || again.Skill != c.Skill || again.Tenant != "" {
		t.Fatalf("%s became %s %s?%s %s: %v", c.Body, out.Verb, out.Path, out.Query, out.Body, err)
	}
	if out.Verb == http.MethodGet {
		return
	}
	var was, is map[string]json.RawMessage
	_ = json.Unmarshal(c.Params, &was)
	_ = json.Unmarshal(out.Call.Params, &is)
	for name, value := range was {
		known := map[string]bool{"tenant": true, "id": true, "taskId": true, "task_id": true, "contextId": true, "context_id": true, "noteOf": true, "note_of": true, "lookAt": true, "look_at": true, "pageToken": true, "page_token": true, "configuration": true}
		if !known[name] && string(is[name]) != string(value) {
			t.Fatalf("%s became %s: %q is lost", c.Params, out.Call.Params, name)
		}
	}
}
