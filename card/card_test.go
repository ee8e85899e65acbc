package card_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

var update = flag.Bool("update", false, "write the golden cards anew")

const base = "https://gw.example.com/agents/x"

// view is what a gateway with one issuer and API keys shows of c.
func view(c *card.Card, v wire.Version) card.View {
	return card.View{
		BaseURL:    base,
		Version:    v,
		Extensions: append(slices.Clip(c.Extensions), ext.Declared{URI: "https://gw.example.com/ext/v1", Required: true}),
		Schemes:    card.Schemes{OIDC: []card.Issuer{{URL: "https://idp.example.com/realm/"}}, APIKeyHeader: "X-API-Key"},
		Extended:   c.Extended,
	}
}

// archives are the golden files: an agent's card and what is served for it.
func archives(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden cards: %v", err)
	}
	all := make(map[string]*txtar.Archive)
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[path] = a
	}
	return all
}

func part(a *txtar.Archive, name string) []byte {
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

func mustParse(t *testing.T, raw string) *card.Card {
	t.Helper()
	c, err := card.Parse([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func mustRender(t *testing.T, c *card.Card, v card.View) string {
	t.Helper()
	body, _, err := c.Render(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// forms are the ways in which every card can be served.
var forms = []form{
	{"1.0", wire.Side{Version: wire.V10, Binding: wire.JSONRPC}, true},
	{"mixed", wire.Side{Version: wire.V03, Binding: wire.HTTPJSON}, false},
	{"0.3", wire.Side{Version: wire.V03, Binding: wire.JSONRPC}, true},
	{"0.1", wire.Side{Version: wire.V01, Binding: wire.JSONRPC}, false},
	{"grpc-1.0", wire.Side{Version: wire.V10, Binding: wire.GRPC}, false},
	{"grpc-0.3", wire.Side{Version: wire.V03, Binding: wire.GRPC}, false},
}

type form struct {
	name string
	side wire.Side
	pure bool
}

// view is view in the form.
func (f form) view(c *card.Card) card.View {
	v := formed(c, f.side)
	v.Pure = f.pure
	return v
}

// formed is view for what a reader speaks.
func formed(c *card.Card, s wire.Side) card.View {
	v := view(c, s.Version)
	v.Binding = s.Binding
	return v
}

// TestGolden renders every card in every form. Run with -update after a change
// and read the difference.
func TestGolden(t *testing.T) {
	t.Parallel()
	for path, a := range archives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			c := mustParse(t, string(part(a, "agent.json")))
			out := &txtar.Archive{Comment: a.Comment, Files: a.Files[:1:1]}
			for _, form := range forms {
				name := "served-" + form.name + ".json"
				got := jsontext.Value(mustRender(t, c, form.view(c)))
				if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
					t.Fatal(err)
				}
				got = append(got, '\n')
				out.Files = append(out.Files, txtar.File{Name: name, Data: got})
				if diff := cmp.Diff(string(part(a, name)), string(got)); diff != "" && !*update {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(path, txtar.Format(out), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestParseShapes(t *testing.T) {
	t.Parallel()
	rpc := func(url string, v wire.Version) card.Interface {
		return card.Interface{URL: url, Binding: wire.JSONRPC, Version: v}
	}
	const supported = `"supportedInterfaces":[{"url":"https://a/1","protocolBinding":"JSONRPC",
		"protocolVersion":"1.0"}]`
	tests := []struct {
		name, in string
		want     []card.Interface
	}{
		{"bare name", `{"name":"n"}`, nil},
		{"0.1", `{"name":"n","url":"https://a","authentication":{"schemes":[]}}`,
			[]card.Interface{rpc("https://a", wire.V01)}},
		{"0.1 has one binding", `{"name":"n","url":"https://a","protocolVersion":"0.1.0",
			"additionalInterfaces":[{"url":"https://a","transport":"HTTP+JSON"},{"url":"a:1","transport":"GRPC"}]}`,
			[]card.Interface{rpc("https://a", wire.V01)}},
		{
			"authentication left over in a later card", `{"name":"n","url":"https://a","authentication":{},
				"protocolVersion":"0.2.5"}`,
			[]card.Interface{rpc("https://a", wire.V03)},
		},
		{"0.2.0, nothing but a url", `{"name":"n","url":"https://a"}`, []card.Interface{rpc("https://a",
			wire.V03)}},
		{"unreleased version", `{"name":"n","url":"https://a","protocolVersion":"7.0"}`, nil},
		{
			"0.3 repeating its main interface",
			`{"name":"n","url":"https://a","protocolVersion":"0.3.0","additionalInterfaces":[{"url":"https://a",
				"transport":"JSONRPC"},{"url":"https://a","transport":"http+json"}]}`,
			[]card.Interface{rpc("https://a", wire.V03), {URL: "https://a", Binding: wire.HTTPJSON,
				Version: wire.V03}},
		},
		{"1.0", `{"name":"n",` + supported + `}`, []card.Interface{rpc("https://a/1", wire.V10)}},
		{
			"1.0 with a left-over url", `{"name":"n","url":"https://a/0",` + supported + `}`,
			[]card.Interface{rpc("https://a/1", wire.V10)},
		},
		{
			"mixed", `{"name":"n","url":"https://a/0","protocolVersion":"0.3.0",` + supported + `}`,
			[]card.Interface{rpc("https://a/1", wire.V10), rpc("https://a/0", wire.V03)},
		},
		{
			"empty list falls back", `{"name":"n","url":"https://a/0","supportedInterfaces":[]}`,
			[]card.Interface{rpc("https://a/0", wire.V03)},
		},
		{
			"tenants are told apart, repeats are not",
			`{"name":"n","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0",
				"tenant":"a"},
			{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0.7","tenant":"a"},
			{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"b"}]}`,
			[]card.Interface{
				{URL: "u", Binding: wire.JSONRPC, Version: wire.V10, Tenant: "a"},
				{URL: "u", Binding: wire.JSONRPC, Version: wire.V10, Tenant: "b"},
			},
		},
		{
			"snake_case", `{"name":"n","supported_interfaces":[{"url":"u","protocol_binding":"GRPC",
				"protocol_version":"1.0"}]}`,
			[]card.Interface{{URL: "u", Binding: wire.GRPC, Version: wire.V10}},
		},
		{
			"pre-release 1.0: version at the top", `{"name":"n","protocolVersion":"0.3",
				"supportedInterfaces":[{"url":"u","transport":"JSONRPC"}]}`,
			[]card.Interface{rpc("u", wire.V03)},
		},
		{"wrong types count as absent", `{"name":"n","url":7,"supportedInterfaces":{"a":1},"skills":"x",
			"capabilities":[]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, mustParse(t, tt.in).Interfaces); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestParseSecurityForms: no form of the security members, which are never
// served on, may keep a card from being read.
func TestParseSecurityForms(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		`"securityRequirements":[{"schemes":{"b":{"list":["s"]}}}]`,
		`"securityRequirements":[{"schemes":{"b":["s"]}}]`,
		`"securityRequirements":[{"b":{"list":[]}}]`,
		`"security":[{"b":["s"]}]`,
		`"securitySchemes":{"b":{"scheme":{"$case":"mtlsSecurityScheme","value":{}}}}`,
		`"securitySchemes":{"b":null},"security":null,"securityRequirements":null`,
		`"securitySchemes":[],"security":{},"securityRequirements":"x"`,
	} {
		c := mustParse(t, `{"name":"n","url":"https://a",`+in+`}`)
		for _, v := range []wire.Version{wire.V10, wire.V03} {
			got := mustRender(t, c, card.View{BaseURL: base, Version: v})
			if strings.Contains(got, "ecurity") {
				t.Errorf("%s: the agent's security was served: %s", in, got)
			}
		}
	}
}

func TestParseReads(t *testing.T) {
	t.Parallel()
	c := mustParse(t, "\xef\xbb\xbf"+` {"name":"N","description":"D","version":"1",
		"capabilities":{"streaming":true,"pushNotifications":true,
		"extensions":[{"uri":"urn:a","required":true,"description":"x"},{"uri":"urn:a","params":{}},{"uri":"no uri"},
			{},null,5,{"uri":"urn:b","params": {"n": 1e400} },{"uri":"urn:c","params":null},{"uri":"urn:d","params":[1]}]},
		"supportsExtendedAgentCard":true,
		"skills":[{"id":"a","tags":["t",1,""]},{"id":"a","name":"second"},{"name":"no id"},{"id":""},{"id":"b",
			"name":"B","description":"d"}]}`)
	if !c.Streaming || !c.Push || !c.Extended {
		t.Errorf("capabilities %v %v %v", c.Streaming, c.Push, c.Extended)
	}
	extensions := []ext.Declared{
		{URI: "urn:a", Required: true, Description: "x"}, {URI: "urn:b", Params: []byte(`{"n": 1e400}`)},
		{URI: "urn:c"}, {URI: "urn:d", Params: []byte("[1]")},
	}
	if diff := cmp.Diff(extensions, c.Extensions); diff != "" {
		t.Error(diff)
	}
	want := []card.Skill{{ID: "a", Name: "a", Tags: []string{"t"}}, {ID: "b", Name: "B", Description: "d"}}
	if diff := cmp.Diff(want, c.Skills); diff != "" {
		t.Error(diff)
	}
	if len(c.Digest) != 64 {
		t.Errorf("digest %q", c.Digest)
	}
}

// TestParseSchemas: the schemas of a skill are found where agents put them.
func TestParseSchemas(t *testing.T) {
	t.Parallel()
	large := func(n int) string { return `{"a":"` + strings.Repeat("x", n-len(`{"a":""}`)) + `"}` }
	tests := []struct{ name, in, input, output string }{
		{name: "none", in: `"examples":["x"]`},
		{"beside the name", `"inputSchema":{"a": 1},"outputSchema":{}`, `{"a": 1}`, `{}`},
		{name: "snake_case", in: `"output_schema":{"type":"object"}`, output: `{"type":"object"}`},
		{"inside, short names", `"schema":{"input":{"a":1},"output":{"b":2}}`, `{"a":1}`, `{"b":2}`},
		{"inside, long names", `"schema":{"inputSchema":{"a":1},"outputSchema":{"b":2}}`, `{"a":1}`, `{"b":2}`},
		{"the nearest wins", `"schema":{"input":{"a":1},"output":{"b":2}},"inputSchema":{"c":3}`, `{"c":3}`, `{"b":2}`},
		{"something else is passed over", `"inputSchema":"text","schema":{"inputSchema":true,"input":{"a":1}}`, `{"a":1}`, ``},
		{name: "null, arrays and addresses", in: `"inputSchema":null,"outputSchema":[{}],"schema":"https://x/"`},
		{name: "a schema of neither", in: `"schema":{"type":"object","properties":{"input":{"type":"string"}}}`},
		{name: "64 KiB", in: `"inputSchema":` + large(64<<10), input: large(64 << 10)},
		{name: "one byte more", in: `"inputSchema":` + large(64<<10+1)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := mustParse(t, `{"name":"n","skills":[{"id":"a",`+tt.in+`}]}`).Skills[0]
			if string(s.Input) != tt.input || string(s.Output) != tt.output {
				t.Errorf("input %.80s, output %.80s", s.Input, s.Output)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, in, want string
		err            error
	}{
		{"empty", "", "empty", card.ErrNotCard},
		{"blank", " \n", "empty", card.ErrNotCard},
		{"HTML", "\n<!DOCTYPE html><html>", "HTML", card.ErrNotCard},
		{"array", `[{"name":"n"}]`, "array", card.ErrNotCard},
		{"string", `"card"`, "not a JSON object", card.ErrNotCard},
		{"null", `null`, "not a JSON object", card.ErrNotCard},
		{"cut off", `{"name":"n"`, "EOF", card.ErrNotCard},
		{"two documents", `{"name":"n"}{"name":"m"}`, "after the JSON value", card.ErrNotCard},
		{"repeated name", `{"name":"n","name":"m"}`, "duplicate", card.ErrNotCard},
		{"repeated name inside", `{"name":"n","x":{"a":1,"a":2}}`, "duplicate", card.ErrNotCard},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", "UTF-8", card.ErrNotCard},
		{"no name", `{"url":"https://a"}`, "no name", card.ErrNotCard},
		{"null name", `{"name":null}`, "no name", card.ErrNotCard},
		{"nested too deep", `{"name":"n","x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}`,
			"nested", card.ErrNotCard},
		{"too many interfaces", `{"name":"n","additionalInterfaces":[0` + strings.Repeat(",0", 256) + `]}`,
			"257 interfaces", card.ErrTooLarge},
		{"too many extensions", `{"name":"n","capabilities":{"extensions":[0` + strings.Repeat(",0",
			256) + `]}}`, "257 extensions", card.ErrTooLarge},
		{"too large", `{"name":"` + strings.Repeat("n", card.MaxSize) + `"}`, "at most", card.ErrTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, err := card.Parse([]byte(tt.in))
			if !errors.Is(err, tt.err) || !strings.Contains(err.Error(), tt.want) || c != nil {
				t.Errorf("got %v, %v; want %v with %q", c, err, tt.err, tt.want)
			}
		})
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	const source = "https://agent.test/.well-known/agent-card.json"
	tests := []struct {
		name, url, binding string
		listed             []string
		want               bool
	}{
		{"same origin", "https://agent.test/a2a", "JSONRPC", nil, true},
		{"port and case written out", "HTTPS://Agent.Test:443/a2a", "JSONRPC", nil, true},
		{"trailing dot", "https://agent.test./a2a", "JSONRPC", nil, true},
		{"other scheme", "http://agent.test/a2a", "JSONRPC", nil, false},
		{"other port", "https://agent.test:8443/a2a", "JSONRPC", nil, false},
		{"other host", "https://evil.test/a2a", "JSONRPC", nil, false},
		{"sub-domain", "https://x.agent.test/a2a", "JSONRPC", nil, false},
		{"userinfo that looks like the host", "https://agent.test@evil.test/", "JSONRPC", nil, false},
		{"userinfo", "https://u:p@agent.test/", "JSONRPC", nil, false},
		{"fragment", "https://agent.test/#x", "JSONRPC", nil, false},
		{"relative", "/a2a", "JSONRPC", nil, false},
		{"no network scheme", "file:///etc/passwd", "JSONRPC", nil, false},
		{"listed", "http://10.0.0.5:9001/a2a", "JSONRPC", []string{"http://10.0.0.5:9001"}, true},
		{"listed with credentials", "http://10.0.0.5:9001/a2a", "JSONRPC",
			[]string{"http://u:p@10.0.0.5:9001/x"}, true},
		{"listed, other port", "http://10.0.0.5:9002/a2a", "JSONRPC", []string{"http://10.0.0.5:9001"}, false},
		{"host:port for a binding that needs a URL", "agent.test:443", "JSONRPC", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustParse(t, `{"name":"n",
				"supportedInterfaces":[{"url":"`+tt.url+`","protocolBinding":"`+tt.binding+`","protocolVersion":"1.0"}]}`)
			usable, refused := c.Endpoints(source, tt.listed)
			if len(usable)+len(refused) != 1 || (len(usable) == 1) != tt.want {
				t.Errorf("usable %v, refused %v", usable, refused)
			}
		})
	}
}

// TestGRPCEndpoints: gRPC interfaces come without a scheme, and leave with the
// one that is trusted.
func TestGRPCEndpoints(t *testing.T) {
	t.Parallel()
	const http, https = "http://agent.test:9001/card", "https://agent.test/card"
	tests := []struct {
		name, url, source string
		listed            []string
		want              string
	}{
		{"host:port, https", "agent.test:443", https, nil, "https://agent.test:443"},
		{"host:port, http", "Agent.Test:9001", http, nil, "http://agent.test:9001"},
		{"host:port, both trusted", "agent.test:9001", http, []string{"https://agent.test:9001"},
			"https://agent.test:9001"},
		{"URL, both trusted", "http://agent.test:9001", http, []string{"https://agent.test:9001"},
			"http://agent.test:9001"},
		{"URL", "https://agent.test", https, nil, "https://agent.test:443"},
		{"URL with a slash", "https://agent.test:443/", https, nil, "https://agent.test:443"},
		{"URL of the other scheme", "http://agent.test:443", https, nil, ""},
		{"grpcs", "grpcs://agent.test:443", https, nil, "https://agent.test:443"},
		{"grpc", "GRPC://agent.test:9001", http, nil, "http://agent.test:9001"},
		{"grpc where TLS is trusted", "grpc://agent.test:443", https, nil, ""},
		{"other port", "agent.test:50051", https, nil, ""},
		{"other port, listed", "agent.test:50051", https, []string{"http://agent.test:50051"},
			"http://agent.test:50051"},
		{"other port, listed as grpc", "agent.test:50051", https, []string{"grpc://agent.test:50051"},
			"http://agent.test:50051"},
		{"listed without a scheme", "agent.test:50051", https, []string{"agent.test:50051"}, ""},
		{"IPv6", "[::1]:50051", https, []string{"http://[::1]:50051"}, "http://[::1]:50051"},
		{"other host", "evil.test:443", https, nil, ""},
		{"path", "https://agent.test/a2a/grpc", https, nil, ""},
		{"query", "https://agent.test?x=1", https, nil, ""},
		{"disguised as a path", "evil.test/@agent.test:443", https, nil, ""},
		{"disguised as userinfo", "agent.test:443@evil.test:443", https, nil, ""},
		{"userinfo", "u:p@agent.test:443", https, nil, ""},
		{"fragment", "agent.test:443#x", https, nil, ""},
		{"fragment that hides the host", "evil.test#@agent.test:443", https, nil, ""},
		{"resolver scheme", "dns:///agent.test:443", https, nil, ""},
		{"two addresses", "agent.test:443,evil.test:443", https, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := mustParse(t, `{"name":"n","supportedInterfaces":[{"url":"`+tt.url+
				`","protocolBinding":"GRPC","protocolVersion":"1.0","tenant":"a"}]}`)
			usable, refused := c.Endpoints(secret.URL(tt.source), tt.listed)
			if tt.want == "" {
				if len(usable) != 0 || len(refused) != 1 || refused[0].URL != tt.url {
					t.Errorf("usable %v, refused %v", usable, refused)
				}
				return
			}
			want := []card.Interface{{URL: tt.want, Binding: wire.GRPC, Version: wire.V10, Tenant: "a"}}
			if diff := cmp.Diff(want, usable); diff != "" || len(refused) != 0 {
				t.Errorf("refused %v, usable: %s", refused, diff)
			}
		})
	}
}

// TestOneGRPCEndpointIsOne: the spellings of an address are not two interfaces.
func TestOneGRPCEndpointIsOne(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","supportedInterfaces":[
		{"url":"agent.test:443","protocolBinding":"GRPC","protocolVersion":"1.0"},
		{"url":"https://agent.test","protocolBinding":"GRPC","protocolVersion":"1.0"}]}`)
	if usable, _ := c.Endpoints("https://agent.test/card", nil); len(c.Interfaces) != 2 || len(usable) != 1 {
		t.Errorf("%v: usable %v", c.Interfaces, usable)
	}
}

func TestProtocol(t *testing.T) {
	t.Parallel()
	tests := []struct {
		stated, want string
		older        []bool // than 0.2.5, 0.2.6, 0.3
	}{
		{"0.2.4", "0.2.4", []bool{true, true, true}},
		{"0.2.5", "0.2.5", []bool{false, true, true}},
		{"0.2.6", "0.2.6", []bool{false, false, true}},
		{"0.2", "0.2", []bool{true, true, true}},
		{"0.1.0", "0.1.0", []bool{true, true, true}},
		{" 0.3.0 ", "0.3.0", []bool{false, false, false}},
		{"0.3", "0.3", []bool{false, false, false}},
		{"1.0", "1.0", []bool{false, false, false}},
		{"", "", []bool{false, false, false}},
		{"0.2.x", "", []bool{false, false, false}},
		{"0.99999999999999999999", "", []bool{false, false, false}},
	}
	for _, tt := range tests {
		c := mustParse(t, `{"name":"n","url":"https://a","protocolVersion":"`+tt.stated+`"}`)
		if c.Protocol != tt.want {
			t.Errorf("%q: protocol %q", tt.stated, c.Protocol)
		}
		for n, version := range []string{"0.2.5", "0.2.6", "0.3"} {
			if got := c.Predates(version); got != tt.older[n] {
				t.Errorf("%q older than %s: %v", tt.stated, version, got)
			}
		}
	}
}

func TestDefaultOutputModes(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		``:                                       {"text/plain"},
		`,"defaultOutputModes":[]`:               {"text/plain"},
		`,"defaultOutputModes":null`:             {"text/plain"},
		`,"defaultOutputModes":[1,"","a/b","c"]`: {"a/b", "c"},
		`,"default_output_modes":["a/b"]`:        {"a/b"},
	} {
		if diff := cmp.Diff(want, mustParse(t, `{"name":"n"`+in+`}`).DefaultOutputModes); diff != "" {
			t.Errorf("%s: %s", in, diff)
		}
	}
}
