package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// passing are the headers that a caller may give an agent, and set those that
// the gateway sets itself, Host and Content-Length apart.
var (
	passing = []string{
		"Accept", "Accept-Language", "Content-Type", "User-Agent", "Idempotency-Key", "Last-Event-Id", "X-Listed",
	}
	set = []string{"Accept-Encoding", "A2a-Version", "X-Request-Id", "Content-Length", "Traceparent"}
)

// ownedNames are headers by which agents are told who is calling, or what was
// asked for; none of them is a caller's to set.
var ownedNames = []string{
	"X-Forwarded-User", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Forwarded-Prefix",
	"X-Forwarded-Uri", "X-Gateway-Subject", "X-Gateway-Agent", "X-A2A-Principal", "X-Client-Cert", "Client-Cert",
	"Forwarded", "Via", "X-Real-IP", "True-Client-IP", "X-Original-URL", "X-Rewrite-URL", "X-HTTP-Method-Override",
	"X-Request-Id", "A2A-Version", "Baggage", "Tracestate", "Cookie", "Proxy-Authorization", "X-Anything",
	"Accept-Encoding", "X-User", "Remote-User", "Origin", "Referer", "If-None-Match", "Range",
}

// listed lets one header of the operator's choice through.
func listed(s *proxytest.Setup) {
	s.Agent.Headers = agents.HeaderConfig{Request: []string{"x-listed"}, Response: []string{"x-told"}}
}

// checkHeader fails unless the agent got allow-listed and owned headers only.
func checkHeader(t interface{ Errorf(string, ...any) }, sent string, seen *proxytest.Request) {
	for name, values := range seen.Header {
		switch {
		case slices.Contains(passing, name):
		case name == "Via": // whom the call has passed, and the gateway last
			if len(values) != 1 || !strings.HasSuffix(values[0], ".1 127.0.0.1") && !strings.HasSuffix(values[0], ".0 127.0.0.1") {
				t.Errorf("%s: the agent got Via %q", sent, values)
			}
		case slices.Contains(set, name):
			if len(values) != 1 || strings.Contains(values[0], "evil") {
				t.Errorf("%s: the agent got %s: %q", sent, name, values)
			}
		default:
			t.Errorf("%s: the agent got %s: %q", sent, name, values)
		}
	}
	if v := seen.Header["A2a-Version"]; len(v) != 1 || v[0] != "1.0" {
		t.Errorf("%s: the agent got A2A-Version %q", sent, v)
	}
	if id := seen.Header["X-Request-Id"]; len(id) != 1 || len(id[0]) != 36 {
		t.Errorf("%s: the agent got X-Request-Id %q", sent, id)
	}
}

func TestL01_OwnedHeaders(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, listed)
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	for _, name := range ownedNames {
		for _, spelled := range proxytest.HeaderSpellings(name) {
			for _, lines := range [][]string{
				{spelled + ": evil"}, {spelled + ": evil", name + ": evil"}, {name + ": evil", "X-Listed: a", spelled + ": evil"},
			} {
				version := "A2A-Version: 1.0"
				if name == "A2A-Version" {
					version = "X-Listed: b"
				}
				got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", append(lines, version,
					"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
				seen := w.Agent.Take()
				if got.Status != 200 && len(seen) > 0 {
					t.Errorf("%q: answered %d, and the agent was asked", lines, got.Status)
				}
				for _, r := range seen {
					checkHeader(t, strings.Join(lines, "|"), r)
				}
			}
		}
	}
}

func TestL01_AnyHeaders(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, listed)
	token := rapid.StringMatching(`[A-Za-z0-9!#$%&'*+.^_|~-]{1,20}`)
	name := rapid.OneOf(rapid.SampledFrom(ownedNames), rapid.SampledFrom(passing), token)
	value := rapid.StringMatching(`evil[ -~]{0,10}`)
	skip := []string{
		"Host", "Content-Length", "Transfer-Encoding", "X-Api-Key", "Authorization", "A2a-Version", "Content-Type", "Expect",
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := w.Request("alice", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0")
		var sent []string
		for range rapid.IntRange(0, 8).Draw(rt, "count") {
			n, v := name.Draw(rt, "name"), value.Draw(rt, "value")
			if !slices.Contains(skip, http.CanonicalHeaderKey(n)) {
				r.Header[n] = append(r.Header[n], v)
				sent = append(sent, n+": "+v)
			}
		}
		resp, err := w.Client.Do(r)
		if err != nil {
			return // net/http would not send it
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		for _, seen := range w.Agent.Take() {
			checkHeader(rt, strings.Join(sent, "|"), seen)
			if resp.StatusCode != 200 {
				rt.Errorf("%q: answered %d, and the agent was asked", sent, resp.StatusCode)
			}
		}
	})
}

// TestL01_ListedHeaders: what cannot be listed.
func TestL01_ListedHeaders(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"x-forwarded-user", "Authorization", "COOKIE", "x-api-key", "x-a2a-principal", "a2a-version", "X-Gateway-Subject"} {
		c := agents.Config{ID: "a", Headers: agents.HeaderConfig{Request: []string{name}}}
		c.Card.URL = "http://127.0.0.1/card"
		if c.Validate() == nil {
			t.Errorf("%s may be listed", name)
		}
	}
}

func TestL03_ConnectionNamesHeaders(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, listed)
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	for _, name := range append([]string{
		"A2A-Extensions", "Authorization", "X-API-Key", "Content-Type", "Host", "X-Listed", "Idempotency-Key", "Last-Event-ID",
	}, ownedNames...) {
		if slices.Contains([]string{"X-Anything", "X-User", "Remote-User", "Referer", "Range"}, name) {
			continue // which decides nothing here
		}
		for _, spelled := range proxytest.HeaderSpellings(name)[:4] {
			for _, lines := range [][]string{
				{"Connection: " + spelled}, {"Connection: close, " + spelled},
				{"Connection: keep-alive", "Connection: " + spelled}, {"Connection:", "Connection: " + spelled},
			} {
				got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", append(lines, "A2A-Version: 1.0",
					"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
				proxytest.WantStatus(t, strings.Join(lines, "|"), got, 400)
				if !strings.Contains(got.Body, "Malformed HTTP request: Connection must not name ") {
					t.Errorf("%s: %s", lines, got.Body)
				}
			}
		}
	}
	w.Agent.Silent(t, "Connection")
}

// TestL03_ConnectionOptions: what proxies in front say of their own connections is taken off,
// and the call goes on as it would without.
func TestL03_ConnectionOptions(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, listed)
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	for _, lines := range [][]string{
		{"Connection: upgrade"}, {"Connection: upgrade", "Upgrade:"}, {"Connection: Upgrade", "Upgrade: websocket"},
		{"Connection: TE", "TE: trailers"}, {"TE: gzip"}, {"Connection: Keep-Alive", "Keep-Alive: timeout=5"},
		{"Proxy-Connection: keep-alive"}, {"Connection: close, X-Anything", "X-Anything: 1"}, {"Upgrade: h2c"},
		{"Connection: , HTTP2-Settings,", "HTTP2-Settings: AAMAAABk"}, {"Connection: UPGRADE", "Connection: keep-alive"},
	} {
		got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", append(lines, "A2A-Version: 1.0", "X-Listed: 1",
			"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
		proxytest.WantStatus(t, strings.Join(lines, "|"), got, 200)
		seen := w.Agent.One(t)
		checkHeader(t, strings.Join(lines, "|"), seen)
		if seen.Header.Get("X-Listed") != "1" {
			t.Errorf("%s: the agent got %v", lines, seen.Header)
		}
	}
}

// TestOptionsOfAll: "OPTIONS *" is answered for everybody, on hosts that are served.
func TestOptionsOfAll(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	got := w.Raw(w.Head("OPTIONS * HTTP/1.1"))
	proxytest.WantStatus(t, "OPTIONS *", got, 204)
	if allow := got.Header.Get("Allow"); allow != "DELETE, GET, HEAD, OPTIONS, POST" || got.Body != "" {
		t.Errorf("Allow %q, body %q", allow, got.Body)
	}
	proxytest.WantStatus(t, "GET *", w.Raw(w.Head("GET * HTTP/1.1")), 400)
	proxytest.WantStatus(t, "of a host that is not served", w.Raw("OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421)
}

// TestL07_AbsoluteForm: a target with a host of its own is that host's, for everything that
// asks for a host; where the Host field is another, nobody is served.
func TestL07_AbsoluteForm(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Hosts = []string{"rec.example"} })
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	call := func(target, host string) proxytest.Response {
		return w.Raw("POST " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nX-API-Key: " + w.Keys["alice"] +
			"\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n\r\n" + body)
	}
	proxytest.WantStatus(t, "the agent's own host", call("http://rec.example/", "rec.example"), 200)
	proxytest.WantStatus(t, "without a path", call("http://rec.example", "REC.example:80"), 200)
	if n := len(w.Agent.Take()); n != 2 {
		t.Errorf("the agent was called %d times", n)
	}
	for name, got := range map[string]proxytest.Response{
		"a host that is not served":  call("http://evil.example/agents/rec", "evil.example"),
		"the agent's path elsewhere": call("http://rec.example/agents/rec", "rec.example"),
	} {
		if got.Status == 200 {
			t.Errorf("%s: %s", name, got.Body)
		}
	}
	for _, hosts := range [][2]string{{"rec.example", "evil.example"}, {"evil.example", "rec.example"}, {"rec.example", "rec.example:8080"}} {
		got := call("http://"+hosts[0]+"/", hosts[1])
		proxytest.WantStatus(t, fmt.Sprint(hosts), got, 400)
		if !strings.Contains(got.Body, "Malformed HTTP request: Host and the host of the request target differ") {
			t.Errorf("%v: %s", hosts, got.Body)
		}
	}
	w.Agent.Silent(t, "another host")
}

// TestL04_ForwardedHeaders: they choose nothing, and the record shows the socket.
func TestL04_ForwardedHeaders(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, line := range []string{
		"X-Forwarded-For: 192.0.2.9", "Forwarded: for=192.0.2.9;host=evil;proto=https", "X-Real-IP: 192.0.2.9",
		"X-Forwarded-Host: evil", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /evil", "X-Original-URL: /agents/other",
		"X-Rewrite-URL: /agents/other", "X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE",
		"True-Client-IP: 192.0.2.9",
	} {
		proxytest.WantStatus(t, line, w.Call("alice", "SendMessage", proxytest.Message(""), line), 200)
		seen := w.Agent.One(t)
		checkHeader(t, line, seen)
		if seen.Method != "POST" || seen.URL.Path != "/rpc" {
			t.Errorf("%s: the agent got %s %s", line, seen.Method, seen.URL)
		}
		if card := w.Do("", "GET", "/.well-known/agent-card.json", "", line); strings.Contains(card.Body, "evil") {
			t.Errorf("%s: the card says evil", line)
		}
	}
	for _, r := range w.Audited("call") {
		if r["client_ip"] != "127.0.0.1" {
			t.Errorf("recorded client %v", r["client_ip"])
		}
	}
}

func TestL05_MoreThanOneCredential(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	key := w.Keys["alice"]
	for _, lines := range [][]string{
		{"Authorization: Bearer " + key}, {"Authorization: Bearer x", "Authorization: Bearer y"},
		{"X-API-Key: " + key}, {"x-api-key: other"}, {"Authorization: Basic YTpi"},
	} {
		got := w.Call("alice", "SendMessage", proxytest.Message(""), lines...)
		proxytest.WantStatus(t, strings.Join(lines, "|"), got, 400)
	}
	for _, name := range []string{"api_key", "apiKey", "access_token", "key", "x-api-key", "authorization", "token"} {
		for _, path := range []string{"/tasks/1", "", "/.well-known/agent-card.json"} {
			verb := "GET"
			if path == "" {
				verb = "POST"
			}
			got := w.Do("", verb, path+"?"+name+"="+key, "")
			proxytest.WantStatus(t, name+" in the URL", got, 400)
		}
	}
	w.Agent.Silent(t, "two credentials")
	if strings.Contains(w.Logs.String(), key) || strings.Contains(fmt.Sprint(w.Audited("call")), key) {
		t.Error("a credential was recorded")
	}
}

// TestL06_AgentSplitsResponse: what an agent writes into a header stays one
// header or is refused.
func TestL06_AgentSplitsResponse(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, listed)
	body := `{"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":"m"}}}`
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	tests := []struct {
		name, line string
		want       []int
	}{
		{"CR", "X-Told: a\rX: y", []int{502}},
		{"CR, not passed on", "X-Other: a\rX: y", []int{502}},
		{"NUL", "X-Told: a\x00b", []int{502}},
		{"NUL, not passed on", "X-Other: a\x00b", []int{502}},
		{"no colon", "X-Told", []int{502}},
		{"space in the name", "X Told: a", []int{502}},
		{"empty name", ": a", []int{502}},
		{"split", "Set-Cookie: a=b\r\nX: y", []int{200}},
		{"Retry-After", "Retry-After: 1\rX: y", []int{502}},
		{"folded", "X-Told: a\r\n X: y", []int{200, 502}},
		{"clean", "X-Told: a", []int{200}},
	}
	for _, tt := range tests {
		w.Agent.Answers(proxytest.RawAnswer(head + tt.line + "\r\n\r\n" + body))
		got := w.Call("alice", "SendMessage", proxytest.Message(""))
		proxytest.WantStatus(t, tt.name, got, tt.want...)
		for name, values := range got.Header {
			if name == "X" || name == "Set-Cookie" || strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Errorf("%s: the caller got %s: %q", tt.name, name, values)
			}
		}
		if tt.name == "clean" && got.Header.Get("X-Told") != "a" {
			t.Error("the listed header did not pass")
		}
	}
}

// TestL06_AgentHeadersDoNotPass: nor does what it says beside the answer.
func TestL06_AgentHeadersDoNotPass(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	evil := []string{
		"Set-Cookie", "Strict-Transport-Security", "Location", "Server", "X-Powered-By", "Access-Control-Allow-Origin",
		"Www-Authenticate", "Clear-Site-Data", "Alt-Svc", "Etag", "Link", "Refresh", "Via", "X-Request-Id", "Content-Security-Policy",
	}
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		for _, name := range evil {
			rw.Header().Set(name, "evil")
		}
		rw.Header().Set("Cache-Control", "public")
		rw.Header().Set("Trailer", "X-Late")
		proxytest.Agreeable(rw, r)
		rw.Header().Set("X-Late", "evil")
	})
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		got := w.Call("alice", method, proxytest.Message(""))
		proxytest.WantStatus(t, method, got, 200)
		for name, values := range got.Header {
			if slices.Contains(values, "evil") || name == "Trailer" {
				t.Errorf("%s: the caller got %s", method, name)
			}
		}
		if got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", method, got.Header.Get("Cache-Control"))
		}
	}
}

func TestL07_UnknownHost(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, host := range []string{"evil", "evil:80", "127.0.0.1", "127.0.0.1:1", "LOCALHOST", "sub.127.0.0.1", "[::1]"} {
		for _, target := range []string{"", "/tasks/1", "/.well-known/agent-card.json"} {
			verb, body := "GET", ""
			if target == "" {
				verb, body = "POST", proxytest.RPCBody("SendMessage", proxytest.Message(""))
			}
			got := w.Do("alice", verb, target, body, "Host: "+host)
			proxytest.WantStatus(t, host+target, got, 421)
			if strings.Contains(got.Body, host) {
				t.Errorf("%s: repeated to the caller", host)
			}
		}
		got := w.Do("", "GET", w.URL+"/.well-known/oauth-protected-resource", "", "Host: "+host)
		proxytest.WantStatus(t, host, got, 421)
	}
	w.Agent.Silent(t, "unknown host")
}

func TestL08_CheckersAreCallers(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, agent := range []string{
		"GoogleHC/1.0", "kube-probe/1.31", "ELB-HealthChecker/2.0", "Amazon-Route53-Health-Check-Service", "Consul Health Check",
		"Envoy/HC", "HAProxy", "check_http/v2", "UptimeRobot/2.0", "Prometheus/3.0", "Blackbox Exporter", "health",
	} {
		proxytest.WantStatus(t, agent, w.Do("", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message("")), "User-Agent: "+agent), 401)
		for _, path := range []string{"/tasks", "/tasks/1", "/extendedAgentCard", "/v1/card", "/tasks/1:subscribe"} {
			proxytest.WantStatus(t, agent, w.Do("", "GET", path, "", "User-Agent: "+agent), 401)
		}
		for _, path := range []string{"/healthz", "/livez", "/readyz", "/metrics", "/health", "/ping"} {
			proxytest.WantStatus(t, agent+path, w.Do("", "GET", w.URL+path, "", "User-Agent: "+agent), 404)
		}
		if got, want := w.Do("", "GET", w.URL+"/", "", "User-Agent: "+agent), w.Do("", "GET", w.URL+"/", ""); got.Body != want.Body {
			t.Errorf("%s is shown %s, others %s", agent, got.Body, want.Body)
		}
	}
	w.Agent.Silent(t, "health checkers")
}

func TestL09_RepeatedSingletons(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	trace := "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, line := range []string{
		"Content-Type: application/json", "A2A-Version: 1.0", trace,
	} {
		lines := []string{
			"A2A-Version: 1.0", "Content-Type: application/json", "Accept: */*", trace, fmt.Sprint("Content-Length: ", len(body)), line,
		}
		got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", lines...) + body)
		proxytest.WantStatus(t, line, got, 400)
	}
	w.Agent.Silent(t, "repeated headers")
	proxytest.WantStatus(t, "extensions", w.Call("alice", "SendMessage", proxytest.Message(""),
		"A2A-Extensions: urn:declared, urn:other", "X-A2A-Extensions: urn:declared"), 200)
	if got := w.Agent.One(t).Header["A2a-Extensions"]; !slices.Equal(got, []string{"urn:declared"}) {
		t.Errorf("the agent was asked for %q", got)
	}
}

// mutations of a path that some server reads as the path itself, or as another.
func mutations(path string) []string {
	cut := strings.LastIndexByte(path, '/')
	dir, last := path[:cut], path[cut+1:]
	out := []string{
		dir + "//" + last, dir + "/./" + last, dir + "/x/../" + last, dir + "/%2e/" + last, dir + "/x/%2e%2e/" + last,
		dir + "%2f" + last, dir + "%2F" + last, dir + "%5c" + last, dir + "\\" + last, dir + "/;a=b/" + last, dir + "/" + last + ";",
		dir + "/" + last + ";a=b", path + "/", path + "//", path + "/.", path + "/..", path + ".", path + "%00", path + "%20",
		path + "%0a", path + "%0d%0aX:%20y", path + "%23", path + "%3f", path + "%25", path + "%c0%af", path + "%FF", path + "%u002e",
		path + "%", path + "%4", "/" + path, "/." + path, "/%2e" + path, "/x/.." + path, "/%2e%2e" + path, path + "#x", "*" + path,
		strings.ToUpper(path), dir + "/" + fmt.Sprintf("%%%02x", last[0]) + last[1:],
		dir + "/" + fmt.Sprintf("%%25%02x", last[0]) + last[1:], strings.ReplaceAll(path, "agents", "%61gents"),
		strings.ReplaceAll(path, ":", "%3a"), strings.ReplaceAll(path, ":", "%3A"), strings.ReplaceAll(path, ".", "%2e"),
		dir + "/" + strings.ToUpper(last), dir + "/\u2025/" + last, path + ".json", path + "~", path + "\x00",
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == path })
}

func TestL11_PathMutations(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	type route struct{ verb, path string }
	routes := []route{
		{"POST", "/agents/rec"}, {"POST", "/agents/rec/skills/read"}, {"GET", "/agents/rec/.well-known/agent-card.json"},
		{"POST", "/agents/rec/skills/read/message:send"},
	}
	for _, m := range wire.Methods() {
		path := strings.NewReplacer("{task}", "mine", "{config}", "c").Replace(m.Path)
		routes = append(routes, route{m.Verbs[0], "/agents/rec" + path}, route{m.Verbs[0], "/agents/rec/v1" + path})
	}
	allowed := []int{400, 404}
	for _, r := range routes {
		for _, path := range mutations(r.path) {
			body := ""
			if r.verb == "POST" {
				body = proxytest.RPCBody("SendMessage", proxytest.Message(""))
			}
			got := w.Raw(w.Head(r.verb+" "+path+" HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
				fmt.Sprint("Content-Length: ", len(body))) + body)
			if path == r.path+"/" && r.path == "/agents/rec" || path == r.path+"/" && strings.HasSuffix(r.path, "skills/read") {
				// A base with a final slash is what resolving "" against it gives.
				proxytest.WantStatus(t, path, got, 200)
				w.Agent.Take()
				continue
			}
			if got.Status == 405 { // the path of another operation, by another verb
				w.Agent.Silent(t, path)
				continue
			}
			if !slices.Contains(allowed, got.Status) && !isTaskNotFound(got) {
				t.Errorf("%s %s: status %d: %s", r.verb, path, got.Status, got.Body)
			}
			w.Agent.Silent(t, r.verb+" "+path)
		}
	}
}

// isTaskNotFound: a mutated id is another id, and nobody has a task of that.
func isTaskNotFound(a proxytest.Response) bool { return strings.Contains(a.Body, "TASK_NOT_FOUND") }

func TestL13_VersionInHeaderAndQuery(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, header := range []string{"", "0.3", "1.0", "1.0.1", "9.9", "x"} {
		for _, query := range []string{"", "0.3", "1.0", "1.0.7", "9.9", "x"} {
			target, lines := "/message:send", []string{}
			if query != "" {
				target += "?A2A-Version=" + query
			}
			if header != "" {
				lines = append(lines, "A2A-Version: "+header)
			}
			got := w.Do("alice", "POST", target, proxytest.Message(""), lines...)
			ok := strings.HasPrefix(header+"1.0", "1.0") && strings.HasPrefix(query+"1.0", "1.0")
			seen := w.Agent.Take()
			if ok != (got.Status == 200) || ok != (len(seen) == 1) {
				t.Errorf("header %q, query %q: status %d, the agent saw %d: %s", header, query, got.Status, len(seen), got.Body)
			}
			if ok && (seen[0].URL.RawQuery != "" || seen[0].Header.Get("A2A-Version") != "1.0") {
				t.Errorf("the agent got %s, version %q", seen[0].URL, seen[0].Header.Get("A2A-Version"))
			}
		}
	}
	for name, target := range map[string]string{
		"twice":           "/message:send?A2A-Version=1.0&A2A-Version=1.0",
		"another case":    "/message:send?a2a-version=0.3",
		"65 parameters":   "/message:send?" + strings.Repeat("a=1&", 64) + "b=1",
		"10000 and a key": "/message:send?" + strings.Repeat("&", 4000) + "api_key=1",
	} {
		got := w.Do("alice", "POST", target, proxytest.Message(""), "A2A-Version: 1.0")
		if got.Status == 200 {
			for _, r := range w.Agent.Take() {
				if strings.Contains(strings.ToLower(r.URL.RawQuery), "version") {
					t.Errorf("%s: the agent got %s", name, r.URL)
				}
			}
			if name != "another case" {
				t.Errorf("%s: status 200", name)
			}
		}
		w.Agent.Silent(t, name)
	}
}

func TestL14_NoRedirects(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, path := range []string{
		"//evil", "/\\evil", "/%2fevil", "/agents", "/agents/", "/agents/rec/", "/agents//rec", "/agents/rec/tasks/", "///evil/..",
		"/agents/rec/.well-known/agent-card.json/", "/agents/rec//evil", "/.well-known/oauth-protected-resource/",
	} {
		for _, verb := range []string{"GET", "POST", "HEAD"} {
			got := w.Raw(w.Head(verb + " " + path + " HTTP/1.1"))
			if got.Status >= 300 && got.Status < 400 || got.Header.Get("Location") != "" {
				t.Errorf("%s %s: %d to %q", verb, path, got.Status, got.Header.Get("Location"))
			}
		}
	}
	// Nor does the agent's: it is no answer.
	for _, status := range []int{301, 302, 303, 307, 308} {
		w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
			rw.Header().Set("Location", w.Agent.URL+"/elsewhere")
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(status)
			_, _ = io.WriteString(rw, "{}")
		})
		got := w.Call("alice", "SendMessage", proxytest.Message(""))
		proxytest.WantStatus(t, fmt.Sprint(status), got, 200)
		if !strings.Contains(got.Body, fmt.Sprintf("the agent answered %d, a redirect, and redirects are not followed", status)) {
			t.Errorf("%d: %s", status, got.Body)
		}
		w.Agent.One(t)
		if got.Header.Get("Location") != "" {
			t.Error("the caller got a Location")
		}
	}
}

func TestL15_Verbs(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, path := range []string{"/agents/rec", "/agents/rec/tasks", "/agents/rec/message:send", "/agents/rec/.well-known/agent-card.json"} {
		for _, verb := range []string{"TRACE", "CONNECT", "get", "PATCH", "PUT", "PROPFIND", "OPTIONS", "X"} {
			got := w.Raw(w.Head(verb + " " + path + " HTTP/1.1"))
			proxytest.WantStatus(t, verb+" "+path, got, 405, 400)
			if got.Status == 405 && got.Header.Get("Allow") == "" {
				t.Errorf("%s %s: no Allow", verb, path)
			}
		}
	}
	for _, verb := range []string{"GET", "HEAD", "DELETE"} {
		for _, path := range []string{"/agents/rec/tasks/1", "/agents/rec/tasks/1/pushNotificationConfigs/1"} {
			proxytest.WantStatus(t, verb+" with a body", w.Raw(w.Head(verb+" "+path+" HTTP/1.1", "A2A-Version: 1.0",
				"Content-Type: application/json", "Content-Length: 2")+"{}"), 400)
		}
	}
	proxytest.WantStatus(t, "override", w.Do("alice", "GET", "/message:send", "", "X-HTTP-Method-Override: POST"), 405)
	w.Agent.Silent(t, "verbs")
}

// TestL18_ShortBody: the agent sees nothing of a body that did not come whole.
func TestL18_ShortBody(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Server.Timeouts.Body = 5e7 })
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	for _, tt := range []struct{ name, head, body string }{
		{"less than said", fmt.Sprint("Content-Length: ", len(body)+10), body},
		{"no last chunk", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n", len(body), body)},
		{"chunk cut off", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s", len(body)+10, body)},
		{"wrong chunk", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%sxx0\r\n\r\n", len(body), body)},
	} {
		got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json", tt.head) + tt.body)
		proxytest.WantStatus(t, tt.name, got, 400)
		w.Agent.Silent(t, tt.name)
	}
	got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
		fmt.Sprint("Content-Length: ", len(body)-1)) + body)
	proxytest.WantStatus(t, "more than said", got, 200)
	if !strings.Contains(got.Body, "-32700") {
		t.Errorf("more than said: %s", got.Body)
	}
	w.Agent.Silent(t, "more than said")
}
