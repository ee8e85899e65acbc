package console

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
)

// asked is how each route is asked for in the tests that go through all of them: with a
// path that leads to a delivery that was given up. A route that is not here fails them.
var asked = map[string]string{
	"GET /api/v1/push":                        "/api/v1/push",
	"GET /api/v1/push/deliveries":             "/api/v1/push/deliveries?state=dead",
	"POST /api/v1/push/deliveries/{id}/retry": "/api/v1/push/deliveries/n-1/retry",
	"GET /api/v1/approvals":                   "/api/v1/approvals",
	"GET /api/v1/approvals/{id}":              "/api/v1/approvals/approval-1",
	"POST /api/v1/approvals/{id}/approve":     "/api/v1/approvals/approval-1/approve",
	"POST /api/v1/approvals/{id}/reject":      "/api/v1/approvals/approval-1/reject",
	"DELETE /api/v1/push/deliveries/{id}":     "/api/v1/push/deliveries/n-1",
	"GET /api/v1/cards":                       "/api/v1/cards",
	"GET /api/v1/cards/{id}":                  "/api/v1/cards/billing",
	"POST /api/v1/cards/{id}/approve":         "/api/v1/cards/billing/approve?digest=sha256:1",
	"POST /api/v1/cards/{id}/reject":          "/api/v1/cards/billing/reject?digest=sha256:1",

	"GET /api/v1/overview": "/api/v1/overview?window=6h",
	"GET /api/v1/callers":  "/api/v1/callers?window=6h&top=3",
	"GET /api/v1/changes":  "/api/v1/changes?top=3",

	"GET /api/v1/agents":         "/api/v1/agents",
	"POST /api/v1/agents":        "/api/v1/agents",
	"GET /api/v1/agents/{id}":    "/api/v1/agents/a-1",
	"PUT /api/v1/agents/{id}":    "/api/v1/agents/a-1",
	"DELETE /api/v1/agents/{id}": "/api/v1/agents/a-1",

	"GET /api/v1/agents/{id}/draft":  "/api/v1/agents/a-1/draft",
	"POST /api/v1/agents/{id}/check": "/api/v1/agents/a-1/check",

	"GET /api/v1/agents/{id}/course": "/api/v1/agents/a-1/course?window=5m",
	"POST /api/v1/cards/{id}/view":   "/api/v1/cards/billing/view",

	"GET /api/v1/policy/limits":   "/api/v1/policy/limits?window=1h",
	"GET /api/v1/cluster":         "/api/v1/cluster",
	"GET /api/v1/streams":         "/api/v1/streams?agent=a-1&limit=5",
	"DELETE /api/v1/streams/{id}": "/api/v1/streams/s-01",

	"GET /api/v1/streams/{id}/events":        "/api/v1/streams/s-01/events",
	"GET /api/v1/audit/records/{id}/content": "/api/v1/audit/records/9/content",

	"GET /api/v1/audit/values": "/api/v1/audit/values?field=caller",

	"GET /api/v1/identities":        "/api/v1/identities",
	"GET /api/v1/keys":              "/api/v1/keys?q=k-0",
	"POST /api/v1/keys":             "/api/v1/keys",
	"POST /api/v1/keys/{id}/rotate": "/api/v1/keys/k-01/rotate?overlap=1",
	"DELETE /api/v1/keys/{id}":      "/api/v1/keys/k-01",

	"GET /api/v1/openapi.json":   "/api/v1/openapi.json",
	"GET /api/v1/status":         "/api/v1/status",
	"GET /api/v1/health":         "/api/v1/health",
	"GET /api/v1/config":         "/api/v1/config",
	"POST /api/v1/config/reload": "/api/v1/config/reload",

	"GET /api/v1/audit/records/{id}/pair":    "/api/v1/audit/records/2/pair",
	"GET /api/v1/audit/records/{id}/refusal": "/api/v1/audit/records/2/refusal",
	"GET /api/v1/audit/records":              "/api/v1/audit/records?decision=deny&since=2026-01-01T00:00:00Z",
	"GET /api/v1/audit/records/{id}":         "/api/v1/audit/records/2",
	"GET /api/v1/tasks/{id}/timeline":        "/api/v1/tasks/t-1/timeline",
	"GET /api/v1/audit/export":               "/api/v1/audit/export?format=jsonl",
	"GET /api/v1/live":                       "/api/v1/live?caller=alice&type=call",
	"GET /api/v1/map":                        "/api/v1/map?window=5m&q=a",
	"GET /api/v1/trends":                     "/api/v1/trends",
	"GET /api/v1/policy/rules":               "/api/v1/policy/rules",
	"GET /api/v1/extensions":                 "/api/v1/extensions",
	"GET /api/v1/extensions/agents":          "/api/v1/extensions/agents",
	"GET /api/v1/extensions/agents/{id}":     "/api/v1/extensions/agents/a-1",
	"POST /api/v1/try":                       "/api/v1/try",
	"GET /api/v1/policy/hits":                "/api/v1/policy/hits",
	"POST /api/v1/policy/explain":            "/api/v1/policy/explain",
	"POST /api/v1/policy/check":              "/api/v1/policy/check",
	"POST /api/v1/policy/replay":             "/api/v1/policy/replay",
	"GET /api/v1/guards":                     "/api/v1/guards",
	"GET /api/v1/guards/findings":            "/api/v1/guards/findings?window=24h",
	"POST /api/v1/guards/try":                "/api/v1/guards/try",
	"POST /api/v1/guards/replay":             "/api/v1/guards/replay",
	"POST /api/v1/audit/verify":              "/api/v1/audit/verify?from=2026-01-01",

	"GET /api/v1/session": "/api/v1/session",

	"GET /api/v1/login":          "/api/v1/login",
	"POST /api/v1/login":         "/api/v1/login",
	"GET /api/v1/login/ways":     "/api/v1/login/ways",
	"GET /api/v1/login/callback": "/api/v1/login/callback?code=x&state=x",
	"POST /api/v1/logout":        "/api/v1/logout",

	"GET /debug/pprof/allocs":       "/debug/pprof/allocs",
	"GET /debug/pprof/block":        "/debug/pprof/block",
	"GET /debug/pprof/goroutine":    "/debug/pprof/goroutine?debug=1",
	"GET /debug/pprof/heap":         "/debug/pprof/heap?gc=1",
	"GET /debug/pprof/mutex":        "/debug/pprof/mutex",
	"GET /debug/pprof/profile":      "/debug/pprof/profile?seconds=1",
	"GET /debug/pprof/threadcreate": "/debug/pprof/threadcreate",
	"GET /debug/pprof/trace":        "/debug/pprof/trace?seconds=1",

	"GET /api/v1/content":        "/api/v1/content?subject=alice",
	"POST /api/v1/content/erase": "/api/v1/content/erase?subject=alice",
}

// tokenOf is the token of a role, as config has it.
func tokenOf(role api.Role) string { return "canary-token-of-" + string(role) }

// everyRole gives each role a token.
func everyRole(c *Config) {
	for _, role := range api.Roles() {
		sum := sha256.Sum256([]byte(tokenOf(role)))
		c.Tokens = append(c.Tokens, Token{Name: "the-" + string(role), Role: role, Digest: "sha256:" + hex.EncodeToString(sum[:])})
	}
}

// TestL43_EveryRouteAsksWho goes through the table: nobody gets in without a token, nobody
// does what takes another role, nothing is changed where nothing may be, and who tried is
// on record.
func TestL43_EveryRouteAsksWho(t *testing.T) {
	t.Parallel()
	callers := []struct {
		name     string
		readOnly bool
		header   []string // of Authorization
		role     api.Role // that it has
	}{
		{"nobody", false, nil, nobody},
		{"wrong token", false, []string{"Bearer canary-admin-tokem"}, nobody},
		{"token and more", false, []string{"Bearer " + testToken + "x"}, nobody},
		{"part of the token", false, []string{"Bearer " + testToken[:len(testToken)-1]}, nobody},
		{"no token", false, []string{"Bearer "}, nobody},
		{"no scheme", false, []string{testToken}, nobody},
		{"another scheme", false, []string{"Basic " + testToken}, nobody},
		{"two", false, []string{"Bearer " + testToken, "Bearer " + testToken}, nobody},
		{"a digest", false, []string{"Bearer sha256:" + hex.EncodeToString(make([]byte, 32))}, nobody},
		{"the token", false, []string{"Bearer " + testToken}, api.Admin},
		{"a viewer", false, []string{"Bearer " + tokenOf(api.Viewer)}, api.Viewer},
		{"an operator", false, []string{"Bearer " + tokenOf(api.Operator)}, api.Operator},
		{"an admin", false, []string{"bearer " + tokenOf(api.Admin)}, api.Admin},
		{"the token, read-only", true, []string{"Bearer " + testToken}, api.Admin},
		{"nobody, read-only", true, nil, nobody},
	}
	for _, caller := range callers {
		for i := range operations {
			op := &operations[i]
			name := op.Method + " " + op.Path
			t.Run(caller.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				if asked[name] == "" {
					t.Fatalf("%s is not in asked: say how it is asked for", name)
				}
				w := newWorld(t, func(c *Config) { c.ReadOnly, c.Content = caller.readOnly, true; everyRole(c) })
				if op.ID == "get-record-content" {
					w.naming(`,"content":{"id":"c-1","digest":"sha-256:1"}`)
				}
				w.enqueue("n-1")
				w.bury()
				decides := op.ID == "approve-call" || op.ID == "reject-call" // of which the roles do not say who may
				want := http.StatusOK
				switch {
				case op.ID == "login-ways": // which somebody asks before they show anything
				case op.Role == nobody:
					want = http.StatusNotFound // it is not configured
				case caller.role == nobody:
					want = http.StatusUnauthorized
				case !caller.role.May(op.Role), op.Writes && caller.readOnly, decides && caller.role == api.Viewer:
					want = http.StatusForbidden
				}
				if want == http.StatusOK && strings.Contains(asked[name], "seconds=") {
					return // one at a time: TestProfiles has them
				}
				got := w.ask(op.Method, asked[name], func(req *http.Request) { req.Header["Authorization"] = caller.header })
				if got.status != want {
					t.Errorf("%s, want %d", got, want)
				}
				w.checkHeaders(got)
				events := w.recorded()
				recorded := op.Writes || want == http.StatusOK && (op.ID == "watch-stream" || op.ID == "get-record-content" || op.ID == "replay-guards") || op.ID == "login-token" && want == http.StatusOK || want == http.StatusForbidden || want == http.StatusUnauthorized && caller.header != nil
				if want == http.StatusUnauthorized && caller.header == nil {
					recorded = false // nobody claimed anything
				}
				if (len(events) == 1) != recorded || want != 200 && recorded && events[0]["event"] != "admin.refused" {
					t.Errorf("on record: %v", events)
				}
				if want == http.StatusForbidden && !caller.readOnly && !decides && !strings.Contains(got.body, `"needs":"`+string(op.Role)+`"`) {
					t.Errorf("does not say what it takes: %s", got)
				}
				if d, err := w.Depth(t.Context()); want != 200 && (err != nil || d.Dead != 1) {
					t.Errorf("it was refused, and yet: %+v, %v", d, err)
				}
			})
		}
	}
}

// TestRefusedAttempts: what somebody was not permitted is on record, with who and what.
func TestRefusedAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t, everyRole)
	as := func(role api.Role) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tokenOf(role)) }
	}
	w.ask("DELETE", "/api/v1/agents/a-1", as(api.Operator))
	w.ask("POST", "/api/v1/content/erase?subject=alice", as(api.Viewer))
	w.ask("GET", "/api/v1/push", func(r *http.Request) { r.Header.Set("Authorization", "Bearer canary-wrong") })
	w.ask("GET", "/api/v1/nowhere", as(api.Viewer))
	want := []map[string]string{
		{"event": "admin.refused", "who": "the-operator", "operation": "remove-agent", "id": "a-1", "why": "FORBIDDEN", "needs": "admin"},
		{"event": "admin.refused", "who": "the-viewer", "operation": "erase-content", "why": "FORBIDDEN", "needs": "admin"},
		{"event": "admin.refused", "who": "", "operation": "push-depth", "why": "UNAUTHENTICATED"},
	}
	for i := range want {
		want[i]["client_ip"] = "127.0.0.1"
	}
	if diff := cmp.Diff(want, w.recorded()); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// TestL43_Guessing: an address that is wrong too often is told to wait, with an end, and
// no more of it is put on record; whoever has a token comes in all the same.
func TestL43_Guessing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Failures = Failures{PerMinute: 1, Burst: 3} })
	for n := range 6 {
		got := w.ask("GET", "/api/v1/push", func(r *http.Request) { r.Header.Set("Authorization", "Bearer canary-wrong") })
		want := http.StatusUnauthorized
		if n >= 3 {
			want = http.StatusTooManyRequests
		}
		if got.status != want || (got.header.Get("Retry-After") != "") != (n >= 3) {
			t.Errorf("%d: %s, want %d", n, got, want)
		}
	}
	if got := w.ask("GET", "/api/v1/push", nil); got.status != http.StatusOK {
		t.Error(got)
	}
	if events := w.recorded(); len(events) != 3 {
		t.Errorf("on record: %v", events)
	}
}

// TestExpiredToken: a token is worth nothing from the moment on that its entry says.
func TestExpiredToken(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]int{-time.Minute: 401, time.Hour: 200} {
		w := newWorld(t, func(c *Config) {
			everyRole(c)
			c.Tokens[0].Expires = time.Now().Add(after)
		})
		got := w.ask("GET", "/api/v1/session", func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+tokenOf(api.Viewer)) })
		if got.status != want || want == 200 && !strings.Contains(got.body, `{"name":"the-viewer","role":"viewer","method":"token","expires":"`) {
			t.Errorf("after %v: %s, want %d", after, got, want)
		}
	}
}

// TestETag: what the caller has is not sent again.
func TestETag(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	tag := w.ask("GET", "/api/v1/agents", nil).header.Get("ETag")
	has := func(r *http.Request) { r.Header.Set("If-None-Match", tag) }
	if got := w.ask("GET", "/api/v1/agents", has); tag == "" || got.status != http.StatusNotModified || got.body != "" {
		t.Errorf("%q: %s", tag, got)
	}
	w.ask("DELETE", "/api/v1/agents/a-1", nil)
	if got := w.ask("GET", "/api/v1/agents", has); got.status != http.StatusOK || got.header.Get("ETag") == tag {
		t.Error(got)
	}
}

// checkHeaders holds every answer to what keeps it from being kept or taken for a page.
func (w *world) checkHeaders(a answer) {
	w.t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		"Content-Security-Policy":     "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
		"Access-Control-Allow-Origin": "", "Server": "",
	} {
		if got := a.header.Get(name); got != want {
			w.t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if media := a.header.Get("Content-Type"); a.status >= 400 && media != "application/problem+json" {
		w.t.Errorf("an error as %s", media)
	}
	if challenge := a.header.Get("WWW-Authenticate"); (challenge != "") != (a.status == 401) {
		w.t.Errorf("challenge %q with %d", challenge, a.status)
	}
}

// TestL43_Rebinding: a page whose name suddenly leads to the listener is not served,
// whatever it shows.
func TestL43_Rebinding(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.Hosts = []string{"admin.example", "other.example:8443"} })
	port := w.console.URL()[strings.LastIndex(w.console.URL(), ":"):]
	for host, want := range map[string]int{
		"127.0.0.1" + port: 200, "localhost" + port: 200, "LOCALHOST" + port: 200, "[::1]" + port: 200,
		"admin.example" + port: 200, "admin.example": 200, "other.example:8443": 200,
		"evil.example" + port: 421, "evil.example": 421, "localhost": 421, "127.0.0.1:1": 421, "localhost.evil.example" + port: 421,
		"127.0.0.1.evil.example" + port: 421, "other.example" + port: 421, "admin.example:1": 421, "127.0.0.2" + port: 421,
		"localhost." + port: 421, "0.0.0.0" + port: 421, "[::ffff:127.0.0.1]" + port: 421, "2130706433" + port: 421,
	} {
		got := w.ask(http.MethodGet, "/api/v1/push", func(r *http.Request) { r.Host = host })
		if got.status != want {
			t.Errorf("Host %s: %s, want %d", host, got, want)
		}
		if got = w.ask(http.MethodOptions, "/", func(r *http.Request) { r.Host, r.URL.Path, r.URL.Opaque = host, "", "*" }); want == 421 && got.status != want {
			t.Errorf("OPTIONS * of host %s: %s, want %d", host, got, want)
		}
	}
}

// TestL43_CrossOrigin: pages of other origins change nothing, even with the token.
func TestL43_CrossOrigin(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header http.Header
		want   int
	}{
		{"not a browser", nil, 200},
		{"another site", http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}}, 403},
		{"another port", http.Header{"Sec-Fetch-Site": {"same-site"}, "Origin": {"http://127.0.0.1:1"}}, 403},
		{"an old browser", http.Header{"Origin": {"https://evil.example"}}, 403},
		{"a sandbox", http.Header{"Origin": {"null"}}, 403},
		{"its own page", http.Header{"Sec-Fetch-Site": {"same-origin"}}, 200},
	}
	for _, tt := range tests {
		for i := range operations {
			r := &operations[i]
			if !r.Writes {
				continue
			}
			t.Run(tt.name+"/"+r.Method+" "+r.Path, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, nil)
				w.enqueue("n-1")
				w.bury()
				got := w.ask(r.Method, asked[r.Method+" "+r.Path], func(req *http.Request) {
					for name, values := range tt.header {
						req.Header[name] = values
					}
				})
				if got.status != tt.want {
					t.Errorf("%s, want %d", got, tt.want)
				}
			})
		}
	}
}

// TestL43_ExactRoutes: nothing is found below, above or beside a route, and no method of
// one is good for another.
func TestL43_ExactRoutes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.enqueue("n-1")
	w.bury()
	for _, tt := range []struct {
		method, target string
		want           int
	}{
		{"GET", "/api", 404},
		{"GET", "/api/v1", 404},
		{"GET", "/api/v1/", 404},
		{"GET", "/api/v1/push/", 404},
		{"GET", "/api/v1/pushes", 404},
		{"GET", "/API/v1/push", 404},
		{"GET", "/api/v1/push/deliveries/?state=dead", 404},
		{"GET", "/api/v1/push/deliveries/n-1", 405},
		{"GET", "/api/v1/push/deliveries/n-1/retry", 405},
		{"POST", "/api/v1/push/deliveries/n-1/retry/", 404},
		{"POST", "/api/v1/push/deliveries/n-1/retry/all", 404},
		{"POST", "/api/v1/push/deliveries/retry", 405},
		{"POST", "/api/v1/push/deliveries//retry", 400},
		{"POST", "/api/v1/push/./deliveries/n-1/retry", 400},
		{"POST", "/api/v1/push/x/../deliveries/n-1/retry", 400},
		{"POST", "/api/v1/push/deliveries/n-1%2Fretry", 400},
		{"POST", "/api/v1/push/deliveries/n-1;x/retry", 400},
		{"POST", "/api/v1/push", 405},
		{"PUT", "/api/v1/push/deliveries/n-1", 405},
		{"HEAD", "/api/v1/push", 405},
		{"OPTIONS", "/api/v1/push/deliveries/n-1", 405},
		{"TRACE", "/api/v1/push", 400},
		{"DELETE", "/api/v1/push/deliveries/", 404},
		{"DELETE", "/api/v1/push/deliveries", 405},
		{"GET", "/debug/pprof/", 404},
		{"GET", "/debug/pprof/heap/", 404},
		{"POST", "/debug/pprof/heap", 405},
		{"GET", "/debug/pprof/cmdline", 404},
		{"GET", "/metrics", 404},
	} {
		got := w.ask(tt.method, tt.target, nil)
		if got.status != tt.want {
			t.Errorf("%s %s: %s, want %d", tt.method, tt.target, got, tt.want)
		}
		w.checkHeaders(got)
		if anonymous := w.ask(tt.method, tt.target, func(r *http.Request) { r.Header.Del("Authorization") }); anonymous.status < 400 ||
			tt.want != 400 && anonymous.status != 401 {
			t.Errorf("%s %s of nobody: %s", tt.method, tt.target, anonymous)
		}
	}
	if events := w.recorded(); len(events) != 0 {
		t.Errorf("something was done: %v", events)
	}
}

// TestL43_NoSecretIsReadable: deliveries hold tokens, credentials, contents and addresses
// that are secrets. None of that, nor the token, is in any answer or in the log.
func TestL43_NoSecretIsReadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var seen []answer
	for _, id := range []string{"n-1", "n-2", "n-3"} {
		w.enqueue(id)
	}
	seen = append(seen, w.ask("GET", "/api/v1/push/deliveries?state=waiting", nil))
	w.bury()
	seen = append(seen,
		w.ask("GET", "/api/v1/push", nil),
		w.ask("GET", "/api/v1/push/deliveries?state=dead", nil),
		w.ask("POST", "/api/v1/push/deliveries/n-1/retry", nil),
		w.ask("POST", "/api/v1/push/deliveries/n-1/retry", nil),
		w.ask("DELETE", "/api/v1/push/deliveries/n-2", nil),
		w.ask("GET", "/canary-nowhere", nil),
		w.ask("GET", "/api/v1/push?canary-parameter=1", nil),
		w.ask("GET", "/api/v1/push", func(r *http.Request) { r.Header.Set("Authorization", "Bearer canary-wrong") }),
	)
	for i, a := range seen {
		if strings.Contains(a.body, "canary") || strings.Contains(strings.ToLower(a.header.Get("WWW-Authenticate")), "canary") {
			t.Errorf("answer %d shows a secret: %s", i, a)
		}
	}
	if log := w.log.String(); strings.Contains(log, "canary") {
		t.Errorf("the log shows a secret: %s", log)
	}
	if !strings.Contains(seen[0].body, `"target":"https://hooks.example:8443"`) {
		t.Errorf("no target: %s", seen[0])
	}
}

// Whatever is changed is on record first, and what came to nothing is as well.
func TestChangesAreRecorded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.enqueue("n-1")
	w.bury()
	w.ask("POST", "/api/v1/push/deliveries/n-1/retry", nil)
	w.ask("POST", "/api/v1/push/deliveries/n-1/retry", nil)
	w.ask("DELETE", "/api/v1/push/deliveries/n-1", nil)
	event := func(kind, outcome string) map[string]string {
		e := map[string]string{"event": kind, "who": "admin-token", "id": "n-1", "client_ip": "127.0.0.1"}
		if outcome != "" {
			e["outcome"] = outcome
		}
		return e
	}
	want := []map[string]string{
		event("push.retry", ""), event("push.retry", ""), event("push.retry", "not found"), event("push.drop", ""),
	}
	if diff := cmp.Diff(want, w.recorded()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

// Without a record there is no change.
func TestUnrecordedChangesAreNotMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.enqueue("n-1")
	w.bury()
	w.unrecorded = true
	if got := w.ask("DELETE", "/api/v1/push/deliveries/n-1", nil); got.status != 503 || !strings.Contains(got.body, "UNRECORDED") {
		t.Error(got)
	}
	if d, _ := w.Depth(t.Context()); d.Dead != 1 {
		t.Errorf("%+v", d)
	}
	w.console.FailOpen = true
	if got := w.ask("DELETE", "/api/v1/push/deliveries/n-1", nil); got.status != 200 {
		t.Error(got)
	}
}
