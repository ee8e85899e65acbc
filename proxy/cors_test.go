package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
)

const page = "https://app.example.com"

// withPages lets pages of one origin call.
func withPages(s *setup) {
	s.server.CORS = &server.CORS{Origins: []string{page}, Headers: []string{"X-Custom"}}
	s.agent.Card.Visibility = card.Public
}

// preflight asks as browsers do.
func (w *world) preflight(target, origin string, fields ...string) answer {
	w.Helper()
	return w.do("", http.MethodOptions, target, "", "Origin: "+origin, "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: "+strings.Join(fields, ","))
}

// TestL45_PreflightIsTheSameEverywhere: browsers are answered before anybody is known, at every path of agents
// alike, whether or not there is anything.
func TestL45_PreflightIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	w := build(t, withPages)
	var first http.Header
	for _, path := range []string{
		"", "/", "/message:send", "/v1/message:stream", "/tasks/7:cancel", "/skills/read", "/.well-known/agent-card.json", w.url + "/agents/none",
		w.url + "/a2a", w.url + "/a2a/message:send", w.url + "/catalog", w.url + "/.well-known/api-catalog", w.url + "/.well-known/jwks.json",
		w.url + "/.well-known/oauth-protected-resource/agents/rec", w.url + "/nothing",
	} {
		got := w.preflight(path, page, "content-type", "a2a-version", "authorization")
		if got.status != http.StatusNoContent || got.body != "" || got.header.Get("Access-Control-Allow-Origin") != page ||
			got.header.Get("Access-Control-Max-Age") != "600" || got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v %s", path, got.status, got.header, got.body)
		}
		if vary := strings.Join(got.header["Vary"], ", "); vary != "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" {
			t.Errorf("%s: Vary is %q", path, vary)
		}
		got.header.Del("X-Request-Id")
		got.header.Del("Date")
		if first == nil {
			first = got.header
		}
		for name := range got.header {
			if !slices.Equal(got.header[name], first[name]) {
				t.Errorf("%s: %s is %q, elsewhere %q", path, name, got.header[name], first[name])
			}
		}
	}
	fields := strings.Split(first.Get("Access-Control-Allow-Headers"), ", ")
	for _, name := range []string{
		"Authorization", "Content-Type", "A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "Last-Event-ID", "X-Api-Key", "Traceparent", "X-Custom",
	} {
		if !slices.Contains(fields, name) {
			t.Errorf("%s is not among %s", name, fields)
		}
	}
	if verbs := first.Get("Access-Control-Allow-Methods"); verbs != "DELETE, GET, HEAD, POST" {
		t.Errorf("verbs are %s", verbs)
	}
	w.agent.silent(t, "preflights")
}

// TestL45_PreflightRefused: others learn nothing, and what is no preflight is refused as ever.
func TestL45_PreflightRefused(t *testing.T) {
	t.Parallel()
	w, off := build(t, withPages, relayed), build(t)
	for name, tt := range map[string]struct {
		got    answer
		status int
	}{
		"another origin": {w.preflight("", "https://evil.example", "content-type"), 403},
		"no origin":      {w.do("", "OPTIONS", "", "", "Access-Control-Request-Method: POST"), 405},
		"no method":      {w.do("", "OPTIONS", "", "", "Origin: "+page), 405},
		"another host": {w.do("", "OPTIONS", "", "", "Origin: "+page, "Access-Control-Request-Method: POST",
			"Host: evil.example"), 421},
		"notifications": {w.preflight(w.url+"/push/x/y", page), 404},
		"gRPC":          {w.preflight(w.url+"/lf.a2a.v1.A2AService/SendMessage", page), 405},
		"off":           {off.preflight("", page, "content-type"), 405},
	} {
		if name == "notifications" || name == "gRPC" {
			if tt.got.status == http.StatusNoContent {
				t.Errorf("%s: %d", name, tt.got.status)
			}
		} else if tt.got.status != tt.status {
			t.Errorf("%s: %d %s", name, tt.got.status, tt.got.body)
		}
		for field := range tt.got.header {
			if strings.HasPrefix(field, "Access-Control-Allow-M") || strings.HasPrefix(field, "Access-Control-Allow-H") {
				t.Errorf("%s: %s: %s", name, field, tt.got.header.Get(field))
			}
		}
	}
	if got := w.preflight("", "https://evil.example"); !strings.Contains(got.body, "server.cors.origins") || got.header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v %s", got.header, got.body)
	}
}

// TestL45_PagesReadAnswers: a page reads every answer, refusals and streams among them, and no
// other page does; nor does any where server.cors is not there.
func TestL45_PagesReadAnswers(t *testing.T) {
	t.Parallel()
	w, off := build(t, withPages), build(t)
	for name, ask := range map[string]func(w *world, origin string) answer{
		"card":   func(w *world, o string) answer { return w.do("", "GET", "/.well-known/agent-card.json", "", o) },
		"call":   func(w *world, o string) answer { return w.call("alice", "SendMessage", message(""), o) },
		"stream": func(w *world, o string) answer { return w.call("alice", "SendStreamingMessage", message(""), o) },
		"HTTP+JSON": func(w *world, o string) answer {
			return w.do("alice", "POST", "/message:send", message(""), o, "A2A-Version: 1.0")
		},
		"401":        func(w *world, o string) answer { return w.call("", "SendMessage", message(""), o) },
		"403 or 404": func(w *world, o string) answer { return w.call("mallory", "SendMessage", message(""), o) },
		"404":        func(w *world, o string) answer { return w.do("alice", "GET", w.url+"/nothing", "", o) },
		"405":        func(w *world, o string) answer { return w.do("alice", "PUT", "/tasks/7", "{}", o) },
		"421":        func(w *world, o string) answer { return w.do("alice", "GET", "", "", o, "Host: evil.example") },
		"400":        func(w *world, o string) answer { return w.do("alice", "GET", "/a//b", "", o) },
		"no JSON":    func(w *world, o string) answer { return w.do("alice", "POST", "", "{", o) },
		"catalog":    func(w *world, o string) answer { return w.do("alice", "GET", w.url+"/catalog", "", o) },
		"metadata": func(w *world, o string) answer {
			return w.do("", "GET", w.url+"/.well-known/oauth-protected-resource", "", o)
		},
		"shared": func(w *world, o string) answer { return w.do("alice", "POST", w.url+"/a2a", "{}", o) },
		"not modified": func(w *world, o string) answer {
			return w.do("", "GET", "/.well-known/agent-card.json", "", o, "If-None-Match: *")
		},
	} {
		got := ask(w, "Origin: "+page)
		if got.header.Get("Access-Control-Allow-Origin") != page || !strings.Contains(got.header.Get("Access-Control-Expose-Headers"), "X-Request-Id") {
			t.Errorf("%s: %d %v", name, got.status, got.header)
		}
		evil := ask(w, "Origin: https://evil.example")
		for _, a := range []answer{got, evil} {
			if !slices.ContainsFunc(strings.Split(strings.Join(a.header["Vary"], ","), ","), func(v string) bool { return strings.TrimSpace(v) == "Origin" }) {
				t.Errorf("%s: Vary is %q", name, a.header["Vary"])
			}
		}
		for _, a := range []answer{evil, ask(off, "Origin: "+page)} {
			for field := range a.header {
				if strings.HasPrefix(field, "Access-Control-") {
					t.Errorf("%s: %s: %s", name, field, a.header.Get(field))
				}
			}
		}
	}
	got := w.do("", "GET", "/.well-known/agent-card.json", "", "Origin: "+page)
	if vary := strings.Join(got.header["Vary"], ", "); !strings.Contains(vary, "A2a-Version") || !strings.Contains(vary, "X-Api-Key") {
		t.Errorf("the card varies with %q", vary)
	}
}

// TestL45_AgentsSayNothingToPages: what an agent says to pages ends at the gateway, or, where the
// configuration lets it through and pages are nobody's business here, goes on.
func TestL45_AgentsSayNothingToPages(t *testing.T) {
	t.Parallel()
	listed := func(s *setup) {
		s.agent.Headers.Response = []string{"Access-Control-Allow-Origin", "Vary", "X-Shown"}
	}
	for name, tt := range map[string]struct {
		w    *world
		want string
	}{
		"off":             {build(t), ""},
		"off, and listed": {build(t, listed), "*"},
		"on":              {build(t, withPages), page},
		"on, and listed":  {build(t, withPages, listed), page},
	} {
		tt.w.agent.answers(func(rw http.ResponseWriter, r *record) {
			rw.Header().Set("Access-Control-Allow-Origin", "*")
			rw.Header().Set("Access-Control-Allow-Credentials", "true")
			rw.Header().Set("Vary", "Accept")
			rw.Header().Set("X-Shown", "yes")
			agreeable(rw, r)
		})
		got := tt.w.call("alice", "SendMessage", message(""), "Origin: "+page)
		if all := got.header["Access-Control-Allow-Origin"]; got.status != 200 || strings.Join(all, ";") != tt.want ||
			got.header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", name, got.status, got.header)
		}
		if name == "on, and listed" {
			if shown := got.header.Get("Access-Control-Expose-Headers"); !strings.Contains(shown, "X-Shown") {
				t.Errorf("pages may read %s", shown)
			}
			if vary := strings.Join(got.header["Vary"], ", "); vary != "Accept, Origin" {
				t.Errorf("Vary is %q", vary)
			}
		}
	}
}

// TestRepeatsAreForTheirOwnPage: an answer that comes again is for the page that asks again.
func TestRepeatsAreForTheirOwnPage(t *testing.T) {
	t.Parallel()
	const other = "https://other.example.com"
	w := build(t, withPages, remembering, func(s *setup) { s.server.CORS.Origins = append(s.server.CORS.Origins, other) })
	for _, origin := range []string{page, other, "https://evil.example", page} {
		got := w.call("alice", "SendMessage", message(""), "Origin: "+origin)
		want := origin
		if strings.Contains(origin, "evil") {
			want = ""
		}
		if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("%s: %d %v", origin, got.status, got.header)
		}
	}
	if seen := w.agent.take(); len(seen) != 1 {
		t.Errorf("the agent saw it %d times", len(seen))
	}
}

// TestPagesWithoutPreflight: what a browser sends for a page without asking first has no effect
// unless the page may call: a certificate of the user's, or where they are, may be enough to be
// let in.
func TestPagesWithoutPreflight(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(*setup){"off": func(*setup) {}, "on": withPages} {
		w := build(t, with)
		for origin, refused := range map[string]bool{
			"https://evil.example": true, "null": true, "http://127.0.0.1": true, "https://sub.app.example.com": true, "": true,
			page: name == "off", w.url: false,
		} {
			for _, path := range []string{"/v1/tasks/7:cancel", "/tasks/7:cancel", w.url + "/tasks/7:cancel"} {
				for _, header := range [][]string{nil, {"Content-Type: text/plain"}} {
					got := w.do("alice", http.MethodPost, path, "", append(header, "Origin: "+origin)...)
					if (got.status == http.StatusForbidden && strings.Contains(got.body, "server.cors.origins")) != refused {
						t.Errorf("%s: %s from %q: %d %s", name, path, origin, got.status, got.body)
					}
				}
			}
		}
		if got := w.do("alice", http.MethodPost, "/v1/tasks/7:cancel", ""); got.status == http.StatusForbidden {
			t.Errorf("%s: no page: %s", name, got.body)
		}
		if got := w.do("alice", http.MethodPost, "/message:send", message(""), "A2A-Version: 1.0", "Origin: https://evil.example"); got.status != http.StatusOK {
			t.Errorf("%s: what browsers ask about: %d %s", name, got.status, got.body)
		}
	}
}
