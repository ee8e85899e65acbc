package intake_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/server/cors"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

const page = "https://app.example.com"

// withPages lets pages of one origin call.
func withPages(s *proxytest.Setup) {
	s.Server.CORS = &cors.Config{Origins: []string{page}, Headers: []string{"X-Custom"}}
	s.Agent.Card.Visibility = card.Public
}

// preflight asks as browsers do.
func preflight(w *proxytest.Gateway, target, origin string, fields ...string) proxytest.Response {
	w.Helper()
	return w.Do("", http.MethodOptions, target, "", "Origin: "+origin, "Access-Control-Request-Method: POST",
		"Access-Control-Request-Headers: "+strings.Join(fields, ","))
}

// TestL45_PreflightIsTheSameEverywhere: browsers are answered before anybody is known, at every path of agents
// alike, whether or not there is anything.
func TestL45_PreflightIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, withPages)
	var first http.Header
	for _, path := range []string{
		"", "/", "/message:send", "/v1/message:stream", "/tasks/7:cancel", "/skills/read", "/.well-known/agent-card.json", w.URL + "/agents/none",
		w.URL + "/a2a", w.URL + "/a2a/message:send", w.URL + "/catalog", w.URL + "/.well-known/api-catalog", w.URL + "/.well-known/jwks.json",
		w.URL + "/.well-known/oauth-protected-resource/agents/rec", w.URL + "/nothing",
	} {
		got := preflight(w, path, page, "content-type", "a2a-version", "authorization")
		if got.Status != http.StatusNoContent || got.Body != "" || got.Header.Get("Access-Control-Allow-Origin") != page ||
			got.Header.Get("Access-Control-Max-Age") != "600" || got.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v %s", path, got.Status, got.Header, got.Body)
		}
		if vary := strings.Join(got.Header["Vary"], ", "); vary != "Origin, Access-Control-Request-Method, Access-Control-Request-Headers" {
			t.Errorf("%s: Vary is %q", path, vary)
		}
		got.Header.Del("X-Request-Id")
		got.Header.Del("Date")
		if first == nil {
			first = got.Header
		}
		for name := range got.Header {
			if !slices.Equal(got.Header[name], first[name]) {
				t.Errorf("%s: %s is %q, elsewhere %q", path, name, got.Header[name], first[name])
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
	w.Agent.Silent(t, "preflights")
}

// TestL45_PreflightRefused: others learn nothing, and what is no preflight is refused as ever.
func TestL45_PreflightRefused(t *testing.T) {
	t.Parallel()
	w, off := proxytest.NewGateway(t, withPages, proxytest.WithRelay), proxytest.NewGateway(t)
	for name, tt := range map[string]struct {
		got    proxytest.Response
		status int
	}{
		"another origin": {preflight(w, "", "https://evil.example", "content-type"), 403},
		"no origin":      {w.Do("", "OPTIONS", "", "", "Access-Control-Request-Method: POST"), 405},
		"no method":      {w.Do("", "OPTIONS", "", "", "Origin: "+page), 405},
		"another host": {w.Do("", "OPTIONS", "", "", "Origin: "+page, "Access-Control-Request-Method: POST",
			"Host: evil.example"), 421},
		"notifications": {preflight(w, w.URL+"/push/x/y", page), 404},
		"gRPC":          {preflight(w, w.URL+"/lf.a2a.v1.A2AService/SendMessage", page), 405},
		"off":           {preflight(off, "", page, "content-type"), 405},
	} {
		if name == "notifications" || name == "gRPC" {
			if tt.got.Status == http.StatusNoContent {
				t.Errorf("%s: %d", name, tt.got.Status)
			}
		} else if tt.got.Status != tt.status {
			t.Errorf("%s: %d %s", name, tt.got.Status, tt.got.Body)
		}
		for field := range tt.got.Header {
			if strings.HasPrefix(field, "Access-Control-Allow-M") || strings.HasPrefix(field, "Access-Control-Allow-H") {
				t.Errorf("%s: %s: %s", name, field, tt.got.Header.Get(field))
			}
		}
	}
	if got := preflight(w, "", "https://evil.example"); !strings.Contains(got.Body, "server.cors.origins") || got.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%v %s", got.Header, got.Body)
	}
}

// TestL45_PagesReadAnswers: a page reads every answer, refusals and streams among them, and no
// other page does; nor does any where server.cors is not there.
func TestL45_PagesReadAnswers(t *testing.T) {
	t.Parallel()
	w, off := proxytest.NewGateway(t, withPages), proxytest.NewGateway(t)
	for name, ask := range map[string]func(w *proxytest.Gateway, origin string) proxytest.Response{
		"card": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("", "GET", "/.well-known/agent-card.json", "", o)
		},
		"call": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Call("alice", "SendMessage", proxytest.Message(""), o)
		},
		"stream": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Call("alice", "SendStreamingMessage", proxytest.Message(""), o)
		},
		"HTTP+JSON": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("alice", "POST", "/message:send", proxytest.Message(""), o, "A2A-Version: 1.0")
		},
		"401": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Call("", "SendMessage", proxytest.Message(""), o)
		},
		"403 or 404": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Call("mallory", "SendMessage", proxytest.Message(""), o)
		},
		"404": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("alice", "GET", w.URL+"/nothing", "", o)
		},
		"405": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("alice", "PUT", "/tasks/7", "{}", o)
		},
		"421": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("alice", "GET", "", "", o, "Host: evil.example")
		},
		"400":     func(w *proxytest.Gateway, o string) proxytest.Response { return w.Do("alice", "GET", "/a//b", "", o) },
		"no JSON": func(w *proxytest.Gateway, o string) proxytest.Response { return w.Do("alice", "POST", "", "{", o) },
		"catalog": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("alice", "GET", w.URL+"/catalog", "", o)
		},
		"metadata": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("", "GET", w.URL+"/.well-known/oauth-protected-resource", "", o)
		},
		"shared": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("alice", "POST", w.URL+"/a2a", "{}", o)
		},
		"not modified": func(w *proxytest.Gateway, o string) proxytest.Response {
			return w.Do("", "GET", "/.well-known/agent-card.json", "", o, "If-None-Match: *")
		},
	} {
		got := ask(w, "Origin: "+page)
		if got.Header.Get("Access-Control-Allow-Origin") != page || !strings.Contains(got.Header.Get("Access-Control-Expose-Headers"), "X-Request-Id") {
			t.Errorf("%s: %d %v", name, got.Status, got.Header)
		}
		evil := ask(w, "Origin: https://evil.example")
		for _, a := range []proxytest.Response{got, evil} {
			if !slices.ContainsFunc(strings.Split(strings.Join(a.Header["Vary"], ","), ","), func(v string) bool { return strings.TrimSpace(v) == "Origin" }) {
				t.Errorf("%s: Vary is %q", name, a.Header["Vary"])
			}
		}
		for _, a := range []proxytest.Response{evil, ask(off, "Origin: "+page)} {
			for field := range a.Header {
				if strings.HasPrefix(field, "Access-Control-") {
					t.Errorf("%s: %s: %s", name, field, a.Header.Get(field))
				}
			}
		}
	}
	got := w.Do("", "GET", "/.well-known/agent-card.json", "", "Origin: "+page)
	if vary := strings.Join(got.Header["Vary"], ", "); !strings.Contains(vary, "A2a-Version") || !strings.Contains(vary, "X-Api-Key") {
		t.Errorf("the card varies with %q", vary)
	}
}

// TestL45_AgentsSayNothingToPages: what an agent says to pages ends at the gateway, or, where the
// configuration lets it through and pages are nobody's business here, goes on.
func TestL45_AgentsSayNothingToPages(t *testing.T) {
	t.Parallel()
	listed := func(s *proxytest.Setup) {
		s.Agent.Headers.Response = []string{"Access-Control-Allow-Origin", "Vary", "X-Shown"}
	}
	for name, tt := range map[string]struct {
		w    *proxytest.Gateway
		want string
	}{
		"off":             {proxytest.NewGateway(t), ""},
		"off, and listed": {proxytest.NewGateway(t, listed), "*"},
		"on":              {proxytest.NewGateway(t, withPages), page},
		"on, and listed":  {proxytest.NewGateway(t, withPages, listed), page},
	} {
		tt.w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Access-Control-Allow-Origin", "*")
			rw.Header().Set("Access-Control-Allow-Credentials", "true")
			rw.Header().Set("Vary", "Accept")
			rw.Header().Set("X-Shown", "yes")
			proxytest.Agreeable(rw, r)
		})
		got := tt.w.Call("alice", "SendMessage", proxytest.Message(""), "Origin: "+page)
		if all := got.Header["Access-Control-Allow-Origin"]; got.Status != 200 || strings.Join(all, ";") != tt.want ||
			got.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("%s: %d %v", name, got.Status, got.Header)
		}
		if name == "on, and listed" {
			if shown := got.Header.Get("Access-Control-Expose-Headers"); !strings.Contains(shown, "X-Shown") {
				t.Errorf("pages may read %s", shown)
			}
			if vary := strings.Join(got.Header["Vary"], ", "); vary != "Accept, Origin" {
				t.Errorf("Vary is %q", vary)
			}
		}
	}
}

// TestRepeatsAreForTheirOwnPage: an answer that comes again is for the page that asks again.
func TestRepeatsAreForTheirOwnPage(t *testing.T) {
	t.Parallel()
	const other = "https://other.example.com"
	w := proxytest.NewGateway(t, withPages, proxytest.WithMemory, func(s *proxytest.Setup) { s.Server.CORS.Origins = append(s.Server.CORS.Origins, other) })
	for _, origin := range []string{page, other, "https://evil.example", page} {
		got := w.Call("alice", "SendMessage", proxytest.Message(""), "Origin: "+origin)
		want := origin
		if strings.Contains(origin, "evil") {
			want = ""
		}
		if got.Status != 200 || got.Header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("%s: %d %v", origin, got.Status, got.Header)
		}
	}
	if seen := w.Agent.Take(); len(seen) != 1 {
		t.Errorf("the agent saw it %d times", len(seen))
	}
}

// TestPagesWithoutPreflight: what a browser sends for a page without asking first has no effect
// unless the page may call: a certificate of the user's, or where they are, may be enough to be
// let in.
func TestPagesWithoutPreflight(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(*proxytest.Setup){"off": func(*proxytest.Setup) {}, "on": withPages} {
		w := proxytest.NewGateway(t, with)
		for origin, refused := range map[string]bool{
			"https://evil.example": true, "null": true, "http://127.0.0.1": true, "https://sub.app.example.com": true, "": true,
			page: name == "off", w.URL: false,
		} {
			for _, path := range []string{"/v1/tasks/7:cancel", "/tasks/7:cancel", w.URL + "/tasks/7:cancel"} {
				for _, header := range [][]string{nil, {"Content-Type: text/plain"}} {
					got := w.Do("alice", http.MethodPost, path, "", append(header, "Origin: "+origin)...)
					if (got.Status == http.StatusForbidden && strings.Contains(got.Body, "server.cors.origins")) != refused {
						t.Errorf("%s: %s from %q: %d %s", name, path, origin, got.Status, got.Body)
					}
				}
			}
		}
		if got := w.Do("alice", http.MethodPost, "/v1/tasks/7:cancel", ""); got.Status == http.StatusForbidden {
			t.Errorf("%s: no page: %s", name, got.Body)
		}
		if got := w.Do("alice", http.MethodPost, "/message:send", proxytest.Message(""), "A2A-Version: 1.0", "Origin: https://evil.example"); got.Status != http.StatusOK {
			t.Errorf("%s: what browsers ask about: %d %s", name, got.Status, got.Body)
		}
	}
}
