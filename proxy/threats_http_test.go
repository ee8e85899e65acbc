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
func listed(s *setup) {
	s.agent.Headers = agents.HeaderConfig{Request: []string{"x-listed"}, Response: []string{"x-told"}}
}

// checkHeader fails unless the agent got allow-listed and owned headers only.
func checkHeader(t interface{ Errorf(string, ...any) }, sent string, seen *record) {
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

// spellings are the ways to write a header name that some server reads alike.
func spellings(name string) []string {
	mixed := []byte(strings.ToLower(name))
	for i := 0; i < len(mixed); i += 2 {
		mixed[i] = strings.ToUpper(string(mixed[i]))[0]
	}
	return []string{
		name, strings.ToLower(name), strings.ToUpper(name), string(mixed),
		strings.ReplaceAll(name, "-", "_"), strings.ReplaceAll(name, "-", "."), name + " ",
	}
}

func TestL01_OwnedHeaders(t *testing.T) {
	t.Parallel()
	w := build(t, listed)
	body := rpcBody("SendMessage", message(""))
	for _, name := range ownedNames {
		for _, spelled := range spellings(name) {
			for _, lines := range [][]string{
				{spelled + ": evil"}, {spelled + ": evil", name + ": evil"}, {name + ": evil", "X-Listed: a", spelled + ": evil"},
			} {
				version := "A2A-Version: 1.0"
				if name == "A2A-Version" {
					version = "X-Listed: b"
				}
				got := w.raw(w.head("POST /agents/rec HTTP/1.1", append(lines, version,
					"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
				seen := w.agent.take()
				if got.status != 200 && len(seen) > 0 {
					t.Errorf("%q: answered %d, and the agent was asked", lines, got.status)
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
	w := build(t, listed)
	token := rapid.StringMatching(`[A-Za-z0-9!#$%&'*+.^_|~-]{1,20}`)
	name := rapid.OneOf(rapid.SampledFrom(ownedNames), rapid.SampledFrom(passing), token)
	value := rapid.StringMatching(`evil[ -~]{0,10}`)
	skip := []string{
		"Host", "Content-Length", "Transfer-Encoding", "X-Api-Key", "Authorization", "A2a-Version", "Content-Type", "Expect",
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := w.request("alice", "POST", "", rpcBody("SendMessage", message("")), "A2A-Version: 1.0")
		var sent []string
		for range rapid.IntRange(0, 8).Draw(rt, "count") {
			n, v := name.Draw(rt, "name"), value.Draw(rt, "value")
			if !slices.Contains(skip, http.CanonicalHeaderKey(n)) {
				r.Header[n] = append(r.Header[n], v)
				sent = append(sent, n+": "+v)
			}
		}
		resp, err := w.http.Do(r)
		if err != nil {
			return // net/http would not send it
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		for _, seen := range w.agent.take() {
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
	w := build(t, listed)
	body := rpcBody("SendMessage", message(""))
	for _, name := range append([]string{
		"A2A-Extensions", "Authorization", "X-API-Key", "Content-Type", "Host", "X-Listed", "Idempotency-Key", "Last-Event-ID",
	}, ownedNames...) {
		if slices.Contains([]string{"X-Anything", "X-User", "Remote-User", "Referer", "Range"}, name) {
			continue // which decides nothing here
		}
		for _, spelled := range spellings(name)[:4] {
			for _, lines := range [][]string{
				{"Connection: " + spelled}, {"Connection: close, " + spelled},
				{"Connection: keep-alive", "Connection: " + spelled}, {"Connection:", "Connection: " + spelled},
			} {
				got := w.raw(w.head("POST /agents/rec HTTP/1.1", append(lines, "A2A-Version: 1.0",
					"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
				wantStatus(t, strings.Join(lines, "|"), got, 400)
				if !strings.Contains(got.body, "Malformed HTTP request: Connection must not name ") {
					t.Errorf("%s: %s", lines, got.body)
				}
			}
		}
	}
	w.agent.silent(t, "Connection")
}

// TestL03_ConnectionOptions: what proxies in front say of their own connections is taken off,
// and the call goes on as it would without.
func TestL03_ConnectionOptions(t *testing.T) {
	t.Parallel()
	w := build(t, listed)
	body := rpcBody("SendMessage", message(""))
	for _, lines := range [][]string{
		{"Connection: upgrade"}, {"Connection: upgrade", "Upgrade:"}, {"Connection: Upgrade", "Upgrade: websocket"},
		{"Connection: TE", "TE: trailers"}, {"TE: gzip"}, {"Connection: Keep-Alive", "Keep-Alive: timeout=5"},
		{"Proxy-Connection: keep-alive"}, {"Connection: close, X-Anything", "X-Anything: 1"}, {"Upgrade: h2c"},
		{"Connection: , HTTP2-Settings,", "HTTP2-Settings: AAMAAABk"}, {"Connection: UPGRADE", "Connection: keep-alive"},
	} {
		got := w.raw(w.head("POST /agents/rec HTTP/1.1", append(lines, "A2A-Version: 1.0", "X-Listed: 1",
			"Content-Type: application/json", fmt.Sprint("Content-Length: ", len(body)))...) + body)
		wantStatus(t, strings.Join(lines, "|"), got, 200)
		seen := w.agent.one(t)
		checkHeader(t, strings.Join(lines, "|"), seen)
		if seen.Header.Get("X-Listed") != "1" {
			t.Errorf("%s: the agent got %v", lines, seen.Header)
		}
	}
}

// TestOptionsOfAll: "OPTIONS *" is answered for everybody, on hosts that are served.
func TestOptionsOfAll(t *testing.T) {
	t.Parallel()
	w := build(t)
	got := w.raw(w.head("OPTIONS * HTTP/1.1"))
	wantStatus(t, "OPTIONS *", got, 204)
	if allow := got.header.Get("Allow"); allow != "DELETE, GET, HEAD, OPTIONS, POST" || got.body != "" {
		t.Errorf("Allow %q, body %q", allow, got.body)
	}
	wantStatus(t, "GET *", w.raw(w.head("GET * HTTP/1.1")), 400)
	wantStatus(t, "of a host that is not served", w.raw("OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 421)
}

// TestL07_AbsoluteForm: a target with a host of its own is that host's, for everything that
// asks for a host; where the Host field is another, nobody is served.
func TestL07_AbsoluteForm(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) { s.agent.Hosts = []string{"rec.example"} })
	body := rpcBody("SendMessage", message(""))
	call := func(target, host string) answer {
		return w.raw("POST " + target + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\nX-API-Key: " + w.keys["alice"] +
			"\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\n\r\n" + body)
	}
	wantStatus(t, "the agent's own host", call("http://rec.example/", "rec.example"), 200)
	wantStatus(t, "without a path", call("http://rec.example", "REC.example:80"), 200)
	if n := len(w.agent.take()); n != 2 {
		t.Errorf("the agent was called %d times", n)
	}
	for name, got := range map[string]answer{
		"a host that is not served":  call("http://evil.example/agents/rec", "evil.example"),
		"the agent's path elsewhere": call("http://rec.example/agents/rec", "rec.example"),
	} {
		if got.status == 200 {
			t.Errorf("%s: %s", name, got.body)
		}
	}
	for _, hosts := range [][2]string{{"rec.example", "evil.example"}, {"evil.example", "rec.example"}, {"rec.example", "rec.example:8080"}} {
		got := call("http://"+hosts[0]+"/", hosts[1])
		wantStatus(t, fmt.Sprint(hosts), got, 400)
		if !strings.Contains(got.body, "Malformed HTTP request: Host and the host of the request target differ") {
			t.Errorf("%v: %s", hosts, got.body)
		}
	}
	w.agent.silent(t, "another host")
}

// TestL04_ForwardedHeaders: they choose nothing, and the record shows the socket.
func TestL04_ForwardedHeaders(t *testing.T) {
	t.Parallel()
	w := build(t)
	for _, line := range []string{
		"X-Forwarded-For: 192.0.2.9", "Forwarded: for=192.0.2.9;host=evil;proto=https", "X-Real-IP: 192.0.2.9",
		"X-Forwarded-Host: evil", "X-Forwarded-Proto: https", "X-Forwarded-Prefix: /evil", "X-Original-URL: /agents/other",
		"X-Rewrite-URL: /agents/other", "X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE",
		"True-Client-IP: 192.0.2.9",
	} {
		wantStatus(t, line, w.call("alice", "SendMessage", message(""), line), 200)
		seen := w.agent.one(t)
		checkHeader(t, line, seen)
		if seen.Method != "POST" || seen.URL.Path != "/rpc" {
			t.Errorf("%s: the agent got %s %s", line, seen.Method, seen.URL)
		}
		if card := w.do("", "GET", "/.well-known/agent-card.json", "", line); strings.Contains(card.body, "evil") {
			t.Errorf("%s: the card says evil", line)
		}
	}
	for _, r := range w.audited("call") {
		if r["client_ip"] != "127.0.0.1" {
			t.Errorf("recorded client %v", r["client_ip"])
		}
	}
}

func TestL05_MoreThanOneCredential(t *testing.T) {
	t.Parallel()
	w := build(t)
	key := w.keys["alice"]
	for _, lines := range [][]string{
		{"Authorization: Bearer " + key}, {"Authorization: Bearer x", "Authorization: Bearer y"},
		{"X-API-Key: " + key}, {"x-api-key: other"}, {"Authorization: Basic YTpi"},
	} {
		got := w.call("alice", "SendMessage", message(""), lines...)
		wantStatus(t, strings.Join(lines, "|"), got, 400)
	}
	for _, name := range []string{"api_key", "apiKey", "access_token", "key", "x-api-key", "authorization", "token"} {
		for _, path := range []string{"/tasks/1", "", "/.well-known/agent-card.json"} {
			verb := "GET"
			if path == "" {
				verb = "POST"
			}
			got := w.do("", verb, path+"?"+name+"="+key, "")
			wantStatus(t, name+" in the URL", got, 400)
		}
	}
	w.agent.silent(t, "two credentials")
	if strings.Contains(w.logs.String(), key) || strings.Contains(fmt.Sprint(w.audited("call")), key) {
		t.Error("a credential was recorded")
	}
}

// TestL06_AgentSplitsResponse: what an agent writes into a header stays one
// header or is refused.
func TestL06_AgentSplitsResponse(t *testing.T) {
	t.Parallel()
	w := build(t, listed)
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
		w.agent.answers(rawAnswer(head + tt.line + "\r\n\r\n" + body))
		got := w.call("alice", "SendMessage", message(""))
		wantStatus(t, tt.name, got, tt.want...)
		for name, values := range got.header {
			if name == "X" || name == "Set-Cookie" || strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
				t.Errorf("%s: the caller got %s: %q", tt.name, name, values)
			}
		}
		if tt.name == "clean" && got.header.Get("X-Told") != "a" {
			t.Error("the listed header did not pass")
		}
	}
}

// TestL06_AgentHeadersDoNotPass: nor does what it says beside the answer.
func TestL06_AgentHeadersDoNotPass(t *testing.T) {
	t.Parallel()
	w := build(t)
	evil := []string{
		"Set-Cookie", "Strict-Transport-Security", "Location", "Server", "X-Powered-By", "Access-Control-Allow-Origin",
		"Www-Authenticate", "Clear-Site-Data", "Alt-Svc", "Etag", "Link", "Refresh", "Via", "X-Request-Id", "Content-Security-Policy",
	}
	w.agent.answers(func(rw http.ResponseWriter, r *record) {
		for _, name := range evil {
			rw.Header().Set(name, "evil")
		}
		rw.Header().Set("Cache-Control", "public")
		rw.Header().Set("Trailer", "X-Late")
		agreeable(rw, r)
		rw.Header().Set("X-Late", "evil")
	})
	for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
		got := w.call("alice", method, message(""))
		wantStatus(t, method, got, 200)
		for name, values := range got.header {
			if slices.Contains(values, "evil") || name == "Trailer" {
				t.Errorf("%s: the caller got %s", method, name)
			}
		}
		if got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q", method, got.header.Get("Cache-Control"))
		}
	}
}

func TestL07_UnknownHost(t *testing.T) {
	t.Parallel()
	w := build(t)
	for _, host := range []string{"evil", "evil:80", "127.0.0.1", "127.0.0.1:1", "LOCALHOST", "sub.127.0.0.1", "[::1]"} {
		for _, target := range []string{"", "/tasks/1", "/.well-known/agent-card.json"} {
			verb, body := "GET", ""
			if target == "" {
				verb, body = "POST", rpcBody("SendMessage", message(""))
			}
			got := w.do("alice", verb, target, body, "Host: "+host)
			wantStatus(t, host+target, got, 421)
			if strings.Contains(got.body, host) {
				t.Errorf("%s: repeated to the caller", host)
			}
		}
		got := w.do("", "GET", w.url+"/.well-known/oauth-protected-resource", "", "Host: "+host)
		wantStatus(t, host, got, 421)
	}
	w.agent.silent(t, "unknown host")
}

func TestL08_CheckersAreCallers(t *testing.T) {
	t.Parallel()
	w := build(t)
	for _, agent := range []string{
		"GoogleHC/1.0", "kube-probe/1.31", "ELB-HealthChecker/2.0", "Amazon-Route53-Health-Check-Service", "Consul Health Check",
		"Envoy/HC", "HAProxy", "check_http/v2", "UptimeRobot/2.0", "Prometheus/3.0", "Blackbox Exporter", "health",
	} {
		wantStatus(t, agent, w.do("", "POST", "", rpcBody("SendMessage", message("")), "User-Agent: "+agent), 401)
		for _, path := range []string{"/tasks", "/tasks/1", "/extendedAgentCard", "/v1/card", "/tasks/1:subscribe"} {
			wantStatus(t, agent, w.do("", "GET", path, "", "User-Agent: "+agent), 401)
		}
		for _, path := range []string{"/healthz", "/livez", "/readyz", "/metrics", "/health", "/ping"} {
			wantStatus(t, agent+path, w.do("", "GET", w.url+path, "", "User-Agent: "+agent), 404)
		}
		if got, want := w.do("", "GET", w.url+"/", "", "User-Agent: "+agent), w.do("", "GET", w.url+"/", ""); got.body != want.body {
			t.Errorf("%s is shown %s, others %s", agent, got.body, want.body)
		}
	}
	w.agent.silent(t, "health checkers")
}

func TestL09_RepeatedSingletons(t *testing.T) {
	t.Parallel()
	w := build(t)
	body := rpcBody("SendMessage", message(""))
	trace := "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, line := range []string{
		"Content-Type: application/json", "A2A-Version: 1.0", trace,
	} {
		lines := []string{
			"A2A-Version: 1.0", "Content-Type: application/json", "Accept: */*", trace, fmt.Sprint("Content-Length: ", len(body)), line,
		}
		got := w.raw(w.head("POST /agents/rec HTTP/1.1", lines...) + body)
		wantStatus(t, line, got, 400)
	}
	w.agent.silent(t, "repeated headers")
	wantStatus(t, "extensions", w.call("alice", "SendMessage", message(""),
		"A2A-Extensions: urn:declared, urn:other", "X-A2A-Extensions: urn:declared"), 200)
	if got := w.agent.one(t).Header["A2a-Extensions"]; !slices.Equal(got, []string{"urn:declared"}) {
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
	w := build(t)
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
				body = rpcBody("SendMessage", message(""))
			}
			got := w.raw(w.head(r.verb+" "+path+" HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
				fmt.Sprint("Content-Length: ", len(body))) + body)
			if path == r.path+"/" && r.path == "/agents/rec" || path == r.path+"/" && strings.HasSuffix(r.path, "skills/read") {
				// A base with a final slash is what resolving "" against it gives.
				wantStatus(t, path, got, 200)
				w.agent.take()
				continue
			}
			if got.status == 405 { // the path of another operation, by another verb
				w.agent.silent(t, path)
				continue
			}
			if !slices.Contains(allowed, got.status) && !isTaskNotFound(got) {
				t.Errorf("%s %s: status %d: %s", r.verb, path, got.status, got.body)
			}
			w.agent.silent(t, r.verb+" "+path)
		}
	}
}

// isTaskNotFound: a mutated id is another id, and nobody has a task of that.
func isTaskNotFound(a answer) bool { return strings.Contains(a.body, "TASK_NOT_FOUND") }

func TestL13_VersionInHeaderAndQuery(t *testing.T) {
	t.Parallel()
	w := build(t)
	for _, header := range []string{"", "0.3", "1.0", "1.0.1", "9.9", "x"} {
		for _, query := range []string{"", "0.3", "1.0", "1.0.7", "9.9", "x"} {
			target, lines := "/message:send", []string{}
			if query != "" {
				target += "?A2A-Version=" + query
			}
			if header != "" {
				lines = append(lines, "A2A-Version: "+header)
			}
			got := w.do("alice", "POST", target, message(""), lines...)
			ok := strings.HasPrefix(header+"1.0", "1.0") && strings.HasPrefix(query+"1.0", "1.0")
			seen := w.agent.take()
			if ok != (got.status == 200) || ok != (len(seen) == 1) {
				t.Errorf("header %q, query %q: status %d, the agent saw %d: %s", header, query, got.status, len(seen), got.body)
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
		got := w.do("alice", "POST", target, message(""), "A2A-Version: 1.0")
		if got.status == 200 {
			for _, r := range w.agent.take() {
				if strings.Contains(strings.ToLower(r.URL.RawQuery), "version") {
					t.Errorf("%s: the agent got %s", name, r.URL)
				}
			}
			if name != "another case" {
				t.Errorf("%s: status 200", name)
			}
		}
		w.agent.silent(t, name)
	}
}

func TestL14_NoRedirects(t *testing.T) {
	t.Parallel()
	w := build(t)
	for _, path := range []string{
		"//evil", "/\\evil", "/%2fevil", "/agents", "/agents/", "/agents/rec/", "/agents//rec", "/agents/rec/tasks/", "///evil/..",
		"/agents/rec/.well-known/agent-card.json/", "/agents/rec//evil", "/.well-known/oauth-protected-resource/",
	} {
		for _, verb := range []string{"GET", "POST", "HEAD"} {
			got := w.raw(w.head(verb + " " + path + " HTTP/1.1"))
			if got.status >= 300 && got.status < 400 || got.header.Get("Location") != "" {
				t.Errorf("%s %s: %d to %q", verb, path, got.status, got.header.Get("Location"))
			}
		}
	}
	// Nor does the agent's: it is no answer.
	for _, status := range []int{301, 302, 303, 307, 308} {
		w.agent.answers(func(rw http.ResponseWriter, _ *record) {
			rw.Header().Set("Location", w.agent.URL+"/elsewhere")
			rw.Header().Set("Content-Type", "application/json")
			rw.WriteHeader(status)
			_, _ = io.WriteString(rw, "{}")
		})
		got := w.call("alice", "SendMessage", message(""))
		wantStatus(t, fmt.Sprint(status), got, 200)
		if !strings.Contains(got.body, fmt.Sprintf("the agent answered %d, a redirect, and redirects are not followed", status)) {
			t.Errorf("%d: %s", status, got.body)
		}
		w.agent.one(t)
		if got.header.Get("Location") != "" {
			t.Error("the caller got a Location")
		}
	}
}

func TestL15_Verbs(t *testing.T) {
	t.Parallel()
	w := build(t)
	for _, path := range []string{"/agents/rec", "/agents/rec/tasks", "/agents/rec/message:send", "/agents/rec/.well-known/agent-card.json"} {
		for _, verb := range []string{"TRACE", "CONNECT", "get", "PATCH", "PUT", "PROPFIND", "OPTIONS", "X"} {
			got := w.raw(w.head(verb + " " + path + " HTTP/1.1"))
			wantStatus(t, verb+" "+path, got, 405, 400)
			if got.status == 405 && got.header.Get("Allow") == "" {
				t.Errorf("%s %s: no Allow", verb, path)
			}
		}
	}
	for _, verb := range []string{"GET", "HEAD", "DELETE"} {
		for _, path := range []string{"/agents/rec/tasks/1", "/agents/rec/tasks/1/pushNotificationConfigs/1"} {
			wantStatus(t, verb+" with a body", w.raw(w.head(verb+" "+path+" HTTP/1.1", "A2A-Version: 1.0",
				"Content-Type: application/json", "Content-Length: 2")+"{}"), 400)
		}
	}
	wantStatus(t, "override", w.do("alice", "GET", "/message:send", "", "X-HTTP-Method-Override: POST"), 405)
	w.agent.silent(t, "verbs")
}

// TestL18_ShortBody: the agent sees nothing of a body that did not come whole.
func TestL18_ShortBody(t *testing.T) {
	t.Parallel()
	w := build(t, func(s *setup) { s.server.Timeouts.Body = 5e7 })
	body := rpcBody("SendMessage", message(""))
	for _, tt := range []struct{ name, head, body string }{
		{"less than said", fmt.Sprint("Content-Length: ", len(body)+10), body},
		{"no last chunk", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n", len(body), body)},
		{"chunk cut off", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s", len(body)+10, body)},
		{"wrong chunk", "Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%sxx0\r\n\r\n", len(body), body)},
	} {
		got := w.raw(w.head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json", tt.head) + tt.body)
		wantStatus(t, tt.name, got, 400)
		w.agent.silent(t, tt.name)
	}
	got := w.raw(w.head("POST /agents/rec HTTP/1.1", "A2A-Version: 1.0", "Content-Type: application/json",
		fmt.Sprint("Content-Length: ", len(body)-1)) + body)
	wantStatus(t, "more than said", got, 200)
	if !strings.Contains(got.body, "-32700") {
		t.Errorf("more than said: %s", got.body)
	}
	w.agent.silent(t, "more than said")
}
