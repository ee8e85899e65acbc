package card_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

func reply(p card.Reply, method string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}

func TestReply(t *testing.T) {
	t.Parallel()
	public := card.Reply{Body: []byte(`{"name":"n"}`), ETag: `"abc"`, MaxAge: time.Minute,
		Credentials: []string{"Authorization", "X-API-Key"}}
	private := card.Reply{Body: public.Body, ETag: public.ETag, Private: true, Credentials: public.Credentials}
	tests := []struct {
		name    string
		reply   card.Reply
		method  string
		headers []string
		status  int
		body    bool
	}{
		{"public", public, "GET", nil, 200, true},
		{"head", public, "HEAD", nil, 200, false},
		{"known tag", public, "GET", []string{"If-None-Match", `"abc"`}, 304, false},
		{"known tag, head", public, "HEAD", []string{"If-None-Match", `"abc"`}, 304, false},
		{"weak tag in a list", public, "GET", []string{"If-None-Match", `"x", W/"abc"`}, 304, false},
		{"second line", public, "GET", []string{"If-None-Match", `"x"`, "If-None-Match", `"abc"`}, 304, false},
		{"any", public, "GET", []string{"If-None-Match", "*"}, 304, false},
		{"other tag", public, "GET", []string{"If-None-Match", `"abcd"`}, 200, true},
		{"unquoted tag", public, "GET", []string{"If-None-Match", `abc`}, 200, true},
		{"private", private, "GET", nil, 200, true},
		{"private with the tag", private, "GET", []string{"If-None-Match", `"abc"`}, 200, true},
		{"private with any", private, "GET", []string{"If-None-Match", "*"}, 200, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := reply(tt.reply, tt.method, tt.headers...)
			if w.Code != tt.status || (w.Body.Len() > 0) != tt.body {
				t.Errorf("status %d, body %q", w.Code, w.Body)
			}
			h := w.Header()
			if tt.reply.Private {
				if h.Get("Cache-Control") != "private, no-store" || h.Get("ETag") != "" ||
					h.Get("Vary") != "A2a-Version, Authorization, X-API-Key" {
					t.Errorf("headers %v", h)
				}
				return
			}
			if h.Get("Cache-Control") != "public, max-age=60" || h.Get("ETag") != `"abc"` ||
				h.Get("Vary") != "A2a-Version, Authorization, X-API-Key" {
				t.Errorf("headers %v", h)
			}
			if tt.status == 200 && (h.Get("Content-Type") != "application/json" || h.Get("Content-Length") != "12") {
				t.Errorf("headers %v", h)
			}
		})
	}
}

// TestL42_PublicCardVariesByViewOnly: the same view gives the same bytes and
// tag, every other view another tag, and nothing of a request plays a part.
func TestL42_PublicCardVariesByViewOnly(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","skills":[{"id":"a"},{"id":"b"}],
		"capabilities":{"pushNotifications":true}}`)
	tags := make(map[string]string)
	for name, change := range map[string]func(*card.View){
		"plain":         func(*card.View) {},
		"1.0":           func(v *card.View) { v.Version = wire.V10 },
		"other base":    func(v *card.View) { v.BaseURL += "/skills/a" },
		"one skill":     func(v *card.View) { v.Skills = []string{"a"} },
		"other skill":   func(v *card.View) { v.Skills = []string{"b"} },
		"no skills":     func(v *card.View) { v.Skills = []string{} },
		"extended":      func(v *card.View) { v.Extended = true },
		"push":          func(v *card.View) { v.Push = true },
		"issuer":        func(v *card.View) { v.Schemes.OIDC = []card.Issuer{{URL: "https://other.example.com"}} },
		"header":        func(v *card.View) { v.Schemes.OIDC[0].Header = "X-User" },
		"bearer":        func(v *card.View) { v.Schemes.Bearer = true },
		"anonymous":     func(v *card.View) { v.Schemes.Anonymous = true },
		"certificates":  func(v *card.View) { v.Schemes.MTLS = true },
		"combination":   func(v *card.View) { v.Schemes.Combinations = [][]string{{"oidc", "apiKeys"}} },
		"the other way": func(v *card.View) { v.Schemes.Combinations = [][]string{{"apiKeys", "oidc"}} },
		"alternatives":  func(v *card.View) { v.Schemes.Combinations = [][]string{{"apiKeys"}} },
		"requirements":  func(v *card.View) { v.Requirements = "spec" },
		"no interface":  func(v *card.View) { v.Interfaces = []card.Interface{} },
		"0.1":           func(v *card.View) { v.Version = wire.V01 },
		"0.3 alone":     func(v *card.View) { v.Pure = true },
		"gRPC":          func(v *card.View) { v.Binding = wire.GRPC },
		"gRPC, 1.0":     func(v *card.View) { v.Binding, v.Version = wire.GRPC, wire.V10 },
		"no offer":      func(v *card.View) { v.Offer, v.Push = []card.Offered{}, true },
		"offer":         func(v *card.View) { v.Offer = []card.Offered{{Version: wire.V10, Binding: wire.JSONRPC}} },
		"other URL": func(v *card.View) {
			v.Offer = []card.Offered{{Version: wire.V10, Binding: wire.JSONRPC, URL: base + "/x"}}
		},
		"other binding": func(v *card.View) { v.Offer = []card.Offered{{Version: wire.V10, Binding: wire.GRPC}} },
		"other version": func(v *card.View) { v.Offer = []card.Offered{{Version: wire.V03, Binding: wire.JSONRPC}} },
		"tenant": func(v *card.View) {
			v.Offer = []card.Offered{{Version: wire.V10, Binding: wire.JSONRPC, Tenant: "t"}}
		},
	} {
		v := view(c, wire.V03)
		change(&v)
		_, etag, err := c.Render(v)
		if err != nil {
			t.Fatal(err)
		}
		if other, taken := tags[etag]; taken {
			t.Errorf("%q and %q share the tag %s", name, other, etag)
		}
		tags[etag] = name
		fresh := mustParse(t, string(c.Raw)) // nothing remembered
		if _, again, _ := fresh.Render(v); again != etag {
			t.Errorf("%s: tags %s and %s for equal views", name, etag, again)
		}
	}
}

// TestA16_CallersSeeTheirSkillsOnly: alternating callers on one card, more sets
// of skills than are remembered, each answer exactly the caller's.
func TestA16_CallersSeeTheirSkillsOnly(t *testing.T) {
	t.Parallel()
	var entries []string
	for i := range 8 {
		entries = append(entries, fmt.Sprintf(`{"id":"skill-%d","description":"about skill-%d"}`, i, i))
	}
	c := mustParse(t, `{"name":"n","url":"https://a.test","skills":[`+strings.Join(entries, ",")+`]}`)
	for round := range 2 {
		for bits := range 256 {
			mine := []string{"unknown"}
			for i := range 8 {
				if bits>>i&1 == 1 {
					mine = append(mine, fmt.Sprintf("skill-%d", i))
				}
			}
			got := mustRender(t, c, card.View{BaseURL: base, Skills: mine})
			for i := range 8 {
				if strings.Contains(got, fmt.Sprintf("skill-%d", i)) != (bits>>i&1 == 1) {
					t.Fatalf("round %d, caller %08b: skill-%d wrong in %s", round, bits, i, got)
				}
			}
		}
	}
}

// TestRenderIsTheSameFromManyGoroutines is for the race detector.
func TestRenderIsTheSameFromManyGoroutines(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","skills":[{"id":"a"},{"id":"b"}]}`)
	want := mustRender(t, c, card.View{BaseURL: base, Skills: []string{"a"}})
	results := make(chan string)
	for i := range 8 {
		go func() {
			var got []byte
			for range 50 {
				_, _, _ = c.Render(card.View{BaseURL: fmt.Sprint(base, i), Skills: []string{"b"}})
				got, _, _ = c.Render(card.View{BaseURL: base, Skills: []string{"a"}})
			}
			results <- string(got)
		}()
	}
	for range 8 {
		if got := <-results; got != want {
			t.Errorf("got %s", got)
		}
	}
}

func TestRenderRefusesBases(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n"}`)
	for _, bad := range []string{"", "/agents/x", "gw.example.com", "https://gw.example.com/",
		"ftp://gw.example.com"} {
		if _, _, err := c.Render(card.View{BaseURL: bad}); err == nil {
			t.Errorf("%q passed", bad)
		}
	}
}

// TestOfferProperty: a served card lists what is offered, 1.0 before 0.3, each
// in the order of the offer, nothing twice, nothing else.
func TestOfferProperty(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test"}`)
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) card.Offered {
			return card.Offered{
				Version: rapid.SampledFrom([]wire.Version{wire.V10, wire.V03, wire.V01}).Draw(t, "version"),
				Binding: rapid.SampledFrom([]wire.Binding{wire.JSONRPC, wire.HTTPJSON, wire.GRPC}).Draw(t, "binding"),
				URL:     rapid.SampledFrom([]string{"", "https://b.test/x"}).Draw(t, "url"),
				Tenant:  rapid.SampledFrom([]string{"", "acme"}).Draw(t, "tenant"),
			}
		})
		offer := rapid.SliceOfN(one, 0, 8).Draw(t, "offer")
		body, _, err := c.Render(card.View{BaseURL: base, Offer: append([]card.Offered{}, offer...)})
		if err != nil {
			t.Fatal(err)
		}
		served, err := card.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		var want []card.Interface
		for _, version := range []wire.Version{wire.V10, wire.V03} {
			for _, o := range offer {
				i := card.Interface{URL: o.URL, Binding: o.Binding, Version: o.Version, Tenant: o.Tenant}
				if o.Version == wire.V03 {
					i.Tenant = ""
				}
				switch {
				case i.URL == "" && i.Binding == wire.GRPC:
					i.URL = "gw.example.com:443"
				case i.URL == "":
					i.URL = base
				}
				if o.Version == version && !slices.Contains(want, i) {
					want = append(want, i)
				}
			}
		}
		if !slices.Equal(served.Interfaces, want) {
			t.Fatalf("offered %+v\n served %+v", offer, served.Interfaces)
		}
	})
}

// TestStandardOffer: without an offer both HTTP bindings of both versions are
// listed, whatever the agent speaks, with the tenants it has in 1.0.
func TestStandardOffer(t *testing.T) {
	t.Parallel()
	entry := func(version, binding, tenant string) string { return version + " " + binding + " " + tenant }
	both := func(version, tenant string) []string {
		return []string{entry(version, "JSONRPC", tenant), entry(version, "HTTP+JSON", tenant)}
	}
	tests := []struct {
		name  string
		agent []card.Interface
		want  []string
	}{
		{"0.1", []card.Interface{{Binding: wire.JSONRPC, Version: wire.V01}}, both("1.0", "")},
		{"0.3", []card.Interface{{Binding: wire.HTTPJSON, Version: wire.V03, Tenant: "ignored"}}, both("1.0", "")},
		{"1.0 over gRPC", []card.Interface{{Binding: wire.GRPC, Version: wire.V10, Tenant: "a"}}, both("1.0", "a")},
		{"tenants", []card.Interface{
			{Binding: wire.JSONRPC, Version: wire.V10, Tenant: "b"},
			{Binding: wire.HTTPJSON, Version: wire.V10},
			{Binding: wire.GRPC, Version: wire.V10, Tenant: "b"},
		}, append(both("1.0", "b"), both("1.0", "")...)},
	}
	c := mustParse(t, `{"name":"n"}`)
	for _, tt := range tests {
		served := mustParse(t, mustRender(t, c, card.View{BaseURL: base, Interfaces: tt.agent}))
		var got []string
		for _, i := range served.Interfaces {
			got = append(got, entry(string(i.Version), i.Binding.String(), i.Tenant))
		}
		if want := append(tt.want, both("0.3", "")...); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
	for name, v := range map[string]card.View{
		"no interfaces at all":    {BaseURL: base},
		"none that may be called": {BaseURL: base, Interfaces: []card.Interface{}},
	} {
		if got := mustRender(t, c, v); strings.Contains(got, "url") ||
			!strings.Contains(got, `"supportedInterfaces":[]`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestMainInterface: whatever the order, 0.3's url is the JSON-RPC one.
func TestMainInterface(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n"}`)
	old := func(b wire.Binding, url string) card.Offered {
		return card.Offered{Version: wire.V03, Binding: b, URL: url}
	}
	tests := []struct {
		name  string
		offer []card.Offered
		want  string
	}{
		{"JSON-RPC last", []card.Offered{
			old(wire.GRPC, "h:1"), old(wire.HTTPJSON, ""), old(wire.JSONRPC, "https://j.test"),
		},
			`"url":"https://j.test","protocolVersion":"0.3.0","preferredTransport":"JSONRPC",` +
				`"additionalInterfaces":[{"url":"h:1","transport":"GRPC"},{"url":"` + base + `","transport":"HTTP+JSON"},` +
				`{"url":"https://j.test","transport":"JSONRPC"}]`},
		{"no JSON-RPC", []card.Offered{old(wire.GRPC, "h:1"), old(wire.HTTPJSON, "")},
			`"url":"h:1","protocolVersion":"0.3.0","preferredTransport":"GRPC"`},
	}
	for _, tt := range tests {
		for _, b := range []wire.Binding{wire.JSONRPC, wire.GRPC} {
			got := mustRender(t, c, card.View{BaseURL: base, Offer: tt.offer, Binding: b})
			if !strings.Contains(got, tt.want) {
				t.Errorf("%s: got %s\nwant %s", tt.name, got, tt.want)
			}
		}
	}
}

// TestGRPCAddresses: the form of 0.3 has absolute URLs for gRPC, all others what its clients dial.
func TestGRPCAddresses(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n"}`)
	const base = "https://gateway.test/agents/n"
	offer := []card.Offered{
		{Version: wire.V10, Binding: wire.GRPC, URL: "gateway.test:443"}, {Version: wire.V03, Binding: wire.GRPC, URL: "gateway.test:443"},
	}
	tests := []struct {
		name         string
		view         card.View
		want, absent string
	}{
		{"mixed", card.View{}, `"url":"gateway.test:443"`, `://gateway.test:443`},
		{"1.0", card.View{Version: wire.V10, Pure: true}, `"url":"gateway.test:443"`, `://gateway.test:443`},
		{"0.3", card.View{Version: wire.V03, Pure: true}, `"url":"https://gateway.test:443","transport":"GRPC"`, `"gateway.test:443"`},
		{"0.3 in Protobuf", card.View{Version: wire.V03, Binding: wire.GRPC}, `"url":"gateway.test:443"`, `://gateway.test:443`},
	}
	for _, tt := range tests {
		tt.view.BaseURL, tt.view.Offer = base, offer
		if got := mustRender(t, c, tt.view); !strings.Contains(got, tt.want) || strings.Contains(got, tt.absent) {
			t.Errorf("%s: got %s\nwant %s, not %s", tt.name, got, tt.want, tt.absent)
		}
	}
}

// TestLegacyForm: readers of 0.1 learn which kinds of credential there are, and
// nothing that the agent wrote there.
func TestLegacyForm(t *testing.T) {
	t.Parallel()
	c := mustParse(t, `{"name":"n","url":"https://a.test","authentication":{"schemes":["Basic"],"credentials":"x"}}`)
	tests := []struct {
		name    string
		schemes card.Schemes
		want    string
	}{
		{"both", card.Schemes{OIDC: []card.Issuer{{URL: "https://i.test"}, {URL: "https://j.test"}}, APIKeyHeader: "X-Key"},
			`"authentication":{"schemes":["Bearer","apiKey"]}`},
		{"tokens in a header", card.Schemes{OIDC: []card.Issuer{{URL: "https://i.test", Header: "X-User"}}},
			`"authentication":{"schemes":["apiKey"]}`},
		{"key", card.Schemes{APIKeyHeader: "X-Key", Anonymous: true}, `"authentication":{"schemes":["apiKey"]}`},
		{"none", card.Schemes{}, ""},
	}
	for _, tt := range tests {
		v := card.View{BaseURL: base, Version: wire.V01, Schemes: tt.schemes}
		got := mustRender(t, c, v)
		if strings.Contains(got, "authentication") != (tt.want != "") || !strings.Contains(got, tt.want) ||
			strings.Contains(got, "credentials") || strings.Contains(got, "Basic") {
			t.Errorf("%s: %s", tt.name, got)
		}
		if tt.want != "" {
			got = strings.Replace(got, tt.want+",", "", 1)
		}
		v.Version = wire.V03
		if mixed := mustRender(t, c, v); got != mixed {
			t.Errorf("%s: apart from it\n%s\nis not the mixed form\n%s", tt.name, got, mixed)
		}
	}
}

// TestFormOf: a form that is configured is served whatever is asked for; otherwise a request
// that names one version, in its header or its query, gets that version's form.
func TestFormOf(t *testing.T) {
	t.Parallel()
	const none = "none" // no header
	for _, tt := range []struct {
		form          card.Form
		header, query string
		want          wire.Version
		pure          bool
	}{
		{"", none, "", wire.V03, false},
		{"", "", "", wire.V03, false},
		{"", "1.0", "", wire.V10, true},
		{"auto", "1.0.1", "", wire.V10, true},
		{"auto", "0.3", "", wire.V03, true},
		{"auto", "0.2.6", "", wire.V03, true},
		{"auto", "0.1", "", wire.V01, true},
		{"auto", "9.9", "", wire.V03, false},
		{"auto", "x", "", wire.V03, false},
		{"auto", none, "A2A-Version=1.0", wire.V10, true},
		{"auto", none, "A2A-Version=0.3&x=1", wire.V03, true},
		{"auto", none, "a2a-version=1.0", wire.V03, false}, // as for calls, which are refused
		{"auto", none, "A2A-Version=1.0&A2A-Version=0.3", wire.V03, false},
		{"auto", "1.0", "A2A-Version=1.0", wire.V10, true},
		{"auto", "1.0", "A2A-Version=0.3", wire.V03, false},
		{"mixed", "1.0", "A2A-Version=1.0", wire.V03, false},
		{"1.0", none, "", wire.V10, true},
		{"1.0", "0.3", "", wire.V10, true},
		{"0.3", none, "", wire.V03, true},
		{"0.3", "1.0", "", wire.V03, true},
	} {
		h := http.Header{}
		if tt.header != none {
			h.Set("A2A-Version", tt.header)
		}
		q, err := url.ParseQuery(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if version, pure := tt.form.Of(h, q); version != tt.want || pure != tt.pure {
			t.Errorf("%+v: %q, pure %v", tt, version, pure)
		}
	}
}

var _ http.Handler = card.Reply{}
