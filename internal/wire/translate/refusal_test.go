package translate

import (
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestRequestRefused(t *testing.T) {
	t.Parallel()
	role := func(role string) string { return `{"message":{"messageId":"m","parts":[],"role":` + role + `}}` }
	part := func(part string) string { return `{"message":{"messageId":"m","role":"user","parts":[` + part + `]}}` }
	tests := []struct {
		name, method, doc string
		from, to          wire.Side
		edit              func(*wire.Call)
		want              *wire.Kind
		says              string
	}{
		{"list toward 0.3", "ListTasks", `{}`, rpc10, rpc03, nil, wire.Unsupported, "ListTasks"},
		{"list toward 0.3 on gRPC", "ListTasks", `{}`, rpc10, grpc03, nil, wire.Unsupported, "ListTasks"},
		{"list toward 0.1", "ListTasks", `{}`, rpc10, rpc01, nil, wire.Unsupported, ""},
		{"delete toward 0.1", deleteConfig, `{"taskId":"T","id":"c"}`, rpc10, rpc01, nil, wire.Unsupported, ""},
		{"card toward 0.1", "GetExtendedAgentCard", `{}`, rpc10, rpc01, nil, wire.Unsupported, ""},
		{"send toward 0.1 without a task id", "SendMessage", role(`"ROLE_USER"`), rpc10, rpc01, nil, wire.Internal, ""},
		{"delete without an id", deleteConfig, `{"id":"T"}`, rpc03, rpc10, nil, wire.InvalidParams, "config id"},
		{"role", "SendMessage", role(`"robot"`), rpc03, rpc10, nil, wire.InvalidParams, "message.role"},
		{"role 0", "SendMessage", role(`0`), rpc10, rpc03, nil, wire.InvalidParams, "message.role"},
		{"role 1.5", "SendMessage", role(`1.5`), rpc10, rpc03, nil, wire.InvalidParams, "message.role"},
		{"no role", "SendMessage", `{"message":{"messageId":"m","parts":[]}}`, rpc10, rpc03, nil, wire.InvalidParams, "message.role"},
		{"no message id", "SendMessage", `{"message":{"role":"ROLE_USER","parts":[{"text":"x"}]}}`, rpc10, rpc03, nil, wire.InvalidParams, "message.messageId"},
		{"an empty message id", "SendMessage", `{"message":{"messageId":"","role":"ROLE_USER","parts":[{"text":"x"}]}}`, rpc10, http03, nil, wire.InvalidParams, "message.messageId"},
		{"a part of nothing", "SendMessage", part(`{"kind":"file"}`), rpc03, rpc10, nil, wire.InvalidParams, "exactly one"},
		{"a file of nothing", "SendMessage", part(`{"kind":"file","file":{"name":"x"}}`), rpc03, rpc10, nil, wire.InvalidParams, "exactly one"},
		{"a part of two", "SendMessage", part(`{"text":"a","data":1}`), rpc10, rpc03, nil, wire.InvalidParams, "exactly one"},
		{"a part that is none", "SendMessage", part(`"x"`), rpc10, rpc03, nil, wire.InvalidParams, "part"},
		{"a file that is none", "SendMessage", part(`{"kind":"file","file":"x"}`), rpc03, rpc10, nil, wire.InvalidParams, "file"},
		{"metadata that is none", "SendMessage", part(`{"data":1,"metadata":["data_part_compat"]}`), rpc10, rpc03, nil, wire.InvalidParams, "metadata"},
		{"historyLength", "GetTask", `{"id":"T","historyLength":-1}`, rpc03, rpc10, nil, wire.InvalidParams, "historyLength"},
		{"historyLength with a fraction", "GetTask", `{"id":"T","historyLength":1.5}`, rpc10, rpc03, nil, wire.InvalidParams, "historyLength"},
		{"blocking", "SendMessage", `{"message":{"role":"user","parts":[]},"configuration":{"blocking":"no"}}`, rpc03, rpc10, nil, wire.InvalidParams, "blocking"},
		{"configuration", "SendMessage", `{"message":{"role":"user","parts":[]},"configuration":null}`, rpc03, rpc10, nil, nil, ""},
		{"what protobuf cannot hold", "SendMessage", part(`{"text":5}`), rpc03, grpc10, nil, wire.InvalidParams, ""},
		{"a slash in a path", "GetTask", `{"id":"a/b"}`, rpc10, http10, nil, wire.InvalidParams, "path"},
		{"dots in a path", "GetTask", `{"id":".."}`, rpc10, http10, nil, wire.InvalidParams, "path"},
		{"a verb in a path", "GetTask", `{"id":"a:cancel"}`, rpc10, http10, nil, wire.InvalidParams, "path"},
		{"a placeholder in a path", getConfig, `{"taskId":"{config}","id":"c"}`, rpc10, http10, nil, nil, ""},
		{"a config id in a path", getConfig, `{"taskId":"T","id":"../x"}`, rpc10, http10, nil, wire.InvalidParams, "path"},
		{"a slash in a name", getConfig, `{"taskId":"T","id":"a/b"}`, rpc10, grpc03, nil, wire.InvalidParams, "name"},
		{"a colon in a path", "GetTask", `{"id":"urn:x:1"}`, rpc10, http10, nil, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, q := decode(t, exchange{side: test.from, method: test.method, doc: test.doc})
			out, e := Request(c, q, To{Side: test.to, ID: []byte("1")})
			switch {
			case test.want == nil && e != nil:
				t.Fatal(e)
			case test.want == nil:
				checkOutbound(t, c, To{Side: test.to, ID: []byte("1")}, out)
			case e == nil || e.Kind != test.want || !strings.Contains(e.Text(), test.says):
				t.Errorf("got %v, want %s that says %q", e, test.want.Reason, test.says)
			}
		})
	}
}

// TestRequestHistoryAndWait: what the agent may not do, the gateway has to.
func TestRequestHistoryAndWait(t *testing.T) {
	t.Parallel()
	count := func(n int) *int { return &n }
	send := func(config string) string {
		return `{"message":{"messageId":"m","role":"ROLE_USER","parts":[]},"configuration":` + config + `}`
	}
	tests := []struct {
		from    exchange
		to      wire.Side
		history *int
		wait    bool
	}{
		{exchange{side: rpc10, method: "GetTask", doc: `{"id":"T","historyLength":0}`}, grpc03, count(0), false},
		{exchange{side: rpc10, method: "GetTask", doc: `{"id":"T"}`}, grpc03, nil, false},
		{exchange{side: grpc03, method: "GetTask", doc: `{"name":"tasks/T","historyLength":4}`}, rpc10, count(4), false},
		{exchange{side: http03, method: "GetTask", line: "GET /v1/tasks/T?historyLength=0"}, rpc10, count(0), false},
		{exchange{side: rpc10, method: "SendMessage", doc: send(`{"historyLength":2}`)}, rpc01, count(2), true},
		{exchange{side: rpc10, method: "SendMessage", doc: send(`{"historyLength":2}`)}, http10, count(2), false},
		{exchange{side: rpc10, method: "SendMessage", doc: send(`{"returnImmediately":true}`)}, rpc01, nil, false},
		{exchange{side: rpc03, method: "SendMessage", doc: send(`{"blocking":false}`)}, rpc01, nil, false},
		{exchange{side: rpc03, method: "SendMessage", doc: send(`{}`)}, rpc01, nil, true},
		{exchange{side: grpc03, method: "SendMessage", doc: send(`{}`)}, rpc01, nil, false},
		{exchange{side: rpc03, method: "SendStreamingMessage", doc: send(`{}`)}, rpc01, nil, false},
	}
	for _, test := range tests {
		c, q := decode(t, test.from)
		c.TaskID = "T"
		out, e := Request(c, q, To{Side: test.to})
		if e != nil {
			t.Errorf("%+v: %v", test.from, e)
			continue
		}
		same := out.History == nil && test.history == nil ||
			out.History != nil && test.history != nil && *out.History == *test.history
		if !same || out.Wait != test.wait {
			t.Errorf("%+v: history %v, wait %v", test.from, out.History, out.Wait)
		}
	}
}

// TestMintedID: a caller's message without an id gets a UUID, which no other message gets,
// be it equal to the byte and under the same JSON-RPC id; one that has an id keeps it.
func TestMintedID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, from := range []exchange{
		{side: rpc01, method: "SendMessage", doc: `{"id":"T","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}`},
		{side: rpc01, method: "SendStreamingMessage", doc: `{"id":"T","message":{"role":"user","parts":[{"type":"text","text":"x"}]}}`},
		{side: rpc03, method: "SendMessage", doc: `{"message":{"kind":"message","role":"user","parts":[{"kind":"text","text":"x"}]}}`},
		{side: rpc03, method: "SendMessage", doc: `{"message":{"messageId":"","role":"user","parts":[{"kind":"text","text":"x"}]}}`},
		{side: rpc03, method: "SendMessage", doc: `{"message":{"messageId":null,"role":"user","parts":[{"kind":"text","text":"x"}]}}`},
		{side: http03, method: "SendMessage", line: "POST /v1/message:send", doc: `{"message":{"role":"ROLE_USER","content":[{"text":"x"}]}}`},
		{side: grpc03, method: "SendMessage", doc: `{"message":{"role":"ROLE_USER","content":[{"text":"x"}]}}`},
	} {
		for range 3 {
			c, q := decode(t, from)
			c.TaskID = "T"
			out, e := Request(c, q, To{Side: rpc10})
			if e != nil {
				t.Fatalf("%+v: %v", from, e)
			}
			id := string(inside(lookup(lookup(out.Call.Params, "message"), "messageId")))
			if seen[id] || len(id) != 36 || id[14] != '8' || !strings.Contains("89ab", id[19:20]) {
				t.Errorf("%+v: got %q", from, id)
			}
			seen[id] = true
		}
	}
	c, q := decode(t, exchange{side: rpc03, method: "SendMessage", doc: `{"message":{"messageId":"m","role":"user","parts":[{"text":"x"}]}}`})
	if out, e := Request(c, q, To{Side: rpc10}); e != nil || string(lookup(lookup(out.Call.Params, "message"), "messageId")) != `"m"` {
		t.Errorf("the caller's own id became %s, %v", out.Call.Params, e)
	}
}

// TestIncompleteMessages: what a message before 1.0 lacks is refused, but for what can only
// have been meant in one way.
func TestIncompleteMessages(t *testing.T) {
	t.Parallel()
	const noParts, noContent = "message.parts is missing", "message.content is missing"
	role := map[bool]string{true: "ROLE_USER", false: "user"}
	for _, test := range []struct {
		from        wire.Side
		line, parts string
		want        string // the parts in 1.0, or what is wrong
	}{
		{rpc03, "", ``, noParts},
		{rpc03, "", `,"parts":null`, noParts},
		{rpc01, "", ``, noParts},
		{http03, "POST /v1/message:send", ``, noContent},
		{grpc03, "", ``, noContent},
		{rpc03, "", `,"parts":[]`, `[]`},
		{rpc03, "", `,"parts":[{"text":"x"}]`, `[{"text":"x"}]`},
		{rpc03, "", `,"parts":[{"data":{"a":1}}]`, `[{"data":{"a":1}}]`},
		{rpc03, "", `,"parts":[{"file":{"uri":"u","name":"n"}}]`, `[{"url":"u","filename":"n"}]`},
		{rpc01, "", `,"parts":[{"text":"x"}]`, `[{"text":"x"}]`},
		{rpc03, "", `,"parts":[{"kind":"text"}]`, "a part is not exactly one of text, file and data"},
		{rpc03, "", `,"parts":[{}]`, "a part is not exactly one of text, file and data"},
		{rpc03, "", `,"parts":[{"text":"x","data":{}}]`, "a part is not exactly one of text, file and data"},
	} {
		id := ""
		if test.from == rpc01 {
			id = `"id":"T",`
		}
		c, q := decode(t, exchange{side: test.from, method: "SendMessage", line: test.line, doc: `{` + id + `"message":{"messageId":"m","role":"` + role[test.from == grpc03 || test.from == http03] + `"` + test.parts + `}}`})
		c.TaskID = "T"
		out, e := Request(c, q, To{Side: rpc10})
		got := string(lookup(lookup(out.Call.Params, "message"), "parts"))
		if e != nil {
			got = strings.TrimPrefix(e.Text(), "Invalid parameters: ")
			if e.Kind != wire.InvalidParams {
				t.Errorf("%v %s: %s", test.from, test.parts, e.Kind.Reason)
			}
		}
		if got != test.want {
			t.Errorf("%v %s: got %s, want %s", test.from, test.parts, got, test.want)
		}
	}
}

func TestTimestamps(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"2026-01-02T03:04:05Z"`:               `"2026-01-02T03:04:05Z"`,
		`"2026-01-02T03:04:05.123456789Z"`:     `"2026-01-02T03:04:05.123456789Z"`,
		`"2026-01-02T03:04:05.1234567891Z"`:    `"2026-01-02T03:04:05.123Z"`,
		`"2026-01-02T03:04:05,5Z"`:             `"2026-01-02T03:04:05.500Z"`,
		`"2026-01-02T03:04:05+01:00"`:          `"2026-01-02T02:04:05.000Z"`,
		`"2026-01-02T03:04:05.5"`:              `"2026-01-02T03:04:05.500Z"`,
		`"2026-01-02 03:04:05"`:                `"2026-01-02T03:04:05.000Z"`,
		`"2026-01-02T03:04:05+0100"`:           `"2026-01-02T02:04:05.000Z"`,
		`"2026-13-02T03:04:05Z"`:               ``,
		`"0000-01-02T03:04:05Z"`:               ``,
		`"9999-12-31T23:59:59-05:00"`:          ``,
		`"yesterday"`:                          ``,
		`1767323045`:                           ``,
		`"\u0032026-01-02T03:04:05.000+00:00"`: `"2026-01-02T03:04:05.000Z"`,
	} {
		w := writer{from: d03, to: d10, buffer: buffer{out: []byte("{")}}
		ok := w.time([]byte(in))
		if got := string(w.out[1:]); got != want || ok != (want != "") {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

func TestParts(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, d03, p03 string }{ // in is 1.0's
		{`{"text":""}`, `{"kind":"text","text":""}`, `{"text":""}`},
		{`{"text":"a","mediaType":"x","filename":"y"}`, `{"kind":"text","text":"a"}`, `{"text":"a"}`},
		{`{"raw":"-_8","filename":"","mediaType":""}`, `{"kind":"file","file":{"bytes":"+/8="}}`, `{"file":{"fileWithBytes":"Ky84PQ=="}}`},
		{`{"raw":"+\/8="}`, `{"kind":"file","file":{"bytes":"+\/8="}}`, `{"file":{"fileWithBytes":"Ky84PQ=="}}`},
		{`{"data":null}`, `{"kind":"data","data":{"value":null},"metadata":{"data_part_compat":true}}`,
			`{"data":{"data":{"value":null}},"metadata":{"data_part_compat":true}}`},
		{`{"data":"s","text":null,"metadata":{ "a" : 1 }}`, `{"kind":"data","data":{"value":"s"},"metadata":{"a":1,"data_part_compat":true}}`,
			`{"data":{"data":{"value":"s"}},"metadata":{"a":1,"data_part_compat":true}}`},
		{`{"data":[],"metadata":{ }}`, `{"kind":"data","data":{"value":[]},"metadata":{"data_part_compat":true}}`,
			`{"data":{"data":{"value":[]}},"metadata":{"data_part_compat":true}}`},
		{`{"data":{},"metadata":{}}`, `{"kind":"data","data":{},"metadata":{}}`, `{"data":{"data":{}},"metadata":{}}`},
	}
	for _, test := range tests {
		for to, want := range map[dialect]string{d03: test.d03, p03: test.p03} {
			w := writer{from: d10, to: to, buffer: buffer{out: []byte("[")}}
			w.part([]byte(test.in))
			equal(t, test.in, want, w.out[1:])
			if w.wrong != "" {
				t.Errorf("%s: %s", test.in, w.wrong)
			}
		}
	}
}

// TestPartsOfOld reads what 1.0 has no need for.
func TestPartsOfOld(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from     dialect
		in, want string
	}{
		{p03, `{"data":{}}`, `{"data":{}}`},
		{p03, `{"file":{"file_with_uri":"u","mime_type":"m"}}`, `{"url":"u","mediaType":"m"}`},
		{d03, `{"text":"no kind"}`, `{"text":"no kind"}`},
		{d03, `{"kind":"data","data":null}`, `{"data":null}`},
		{d03, `{"kind":"data","data":{"value":1,"x":2},"metadata":{"data_part_compat":true}}`, `{"data":{"value":1,"x":2},"metadata":{"data_part_compat":true}}`},
		{d03, `{"kind":"data","data":{"value":1},"metadata":{"data_part_compat":false}}`, `{"data":{"value":1},"metadata":{"data_part_compat":false}}`},
		{d03, `{"kind":"file","file":{"bytes":"","uri":"u","name":null}}`, `{"url":"u"}`},
		{d01, `{"type":"data","data":{"value":{"a":1}},"metadata":{"b":1,"data_part_compat":true}}`, `{"data":{"a":1},"metadata":{"b":1}}`},
	}
	for _, test := range tests {
		w := writer{from: test.from, to: d10, buffer: buffer{out: []byte("[")}}
		w.part([]byte(test.in))
		equal(t, test.in, test.want, w.out[1:])
		if w.wrong != "" {
			t.Errorf("%s: %s", test.in, w.wrong)
		}
	}
}

// TestWords: every state and role comes through every pair of dialects, under every
// spelling and as its number, except the two states that 0.1 has others for.
func TestWords(t *testing.T) {
	t.Parallel()
	for from := range dialect(dialects) {
		for to := range dialect(dialects) {
			for n, state := range states {
				want := state[to]
				if from == d01 {
					m, _ := number(states[:], []byte(`"`+state[d01]+`"`))
					want = states[m][to]
				}
				w := writer{from: from, to: to}
				w.state([]byte(`"` + state[from] + `"`))
				if string(w.out) != `"`+want+`"` {
					t.Errorf("%d from %d to %d: %s", n, from, to, w.out)
				}
			}
		}
	}
	for in, want := range map[string]int{`"cancelled"`: canceled, `5`: canceled, `"nonsense"`: 0, `99`: 0, `-1`: 0, `null`: 0, `{}`: 0} {
		if n, _ := number(states[:], []byte(in)); n != want {
			t.Errorf("%s: got %d", in, n)
		}
	}
}

// TestTables: no table has more rows than fit, or two rows of one name.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, o := range objects {
		if len(o.members) > mostMembers {
			t.Errorf("%s has %d rows", o.name, len(o.members))
		}
		for d := range o.names {
			seen := map[string]int{}
			for _, s := range o.names[d] {
				if at, ok := seen[s.name]; ok && at != s.at {
					t.Errorf("%s: %q means two things in dialect %d", o.name, s.name, d)
				}
				seen[s.name] = s.at
			}
		}
	}
}
