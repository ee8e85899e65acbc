package pushconfig

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// relayed is what takes the place of a caller's webhook.
var relayed = Config{URL: "https://gw/push/r", Token: "t2", Scheme: "Bearer", Credentials: "c2"}

// pushCase is one request with a push config, and how it looks with another in it.
type pushCase struct {
	version wire.Version
	method  string
	params  string
	found   *Config
	want    string // with relayed in it
	bare    string // with only relayed's URL in it
}

var pushCases = map[string]pushCase{
	"1.0 create": {
		wire.V10, wire.CreatePushConfig,
		`{"tenant":"x","taskId":"T","id":"C","url":"https://a","token":"k","authentication":{"scheme":"Basic","credentials":"s","x":"y"},"new":[1]}`,
		&Config{"C", "https://a", "k", "Basic", "s"},
		`{"tenant":"x","taskId":"T","id":"C","url":"https://gw/push/r","token":"t2","authentication":{"scheme":"Bearer","credentials":"c2"},"new":[1]}`,
		`{"tenant":"x","taskId":"T","id":"C","url":"https://gw/push/r","new":[1]}`,
	},
	"1.0 create of the release candidate": {
		wire.V10, wire.CreatePushConfig,
		`{"taskId":"T","configId":"C","config":{"pushNotificationConfig":{"authentication":{"schemes":["Bearer","X"]}, "url":"https://a"}}}`,
		&Config{"", "https://a", "", "Bearer", ""},
		`{"taskId":"T","configId":"C","config":{"pushNotificationConfig":{"authentication":{"schemes":["Bearer"],"credentials":"c2"}, "url":"https://gw/push/r","token":"t2"}}}`,
		`{"taskId":"T","configId":"C","config":{"pushNotificationConfig":{"url":"https://gw/push/r"}}}`,
	},
	"1.0 send": {
		wire.V10, wire.SendMessage,
		`{"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{ "url" : "https://a" }}}`,
		&Config{"", "https://a", "", "", ""},
		`{"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{ "url" : "https://gw/push/r","token":"t2","authentication":{"scheme":"Bearer","credentials":"c2"} }}}`,
		`{"message":{"messageId":"m"},"configuration":{"taskPushNotificationConfig":{ "url" : "https://gw/push/r" }}}`,
	},
	"0.3 set": {
		wire.V03, wire.CreatePushConfig,
		`{"taskId":"T","pushNotificationConfig":{"token":"k","id":"C","url":"https://a"}}`,
		&Config{"C", "https://a", "k", "", ""},
		`{"taskId":"T","pushNotificationConfig":{"token":"t2","id":"C","url":"https://gw/push/r","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}`,
		`{"taskId":"T","pushNotificationConfig":{"id":"C","url":"https://gw/push/r"}}`,
	},
	"0.3 create as a request": {
		wire.V03, wire.CreatePushConfig,
		`{"parent":"tasks/T","config_id":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","push_notification_config":{"url":"https://a"}}}`,
		&Config{"", "https://a", "", "", ""},
		`{"parent":"tasks/T","config_id":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","push_notification_config":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}}`,
		`{"parent":"tasks/T","config_id":"C","config":{"name":"tasks/T/pushNotificationConfigs/C","push_notification_config":{"url":"https://gw/push/r"}}}`,
	},
	"0.3 create as a config": {
		wire.V03, wire.CreatePushConfig,
		`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"https://a","authentication":null,"token":null}}`,
		&Config{"C", "https://a", "", "", ""},
		`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"https://gw/push/r","authentication":{"schemes":["Bearer"],"credentials":"c2"},"token":"t2"}}`,
		`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"id":"C","url":"https://gw/push/r"}}`,
	},
	"0.3 send": {
		wire.V03, wire.SendStreamingMessage,
		`{"configuration":{"blocking":false,"pushNotificationConfig":{"id":"C","url":"https://a","token":"k"}},"message":{"messageId":"m"}}`,
		&Config{"C", "https://a", "k", "", ""},
		`{"configuration":{"blocking":false,"pushNotificationConfig":{"id":"C","url":"https://gw/push/r","authentication":{"schemes":["Bearer"],"credentials":"c2"},"token":"t2"}},"message":{"messageId":"m"}}`,
		`{"configuration":{"blocking":false,"pushNotificationConfig":{"id":"C","url":"https://gw/push/r"}},"message":{"messageId":"m"}}`,
	},
	"0.3 send as ProtoJSON": {
		wire.V03, wire.SendMessage,
		`{"request":{"message_id":"m"},"configuration":{"push_notification":{"url":"https://a"}}}`,
		&Config{"", "https://a", "", "", ""},
		`{"request":{"message_id":"m"},"configuration":{"push_notification":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}}`,
		`{"request":{"message_id":"m"},"configuration":{"push_notification":{"url":"https://gw/push/r"}}}`,
	},
	"0.1 set": {
		wire.V01, wire.CreatePushConfig,
		`{"id":"T","pushNotificationConfig":{"url":"https://a","authentication":{"schemes":["Bearer"],"credentials":"s"}}}`,
		&Config{"", "https://a", "", "Bearer", "s"},
		`{"id":"T","pushNotificationConfig":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}`,
		`{"id":"T","pushNotificationConfig":{"url":"https://gw/push/r"}}`,
	},
	"0.1 send": {
		wire.V01, wire.SendMessage,
		`{"id":"T","message":{"role":"user"},"pushNotification":{"url":"https://a"}}`,
		&Config{"", "https://a", "", "", ""},
		`{"id":"T","message":{"role":"user"},"pushNotification":{"url":"https://gw/push/r","token":"t2","authentication":{"schemes":["Bearer"],"credentials":"c2"}}}`,
		`{"id":"T","message":{"role":"user"},"pushNotification":{"url":"https://gw/push/r"}}`,
	},
	"none": {wire.V10, wire.SendMessage, `{"message":{},"configuration":{"taskPushNotificationConfig":null}}`, nil, "", ""},
}

func pushCall(t testing.TB, v wire.Version, method, params string) *wire.Call {
	t.Helper()
	m, ok := wire.ByName(wire.V10, method)
	if !ok {
		t.Fatal(method)
	}
	return &wire.Call{Version: v, Method: m, Params: []byte(params), HasPushConfig: true}
}

// TestReplacePushConfig: the config is found wherever a version has it, and nothing but
// its URL, token and authentication changes.
func TestReplacePushConfig(t *testing.T) {
	t.Parallel()
	for name, c := range pushCases {
		call := pushCall(t, c.version, c.method, c.params)
		found, e := Read(call)
		if diff := cmp.Diff(c.found, found); diff != "" || e != nil {
			t.Errorf("%s: %v %s", name, e, diff)
		}
		if c.found == nil {
			c.want, c.bare = c.params, c.params
		}
		for want, by := range map[string]Config{c.want: relayed, c.bare: {URL: relayed.URL}} {
			got, e := Replace(call, call.Params, by)
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
		"two names":            {wire.SendMessage, `{"configuration":{"pushNotificationConfig":{"url":"a"},"taskPushNotificationConfig":{"url":"b"}}}`},
		"one inside the other": {wire.CreatePushConfig, `{"url":"a","config":{"url":"b"}}`},
		"almost":               {wire.CreatePushConfig, `{"url":"a","URL":"b"}`},
		"almost a scheme":      {wire.CreatePushConfig, `{"url":"a","authentication":{"Scheme":"b"}}`},
		"a token beside it":    {wire.CreatePushConfig, `{"token":"a","config":{"url":"b"}}`},
		"a number":             {wire.CreatePushConfig, `{"url":7}`},
		"no object":            {wire.CreatePushConfig, `{"url":"a","authentication":[]}`},
		"no list":              {wire.CreatePushConfig, `{"url":"a","authentication":{"schemes":"Bearer"}}`},
	} {
		call := pushCall(t, wire.V10, c.method, c.params)
		if found, e := Read(call); e == nil || e.Kind != wire.InvalidParams {
			t.Errorf("%s: %v %v", name, found, e)
		}
		if got, e := Replace(call, call.Params, relayed); e == nil {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestRewriteConfigs: every form of an answer shows its configs, and can show others.
func TestRewriteConfigs(t *testing.T) {
	t.Parallel()
	const rpc = `{"jsonrpc":"2.0","id":1,"result":`
	for name, c := range map[string]struct {
		binding wire.Binding
		version wire.Version
		doc     string
		want    string // mine is masked, others are cut
		found   []string
	}{
		"1.0": {
			wire.HTTPJSON, wire.V10, `{"taskId":"T","id":"C","url":"mine","token":"k","authentication":{"scheme":"B","credentials":"s"}}`,
			`{"taskId":"T","id":"C","url":"own","authentication":{"scheme":"Bearer"}}`, []string{"T/C"},
		},
		"0.3": {
			wire.JSONRPC, wire.V03, rpc + `{"taskId":"T","pushNotificationConfig":{"id":"C","url":"mine","token":"k"}}}`,
			rpc + `{"taskId":"T","pushNotificationConfig":{"id":"C","url":"own","authentication":{"schemes":["Bearer"]}}}}`, []string{"T/C"},
		},
		"0.3 ProtoJSON": {
			wire.HTTPJSON, wire.V03, `{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"url":"mine"}}`,
			`{"name":"tasks/T/pushNotificationConfigs/C","pushNotificationConfig":{"url":"own","authentication":{"schemes":["Bearer"]}}}`, []string{"T/C"},
		},
		"0.3 ProtoJSON, a name of another form": {
			wire.HTTPJSON, wire.V03, `{"name":"tasks/T/configs/C/pushNotificationConfigs/C","pushNotificationConfig":{"url":"x"}}`,
			"", []string{"T/"},
		},
		"0.1": {
			wire.JSONRPC, wire.V01, rpc + `{"id":"T","pushNotificationConfig":{"url":"mine"}}}`,
			rpc + `{"id":"T","pushNotificationConfig":{"url":"own","authentication":{"schemes":["Bearer"]}}}}`, []string{"T/"},
		},
		"1.0 list": {
			wire.JSONRPC, wire.V10, rpc + `{"configs":[{"id":"A","url":"x"}, {"id":"B","url":"mine"} ,{"id":"D"},{"id":"C","url":"x"}],"nextPageToken":"n"}}`,
			rpc + `{"configs":[{"id":"B","url":"own","authentication":{"scheme":"Bearer"}}],"nextPageToken":"n"}}`, []string{"/A", "/B", "/C"},
		},
		"0.3 list": {
			wire.JSONRPC, wire.V03, rpc + `[{"taskId":"T","pushNotificationConfig":{"id":"A","url":"mine"}},{"taskId":"T","pushNotificationConfig":{"id":"C","url":"x"}}]}`,
			rpc + `[{"taskId":"T","pushNotificationConfig":{"id":"A","url":"own","authentication":{"schemes":["Bearer"]}}}]}`, []string{"T/A", "T/C"},
		},
		"empty list":  {wire.GRPC, wire.V10, `{}`, `{}`, nil},
		"nothing":     {wire.JSONRPC, wire.V10, rpc + `null}`, rpc + `null}`, nil},
		"an error":    {wire.JSONRPC, wire.V10, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32001}}`, nil},
		"not mine":    {wire.HTTPJSON, wire.V10, `{"url":"x"}`, "", []string{"/"}},
		"two URLs":    {wire.HTTPJSON, wire.V10, `{"url":"mine","config":{"url":"mine"}}`, "", nil},
		"only tokens": {wire.HTTPJSON, wire.V10, `{"token":"k"}`, "", nil},
	} {
		var found []string
		got, err := Rewrite(c.binding, c.version, []byte(c.doc), func(task string, p Config) (Config, bool, error) {
			found = append(found, task+"/"+p.ID)
			return Config{URL: "own", Scheme: "Bearer"}, p.URL == "mine", nil
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
		version := wire.V10
		if v == string(wire.V03) || v == string(wire.V01) {
			version = wire.Version(v)
		}
		if method != wire.SendMessage {
			method = wire.CreatePushConfig
		}
		if !jsontext.Value(params).IsValid() {
			return // calls have been decoded
		}
		call := pushCall(t, version, method, string(params))
		found, e := Read(call)
		out, again := Replace(call, call.Params, relayed)
		if (e == nil) != (again == nil) {
			t.Fatalf("%v and %v", e, again)
		}
		if found == nil {
			return
		}
		if !jsontext.Value(out).IsValid() {
			t.Fatalf("%s became %s", params, out)
		}
		got, e := Read(pushCall(t, version, method, string(out)))
		want := relayed
		want.ID = found.ID
		if e != nil || *got != want {
			t.Fatalf("%s became %s: %v %v", params, out, got, e)
		}
		if _, err := Rewrite(wire.HTTPJSON, version, out, func(string, Config) (Config, bool, error) {
			return relayed, true, nil
		}); err != nil {
			var e *wire.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
		}
	})
}
