package wire

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// relayed is what takes the place of a caller's webhook.
var relayed = PushConfig{URL: "https://gw/push/r", Token: "t2", Scheme: "Bearer", Credentials: "c2"}

// pushCase is one request with a push config, and how it looks with another in it.
type pushCase struct {
	version Version
	method  string
	params  string
	found   *PushConfig
	want    string // with relayed in it
	bare    string // with only relayed's URL in it
}

var pushCases = map[string]pushCase{
	"1.0 create": {
		V10, CreatePushConfig,
		`{"tenant":"x","taskId":"T","id":"C","url":"https://a","token":"k","authentication":{"scheme":"Basic","credentials":"s","x":"y"},"new":[1]}`,
		&PushConfig{"C", "https://a", "k", "Basic", "s"},
		`{"tenant":"x","taskId":"T","id":"C","url":"https://gw/push/r","token":"t2","authentication":{"scheme":"Bearer","credentials":"c2"},"new":[1]}`,
		`{"tenant":"x","taskId":"T","id":"C","url":"https://gw/push/r","new":[1]}`,
	},
	"1.0 create of the release candidate": {
		V10, CreatePushConfig,
		`{"taskId":"T","configId":"C","config":{"pushNotificationConfig":{"authentication":{"schemes":["Bearer","X"]}, "url":"https://a"}}}`,
		&PushConfig{"", "https://a", "", "Bearer", ""},
		`{"taskId":"T","configId":"C","config":{"pushNotificationConfig":{"authentication":{"schemes":["Bearer"],"credentials":"c2"}, "url":"https://gw/push/r","token":"t2"}}}`,
		`{"taskId":"T","configId":"C","config":{"pushNotificationConfig":{"url":"https://gw/push/r"}}}`,
	},
	"1.0 send": {
		V10, SendMessage,
		`{"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{ "url" : "https://a" }}}`,
		&PushConfig{"", "https://a", "", "", ""},
		`{"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{ "url" : "https://gw/push/r","token":"t2","authentication":{"scheme":"Bearer","credentials":"c2"} }}}`,
		`{"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{ "url" : "https://gw/push/r" }}}`,
	},
	"0.3 set": {
		V03, CreatePushConfig,
		`{"taskId":"T","pushNotificationConfig":{"token":"k","id":"C","url":"https://a"}}`,
		&PushConfig{"C", "https://a", "k", "", ""},
		`{"taskId":"T","pushNotificationConfig":{"token":"t2","id":"C","url":"https://gw/push/r","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}`,
		`{"taskId":"T","pushNotificationConfig":{"id":"C","url":"https://gw/push/r"}}`,
	},
	"0.3 create as a request": {
		V03, CreatePushConfig,
		`{"parent":"tasks/T","config_id":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","push_notification_config":{"url":"https://a"}}}`,
		&PushConfig{"", "https://a", "", "", ""},
		`{"parent":"tasks/T","config_id":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","push_notification_config":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}}`,
		`{"parent":"tasks/T","config_id":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","push_notification_config":{"url":"https://gw/push/r"}}}`,
	},
	"0.3 create as a config": {
		V03, CreatePushConfig,
		`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"https://a","authentication":null,"token":null}}`,
		&PushConfig{"C", "https://a", "", "", ""},
		`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"https://gw/push/r","authentication":{"schemes":["Bearer"],"credentials":"c2"},"token":"t2"}}`,
		`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"https://gw/push/r"}}`,
	},
	"0.3 send": {
		V03, SendStreamingMessage,
		`{"configuration":{"blocking":false,"pushNotificationConfig":{"id":"C","url":"https://a","token":"k"}},"message":{"messageId":"m"}}`,
		&PushConfig{"C", "https://a", "k", "", ""},
		`{"configuration":{"blocking":false,"pushNotificationConfig":{"id":"C","url":"https://gw/push/r","authentication":{"schemes":["Bearer"],"credentials":"c2"},"token":"t2"}},"message":{"messageId":"m"}}`,
		`{"configuration":{"blocking":false,"pushNotificationConfig":{"id":"C","url":"https://gw/push/r"}},"message":{"messageId":"m"}}`,
	},
	"0.3 send as ProtoJSON": {
		V03, SendMessage,
		`{"request":{"message_id":"m"},"configuration":{"push_notification":{"url":"https://a"}}}`,
		&PushConfig{"", "https://a", "", "", ""},
		`{"request":{"message_id":"m"},"configuration":{"push_notification":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}}`,
		`{"request":{"message_id":"m"},"configuration":{"push_notification":{"url":"https://gw/push/r"}}}`,
	},
	"0.1 set": {
		V01, CreatePushConfig,
		`{"id":"T","pushNotificationConfig":{"url":"https://a","authentication":{"schemes":["Bearer"],"credentials":"s"}}}`,
		&PushConfig{"", "https://a", "", "Bearer", "s"},
		`{"id":"T","pushNotificationConfig":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}`,
		`{"id":"T","pushNotificationConfig":{"url":"https://gw/push/r"}}`,
	},
	"0.1 send": {
		V01, SendMessage,
		`{"id":"T","message":{"role":"user"},"pushNotification":{"url":"https://a"}}`,
		&PushConfig{"", "https://a", "", "", ""},
		`{"id":"T","message":{"role":"user"},"pushNotification":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}`,
		`{"id":"T","message":{"role":"user"},"pushNotification":{"url":"https://gw/push/r"}}`,
	},
	"none": {V10, SendMessage, `{"message":{},"configuration":{"taskPushNotificationConfig":null}}`, nil, "", ""},
}

func pushCall(t testing.TB, v Version, method, params string) *Call {
	t.Helper()
	m, ok := ByName(V10, method)
	if !ok {
		t.Fatal(method)
	}
	return &Call{Version: v, Method: m, Params: []byte(params), HasPushConfig: true}
}

// TestReplacePushConfig: the config is found wherever a version has it, and nothing but
// its URL, token and authentication changes.
func TestReplacePushConfig(t *testing.T) {
	t.Parallel()
	for name, c := range pushCases {
		call := pushCall(t, c.version, c.method, c.params)
		found, e := call.ReadPushConfig()
		if diff := cmp.Diff(c.found, found); diff != "" || e != nil {
			t.Errorf("%s: %v %s", name, e, diff)
		}
		if c.found == nil {
			c.want, c.bare = c.params, c.params
		}
		for want, by := range map[string]PushConfig{c.want: relayed, c.bare: {URL: relayed.URL}} {
			got, e := call.ReplacePushConfig(call.Params, by)
			if e != nil || string(got) != want {
				t.Errorf("%s: %v\n got %s\nwant %s", name, e, got, want)
			}
		}
		if string(call.Params) != c.params {
			t.Errorf("%s: the params were changed", name)
		}
	}
}

// TestA18_ConfigsThatCouldBeReadInTwoWays: what would carry a second URL, or a secret,
// past the replacement is refused.
func TestA18_ConfigsThatCouldBeReadInTwoWays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ method, params string }{
		"two names":            {SendMessage, `{"configuration":{"pushNotificationConfig":{"url":"a"},"taskPushNotificationConfig":{"url":"b"}}}`},
		"one inside the other": {CreatePushConfig, `{"url":"a","config":{"url":"b"}}`},
		"almost":               {CreatePushConfig, `{"url":"a","URL":"b"}`},
		"almost a scheme":      {CreatePushConfig, `{"url":"a","authentication":{"Scheme":"b"}}`},
		"a token beside it":    {CreatePushConfig, `{"token":"a","config":{"url":"b"}}`},
		"a number":             {CreatePushConfig, `{"url":7}`},
		"no object":            {CreatePushConfig, `{"url":"a","authentication":[]}`},
		"no list":              {CreatePushConfig, `{"url":"a","authentication":{"schemes":"Bearer"}}`},
	} {
		call := pushCall(t, V10, c.method, c.params)
		if found, e := call.ReadPushConfig(); e == nil || e.Kind != InvalidParams {
			t.Errorf("%s: %v %v", name, found, e)
		}
		if got, e := call.ReplacePushConfig(call.Params, relayed); e == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestRewriteConfigs: every form of an answer shows its configs, and can show others.
func TestRewriteConfigs(t *testing.T) {
	t.Parallel()
	const rpc = `{"jsonrpc":"2.0","id":1,"result":`
	for name, c := range map[string]struct {
		binding Binding
		version Version
		doc     string
		want    string // mine is masked, others are cut
		found   []string
	}{
		"1.0": {
			HTTPJSON, V10, `{"taskId":"T","id":"C","url":"mine","token":"k","authentication":{"scheme":"B","credentials":"s"}}`,
			`{"taskId":"T","id":"C","url":"own","authentication":{"scheme":"Bearer"}}`, []string{"T/C"},
		},
		"0.3": {
			JSONRPC, V03, rpc + `{"taskId":"T","pushNotificationConfig":{"id":"C","url":"mine","token":"k"}}}`,
			rpc + `{"taskId":"T","pushNotificationConfig":{"id":"C","url":"own","authentication":{"schemes":["Bearer"]}}}}`, []string{"T/C"},
		},
		"0.3 ProtoJSON": {
			HTTPJSON, V03, `{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"url":"mine"}}`,
			`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"url":"own","authentication":{"schemes":["Bearer"]}}}`, []string{"T/C"},
		},
		"0.3 ProtoJSON, a name of another form": {
			HTTPJSON, V03, `{"name":"tasks/T/configs/C/pushNotificationConfigs/C","pushNotificationConfig":{"url":"x"}}`,
			"", []string{"T/"},
		},
		"0.1": {
			JSONRPC, V01, rpc + `{"id":"T","pushNotificationConfig":{"url":"mine"}}}`,
			rpc + `{"id":"T","pushNotificationConfig":{"url":"own","authentication":{"schemes":["Bearer"]}}}}`, []string{"T/"},
		},
		"1.0 list": {
			JSONRPC, V10, rpc + `{"configs":[{"id":"A","url":"x"}, {"id":"B","url":"mine"} ,{"id":"D"},{"id":"C","url":"x"}],"nextPageToken":"n"}}`,
			rpc + `{"configs":[{"id":"B","url":"own","authentication":{"scheme":"Bearer"}}],"nextPageToken":"n"}}`, []string{"/A", "/B", "/C"},
		},
		"0.3 list": {
			JSONRPC, V03, rpc + `[{"taskId":"T","pushNotificationConfig":{"id":"A","url":"mine"}},{"taskId":"T","pushNotificationConfig":{"id":"C","url":"x"}}]}`,
			rpc + `[{"taskId":"T","pushNotificationConfig":{"id":"A","url":"own","authentication":{"schemes":["Bearer"]}}}]}`, []string{"T/A", "T/C"},
		},
		"empty list":  {GRPC, V10, `{}`, `{}`, nil},
		"nothing":     {JSONRPC, V10, rpc + `null}`, rpc + `null}`, nil},
		"an error":    {JSONRPC, V10, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001}}`, nil},
		"not mine":    {HTTPJSON, V10, `{"url":"x"}`, "", []string{"/"}},
		"two URLs":    {HTTPJSON, V10, `{"url":"mine","config":{"url":"mine"}}`, "", nil},
		"only tokens": {HTTPJSON, V10, `{"token":"k"}`, "", nil},
	} {
		var found []string
		got, err := RewriteConfigs(c.binding, c.version, []byte(c.doc), func(task string, p PushConfig) (PushConfig, bool, error) {
			found = append(found, task+"/"+p.ID)
			return PushConfig{URL: "own", Scheme: "Bearer"}, p.URL == "mine", nil
		})
		if string(got) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, c.want)
		}
		if diff := cmp.Diff(c.found, found); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// FuzzPushConfig: no params make the readers panic; what was replaced is JSON and reads as
// what replaced it.
func FuzzPushConfig(f *testing.F) {
	for _, c := range pushCases {
		f.Add(string(c.version), c.method, []byte(c.params))
	}
	f.Fuzz(func(t *testing.T, v, method string, params []byte) {
		version := V10
		if v == string(V03) || v == string(V01) {
			version = Version(v)
		}
		if method != SendMessage {
			method = CreatePushConfig
		}
		if !jsontext.Value(params).IsValid() {
			return // calls have been decoded
		}
		call := pushCall(t, version, method, string(params))
		found, e := call.ReadPushConfig()
		out, again := call.ReplacePushConfig(call.Params, relayed)
		if (e == nil) != (again == nil) {
			t.Fatalf("%v and %v", e, again)
		}
		if found == nil {
			return
		}
		if !jsontext.Value(out).IsValid() {
			t.Fatalf("%s became %s", params, out)
		}
		got, e := pushCall(t, version, method, string(out)).ReadPushConfig()
		want := relayed
		want.ID = found.ID
		if e != nil || *got != want {
			t.Fatalf("%s became %s: %v %v", params, out, got, e)
		}
		if _, err := RewriteConfigs(HTTPJSON, version, out, func(string, PushConfig) (PushConfig, bool, error) {
			return relayed, true, nil
		}); err != nil {
			var e *Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
		}
	})
}
