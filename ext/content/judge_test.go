package content_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/ext/schema"
)

// judged is a registry in which pay has every schema.
func judged(mode ext.Mode) ext.Registry {
	r := registry()
	r[0].Validation = mode
	r[0].Schemas = ext.Schemas{
		Request: source(`{"type":"object","required":["amount"]}`),
		Metadata: map[string]schema.Source{
			"pay.status": source(`{"enum":["paid","refused"]}`),
			"free":       source(`{"type":"integer"}`),
		},
		Message:  source(`{"properties":{"parts":{"maxItems":2}}}`),
		Artifact: source(`{"required":["name"]}`),
		Status:   source(`{"required":["timestamp"]}`),
		Part:     source(`{"properties":{"data":{"required":["v"]}}}`),
	}
	return r
}

func TestValues(t *testing.T) {
	t.Parallel()
	const refuse = "refuse schema " + pay + " "
	escaped := strings.ReplaceAll(pay, "/", "~1")
	for name, tc := range map[string]struct {
		doc    document
		mode   ext.Mode
		active ext.Set // pay if nil
		want   string
	}{
		"all as it should be": {doc: params(`{"metadata":{"` + pay + `":{"amount":1},"pay.status":"paid","free":2}}`)},
		"a request": {
			doc:  params(`{"metadata":{"` + pay + `":{"amonut":1}}}`),
			want: refuse + "/params/metadata/" + escaped + "\n",
		},
		"a request, without it":             {doc: params(`{"metadata":{"x":1}}`)},
		"under the URI of a message":        {doc: params(`{"message":{"messageId":"m","metadata":{"` + pay + `":1}}}`)},
		"under the URI of an answer's task": {doc: result(`{"task":{"id":"t","metadata":{"` + pay + `":1}}}`)},
		"keys anywhere": {
			doc: params(`{"metadata":{"free":"x"},"message":{"messageId":"m","metadata":{"pay.status":{"deep":1}},
				"parts":[{"text":"","metadata":{"free":1.5}}]}}`),
			want: refuse + "/params/metadata/free\n" +
				refuse + "/params/message/metadata/pay.status\n" +
				refuse + "/params/message/parts/0/metadata/free\n",
		},
		"an answer": {
			doc:  result(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","metadata":{"pay.status":"lost"}}}}}`),
			want: refuse + "/result/task/status/message/metadata/pay.status\n",
		},
		"keys that are nearly the same": {
			doc:  params(`{"metadata":{"free":1,"fre\u0065 ":2,"free2":"x"},"message":{"messageId":"m","metadata":{"free":"x"}}}`),
			want: refuse + "/params/message/metadata/free\n",
		},
		"history is left alone": {
			doc: result(`{"task":{"id":"t","history":[{"messageId":"m","metadata":{"free":"x"},"parts":[{"text":"","metadata":{"free":"x"}}]}]}}`),
		},
		"a key in escapes": {
			doc:  params(`{"metadata":{"fr\u0065e":"x"}}`),
			want: refuse + "/params/metadata/free\n",
		},
		"listed is no value":           {doc: params(`{"message":{"messageId":"m","extensions":["free","pay.status"]}}`)},
		"not active":                   {doc: params(`{"metadata":{"free":"x"}}`), active: ext.Set{stamp}},
		"reported":                     {doc: params(`{"metadata":{"free":"x"}}`), mode: ext.Report, want: "report schema " + pay + " /params/metadata/free\n"},
		"enforced, as one may write":   {doc: params(`{"metadata":{"free":"x"}}`), mode: ext.Enforce, want: refuse + "/params/metadata/free\n"},
		"off":                          {doc: params(`{"metadata":{"free":"x"}}`), mode: ext.Off},
		"active beside what has none":  {doc: params(`{"metadata":{"free":"x"}}`), active: ext.Set{local, stamp, pay}, want: refuse + "/params/metadata/free\n"},
		"what is wrong inside a value": {doc: params(`{"metadata":{"` + pay + `":[]}}`), want: refuse + "/params/metadata/" + escaped + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.active == nil {
				tc.active = ext.Set{pay}
			}
			terms := content.Terms{Book: compile(t, judged(tc.mode)), Declared: card, Active: tc.active, Answer: tc.doc.answer}
			if got := lines(terms.Values(read(t, tc.doc))); got != tc.want {
				t.Errorf("got\n%swant\n%s", got, tc.want)
			}
		})
	}
}

func TestObjects(t *testing.T) {
	t.Parallel()
	doc := result(`{"task":{"id":"t",
		"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","parts":[{"data":{"v":1}},{"data":{"w":1}},{"text":"x"}]}},
		"artifacts":[{"artifactId":"a","name":"n","parts":[{"data":{}}]},{"artifactId":"b","parts":[]}],
		"history":[{"messageId":"h","parts":[{"data":{}},{"data":{}},{"data":{}}]}]}}`)
	for name, tc := range map[string]struct {
		mode   ext.Mode
		active ext.Set
		verb   string // "" for nothing found
		judges bool
	}{
		"enforced":        {active: ext.Set{pay}, verb: "refuse", judges: true},
		"reported":        {active: ext.Set{stamp, pay}, mode: ext.Report, verb: "report", judges: true},
		"off":             {active: ext.Set{pay}, mode: ext.Off},
		"not active":      {active: ext.Set{stamp}},
		"nothing active":  {},
		"active, unknown": {active: ext.Set{local}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terms := content.Terms{Book: compile(t, judged(tc.mode)), Active: tc.active, Answer: true}
			if got := terms.JudgesObjects(); got != tc.judges {
				t.Errorf("JudgesObjects() = %v", got)
			}
			want := ""
			if tc.verb != "" {
				for _, pointer := range []string{
					"status",
					"status/message/parts",
					"status/message/parts/1/data",
					"artifacts/0/parts/0/data",
					"artifacts/1",
				} {
					want += fmt.Sprintln(tc.verb, "schema", pay, "/result/task/"+pointer)
				}
			}
			if got := lines(terms.Objects(read(t, doc))); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// A schema that one extension reports does not hide, by sheer number, what another
// one refuses.
func TestFloodHidesNothing(t *testing.T) {
	t.Parallel()
	r := registry()
	r[0].Validation = ext.Report
	r[0].Schemas.Part = source(`{"required":["never"]}`)
	r[1].Schemas.Message = source(`{"properties":{"messageId":{"const":"n"}}}`)
	r[2].Schemas.Message = r[1].Schemas.Message
	terms := content.Terms{Book: compile(t, r), Active: ext.Set{pay, stamp, stampPro}}
	parts := strings.Repeat(`{"text":"x"},`, 300) + `{"text":"x"}`
	got := terms.Objects(read(t, params(`{"message":{"messageId":"m","parts":[`+parts+`]}}`)))
	if len(got) != 64 || !got[63].Enforced || got[63].Extension != stamp {
		t.Errorf("%d violations, the last is %+v; want 64, the last one the first that is enforced", len(got), got[len(got)-1])
	}
}

func TestData(t *testing.T) {
	t.Parallel()
	s, err := schema.Compile(source(`{"type":"object","properties":{"v":{"type":"integer"}},"required":["v"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		doc  document
		want string // pointers
	}{
		"as it should be": {doc: params(`{"message":{"messageId":"m","parts":[{"data":{"v":1}},{"text":"{}"},{"url":"x"}]}}`)},
		"a request":       {doc: params(`{"message":{"messageId":"m","parts":[{"data":{"v":1}},{"data":{"v":"x"}},{"data":[1]}]}}`), want: "/params/message/parts/1/data/v\n/params/message/parts/2/data\n"},
		"a request of 0.3": {
			doc:  document{side: rpc03, text: `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"data","data":{"w":1}}]}}}`},
			want: "/params/message/parts/0/data\n",
		},
		"a request of 0.1": {
			doc:  document{side: rpc01, text: `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t","message":{"role":"user","parts":[{"type":"data","data":{"v":null}}]}}}`},
			want: "/params/message/parts/0/data/v\n",
		},
		"gRPC of 0.3": {
			doc:  document{side: grpc03, text: `{"request":{"messageId":"m","content":[{"data":{"data":{"v":1}}},{"data": { "data" : {"v":{}}}}]}}`},
			want: "/request/content/1/data/data/v\n",
		},
		"what 0.3 has to wrap": {
			doc:  document{side: rpc03, answer: true, text: `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","role":"agent","parts":[{"kind":"data","data":{"value":[1]},"metadata":{"data_part_compat":true}}]}}`},
			want: "/result/parts/0/data/value\n",
		},
		"an answer's artifacts and messages": {
			doc: result(`{"task":{"id":"t","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","parts":[{"data":{}}]}},
				"artifacts":[{"artifactId":"a","parts":[{"text":"x"},{"data":1}]}],"history":[{"messageId":"h","parts":[{"data":1}]}]}}`),
			want: "/result/task/status/message/parts/0/data\n/result/task/artifacts/0/parts/1/data\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, enforced := range []bool{false, true} {
				got := ""
				for _, v := range content.Data(read(t, tc.doc), s, enforced) {
					got += v.Pointer + "\n"
					if v.Enforced != enforced || v.Extension != "" || v.Fault != content.Invalid || v.Text == "" {
						t.Errorf("%+v, want it enforced: %v", v, enforced)
					}
				}
				if got != tc.want {
					t.Errorf("got\n%swant\n%s", got, tc.want)
				}
			}
		})
	}
}

// What a schema refuses is named, and not repeated.
func TestViolationsKeepSecrets(t *testing.T) {
	t.Parallel()
	terms := content.Terms{Book: compile(t, judged("")), Active: ext.Set{pay}}
	got := terms.Values(read(t, params(`{"metadata":{"pay.status":"hunter2","free":"hunter2"}}`)))
	if len(got) != 2 {
		t.Fatalf("%d violations, want 2", len(got))
	}
	for _, v := range got {
		if v.Text == "" || strings.Contains(fmt.Sprint(v), "hunter2") {
			t.Errorf("%+v repeats the value or says nothing", v)
		}
	}
}
