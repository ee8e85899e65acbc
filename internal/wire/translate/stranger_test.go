package translate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// strangerCase is a document and where its strangers are: a pointer for a member, with
// "=" behind it for a value.
type strangerCase struct {
	name   string
	side   wire.Side
	method string
	doc    string
	want   string // separated by spaces
}

var strangeRequests = []strangerCase{
	{"a send of 1.0", rpc10, wire.SendMessage, `{"tenant":"t","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x",
		"mediaType":"text/plain","filename":"f"},{"data":{"kind":1}},{"raw":"AA=="}],"extensions":["u"],"metadata":{"x":1},
		"referenceTaskIds":[]},"configuration":{"blocking":true,"taskPushNotificationConfig":{"id":"c","url":"u","token":"t",
		"taskId":"T","tenant":"t","authentication":{"scheme":"Bearer","credentials":"c"}}},"metadata":{"anything":[{}]}}`, ""},
	{"members at every place", http10, wire.SendStreamingMessage, `{"a":1,"message":{"b":2,"parts":[{"text":"x"},{"c":3,"url":"u"}]},
		"configuration":{"d":4,"taskPushNotificationConfig":{"e":5,"url":"u","authentication":{"f":6}}}}`,
		"/a /message/b /message/parts/1/c /configuration/d /configuration/taskPushNotificationConfig/e " +
			"/configuration/taskPushNotificationConfig/authentication/f"},
	{"null is a member", rpc10, wire.GetTask, `{"id":"T","a":null}`, "/a"},
	{"names of other versions", rpc10, wire.SendMessage, `{"message":{"kind":"message","parts":[{"kind":"text","text":"x"}],
		"role":"user"},"sessionId":"s"}`, "/message/kind /message/parts/0/kind /message/role= /sessionId"},
	{"the proto's names", rpc10, wire.SendMessage, `{"request":{"message_id":"m","content":[],"role":1,"context_id":"c"},
		"configuration":{"history_length":1,"accepted_output_modes":[]}}`, ""},
	{"roles", rpc10, wire.SendMessage, `{"message":{"role":"ROLE_SYSTEM"}}`, "/message/role="},
	{"a role that is none", rpc10, wire.SendMessage, `{"message":{"role":3}}`, "/message/role="},
	{"a role that says nothing", rpc10, wire.SendMessage, `{"message":{"role":"ROLE_UNSPECIFIED"}}`, ""},
	{"an empty role", rpc10, wire.SendMessage, `{"message":{"role":""}}`, "/message/role="},
	{"no role", rpc10, wire.SendMessage, `{"message":{"role":null}}`, ""},
	{"a send of 0.3", rpc03, wire.SendMessage, `{"message":{"kind":"message","messageId":"m","role":"user","parts":[
		{"kind":"text","text":"x"},{"kind":"file","file":{"bytes":"AA==","name":"n","mimeType":"m"}},{"kind":"data","data":{}}]},
		"configuration":{"blocking":true,"pushNotificationConfig":{"id":"c","url":"u","authentication":{"schemes":["b"]}}}}`, ""},
	{"kinds", rpc03, wire.SendMessage, `{"message":{"kind":"task","role":"user","parts":[{"kind":"video","video":"x"},
		{"kind":"file","file":{"x":1}},{"kind":null}]}}`,
		"/message/kind= /message/parts/0/kind= /message/parts/0/video /message/parts/1/file/x"},
	{"numbers are of ProtoJSON", rpc03, wire.SendMessage, `{"message":{"role":1}}`, "/message/role="},
	{"0.3 in 1.0's words", rpc03, wire.SendMessage, `{"message":{"role":"ROLE_USER","parts":[{"raw":"x"}]},"tenant":"t"}`,
		"/message/role= /message/parts/0/raw /tenant"},
	{"0.3's HTTP+JSON by its proto", http03, wire.SendMessage, `{"message":{"role":"ROLE_USER","content":[{"data":{"data":{}}},
		{"file":{"fileWithBytes":"","name":"n","mimeType":"m"}}]},"configuration":{"pushNotification":{"url":"u","x":1}}}`,
		"/configuration/pushNotification/x"},
	{"0.3's HTTP+JSON by its text", http03, wire.SendMessage, `{"message":{"kind":"message","role":"user","parts":[{"kind":"text",
		"text":"x"},{"kind":"file","file":{"uri":"u"}}],"referenceTaskIds":[],"x":1}}`, "/message/x"},
	{"a send of 0.1", rpc01, wire.SendMessage, `{"id":"T","sessionId":"s","message":{"role":"user","parts":[{"type":"text","text":"x"},
		{"type":"audio"}],"messageId":"m"},"acceptedOutputModes":[],"pushNotification":{"url":"u","x":1},"historyLength":1}`,
		"/message/parts/1/type= /message/messageId /pushNotification/x"},
	{"a name that has to be escaped", rpc10, wire.CancelTask, `{"id":"T","a/b~c":1,"\u00e9\"":1}`, `/a~1b~0c /é"`},
	{"an escaped name", rpc10, wire.CancelTask, `{"\u0069d":"T","\u0078":1}`, "/x"},
	{"a name that folds to a known one", rpc10, wire.CancelTask, `{"id":"T","ID":"U"}`, "/ID"},
	{"a long name", rpc10, wire.CancelTask, `{"` + strings.Repeat("a", 127) + `éé":1}`, "/" + strings.Repeat("a", 127)},
	{"a create of 1.0", rpc10, createConfig, `{"taskId":"T","id":"c","url":"u","x":1,"authentication":{"scheme":"b","y":2}}`,
		"/x /authentication/y"},
	{"a create of the release candidate", rpc10, createConfig, `{"taskId":"T","configId":"c","config":{"pushNotificationConfig":{
		"url":"u","x":1}}}`, "/config/pushNotificationConfig/x"},
	{"a create of 0.3's proto", http03, createConfig, `{"parent":"tasks/T","configId":"c","config":{"name":"n",
		"pushNotificationConfig":{"id":"c","url":"u","x":1},"y":2}}`, "/config/pushNotificationConfig/x /config/y"},
	{"a create of 0.3", rpc03, createConfig, `{"taskId":"T","pushNotificationConfig":{"url":"u","x":1},"parent":"p"}`,
		"/pushNotificationConfig/x /parent"},
	{"a list of tasks", rpc10, wire.ListTasks, `{"contextId":"c","status":"TASK_STATE_NAPPING","lastUpdatedAfter":"t","x":1}`,
		"/status= /x"},
	{"nothing", rpc10, wire.GetExtendedAgentCard, ``, ""},
	{"no object", rpc10, wire.GetTask, `[{"x":1}]`, ""},
	{"members of the wrong type", rpc10, wire.SendMessage, `{"message":[{"x":1}],"configuration":"x"}`, ""},
}

var strangeAnswers = []strangerCase{
	{"a task of 1.0", rpc10, wire.GetTask, `{"id":"T","contextId":"c","status":{"state":"TASK_STATE_CANCELLED","timestamp":"t","x":1,
		"message":{"role":"ROLE_AGENT","parts":[{"text":"x","y":2}]}},"artifacts":[{"artifactId":"a","parts":[],"index":3}],
		"history":[{"role":"user"}],"metadata":{"x":1}}`,
		"/status/x /status/message/parts/0/y /artifacts/0/index /history/0/role="},
	{"a task with an answer's members", rpc10, wire.CancelTask, `{"id":"T","status":{"state":7},"message":{},"kind":"task"}`,
		"/message /kind"},
	{"a wrapped task", rpc10, wire.SendMessage, `{"task":{"id":"T","x":1},"y":2}`, "/task/x /y"},
	{"states", rpc10, wire.GetTask, `{"id":"T","status":{"state":"TASK_STATE_NAPPING"}}`, "/status/state="},
	{"a state without a word", rpc10, wire.GetTask, `{"id":"T","status":{"state":9}}`, "/status/state="},
	{"states of 0.1", rpc01, wire.GetTask, `{"id":"T","sessionId":"s","status":{"state":"rejected"},"artifacts":[{"index":0,"append":true,
		"lastChunk":true,"parts":[],"artifactId":"a"}]}`, "/status/state= /artifacts/0/artifactId"},
	{"states of 0.3", rpc03, wire.GetTask, `{"kind":"task","id":"T","status":{"state":"unknown"},"history":[{"kind":"message",
		"role":"agent"}]}`, ""},
	{"an unknown kind of thing", rpc03, wire.SendMessage, `{"kind":"task-group","id":"T"}`, "/kind="},
	{"none of the things", rpc03, wire.SendMessage, `{"kind":"x","group":{"id":"T"}}`, "/kind /group"},
	{"a wrapper in 0.3", rpc03, wire.SendMessage, `{"task":{"id":"T","x":1}}`, "/task"},
	{"an update", rpc10, wire.SubscribeToTask, `{"statusUpdate":{"taskId":"T","status":{"state":"TASK_STATE_WORKING"},"final":true}}`,
		"/statusUpdate/final"},
	{"an artifact", http10, wire.SendStreamingMessage, `{"artifactUpdate":{"taskId":"T","append":true,"lastChunk":false,"artifact":{
		"parts":[{"data":{"x":1},"x":1}]},"index":0}}`, "/artifactUpdate/artifact/parts/0/x /artifactUpdate/index"},
	{"an update of 0.3", rpc03, wire.SendStreamingMessage, `{"kind":"status-update","taskId":"T","contextId":"c","final":true,
		"status":{"state":"napping"},"x":1}`, "/status/state= /x"},
	{"an update of 0.1", rpc01, wire.SendStreamingMessage, `{"id":"T","status":{"state":"working"},"final":false,"kind":"x"}`, "/kind"},
	{"an update of 0.3's proto", http03, wire.SendStreamingMessage, `{"statusUpdate":{"taskId":"T","status":{"state":"TASK_STATE_CANCELLED",
		"update":{"content":[],"role":"ROLE_AGENT","x":1}},"final":true}}`, "/statusUpdate/status/update/x"},
	{"a list of tasks", rpc10, wire.ListTasks, `{"tasks":[{"id":"T"},{"id":"U","x":1}],"totalSize":2,"pageSize":50,"nextPageToken":"",
		"y":1}`, "/tasks/1/x /y"},
	{"a config", rpc10, getConfig, `{"taskId":"T","id":"c","url":"u","x":1}`, "/x"},
	{"a config of 0.1", rpc01, getConfig, `{"id":"T","pushNotificationConfig":{"url":"u","x":1}}`, "/pushNotificationConfig/x"},
	{"configs", rpc10, listConfigs, `{"configs":[{"url":"u","x":1}],"nextPageToken":"","y":1}`, "/configs/0/x /y"},
	{"configs of 0.3", rpc03, listConfigs, `[{"taskId":"T","pushNotificationConfig":{"id":"c","url":"u"}},{"x":1}]`, "/1/x"},
	{"a delete", rpc03, deleteConfig, `null`, ""},
	{"a card is not looked at", rpc10, wire.GetExtendedAgentCard, `{"x":1}`, ""},
	{"null", rpc03, wire.SendMessage, `null`, ""},
	{"nothing at all", http10, deleteConfig, ``, ""},
	{"white space", http10, wire.GetTask, " \n{\"id\":\"T\", \"x\" : 1}\r\n", "/x"},
}

func told(list []Stranger) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = s.Pointer
		if s.Value {
			words[i] += "="
		}
	}
	return strings.Join(words, " ")
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	for what, cases := range map[string][]strangerCase{"request": strangeRequests, "answer": strangeAnswers} {
		for _, tt := range cases {
			t.Run(what+"/"+tt.side.String()+"/"+tt.name, func(t *testing.T) {
				t.Parallel()
				got := Strangers(tt.side, methodNamed(tt.method), what == "answer", []byte(tt.doc))
				if diff := cmp.Diff(tt.want, told(got)); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

// TestStrangersOfExtensions: what an extension's own methods say is its own.
func TestStrangersOfExtensions(t *testing.T) {
	t.Parallel()
	own := &wire.Method{Name: "x", Extension: "urn:x", Subject: wire.OfTask}
	for _, m := range []*wire.Method{nil, own, {Name: "unknown"}} {
		for _, answer := range []bool{false, true} {
			if got := Strangers(rpc10, m, answer, []byte(`{"id":"T","x":1}`)); got != nil {
				t.Errorf("%v: %s", m, told(got))
			}
		}
	}
}

// TestStrangersAreBounded: a document is as long as its writer likes, what is said
// about it is not.
func TestStrangersAreBounded(t *testing.T) {
	t.Parallel()
	var doc strings.Builder
	doc.WriteString(`{"id":"T"`)
	for i := range 1000 {
		fmt.Fprintf(&doc, `,"x%d":1`, i)
	}
	got := Strangers(rpc10, methodNamed(wire.GetTask), true, []byte(doc.String()+"}"))
	if len(got) != mostStrangers || got[0].Pointer != "/x0" || got[31].Pointer != "/x31" {
		t.Errorf("%d: %s", len(got), told(got))
	}
}

// places are where an object of A2A's stands in a document, with a pointer to each.
func places(doc any, at string, list map[string]obj) {
	switch v := doc.(type) {
	case obj:
		list[at] = v
		for name, value := range v {
			if name != "metadata" && name != "data" {
				places(value, at+"/"+name, list)
			}
		}
	case []any:
		for i, value := range v {
			places(value, fmt.Sprintf("%s/%d", at, i), list)
		}
	}
}

// TestStrangersAnywhere: one member more is found wherever it is put, and nothing is
// found where there is none.
func TestStrangersAnywhere(t *testing.T) {
	t.Parallel()
	for _, side := range []wire.Side{rpc01, rpc03, http03, rpc10} {
		t.Run(side.String(), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				task := generator{T: t, d: dialectOf(side)}.task()
				if got := Strangers(side, methodNamed(wire.GetTask), true, marshal(t, task)); got != nil {
					t.Fatalf("%s in %s", told(got), marshal(t, task))
				}
				list := make(map[string]obj)
				places(task, "", list)
				at := rapid.SampledFrom(slices.Sorted(maps.Keys(list))).Draw(t, "at")
				list[at]["x/"] = anything(t, 2)
				if got := told(Strangers(side, methodNamed(wire.GetTask), true, marshal(t, task))); got != at+"/x~1" {
					t.Fatalf("%q instead of %q in %s", got, at+"/x~1", marshal(t, task))
				}
			})
		})
	}
}

// resolve follows a pointer; every step must be there.
func resolve(doc any, pointer string) (any, bool) {
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch v := doc.(type) {
		case map[string]any:
			value, ok := v[step]
			if !ok {
				return nil, false
			}
			doc = value
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// FuzzStrangers: of any document that package wire reads, what is said is there, is
// said once, and is the same the second time.
func FuzzStrangers(f *testing.F) {
	for _, tt := range slices.Concat(strangeRequests, strangeAnswers) {
		f.Add(uint8(slices.Index(sides(), tt.side)), tt.method, tt.doc)
	}
	f.Fuzz(func(t *testing.T, from uint8, method, doc string) {
		side, m := sides()[int(from)%len(sides())], methodNamed(method)
		var parsed any
		if m == nil || !jsontext.Value(doc).IsValid() || unmarshal([]byte(doc), &parsed) != nil {
			t.Skip()
		}
		for _, answer := range []bool{false, true} {
			got := Strangers(side, m, answer, []byte(doc))
			if diff := cmp.Diff(got, Strangers(side, m, answer, []byte(doc))); diff != "" {
				t.Fatal(diff)
			}
			seen := make(map[string]bool)
			for _, s := range got {
				if seen[s.Pointer] && len(s.Pointer) < longestStep {
					t.Fatalf("%s twice in %s", s.Pointer, doc)
				}
				seen[s.Pointer] = true
				if _, ok := resolve(parsed, s.Pointer); !ok && !long(s.Pointer) {
					t.Fatalf("no %s in %s", s.Pointer, doc)
				}
			}
		}
	})
}

// long reports whether a name in a pointer may have been cut.
func long(pointer string) bool {
	for step := range strings.SplitSeq(pointer, "/") {
		if len(step) > longestStep-utf8.UTFMax {
			return true
		}
	}
	return false
}

// TestStrangersAllocate: a document that is as it should be costs the pointer's
// buffer.
func TestStrangersAllocate(t *testing.T) {
	m, doc := methodNamed(wire.SendMessage), []byte(kilobyte)
	if n := testing.AllocsPerRun(100, func() { Strangers(rpc10, m, false, doc) }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkStrangers(b *testing.B) {
	m, doc := methodNamed(wire.SendMessage), []byte(kilobyte)
	b.ReportAllocs()
	for b.Loop() {
		Strangers(rpc10, m, false, doc)
	}
}
