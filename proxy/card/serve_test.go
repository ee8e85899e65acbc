package card_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/card"
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
		"plain":        func(*card.View) {},
		"1.0":          func(v *card.View) { v.Version = wire.V10 },
		"other base":   func(v *card.View) { v.BaseURL += "/skills/a" },
		"one skill":    func(v *card.View) { v.Skills = []string{"a"} },
		"other skill":  func(v *card.View) { v.Skills = []string{"b"} },
		"no skills":    func(v *card.View) { v.Skills = []string{} },
		"extended":     func(v *card.View) { v.Extended = true },
		"push":         func(v *card.View) { v.Push = true },
		"issuer":       func(v *card.View) { v.Schemes.OIDC = []string{"https://other.example.com"} },
		"anonymous":    func(v *card.View) { v.Schemes.Anonymous = true },
		"requirements": func(v *card.View) { v.Requirements = card.SpecRequirements },
		"no interface": func(v *card.View) { v.Interfaces = []card.Interface{} },
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

// TestRenderedInterfacesProperty: whatever the agent offers, a served card lists
// the gateway's URL only, 1.0 before 0.3, nothing twice, nothing unasked.
func TestRenderedInterfacesProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Custom(func(t *rapid.T) card.Interface {
			return card.Interface{
				URL:     rapid.SampledFrom([]string{"https://a.test/1", "https://a.test/2"}).Draw(t, "url"),
				Binding: rapid.SampledFrom([]wire.Binding{wire.JSONRPC, wire.HTTPJSON, wire.GRPC}).Draw(t, "binding"),
				Version: rapid.SampledFrom([]wire.Version{wire.V10, wire.V03, wire.V01}).Draw(t, "version"),
				Tenant:  rapid.SampledFrom([]string{"", "acme"}).Draw(t, "tenant"),
			}
		})
		offered := rapid.SliceOfN(one, 0, 6).Draw(t, "interfaces")
		c, err := card.Parse([]byte(`{"name":"n"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := c.Render(card.View{BaseURL: base, Interfaces: append([]card.Interface{}, offered...)})
		if err != nil {
			t.Fatal(err)
		}
		served, err := card.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		type combination struct {
			binding wire.Binding
			version wire.Version
			tenant  string
		}
		want := make(map[combination]bool)
		for _, i := range offered {
			if i.Binding == wire.GRPC || i.Version == wire.V01 {
				continue
			}
			if i.Version == wire.V03 {
				i.Tenant = ""
			}
			want[combination{i.Binding, i.Version, i.Tenant}] = true
		}
		last := wire.V10
		for _, i := range served.Interfaces {
			if i.URL != base || !want[combination{i.Binding, i.Version, i.Tenant}] || i.Version > last {
				t.Fatalf("%+v served for %+v", served.Interfaces, offered)
			}
			last = i.Version
		}
		if len(served.Interfaces) != len(want) {
			t.Fatalf("%+v served for %+v", served.Interfaces, offered)
		}
	})
}

func TestFormFor(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]wire.Version{"": wire.V03, "0.3": wire.V03, "1.0": wire.V10,
		"1.0.1": wire.V10, "9.9": wire.V03, "x": wire.V03} {
		if got := card.FormFor(in); got != want {
			t.Errorf("FormFor(%q) = %q", in, got)
		}
	}
}

var _ http.Handler = card.Reply{}
