package provided_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/provided"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

const (
	stampURI    = "https://github.com/a2aproject/a2a-samples/extensions/timestamp/v1"
	stampKey    = "github.com/a2aproject/a2a-samples/extensions/timestamp/v1/timestamp"
	stampURI2   = "https://github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1"
	stampKey2   = "github.com/a2aproject/a2a-samples/samples/extensions/timestamp/v1/timestamp"
	traceURI    = "https://github.com/a2aproject/a2a-samples/extensions/traceability/v1"
	traceKey    = "github.com/a2aproject/a2a-samples/extensions/traceability/v1/traceability"
	passportURI = "https://github.com/a2aproject/a2a-samples/tree/main/samples/python/extensions/secure-passport"
)

// read reads a document of A2A 1.0's JSON-RPC.
func read(t *testing.T, method string, answer bool, doc string) *wire.Carriers {
	t.Helper()
	return readAs(t, wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, method, answer, doc)
}

func readAs(t *testing.T, side wire.Side, method string, answer bool, doc string) *wire.Carriers {
	t.Helper()
	for i := range wire.Methods() {
		m := &wire.Methods()[i]
		if m.Name != method {
			continue
		}
		c, err := wire.ReadCarriers(side, m, answer, []byte(doc), wire.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	t.Fatalf("no method %s", method)
	return nil
}

func result(r string) string { return `{"jsonrpc":"2.0","id":1,"result":` + r + `}` }

// same compares JSON documents by value.
func same(t *testing.T, got []byte, want string) {
	t.Helper()
	var g, w any
	if err := json.Unmarshal(got, &g); err != nil {
		t.Fatalf("%v in %s", err, got)
	}
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatalf("%v in %s", err, want)
	}
	if diff := cmp.Diff(w, g); diff != "" {
		t.Error(diff)
	}
}

var began = time.Date(2026, 11, 21, 21, 30, 0, 500_000_000, time.FixedZone("", 3600))

func facts(method string) *ext.Facts {
	return &ext.Facts{
		Now: began.Add(2 * time.Second), Began: began, Sent: began.Add(time.Second), RequestID: "r1",
		TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331", Gateway: "gw", Agent: "travel",
		AgentName: `Tra"vel`, AgentURL: "https://gw.example/agents/travel", Method: method, Skill: "book",
		Subject: "alice", Issuer: "https://idp", Final: true,
	}
}

func TestProviders(t *testing.T) {
	t.Parallel()
	all := provided.Providers()
	for _, uri := range []string{stampURI, stampURI2, traceURI, passportURI} {
		if all[uri] == nil {
			t.Errorf("%s is missing", uri)
		}
	}
	for uri, p := range all {
		d := p.Declared()
		if err := ext.CheckURI(uri); err != nil || d.URI != uri || d.Description == "" || d.Required {
			t.Errorf("%s is declared as %+v: %v", uri, d, err)
		}
	}
}

// stamped has STAMP and LISTED where a time and the URI belong.
func stamped(in, uri, key string) string {
	return strings.NewReplacer(
		`"STAMP"`, `"metadata":{"`+key+`":"2026-11-21T20:30:02.5Z"},"extensions":["`+uri+`"]`,
		`"ALSO"`, `"metadata":{"x":1,"`+key+`":"2026-11-21T20:30:02.5Z"},"extensions":["urn:x","`+uri+`"]`,
	).Replace(in)
}

func TestTimestamp(t *testing.T) {
	t.Parallel()
	const (
		message  = `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"a","metadata":{}}],"STAMP"}}`
		artifact = `{"artifactUpdate":{"taskId":"t","contextId":"c","metadata":{},"artifact":{"artifactId":"a","parts":[],"STAMP"}}}`
		task     = `{"task":{"id":"t","contextId":"c","metadata":{"a":1},` +
			`"history":[{"messageId":"h","role":"ROLE_USER","parts":[]}],` +
			`"artifacts":[{"artifactId":"1","parts":[],"STAMP"},{"artifactId":"2","parts":[],"ALSO"},{"artifactId":"3",` +
			`"parts":[],"metadata":{"KEY":"2020-01-01T00:00:00Z"}}],` +
			`"status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"s","role":"ROLE_AGENT","parts":[],"STAMP"}}}}`
	)
	tests := []struct {
		name, method, answer string
		all                  bool // the objects are new
	}{
		{"message", wire.SendMessage, message, true},
		{"task", wire.SendMessage, task, true},
		{"event with a task", wire.SendStreamingMessage, task, true},
		{"artifact event", wire.SendStreamingMessage, artifact, true},
		{"event of a subscription", wire.SubscribeToTask, artifact, true},
		{"beginning of a subscription", wire.SubscribeToTask, task, false},
		{"read", wire.GetTask, task[len(`{"task":`) : len(task)-1], false},
		{"cancel", wire.CancelTask, task[len(`{"task":`) : len(task)-1], false},
		{"list", wire.ListTasks, `{"tasks":[` + task[len(`{"task":`):len(task)-1] + `]}`, false},
		{"push config", wire.CreatePushConfig, `{"id":"1","url":"https://x"}`, false},
	}
	for _, tt := range tests {
		for uri, key := range map[string]string{stampURI: stampKey, stampURI2: stampKey2} {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				template := strings.ReplaceAll(result(tt.answer), "KEY", key)
				bare := strings.ReplaceAll(strings.ReplaceAll(template, `,"STAMP"`, ""),
					`"ALSO"`, `"metadata":{"x":1},"extensions":["urn:x"]`)
				want := bare
				if tt.all {
					want = stamped(template, uri, key)
				}
				doc := read(t, tt.method, true, bare)
				if err := provided.Providers()[uri].Answer(facts(tt.method), doc); err != nil {
					t.Fatal(err)
				}
				same(t, doc.Apply(), want)
			})
		}
	}
}

// TestTimestampOfKnownTask: the artifacts of a task that the call names may be older.
func TestTimestampOfKnownTask(t *testing.T) {
	t.Parallel()
	const task = `{"task":{"id":"t","artifacts":[{"artifactId":"1","parts":[]}],` +
		`"status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"s","role":"ROLE_AGENT","parts":[],"STAMP"}}}}`
	f := facts(wire.SendMessage)
	f.TaskID = "t"
	doc := read(t, wire.SendMessage, true, strings.ReplaceAll(result(task), `,"STAMP"`, ""))
	if err := provided.Providers()[stampURI].Answer(f, doc); err != nil {
		t.Fatal(err)
	}
	same(t, doc.Apply(), stamped(result(task), stampURI, stampKey))
}

func TestTimestampInOlderVersions(t *testing.T) {
	t.Parallel()
	v03 := wire.Side{Version: wire.V03, Binding: wire.JSONRPC}
	doc := readAs(t, v03, wire.SendMessage, true, result(`{"kind":"message","messageId":"m","role":"agent","parts":[]}`))
	if err := provided.Providers()[stampURI].Answer(facts(wire.SendMessage), doc); err != nil {
		t.Fatal(err)
	}
	same(t, doc.Apply(), stamped(result(`{"kind":"message","messageId":"m","role":"agent","parts":[],"STAMP"}`), stampURI, stampKey))

	v01 := wire.Side{Version: wire.V01, Binding: wire.JSONRPC}
	const head, tail = `{"id":"t","artifacts":[{"parts":[]`, `}],"status":{"state":"completed"}}`
	doc = readAs(t, v01, wire.SendMessage, true, result(head+tail))
	if err := provided.Providers()[stampURI].Answer(facts(wire.SendMessage), doc); err != nil {
		t.Fatal(err)
	}
	same(t, doc.Apply(), result(head+`,"metadata":{"`+stampKey+`":"2026-11-21T20:30:02.5Z"}`+tail))
}

func TestTraceability(t *testing.T) {
	t.Parallel()
	trace := `"metadata":{"` + traceKey + `":{"trace_id":"0af7651916cd43dd8448eb211c80319c","steps":[{` +
		`"step_id":"b7ad6b7169203331","trace_id":"0af7651916cd43dd8448eb211c80319c","call_type":"AGENT",` +
		`"step_action":{"agent_invocation":{"agent_url":"https://gw.example/agents/travel","agent_name":"Tra\"vel"}},` +
		`"additional_attributes":{"gateway":"gw","method":"METHOD","request_id":"r1","skill":"book"},` +
		`"latency":1000,"start_time":"2026-11-21T20:30:01.5Z","end_time":"2026-11-21T20:30:02.5Z"}]}}`
	const listed = `,"extensions":["` + traceURI + `"]`
	own := `"metadata":{"` + traceKey + `":{"trace_id":"x","steps":[]}}`
	old := `"history":[{"messageId":"h","role":"ROLE_AGENT","parts":[],` + own + `}]`
	tests := []struct {
		name, method, answer string
		want                 bool
	}{
		{"message", wire.SendMessage, `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[],"TRACE"}}`, true},
		{"status message", wire.SendMessage, `{"task":{"id":"t",` + old + `,"artifacts":[{"artifactId":"a","parts":[]}],` +
			`"status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"s","role":"ROLE_AGENT","parts":[],"TRACE"}}}}`, true},
		{"last artifact", wire.SendMessage, `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"},` +
			`"artifacts":[{"artifactId":"a","parts":[]},{"artifactId":"b","parts":[],"TRACE"}]}}`, true},
		{"task alone", wire.SendMessage, `{"task":{"id":"t",` + old + `,"status":{"state":"TASK_STATE_COMPLETED"},"BARE"}}`, true},
		{"event", wire.SendStreamingMessage, `{"statusUpdate":{"taskId":"t","contextId":"c",` +
			`"status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"s","role":"ROLE_AGENT","parts":[],"TRACE"}}}}`, true},
		{"event alone", wire.SubscribeToTask, `{"statusUpdate":{"taskId":"t","contextId":"c",` +
			`"status":{"state":"TASK_STATE_COMPLETED"},"BARE"}}`, true},
		{"the agent's own", wire.SendMessage, `{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED","message":` +
			`{"messageId":"s","role":"ROLE_AGENT","parts":[]}},"artifacts":[{"artifactId":"a","parts":[],` + own + `}]}}`, false},
		{"read", wire.GetTask, `{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}`, false},
		{"list", wire.ListTasks, `{"tasks":[{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}]}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bare := strings.ReplaceAll(strings.ReplaceAll(result(tt.answer), `,"TRACE"`, ""), `,"BARE"`, "")
			full := strings.ReplaceAll(trace, "METHOD", tt.method)
			want := bare
			if tt.want {
				want = strings.ReplaceAll(strings.ReplaceAll(result(tt.answer), `"TRACE"`, full+listed), `"BARE"`, full)
			}
			f := facts(tt.method)
			doc := read(t, tt.method, true, bare)
			if err := provided.Providers()[traceURI].Answer(f, doc); err != nil {
				t.Fatal(err)
			}
			same(t, doc.Apply(), want)

			f.Final = false
			doc = read(t, tt.method, true, bare)
			if err := provided.Providers()[traceURI].Answer(f, doc); err != nil {
				t.Fatal(err)
			}
			same(t, doc.Apply(), bare)
		})
	}
}

func TestTraceWithoutTracing(t *testing.T) {
	t.Parallel()
	f := facts(wire.SendMessage)
	f.TraceID, f.SpanID, f.Skill, f.Sent = "", "", "", time.Time{}
	doc := read(t, wire.SendMessage, true, result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[]}}`))
	if err := provided.Providers()[traceURI].Answer(f, doc); err != nil {
		t.Fatal(err)
	}
	got := string(doc.Apply())
	for _, want := range []string{`"trace_id":"r1"`, `"step_id":"r1"`, `"latency":2000`, `"start_time":"2026-11-21T20:30:00.5Z"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if strings.Contains(got, `"skill"`) {
		t.Errorf("a skill in %s", got)
	}
}

func TestPassport(t *testing.T) {
	t.Parallel()
	const pointer = "/params/message/metadata/https:~1~1github.com~1a2aproject~1a2a-samples~1tree~1main~1samples~1python~1" +
		"extensions~1secure-passport"
	const anyone = "alice"
	tests := []struct{ name, passport, subject, want string }{
		{"least", `{"clientId":"alice","state":{}}`, anyone, ""},
		{"whole", `{"signature":"MOCK","state":{"a":[1]},"sessionId":"s","clientId":"\u0061lice"}`, anyone, ""},
		{"somebody else's", `{"clientId":"bob","state":{}}`, anyone, "/clientId: not the"},
		{"prefix", `{"clientId":"alic","state":{}}`, anyone, "/clientId: not the"},
		{"other case", `{"clientId":"Alice","state":{}}`, anyone, "/clientId: not the"},
		{"of nobody", `{"clientId":"","state":{}}`, "", "/clientId: not the"},
		{"no client", `{"state":{}}`, anyone, "/clientId: want"},
		{"null client", `{"clientId":null,"state":{}}`, anyone, "/clientId: want"},
		{"client list", `{"clientId":["alice"],"state":{}}`, anyone, "/clientId: want"},
		{"two spellings", `{"clientId":"alice","client_id":"bob","state":{}}`, anyone, ": want an object"},
		{"two cases", `{"clientId":"alice","clientID":"bob","state":{}}`, anyone, ": want an object"},
		{"no state", `{"clientId":"alice"}`, anyone, "/state: want"},
		{"state list", `{"clientId":"alice","state":[]}`, anyone, "/state: want"},
		{"signature", `{"clientId":"alice","state":{},"signature":{}}`, anyone, "/signature: want"},
		{"session", `{"clientId":"alice","state":{},"sessionId":1}`, anyone, "/sessionId: want"},
		{"null", `null`, anyone, ": want an object"},
		{"text", `"alice"`, anyone, ": want an object"},
		{"list", `[{"clientId":"alice","state":{}}]`, anyone, ": want an object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",` +
				`"parts":[],"extensions":["` + passportURI + `"],"metadata":{"` + passportURI + `":` + tt.passport + `}}}}`
			doc := read(t, wire.SendMessage, false, in)
			f := facts(wire.SendMessage)
			f.Subject = tt.subject
			err := provided.Providers()[passportURI].Request(f, doc)
			if tt.want == "" {
				if err != nil || string(doc.Apply()) != in {
					t.Errorf("%v; %s", err, doc.Apply())
				}
				return
			}
			e, ok := err.(*wire.Error)
			if !ok || e.Kind != wire.InvalidParams || !strings.HasPrefix(e.Text(), pointer+tt.want) || strings.Contains(e.Text(), "bob") {
				t.Errorf("got %v, want %s%s", err, pointer, tt.want)
			}
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
		t.Parallel()
		doc := read(t, wire.SendMessage, false, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"metadata":{"`+
			passportURI+`":{"clientId":"bob","state":{}}},"message":{"messageId":"m","role":"ROLE_USER","parts":[]}}}`)
		if err := provided.Providers()[passportURI].Request(facts(wire.SendMessage), doc); err == nil {
			t.Error("a passport in the params was not looked at")
		}
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		doc := read(t, wire.SendMessage, false, `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":`+
			`{"messageId":"m","role":"ROLE_USER","parts":[],"extensions":["`+passportURI+`"]}}}`)
		if err := provided.Providers()[passportURI].Request(facts(wire.SendMessage), doc); err != nil {
			t.Error(err)
		}
	})
}

// TestDocumentedRegistry makes sure that the registry in docs/extensions works.
func TestDocumentedRegistry(t *testing.T) {
	t.Parallel()
	var file struct {
		Extensions ext.Registry
		Agents     []struct {
			ID, Card   string
			Extensions ext.Config
		}
	}
	if err := yaml.Load([]byte(documented(t, "yaml")), &file, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	book, err := file.Extensions.Compile()
	if err != nil {
		t.Fatal(err)
	}
	defer book.Close()
	if len(file.Extensions) != 5 || len(book.Extra().Methods()) != 1 {
		t.Errorf("%d entries, %d methods", len(file.Extensions), len(book.Extra().Methods()))
	}
	for _, a := range file.Agents {
		if err := a.Extensions.Validate(); err != nil {
			t.Error(err)
		}
		for _, uri := range a.Extensions.Provide {
			if provided.Providers()[uri] == nil {
				t.Errorf("nobody provides %s", uri)
			}
		}
	}
}
