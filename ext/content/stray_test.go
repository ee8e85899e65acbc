package content_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/ext"
	"github.com/a2a-gateway/a2a-gateway/ext/content"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// A6 and A8: what an extension leaves is found in every carrier, version and
// spelling, whichever side left it, and is gone without a trace when taken out.
func TestA08_StraysInEveryCarrier(t *testing.T) {
	t.Parallel()
	book := compile(t, registry())
	for name, tc := range map[string]struct {
		doc     document
		visible ext.Set
		want    string
	}{
		"nothing": {doc: params(`{"message":{"parts":[{"text":"metadata extensions"}]}}`)},
		"a request": {
			doc: params(`{"metadata":{"` + pay + `":1,"mine":2},"message":{"messageId":"m","extensions":["` + pay + `","urn:x"],
				"metadata":{"pay.status":"x"},"parts":[{"text":"","metadata":{"` + local + `/a":1}}]}}`),
			want: `
				/params/metadata/https:~1~1example.com~1ext~1pay~1v1
				/params/message/extensions/0
				/params/message/extensions/1
				/params/message/metadata/pay.status
				/params/message/parts/0/metadata/https:~1~1agent.example~1ext~1local~1a
			`,
		},
		"a request with what is active": {
			doc: params(`{"metadata":{"` + pay + `":1,"mine":2},"message":{"messageId":"m","extensions":["` + pay + `","urn:x"],
				"metadata":{"pay.status":"x"},"parts":[{"text":"","metadata":{"` + local + `/a":1}}]}}`),
			visible: ext.Set{local, pay},
			want:    `/params/message/extensions/1`,
		},
		"a task": {
			doc: result(`{"task":{"id":"t","metadata":{"pay.receipt.1":1},
				"status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m","metadata":{"` + stamp + `":1}}},
				"artifacts":[{"artifactId":"a","extensions":["` + stamp + `"],"metadata":{"example.com/ext/stamp/v1/at":1}}],
				"history":[{"messageId":"h","extensions":["` + pay + `"]}]}}`),
			want: `
				/result/task/metadata/pay.receipt.1
				/result/task/status/message/metadata/https:~1~1example.com~1ext~1stamp~1v1
				/result/task/artifacts/0/extensions/0
				/result/task/artifacts/0/metadata/example.com~1ext~1stamp~1v1~1at
				/result/task/history/0/extensions/0
			`,
		},
		"an event of 0.3": {
			doc: document{side: rpc03, answer: true, method: wire.SendStreamingMessage, text: `{"jsonrpc":"2.0","id":1,"result":
				{"kind":"artifact-update","taskId":"t","contextId":"c","metadata":{"pay.status":"paid"},
				"artifact":{"artifactId":"a","extensions":["` + pay + `"],"parts":[{"kind":"data","data":{"metadata":{"` + pay + `":1}}}]}}}`},
			want: `
				/result/metadata/pay.status
				/result/artifact/extensions/0
			`,
		},
		"an event of 0.1": {
			doc: document{side: rpc01, answer: true, method: wire.SendStreamingMessage, text: `{"jsonrpc":"2.0","id":1,"result":
				{"id":"t","status":{"state":"working","message":{"role":"agent","parts":[],"metadata":{"` + pay + `":1}}},"final":false}}`},
			want: `/result/status/message/metadata/https:~1~1example.com~1ext~1pay~1v1`,
		},
		"gRPC of 0.3": {
			doc: document{side: grpc03, answer: true, text: `{"msg":{"messageId":"m","extensions":["` + pay + `"],
				"content":[{"text":"x","metadata":{"pay.status":1}}]}}`},
			want: `
				/msg/extensions/0
				/msg/content/0/metadata/pay.status
			`,
		},
		"no URIs": {
			doc:  params(`{"message":{"messageId":"m","extensions":["","x"],"metadata":{"":1}}}`),
			want: "/params/message/extensions/0\n/params/message/extensions/1",
		},
		"a list": {
			doc: document{side: rest10, method: wire.ListTasks, answer: true,
				text: `{"tasks":[{"id":"1"},{"id":"2","metadata":{"` + pay + `":{}}}]}`},
			want: `/tasks/1/metadata/https:~1~1example.com~1ext~1pay~1v1`,
		},
		"names in escapes": {
			doc: params(`{"message":{"messageId":"m","met\u0061data":{"pay.st\u0061tus":1},
				"\u0065xtensions":["https:\/\/example.com\/ext\/pay\/v1"]}}`),
			want: `
				/params/message/metadata/pay.status
				/params/message/extensions/0
			`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terms := content.Terms{Book: book, Declared: card, Visible: tc.visible, Answer: tc.doc.answer}
			c := read(t, tc.doc)
			strays := terms.Strays(c)
			if got := shown(c, strays); got != text(tc.want) {
				t.Errorf("strays:\n%swant:\n%s", got, text(tc.want))
			}
			takeOut(t, &terms, tc.doc, c, strays)
		})
	}
}

// A key of several extensions may stay where one of them is active; each one's URI
// stays its own.
func TestSharedKeys(t *testing.T) {
	t.Parallel()
	const (
		other = "https://example.com/ext/pay/v2"
		own   = "/params/message/metadata/https:~1~1example.com~1ext~1pay~1v1"
		all   = "/params/message/extensions/0\n/params/message/metadata/pay.status\n" + own
	)
	book := compile(t, ext.Registry{
		{URI: pay, Metadata: []string{"pay.*"}}, {URI: other, Metadata: []string{"pay.*"}}, {URI: stamp},
	})
	doc := params(`{"message":{"messageId":"m","extensions":["` + other + `"],"metadata":{"pay.status":1,"` + pay + `":2}}}`)
	for _, tc := range []struct {
		visible ext.Set
		want    string
	}{
		{nil, all},
		{ext.Set{stamp}, all},
		{ext.Set{other}, own},
		{ext.Set{pay}, "/params/message/extensions/0"},
		{ext.Set{pay, other}, ""},
	} {
		terms := content.Terms{Book: book, Visible: tc.visible}
		c := read(t, doc)
		if got := shown(c, terms.Strays(c)); got != text(tc.want) {
			t.Errorf("with %v strays:\n%swant:\n%s", tc.visible, got, text(tc.want))
		}
	}
}

// takeOut removes strays, and finds none in what is left.
func takeOut(t *testing.T, terms *content.Terms, d document, c *wire.Carriers, strays []wire.Mark) {
	t.Helper()
	kept := len(c.Marks) - len(strays)
	for _, m := range strays {
		c.Remove(m)
	}
	d.text = string(c.Apply())
	c = read(t, d)
	if left := terms.Strays(c); left != nil || len(c.Marks) != kept {
		t.Errorf("%s is left with %d marks, want %d, and strays:\n%s", d.text, len(c.Marks), kept, shown(c, left))
	}
}

// Keys belong to whom the convention says, and of nested URIs to the longest, whether
// the registry or only the card knows it.
func TestWhoseKeys(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key      string
		declared string // by the card, beside what the registry knows
		want     string // "" for nobody's
	}{
		"the URI":                 {key: stamp, want: stamp},
		"a name behind it":        {key: stamp + "/at", want: stamp},
		"more behind it":          {key: stamp + "/at/x", want: stamp},
		"a fragment":              {key: stamp + "#at", want: stamp},
		"a query":                 {key: stamp + "?at=1", want: stamp},
		"a colon":                 {key: stamp + ":at", want: stamp},
		"a fragment, no scheme":   {key: "example.com/ext/stamp/v1#at", want: stamp},
		"something else behind":   {key: stamp + ".at"},
		"a card's fragment":       {key: stamp + "#mine/x", declared: stamp + "#mine", want: stamp + "#mine"},
		"a card's, and a colon":   {key: local + ":x", declared: local, want: local},
		"without the scheme":      {key: "example.com/ext/stamp/v1", want: stamp},
		"that, and a name":        {key: "example.com/ext/stamp/v1/at", want: stamp},
		"another version":         {key: "https://example.com/ext/stamp/v10"},
		"a longer URI":            {key: stamp + "/pro/at", want: stampPro},
		"nearly the longer URI":   {key: stamp + "/prof", want: stamp},
		"another case":            {key: "https://example.com/ext/Stamp/v1"},
		"another scheme":          {key: "http://example.com/ext/stamp/v1"},
		"a prefix":                {key: "https://example.com/ext"},
		"a key of the entry":      {key: "pay.status", want: pay},
		"behind that":             {key: "pay.status.x"},
		"a pattern of the entry":  {key: "pay.receipt.7", want: pay},
		"a word":                  {key: "stamp"},
		"the empty key":           {key: ""},
		"a card's":                {key: local + "/x", declared: local, want: local},
		"a card's, no scheme":     {key: "agent.example/ext/local", declared: local, want: local},
		"a card's below another":  {key: stamp + "/mine/x", declared: stamp + "/mine", want: stamp + "/mine"},
		"a card's above another":  {key: stamp + "/x", declared: "https://example.com/ext", want: stamp},
		"nobody's without a card": {key: local + "/x"},
		"a card's URN":            {key: "urn:acme:x/y", declared: "urn:acme:x", want: "urn:acme:x"},
		"a URN has no such start": {key: "acme:x", declared: "urn:acme:x"},
		"a card's, and more":      {key: local + "s/x", declared: local},
		"a card's, by another":    {key: "https://example.com/listed", declared: "https://example.com/listed", want: pay},
		"a card's, less of it":    {key: "example.com/ext/stamp/v1/x", declared: "a-very-long-scheme://example.com/ext", want: stamp},
		"a scheme is no name":     {key: "/x", declared: "x://"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terms := content.Terms{Book: compile(t, registry())}
			if tc.declared != "" {
				terms.Declared = ext.NewRoots([]ext.Declared{{URI: tc.declared}})
			}
			c := read(t, params(fmt.Sprintf(`{"metadata":{%q:1}}`, tc.key)))
			strays := terms.Strays(c)
			if got := lines(terms.Describe(c, strays, true)); tc.want == "" && got != "" ||
				tc.want != "" && !strings.HasPrefix(got, "refuse unrequested "+tc.want+" ") {
				t.Errorf("%q is %q, want %q", tc.key, got, tc.want)
			}
			if tc.want == "" {
				return
			}
			terms.Visible = ext.Set{tc.want}
			if strays := terms.Strays(c); strays != nil {
				t.Errorf("%q is a stray though %s is visible", tc.key, tc.want)
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		key  string
		want bool
	}{
		"a URL":              {key: "https://unknown.example/x", want: true},
		"a URL, loud":        {key: "HTTPS://unknown.example/x", want: true},
		"http":               {key: "http://unknown.example", want: true},
		"a URN":              {key: "urn:unknown:x", want: true},
		"a registered one":   {key: stamp + "/at"},
		"a fragment of one":  {key: stamp + "#at"},
		"a declared one":     {key: local},
		"another version":    {key: "https://example.com/ext/stamp/v2", want: true},
		"another scheme":     {key: "mailto:a@example.com"},
		"a word and a colon": {key: "note: this"},
		"a scheme alone":     {key: "https://"},
		"spaces":             {key: "https://example.com/a b"},
		"a path":             {key: "example.com/ext/other/v1"},
		"a word":             {key: "traceId"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			terms := content.Terms{Book: compile(t, registry()), Declared: card, Answer: true}
			c := read(t, result(fmt.Sprintf(`{"message":{"messageId":"m","extensions":[%q],"metadata":{%q:"v"}}}`, tc.key, tc.key)))
			want := ""
			if tc.want {
				escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(tc.key)
				want = "report undeclared " + tc.key + " /result/message/metadata/" + escaped + "\n"
			}
			if got := lines(terms.Unknown(c)); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// What a record repeats of a document is bounded.
func TestViolationsAreBounded(t *testing.T) {
	t.Parallel()
	var keys strings.Builder
	for i := range 500 {
		fmt.Fprintf(&keys, `"urn:unknown:%d":1,`, i)
	}
	long := "urn:" + strings.Repeat("x", 5000)
	c := read(t, params(`{"message":{"messageId":"m","extensions":["`+long+`"],"metadata":{`+keys.String()+`"k":1}}}`))
	terms := content.Terms{Book: compile(t, registry())}
	if n := len(terms.Unknown(c)); n != 64 {
		t.Errorf("%d violations, want 64", n)
	}
	got := terms.Describe(c, terms.Strays(c), false)
	if len(got) != 1 || len(got[0].Extension) > 520 || !strings.HasPrefix(long, strings.TrimSuffix(got[0].Extension, "…")) {
		t.Errorf("violations %v, want one with a URI that is cut off", got)
	}
}

// No registry, no card and no extension: nothing but listed URIs is anybody's.
func TestWithoutBook(t *testing.T) {
	t.Parallel()
	var terms content.Terms
	c := read(t, params(`{"metadata":{"`+pay+`":1},"message":{"messageId":"m","extensions":["`+pay+`"]}}`))
	if got, want := shown(c, terms.Strays(c)), "/params/message/extensions/0\n"; got != want {
		t.Errorf("strays %q, want %q", got, want)
	}
	terms.Active = ext.Set{pay}
	if got := terms.Values(c); got != nil {
		t.Errorf("values: %v", got)
	}
	if got := terms.Objects(c); got != nil || terms.JudgesObjects() {
		t.Errorf("objects: %v", got)
	}
	terms.Answer = true
	if got := terms.Arrivals(c); got != nil {
		t.Errorf("arrivals: %v", got)
	}
	if got := content.Data(c, nil, true); got != nil {
		t.Errorf("data: %v", got)
	}
}
