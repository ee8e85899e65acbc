package translate

import (
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func TestRequest(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		from  exchange
		to    To
		edit  func(*wire.Call)
		path  string
		query string
		doc   string // params on JSON-RPC
	}{
		{
			name: "send 1.0 to 0.3",
			from: exchange{side: rpc10, method: "SendMessage", doc: `{"tenant":"acme","message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}`},
			to:   To{Side: rpc03},
			doc:  `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"go"}]},"configuration":{"blocking":true}}`,
		},
		{
			name: "send 0.3 to 1.0 with tenant",
			from: exchange{side: rpc03, method: "SendMessage", doc: `{"message":{"kind":"message","messageId":"m","contextId":"C","taskId":"T","role":"user","parts":[{"kind":"file","file":{"uri":"u","name":"n","mimeType":"t"}}],"extensions":["e"],"referenceTaskIds":["r"],"metadata":{"a":1e400}},"configuration":{"blocking":false,"historyLength":0,"acceptedOutputModes":["a"],"pushNotificationConfig":{"id":"c","url":"w","token":"t","authentication":{"schemes":["Bearer","Basic"],"credentials":"x"}}},"metadata":{"k":9007199254740993}}`},
			to:   To{Side: rpc10, Tenant: "acme", ID: []byte(`"z"`)},
			doc:  `{"message":{"messageId":"m","contextId":"C","taskId":"T","role":"ROLE_USER","parts":[{"url":"u","filename":"n","mediaType":"t"}],"extensions":["e"],"referenceTaskIds":["r"],"metadata":{"a":1e400}},"configuration":{"returnImmediately":true,"historyLength":0,"acceptedOutputModes":["a"],"taskPushNotificationConfig":{"id":"c","url":"w","token":"t","authentication":{"scheme":"Bearer","credentials":"x"}}},"metadata":{"k":9007199254740993},"tenant":"acme"}`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c, q := decode(t, test.from)
			if test.edit != nil {
				test.edit(c)
			}
			out, e := Request(c, q, test.to)
			if e != nil {
				t.Fatal(e)
			}
			if out.Path != test.path || out.Query != test.query {
				t.Errorf("got %s %s?%s", out.Verb, out.Path, out.Query)
			}
			equal(t, "params", test.doc, out.Call.Params)
		})
	}
}
