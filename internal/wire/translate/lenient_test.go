package translate

import (
	"net/url"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestQueryParams: what is no number or flag stays what it is, for the agent to
// refuse.
func TestQueryParams(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                               `{}`,
		"pageSize=05&includeArtifacts=1": `{"pageSize":"05","includeArtifacts":"1"}`,
		"pageSize=-1&status=TASK_STATE_WORKING&history_length=0": `{"historyLength":0,"pageSize":"-1","status":"TASK_STATE_WORKING"}`,
		"statusTimestampAfter=a%22b&includeArtifacts=false&x=1":  `{"statusTimestampAfter":"a\"b","includeArtifacts":false}`,
	} {
		q, err := url.ParseQuery(in)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, in, want, paramsOfQuery(q))
	}
	if got := queryOf([]byte(`{"a":null,"b":[1],"c":{},"d":"x y","e":5,"f":true}`)); got != "d=x+y&e=5&f=true" {
		t.Errorf("got %s", got)
	}
}

// TestAliasInName: within 0.3's ProtoJSON a config goes by its task's name.
func TestAliasInName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"tasks/T/pushNotificationConfigs/c"`:     `"tasks/mine/pushNotificationConfigs/c"`,
		`"tasks/T"`:                               `"tasks/mine"`,
		`"tasks/other/pushNotificationConfigs/c"`: `"tasks/other/pushNotificationConfigs/c"`,
		`"T"`: `"T"`,
	} {
		r := Retelling{From: http03, Call: callOf(grpc03, getConfig, wire.Call{ConfigID: "c"}), Task: Alias{"T", "mine"}}
		got, err := answerOf(t, &r, `{"name":`+in+`,"pushNotificationConfig":{"url":"u"}}`)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, in, `{"name":`+want+`,"pushNotificationConfig":{"url":"u"}}`, []byte(got))
	}
}

// TestAuthentication: the first scheme is the one, wherever it stands.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	tests := []struct {
		from, to wire.Side
		in, want string
	}{
		{rpc03, rpc10, `{"schemes":["a","b"],"credentials":"c"}`, `{"scheme":"a","credentials":"c"}`},
		{rpc03, rpc10, `{"schemes":[],"credentials":"c"}`, ``},
		{rpc03, rpc10, `{"schemes":[""]}`, ``},
		{rpc03, rpc10, `{"credentials":"c"}`, ``},
		{rpc03, rpc10, `{"scheme":"a"}`, `{"scheme":"a"}`},
		{rpc10, rpc03, `{"scheme":"a"}`, `{"schemes":["a"]}`},
		{rpc10, rpc03, `{"schemes":["a","b"]}`, `{"schemes":["a","b"]}`},
		{rpc10, rpc03, `{"credentials":"c"}`, `{"schemes":[],"credentials":"c"}`},
		{rpc10, http03, `{"scheme":"","credentials":"c"}`, `{"schemes":[],"credentials":"c"}`},
	}
	for _, test := range tests {
		w := writer{from: dialectOf(test.from), to: dialectOf(test.to), buffer: buffer{out: []byte("{")}}
		var v values
		webhookObject.gather(w.from, []byte(`{"url":"u","authentication":`+test.in+`}`), &v)
		w.fields(webhookObject, &v)
		want := `{"url":"u"}`
		if test.want != "" {
			want = `{"url":"u","authentication":` + test.want + `}`
		}
		equal(t, test.in, want, append(w.out, '}'))
		if w.wrong != "" {
			t.Errorf("%s: %s", test.in, w.wrong)
		}
	}
}

// TestBrokenAnswers: values of the wrong type are the agent's fault, wherever they
// are.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	for method, docs := range map[string][]string{
		"GetTask": {
			`{"id":7,"status":{}}`, `{"id":"T","status":{"message":[]}}`, `{"id":"T","status":{},"artifacts":[1]}`,
			`{"id":"T","status":{},"artifacts":[{"parts":{}}]}`,
		},
		getConfig: {`{"taskId":"T","authentication":"x","url":"u"}`, `"x"`},
	} {
		for _, doc := range docs {
			r := Retelling{From: rpc10, Call: callOf(rpc03, method, wire.Call{TaskID: "T", ConfigID: "c"})}
			if got, err := answerOf(t, &r, doc); err == nil {
				t.Errorf("%s: %s became %s", method, doc, got)
			}
		}
	}
}
