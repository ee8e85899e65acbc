package wire

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/jsonscan"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/mediatype"
)

// refusedAs decodes body and checks that it is refused, as one of kinds.
func refusedAs(t *testing.T, body string, kinds ...*Kind) {
	t.Helper()
	var c Call
	e := c.DecodeJSONRPC([]byte(body), "", Limits{})
	if e == nil {
		t.Errorf("accepted: %.200q", body)
		return
	}
	for _, k := range kinds {
		if e.Kind == k {
			return
		}
	}
	t.Errorf("refused as %s: %.200q", e.Reason, body)
}

// TestL33_DuplicateNames repeats a name at every depth, escaped, far apart, and
// in an object large enough for the table-driven check.
func TestL33_DuplicateNames(t *testing.T) {
	t.Parallel()
	for depth := range 6 {
		open, end := strings.Repeat(`{"x":`, depth), strings.Repeat(`}`, depth)
		for _, pair := range []string{`"a":1,"a":1`, `"a":1,"\u0061":2`, `"\u0061":{},"b":0,"a":[]`, `"":0,"":0`} {
			refusedAs(t, rpc("SendMessage", `{"message":{},"metadata":{"m":`+open+`{`+pair+`}`+end+`}}`), InvalidRequest)
		}
	}
	refusedAs(t, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","\u006dethod":"SendMessage"}`, InvalidRequest)
	refusedAs(t, `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{},"params":{}}`, InvalidRequest)
	refusedAs(t, rpc("GetTask", `{"id":"a","id":"a"}`), InvalidRequest)
	refusedAs(t, rpc("SendMessage", `{"message":{"taskId":"a","x":"`+strings.Repeat("x", 1<<20)+`","taskId":"b"}}`), InvalidRequest)

	const fewNames = 16 // up to which the scanner compares one by one
	for _, n := range []int{fewNames - 1, fewNames, fewNames + 1, 2 * fewNames, 5000} {
		var b strings.Builder
		for i := range n {
			b.WriteString(`"n` + strconv.Itoa(i) + `":0,`)
		}
		metadata := b.String()
		var c Call
		ok := rpc("SendMessage", `{"message":{},"metadata":{`+metadata+`"last":1}}`)
		if e := c.DecodeJSONRPC([]byte(ok), "", Limits{}); e != nil {
			t.Errorf("%d different names: %v", n, e)
		}
		for _, again := range []string{"n0", `n\u0030`, "n" + strconv.Itoa(n-1)} {
			refusedAs(t, rpc("SendMessage", `{"message":{},"metadata":{`+metadata+`"`+again+`":1}}`), InvalidRequest)
		}
	}
}

// TestL33_DuplicateID is answered without an id: which one is not ours to choose.
func TestL33_DuplicateID(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"id":2,"method":"ListTasks"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ListTasks","i\u0064":2}`,
	} {
		var c Call
		if e := c.DecodeJSONRPC([]byte(body), "", Limits{}); e == nil || e.Kind != InvalidRequest || c.ID != nil {
			t.Errorf("%v, id %s", e, c.ID)
		}
	}
}

// TestL34_NearMisses writes every deciding name in the ways some parser takes for
// the name itself.
func TestL34_NearMisses(t *testing.T) {
	t.Parallel()
	variants := func(name string) []string {
		return []string{
			strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], name + `\u0000`, name + `\u0000x`[:6],
			"_" + name, name + "_", name[:1] + "_" + name[1:], name[:1] + "-" + name[1:],
			strings.Replace(name, "s", "\u017f", 1), strings.Replace(name, "k", "\u212a", 1),
			strings.Replace(name, "s", `\u017f`, 1), strings.Replace(name, "k", `\u212a`, 1),
			strings.Repeat("_", 300) + name,
		}
	}
	check := func(names []string, exact func(name string) string) {
		for _, name := range names {
			for _, v := range variants(name) {
				if v != name && v != jsonscan.NewNames(map[string]jsonscan.Field{name: fieldTask}).List[0].Snake {
					refusedAs(t, exact(v), InvalidRequest, InvalidParams)
				}
			}
		}
	}
	check([]string{"jsonrpc", "id", "method", "params"}, func(name string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ListTasks","` + name + `":"x"}`
	})
	check([]string{"id", "taskId", "tenant", "metadata"}, func(name string) string {
		return rpc("GetTask", `{"id":"t","`+name+`":null}`)
	})
	check([]string{"message", "configuration", "tenant", "metadata"}, func(name string) string {
		return rpc("SendMessage", `{"message":{},"`+name+`":null}`)
	})
	check([]string{"messageId", "taskId", "contextId", "referenceTaskIds", "extensions", "metadata"}, func(name string) string {
		return rpc("message/send", `{"message":{"`+name+`":null}}`)
	})
	check([]string{"pushNotificationConfig", "taskPushNotificationConfig", "pushNotification"}, func(name string) string {
		return rpc("message/send", `{"message":{},"configuration":{"`+name+`":null}}`)
	})
	check([]string{"url", "id", "token", "taskId", "authentication"}, func(name string) string {
		return rpc("message/send", `{"message":{},"configuration":{"pushNotificationConfig":{"`+name+`":null}}}`)
	})
	check([]string{"id", "sessionId", "pushNotification"}, func(name string) string {
		return rpc("tasks/send", `{"id":"t","message":{},"`+name+`":null}`)
	})
	check([]string{"contextId", "pageToken"}, func(name string) string {
		return rpc("ListTasks", `{"`+name+`":null}`)
	})
	check([]string{"taskId", "pushNotificationConfigId", "pushNotificationConfig"}, func(name string) string {
		return rpc("tasks/pushNotificationConfig/get", `{"id":"t","`+name+`":null}`)
	})
}

// TestL34_BothSpellings: the snake case of a name is the name.
func TestL34_BothSpellings(t *testing.T) {
	t.Parallel()
	refusedAs(t, rpc("SendMessage", `{"message":{"taskId":"a","task_id":"a"}}`), InvalidParams)
	refusedAs(t, rpc("SendMessage", `{"message":{"context_id":null,"contextId":"a"}}`), InvalidParams)
	refusedAs(t, rpc("ListTasks", `{"page_token":"a","pageToken":"a"}`), InvalidParams)
}

// TestL34_FarNames: what only resembles a name is the agent's business, and so
// is every name where nothing is decided.
func TestL34_FarNames(t *testing.T) {
	t.Parallel()
	for _, params := range []string{
		`{"message":{"task":"x","taskIds":"x","idTask":1,"таskId":"x"}}`,
		`{"message":{"metadata":{"TaskID":"x","taskid":"y"},"parts":[{"data":{"TASKID":1,"taskId":2,"task_id":3}}]}}`,
		`{"message":{},"unknown":{"Message":1}}`,
	} {
		var c Call
		if e := c.DecodeJSONRPC([]byte(rpc("SendMessage", params)), "", Limits{}); e != nil || c.TaskID != "" {
			t.Errorf("%s: %v, task %q", params, e, c.TaskID)
		}
	}
}

// TestL35_StringsAgree writes ids with every kind of escape and compares what
// is decoded with what encoding/json reads from the forwarded bytes.
func TestL35_StringsAgree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return !unicode.IsControl(r) }), 1, 60, 256).Draw(t, "id")
		quoted := quote(text, rapid.SliceOfN(rapid.Bool(), len(text), len(text)).Draw(t, "escape"))
		body := []byte(rpc("SendMessage", `{"message":{"taskId":`+quoted+`,"contextId":`+quoted+`}}`))
		var c Call
		if e := c.DecodeJSONRPC(body, "", Limits{IDLength: 1024}); e != nil {
			t.Fatalf("%s: %v", body, e)
		}
		var want string
		if err := json.Unmarshal(body[c.ContextSpan[0]:c.ContextSpan[1]], &want); err != nil {
			t.Fatal(err)
		}
		if c.TaskID != text || c.ContextID != text || want != text {
			t.Fatalf("%q, %q and %q from %s", c.TaskID, c.ContextID, want, quoted)
		}
	})
}

// quote writes s as a JSON string, with \u escapes where escape says so.
func quote(s string, escape []bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case escape[i] && r > 0xffff:
			r -= 0x10000
			b.WriteString(`\u` + strconv.FormatInt(int64(0xd800+r>>10), 16) + `\u` + strconv.FormatInt(int64(0xdc00+r&0x3ff), 16))
		case escape[i] || r == '"' || r == '\\':
			h := strconv.FormatInt(int64(r), 16)
			b.WriteString(`\u` + strings.Repeat("0", 4-len(h)) + h)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// TestL37_Batches refuses every array, and calls without id.
func TestL37_Batches(t *testing.T) {
	t.Parallel()
	call := rpc("ListTasks", "{}")
	for _, body := range []string{
		"[]", "[" + call + "]", "[" + strings.Repeat(call+",", 999) + call + "]", "[[" + call + "]]", " [ ]",
		`{"jsonrpc":"2.0","method":"SendMessage","params":{"message":{}}}`,
	} {
		refusedAs(t, body, InvalidRequest)
	}
}

// TestL38_MediaTypes has the exact types, and the games played with them.
func TestL38_MediaTypes(t *testing.T) {
	t.Parallel()
	for contentType, want := range map[string]bool{
		"application/json":                              true,
		"application/a2a+json":                          true,
		"Application/JSON":                              true,
		"application/json; charset=utf-8":               true,
		"application/json;charset=UTF-8":                true,
		`application/a2a+json; charset="utf-8"`:         true,
		`application/a2a+json; charset="UTF-8"`:         true,
		"":                                              false,
		"text/plain":                                    false,
		"text/json":                                     false,
		"application/x-www-form-urlencoded":             false,
		"multipart/form-data; boundary=x":               false,
		"application/jsonp":                             false,
		"application/json-seq":                          false,
		"application/problem+json":                      false,
		"application/json; charset=utf-16":              false,
		"application/json; charset=utf-7":               false,
		"application/json; charset=latin1":              false,
		"application/json; charset=utf-8; charset=x":    false,
		"application/json;application/x":                false,
		"application/json, text/plain":                  false,
		"application/json application/x":                false,
		"application/json; charset*=utf-8''utf-8":       false,
		"application/json; charset*0=utf; charset*1=-8": false,
		"application/json; boundary=x":                  false,
		"application/json; charset":                     false,
		"application/json\x00":                          false,
		"*/*":                                           false,
	} {
		if got := mediatype.OfRequest(contentType); got != want {
			t.Errorf("%q: %t", contentType, got)
		}
	}
}

// TestL39_TrailingData refuses whatever follows the document.
func TestL39_TrailingData(t *testing.T) {
	t.Parallel()
	call := rpc("ListTasks", "{}")
	for _, tail := range []string{"{}", "null", call, "\n" + call, "]", "}", ",", "\x00", "//", "/**/", "\v", "\u00a0", "\ufeff"} {
		refusedAs(t, call+tail, parseError)
	}
	var c Call
	if e := c.DecodeJSONRPC([]byte(" \t\r\n"+call+"\r\n "), "", Limits{}); e != nil {
		t.Errorf("space around the document: %v", e)
	}
}

// TestA09_MethodNames: every method is called by its names, byte for byte, and
// by nothing that resembles them.
func TestA09_MethodNames(t *testing.T) {
	t.Parallel()
	known := map[string]bool{misprintedCard: true}
	for _, m := range Methods() {
		known[m.Name], known[m.V03], known[m.V01] = true, true, true
	}
	delete(known, "")
	for name := range known {
		for _, v := range []string{
			strings.ToLower(name), strings.ToUpper(name), strings.ToUpper(name[:1]) + name[1:], name + `\u0000`, name + " ",
			" " + name, name + "/", "/" + name, "rpc." + name, "lf.a2a.v1.A2AService/" + name, name + "s", name[1:],
			strings.ReplaceAll(name, "/", "."), strings.ReplaceAll(name, "/", "//"), strings.ReplaceAll(name, "s", "\u017f"),
			strings.ReplaceAll(name, "k", "\u212a"),
		} {
			if !known[v] {
				refusedAs(t, `{"jsonrpc":"2.0","id":1,"method":"`+v+`"}`, MethodNotFound)
			}
		}
	}
	for _, name := range []string{"", "rpc.discover", "initialize", "tasks/list", "message/", "ListTaskPushNotificationConfig"} {
		refusedAs(t, `{"jsonrpc":"2.0","id":1,"method":"`+name+`"}`, MethodNotFound)
	}
}

// TestA10_OneOperation: whatever version and binding a call comes in, and
// whether it says so or not, it is the same row of the table.
func TestA10_OneOperation(t *testing.T) {
	t.Parallel()
	for i := range methods {
		m := &methods[i]
		params := `{"message":{"taskId":"t"},"id":"t","taskId":"t"}`
		if m.Subject == OfCaller {
			params = `{"contextId":"c"}`
		}
		for v, name := range map[Version]string{V10: m.Name, V03: m.V03, V01: m.V01} {
			if name == "" {
				continue
			}
			for _, header := range []Version{"", v} {
				var c Call
				if e := c.DecodeJSONRPC([]byte(rpc(name, params)), header, Limits{}); e != nil {
					t.Errorf("%s, header %q: %v", name, header, e)
					continue
				}
				// What 0.1 and 0.3 share is 0.3 unless the header says 0.1.
				wantVersion := v
				if v == V01 && header == "" && m.V01 == m.V03 {
					wantVersion = V03
				}
				if c.Method != m || c.Version != wantVersion {
					t.Errorf("%s, header %q: %s %s", name, header, c.Method.Name, c.Version)
				}
			}
		}
	}
}

// TestA10_Contradiction: a version said aloud that the method or path does not
// have is refused, and the refusal names both.
func TestA10_Contradiction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		method string
		header Version
	}{
		{"SendMessage", V03}, {"SendMessage", V01}, {"message/send", V10}, {"message/send", V01},
		{"tasks/send", V03}, {"tasks/send", V10}, {"tasks/get", V10}, {"GetTask", V03},
	} {
		var c Call
		e := c.DecodeJSONRPC([]byte(rpc(tt.method, `{"id":"t","message":{}}`)), tt.header, Limits{})
		if e == nil || e.Kind != VersionUnsupported || !strings.Contains(e.Text(), string(tt.header)) ||
			!strings.Contains(e.Text(), tt.method) || string(c.ID) != "7" {
			t.Errorf("%s with %s: %v, id %s", tt.method, tt.header, e, c.ID)
		}
	}
	for path, header := range map[string]Version{"/tasks/t": V03, "/v1/tasks/t": V10} {
		r, _ := ByRoute("GET", path)
		var c Call
		if e := c.DecodeHTTP(r, nil, nil, header, Limits{}); e == nil || e.Kind != VersionUnsupported {
			t.Errorf("%s with %s: %v", path, header, e)
		}
	}
}

// TestA10_RequestVersion has every way to say a version, and to say two.
func TestA10_RequestVersion(t *testing.T) {
	t.Parallel()
	none := "\x00" // no header or parameter at all
	for _, tt := range []struct {
		header, query string
		want          Version
		kind          *Kind
	}{
		{none, none, "", nil},
		{"", none, "", nil},
		{none, " ", "", nil},
		{"1.0", none, V10, nil},
		{" 1.0 ", none, V10, nil},
		{"1.0.1", none, V10, nil},
		{"0.3", none, V03, nil},
		{"0.2.6", none, V03, nil},
		{"0.1", none, V01, nil},
		{none, "1.0", V10, nil},
		{"1.0", "1.0", V10, nil},
		{"1.0.1", "1.0", V10, nil},
		{"", "0.3", V03, nil},
		{"1.0", "0.3", "", Malformed},
		{"", "1.0", "", Malformed},
		{"1.0", "", "", Malformed},
		{"1.0", "x", "", Malformed},
		{"x", "y", "", Malformed},
		{"x", "x", "", VersionUnsupported},
		{"99.0", none, "", VersionUnsupported},
		{"0.4", none, "", VersionUnsupported},
		{"1", none, "", VersionUnsupported},
		{"1.00", none, "", VersionUnsupported},
		{"v1.0", none, "", VersionUnsupported},
		{"1.0, 0.3", none, "", VersionUnsupported},
		{none, strings.Repeat("9", 5000), "", VersionUnsupported},
	} {
		h, q := http.Header{}, url.Values{}
		if tt.header != none {
			h.Set("A2A-Version", tt.header)
		}
		if tt.query != none {
			q.Set("A2A-Version", tt.query)
		}
		got, e := RequestVersion(h, q)
		if got != tt.want || e == nil != (tt.kind == nil) || e != nil && e.Kind != tt.kind {
			t.Errorf("header %q, query %.20q: %q, %v", tt.header, tt.query, got, e)
		}
		if e != nil && len(e.Text()) > 200 {
			t.Errorf("the refusal repeats %d bytes", len(e.Text()))
		}
	}
	for name, q := range map[string]url.Values{
		"two": {"A2A-Version": {"1.0", "1.0"}}, "case": {"a2a-version": {"1.0"}},
		"case beside": {"A2A-Version": {"1.0"}, "A2A-version": {"1.0"}},
	} {
		if _, e := RequestVersion(http.Header{}, q); e == nil || e.Kind != Malformed {
			t.Errorf("%s: %v", name, e)
		}
	}
	if _, e := RequestVersion(http.Header{"A2a-Version": {"1.0", "1.0"}}, nil); e == nil || e.Kind != Malformed {
		t.Errorf("two headers: %v", e)
	}
}
