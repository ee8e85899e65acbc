package card_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestA17_NothingInternalIsServed plants addresses and secrets in every part of
// a card and looks for them in what is served.
func TestA17_NothingInternalIsServed(t *testing.T) {
	t.Parallel()
	plants := []string{
		"http://10.0.0.5", "http://10.0.0.5:9001/x", "https://u:p@example.org/", "HTTP://LOCALHOST:1234",
		"grpc://[::1]:50051", "http://[fd00::1]/", "10.0.0.5:50051", "http://169.254.169.254/latest/meta-data",
		"http://100.64.1.1/", "http://2130706433/", "http://0x7f000001/", "http://127.1/", "http://billing:9000/",
		"http://db.corp.internal/q", "//192.168.1.1/share", "https://intra.agent.test/a2a", "INTRA.AGENT.TEST",
		"see https://intra.agent.test:8443/docs.", "redirect=https%3A%2F%2Fintra.agent.test%2F", "backend:9443",
		"AKIAIOSFODNN7EXAMPLE", "token ghp_0123456789abcdefghijABCDEFGHIJ012345",
		`-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END`, "at [fd00::7]:50051 too",
		`\u0068ttp://\u0031\u0030.0.0.5/`,
	}
	needles := []string{
		"10.0.0.5", "u:p@", "localhost", "::1", "fd00", "169.254", "100.64", "2130706433", "0x7f", "127.1",
		"billing:9000", "corp.internal", "192.168", "intra.agent.test", "backend:9443", "akia", "ghp_",
		"private key", "miieow", `\u00`,
	}
	for _, plant := range plants {
		raw := strings.ReplaceAll(`{
			"name": "N %", "description": "D % d", "version": "1 %",
			"url": "https://intra.agent.test/a2a", "protocolVersion": "0.3.0",
			"additionalInterfaces": [{"url": "backend:9443", "transport": "GRPC"}],
			"supportedInterfaces": [{"url": "https://intra.agent.test/a2a", "protocolBinding": "JSONRPC",
				"protocolVersion": "1.0"}],
			"provider": {"organization": "O %", "url": "%", "x": "%"}, "iconUrl": "%", "documentationUrl": "%",
			"capabilities": {"streaming": true, "x": "%", "extensions": [{"uri": "urn:e", "description": "E %",
				"params": {"%": 1, "a": [["%"]]}}]},
			"defaultInputModes": ["text/plain", "%"],
			"securitySchemes": {"%": {"type": "openIdConnect", "openIdConnectUrl": "%"}}, "security": [{"%": []}],
			"skills": [{"id": "s", "name": "S %", "description": "%", "tags": ["%", "t"], "examples": ["%"],
				"x": {"y": "%"}}],
			"signatures": [{"protected": "%", "signature": "%", "header": {"jku": "%"}}],
			"x": "%", "y": {"z": ["%", {"%": "%"}]}
		}`, "%", plant)
		c := mustParse(t, raw)
		for _, form := range forms {
			v := form.view(c)
			v.Hidden = []string{"backend:9443"}
			got := strings.ToLower(mustRender(t, c, v))
			for _, needle := range needles {
				if strings.Contains(got, needle) {
					t.Errorf("%q planted, %q served as %s: %s", plant, needle, form.name, got)
				}
			}
			if !strings.Contains(got, `"tags":["t"]`) || !strings.Contains(got, `"uri":"urn:e"`) {
				t.Errorf("%q took innocent members along: %s", plant, got)
			}
		}
	}
}

// TestA17_FetchedCardHidesItsSource: the address the card came from is in no
// member of it, and is hidden all the same.
func TestA17_FetchedCardHidesItsSource(t *testing.T) {
	t.Parallel()
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"name":"n","description":"at ` + r.Host + `","x":"` + srv.URL + `","y":1}`))
	}))
	t.Cleanup(srv.Close)
	c, err := card.Fetch(t.Context(), srv.Client(), secret.URL(srv.URL), 0)
	if err != nil {
		t.Fatal(err)
	}
	got := mustRender(t, c, card.View{BaseURL: base})
	if strings.Contains(got, strings.TrimPrefix(srv.URL, "http://")) || !strings.Contains(got, `"y":1`) {
		t.Errorf("served %s", got)
	}
}

// TestA14_HiddenTextIsNotServed: what a reader of a card does not see is not in what is
// served, wherever it stood, and hides no secret either.
func TestA14_HiddenTextIsNotServed(t *testing.T) {
	t.Parallel()
	plants := map[string]string{
		"tags": "\U000e0069\U000e0067\U000e006e\U000e006f", "zero width": "\u200b\u2060\ufeff", "bidi": "\u202e\u2066",
		"terminal": `\u001b[8m`, "selectors": "\U000e0169\U000e0167", "comment": "<!-- canary -->", "script": "<script>canary</script>",
		"soft": "\u00ad", "control": `\u0007\u0000`,
	}
	hidden := []string{
		"\U000e0069", "\u200b", "\u2060", "\ufeff", "\u202e", "\u2066", `\u001b`, "[8m", "\U000e0169", "canary", "\u00ad", `\u0007`, `\u0000`,
		"AKIA",
	}
	for name, plant := range plants {
		c := mustParse(t, strings.ReplaceAll(`{
			"name": "N%a", "description": "D%a AK%IAIOSFODNN7EXAMPLE", "version": "1%",
			"url": "https://agent.example/a2a", "protocolVersion": "0.3.0", "documentationUrl": "https://docs.example/%",
			"provider": {"organization": "O%a", "url": "https://o.example/"},
			"capabilities": {"extensions": [{"uri": "urn:e", "description": "E%a", "params": {"p%a": 1, "q": ["x%a"]}}]},
			"defaultInputModes": ["text/plain%"],
			"skills": [{"id": "s", "name": "S%a", "description": "d%a", "tags": ["t%a"], "examples": ["e%a"]}, {"id": "h%"}],
			"x": {"y": "z%a"}
		}`, "%", plant))
		for _, form := range forms {
			got := mustRender(t, c, form.view(c))
			for _, needle := range hidden {
				if strings.Contains(got, needle) {
					t.Errorf("%s as %s: %q is served: %s", name, form.name, needle, got)
				}
			}
			for _, needle := range []string{`"Na"`, `"Da [removed]"`, `"Oa"`, `"Ea"`, `"q":["xa"]`, `"text/plain"`, `"da"`, `"ta"`, `"ea"`} {
				if !strings.Contains(got, needle) {
					t.Errorf("%s as %s: %q is not served: %s", name, form.name, needle, got)
				}
			}
			if strings.Contains(got, `"h`+plant) || strings.Contains(got, `"id":"h"`) {
				t.Errorf("%s as %s: a skill goes by a name that it does not have: %s", name, form.name, got)
			}
		}
	}
}

// TestHostileTextsAreCheap: the largest card of the worst texts is served at
// once (seconds here would be minutes or hours with a scan per find).
func TestHostileTextsAreCheap(t *testing.T) {
	testenv.Long(t, "cards of the largest size are rendered")
	t.Parallel()
	for _, unit := range []string{"//10.0.0.1/ ", "]:1", "sk-", "AKIA", "a:1", "[::1]:1 ", "//", "x@"} {
		c := mustParse(t, `{"name":"n","description":"`+strings.Repeat(unit, (card.MaxSize-100)/len(unit))+`"}`)
		if got := mustRender(t, c, card.View{BaseURL: base}); strings.Contains(got, "10.0.0.1") ||
			strings.Contains(got, "::1") {
			t.Errorf("%q leaked", unit)
		}
	}
}

// TestHarmlessTextsPass: what only resembles an address stays.
func TestHarmlessTextsPass(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"version 10.0.0.5", "https://example.com/a//b", "https://medium.com/@user", "a // comment", "16:9", "10:30",
		"urn:x:local", "did:web:example.com", "mailto:bills@example.com", "ui://widget/one", "sk-short",
		"Billing", "the billing agent", "https://8.8.8.8/", "naïve — 多言語",
		"skeleton-key-management-for-everyone",
	} {
		c := mustParse(t, `{"name":"`+text+`","url":"http://billing:9000","x":["`+text+`"]}`)
		got := mustRender(t, c, card.View{BaseURL: base})
		if strings.Count(got, text) != 2 {
			t.Errorf("%q did not pass: %s", text, got)
		}
	}
}

// TestUnknownMembersSurvive: numbers beyond float64, order, nesting.
func TestUnknownMembersSurvive(t *testing.T) {
	t.Parallel()
	unknown := `"zz":{"big":123456789012345678901234567890,"f":1.10,"b":[true,null,{}],"s":"\u00e9"},"aa":[]`
	for _, version := range []wire.Version{wire.V10, wire.V03} {
		got := mustRender(t, mustParse(t, `{`+unknown+`,"name":"n"}`), card.View{BaseURL: base, Version: version})
		if !strings.Contains(got, unknown) {
			t.Errorf("%s lost something: %s", version, got)
		}
	}
}

// TestA13_LookalikeMembersAreDropped: readers that ignore case or underscores
// must not find a second value for a member that the gateway writes.
func TestA13_LookalikeMembersAreDropped(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","URL":"https://evil.example/1",
		"Url":"https://evil.example/2",
		"supported_interfaces":[{"url":"https://evil.example/3"}],"SupportedInterfaces":"https://evil.example/4",
		"ſkills":"https://evil.example/5","s\u212aills":"https://evil.example/6",
			"security_schemes":{"e":{"type":"http"}},
		"url\u0000":"https://evil.example/7","SIGNATURES":[1],
		"capabilities":{"PushNotifications":true,"push_notifications":true,"Extensions":["https://evil.example/8"]},
		"provider":{"organization":"o","url":"https://o.example","URL":"https://evil.example/9"},
		"skills":[{"id":"s","ID":"t","Security":["https://evil.example/10"]}]}`)
	for _, form := range forms {
		got := mustRender(t, c, card.View{BaseURL: base, Version: form.side.Version, Binding: form.side.Binding})
		for _, needle := range []string{"evil.example", `"ID"`, "PushN", "push_n", `"type":"http"`, "SIGN"} {
			if strings.Contains(got, needle) {
				t.Errorf("%s: %q passed: %s", form.name, needle, got)
			}
		}
	}
}

// TestA15_SignaturesAreDropped: no signature holds after a rewrite.
func TestA15_SignaturesAreDropped(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","signatures":[{"protected":"p","signature":"s"}]}`)
	for _, form := range forms {
		got := mustRender(t, c, card.View{BaseURL: base, Version: form.side.Version, Binding: form.side.Binding})
		if strings.Contains(got, "signature") {
			t.Errorf("%s: %s", form.name, got)
		}
	}
}

// TestPushNeedsBoth: a card promises push only if the agent has it and the
// gateway lets it through.
func TestPushNeedsBoth(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"true", "false"} {
		c := mustParse(t, `{"name":"n","capabilities":{"pushNotifications":`+agent+`}}`)
		for _, gateway := range []bool{true, false} {
			got := mustRender(t, c, card.View{BaseURL: base, Push: gateway})
			want := `"pushNotifications":false`
			if agent == "true" && gateway {
				want = `"pushNotifications":true`
			}
			if !strings.Contains(got, want) {
				t.Errorf("agent %s, gateway %v: %s", agent, gateway, got)
			}
		}
	}
}

// TestExtensionsAreTheViews: what the agent declares is not what counts.
func TestExtensionsAreTheViews(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","capabilities":{"extensions":[
		{"uri":"urn:a","description":"own words","params":{"p":1},"required":true},{"uri":"urn:b"},{"uri":"urn:denied"}]}}`)
	got := mustRender(t, c, card.View{BaseURL: base, Extensions: []ext.Declared{
		{URI: "urn:a", Description: "own words, deprecated", Params: []byte(`{"p":2}`)},
		{URI: "urn:b", Description: "lent", Params: []byte(`{"p":3}`)},
		{URI: "urn:gw", Required: true, Description: "added", Params: []byte(` {"n": 1.50, "o": [] } `)},
	}})
	want := `"extensions":[{"uri":"urn:a","description":"own words, deprecated","required":false,"params":{"p":1}},` +
		`{"uri":"urn:b","description":"lent","required":false,"params":{"p":3}},` +
		`{"uri":"urn:gw","description":"added","required":true,"params":{"n":1.50,"o":[]}}]`
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestParamsOfTheGateway: they are held to the same as the agent's, break no card,
// and make a rendering of their own.
func TestParamsOfTheGateway(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://agent.test/"}`)
	for _, tt := range []struct{ params, want string }{
		{`{"a":1}`, `,"params":{"a":1}}`}, {`{"a":2}`, `,"params":{"a":2}}`}, {``, `"required":false}`},
		{`{"a":"https://agent.test/x","b":2}`, `,"params":{"b":2}}`},
		{`[1]`, `"required":false}`}, {`x`, `"required":false}`}, {`{"a":}`, `,"params":{}}`},
	} {
		got := mustRender(t, c, card.View{
			BaseURL: base, Extensions: []ext.Declared{{URI: "urn:gw", Params: []byte(tt.params)}},
		})
		if !strings.Contains(got, tt.want) || !jsontext.Value(got).IsValid() {
			t.Errorf("%s: %s", tt.params, got)
		}
	}
}

// TestParamsAreObjects: an extension's params that strict readers would refuse
// the whole card for do not pass.
func TestParamsAreObjects(t *testing.T) {
	t.Parallel()
	for params, want := range map[string]struct{ json, proto bool }{
		`{"a":[1,{"b":1e308}],"c":null}`: {true, true},
		`{}`:                             {true, true},
		`{"a":[{"b":1e309}]}`:            {true, false}, // no float64
		`"text"`:                         {false, false},
		`[{}]`:                           {false, false},
		`null`:                           {false, false},
	} {
		c := mustParse(t, `{"name":"n","capabilities":{"extensions":[{"uri":"urn:a","params":`+params+`}]}}`)
		for _, form := range forms {
			v := card.View{BaseURL: base, Version: form.side.Version, Binding: form.side.Binding}
			v.Extensions = c.Extensions
			expect := want.json
			if v.Binding == wire.GRPC {
				expect = want.proto
			}
			if got := mustRender(t, c, v); strings.Contains(got, `"params":`+params) != expect ||
				strings.Contains(got, "params") != expect {
				t.Errorf("%s as %s: %s", params, form.name, got)
			}
		}
	}
}
