package server

import (
	"strings"
	"testing"
)

func TestL02_UnderscoreAndDotFields(t *testing.T) {
	t.Parallel()
	var cases []rawCase
	for _, name := range []string{
		"X_Forwarded_For", "A2A_Extensions", "Content_Length", "Transfer_Encoding", "x_gateway_subject",
		"_", "X-Forwarded_For", "X.Forwarded.For", "A2A.Version", ".",
	} {
		cases = append(cases, rawCase{name, get("/", name+": 1"), "", 400})
	}
	chunked := "POST / HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\nTrailer: "
	runRaw(t, append(cases,
		rawCase{"trailer", chunked + "X_Checksum", "0\r\nX_Checksum: 1\r\n\r\n", 400},
		rawCase{"trailer with hyphens", chunked + "X-Checksum", "0\r\nX-Checksum: 1\r\n\r\n", 204},
		rawCase{"hyphens", get("/", "X-Forwarded-For: 1.2.3.4"), "", 204},
	))
}

func TestL03_ConnectionTokens(t *testing.T) {
	t.Parallel()
	var cases []rawCase
	add := func(want int, names ...string) {
		for _, name := range names {
			cases = append(cases,
				rawCase{name, get("/", "Connection: "+name), "", want},
				rawCase{name + " after close", get("/", "Connection: close, "+name), "", want},
				rawCase{name + " in a second line", get("/", "Connection: keep-alive", "Connection: "+name), "", want},
				rawCase{name + " behind an empty line", get("/", "Connection:", "Connection: "+name), "", want},
				rawCase{name + " behind an empty element", get("/", "Connection: ,,"+name+","), "", want},
				rawCase{name + " behind what is taken off", get("/", "Connection: upgrade, "+name), "", want},
			)
		}
	}
	add(400, "A2A-Extensions", "Authorization", "X-Gateway-Subject", "authorization", "AUTHORIZATION", "aUtHoRiZaTiOn",
		"A2A-Version", "x-a2a-extensions", "Content-Type", "content-length", "Host", "Transfer-Encoding", "Connection", "Expect",
		"Cookie", "DPoP", "X-API-Key", "Accept", "accept-language", "X-Forwarded-For", "Forwarded", "X-Real-IP", "traceparent",
		"Last-Event-ID", "Idempotency-Key", "Via", "If-None-Match", "\"close\"", "close;a", "up grade", "@")
	add(204, "TE", "Upgrade", "upgrade", "uPGRADE", "HTTP2-Settings", "Keep-Alive", "Proxy-Connection", "Trailer", "close2", "X-Custom", "te, upgrade")
	runRaw(t, append(cases,
		rawCase{"close", get("/", "Connection: close"), "", 204},
		rawCase{"keep-alive", get("/", "Connection: Keep-Alive"), "", 204},
		rawCase{"both", get("/", "Connection: keep-alive , CLOSE"), "", 204},
		rawCase{"empty", get("/", "Connection:"), "", 204},
	))
}

func TestL05_CredentialsInURL(t *testing.T) {
	t.Parallel()
	var cases []rawCase
	for _, name := range []string{
		"api_key", "apikey", "apiKey", "API-KEY", "x-api-key", "key", "token", "access_token", "accessToken",
		"access.token", "id_token", "jwt", "authorization", "password", "client_secret", "a%70i_key", "api%5Fkey",
	} {
		cases = append(cases,
			rawCase{name, get("/?" + name + "=v"), "", 400},
			rawCase{name + " last", get("/?pageSize=1&" + name), "", 400})
	}
	runRaw(t, append(cases,
		rawCase{"userinfo", get("http://user:pass@localhost/"), "", 400},
		rawCase{"userinfo in Host", "GET / HTTP/1.1\nHost: user:pass@localhost", "", 400},
		rawCase{"pageToken", get("/tasks?pageToken=abc&contextId=1&A2A-Version=1.0"), "", 204},
		rawCase{"tokens of another name", get("/?keys=1&token2=1&monkey=1"), "", 204},
	))
}

func TestL07_Host(t *testing.T) {
	t.Parallel()
	var cases []rawCase
	for _, host := range []string{
		"", "user@localhost", "localhost/path", "localhost:port", "localhost:0", "localhost:65536", "a b", "a,b",
		"localhost.", ".localhost", "a..b", "%6cocalhost", "[::1", "[::1]x", "[fe80::1%25eth0]",
		"[::ffff:127.0.0.1]",
		"::1", "*", "localhost:80:80", "[127.0.0.1]", "local\\host", strings.Repeat("a", 64), "ä",
	} {
		cases = append(cases, rawCase{"host " + host, "GET / HTTP/1.1\nHost: " + host, "", 400})
	}
	runRaw(t, append(cases,
		rawCase{"absent", "GET / HTTP/1.1", "", 400},
		rawCase{"absent on 1.0", "GET / HTTP/1.0", "", 400},
		rawCase{"double", get("/", "Host: localhost"), "", 400},
		rawCase{"double, different", get("/", "Host: evil"), "", 400},
		rawCase{"absolute form, other host", get("http://evil/"), "", 400},
		rawCase{"absolute form", get("http://localhost/"), "", 204},
		rawCase{"absolute form, https", get("HTTPS://localhost/agents/a?b=c"), "", 204},
		rawCase{"absolute form, another case", get("http://LocalHost:80/"), "", 204},
		rawCase{"absolute form, no path", get("http://localhost"), "", 204},
		rawCase{"absolute form, a port", get("http://localhost:8080/"), "", 400},
		rawCase{"absolute form, both with a port", "GET http://localhost:8080/ HTTP/1.1\nHost: localhost:8080", "", 204},
		rawCase{"absolute form, another port in Host", "GET http://localhost:8080/ HTTP/1.1\nHost: localhost:8081", "", 400},
		rawCase{"absolute form, empty Host", "GET http://localhost/ HTTP/1.1\nHost:", "", 400},
		rawCase{"absolute form, no Host", "GET http://localhost/ HTTP/1.1", "", 400},
		rawCase{"absolute form, HTTP/1.0", "GET http://localhost/ HTTP/1.0\nHost: localhost", "", 204},
		rawCase{"absolute form, no host", get("http:///a"), "", 400},
		rawCase{"absolute form, no slashes", get("http:/a"), "", 400},
		rawCase{"absolute form, opaque", get("http:localhost"), "", 400},
		rawCase{"absolute form, another scheme", get("ftp://localhost/"), "", 400},
		rawCase{"absolute form, a user", get("http://a@localhost/"), "", 400},
		rawCase{"absolute form, an empty user", get("http://@localhost/"), "", 400},
		rawCase{"absolute form, another path", get("http://localhost/a/../b"), "", 400},
		rawCase{"absolute form, two slashes", get("http://localhost//evil/"), "", 400},
		rawCase{"absolute form, a credential", get("http://localhost/?token=1"), "", 400},
		rawCase{"absolute form, a host in its encoding", get("http://%6cocalhost/"), "", 400},
		rawCase{"absolute form, a dot at the end", get("http://localhost./"), "", 400},
		rawCase{"authority form", get("localhost:80"), "", 400},
		rawCase{"name", "GET / HTTP/1.1\nHost: Gateway_1.example.com:8443", "", 204},
		rawCase{"IPv4", "GET / HTTP/1.1\nHost: 127.0.0.1:8443", "", 204},
		rawCase{"IPv6", "GET / HTTP/1.1\nHost: [::1]:8443", "", 204},
		rawCase{"empty port", "GET / HTTP/1.1\nHost: localhost:", "", 204},
	))
}

func TestL09_RepeatedSingletons(t *testing.T) {
	t.Parallel()
	var cases []rawCase
	for _, line := range []string{
		"Content-Type: application/json", "A2A-Version: 1.0", "a2a-version: 0.3",
		"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Content-Encoding: identity",
		"Last-Event-ID: 1",
	} {
		cases = append(cases,
			rawCase{line, get("/", line), "", 204},
			rawCase{line + " twice", get("/", line, line), "", 400},
			rawCase{line + " twice in two cases", get("/", line, strings.ToUpper(line)), "", 400})
	}
	runRaw(t, append(cases, rawCase{"extensions are a list", get("/", "A2A-Extensions: a",
		"A2A-Extensions: b"), "", 204}, rawCase{"Accept is a list", get("/", "accept: */*",
		"Accept: text/event-stream"), "", 204}))
}

func TestL11_PathIsCanonical(t *testing.T) {
	t.Parallel()
	var cases []rawCase
	for _, path := range []string{
		"/agents/../x", "/agents/./x", "/..", "/.", "/agents/..", "/agents/.", "/agents/.../x", "//agents",
		"/agents//x",
		"/agents//", "//", "//evil.example/x", "///", "/%2e%2e/x", "/%2E%2E/x", "/.%2e/x", "/agents%2fx",
		"/agents%2Fx",
		"/agents%5cx", "/agents%5Cx", "/agents\\x", "/agents;x", "/agents;v=1/x", "/agents%3bx", "/agents%3Bx",
		"/agents/x%00",
		"/agents/x%0a", "/agents/x%0D%0A", "/agents/x%7F", "/agents/x%09", "/%c0%af", "/%C0%AF",
		"/%C0%AE%C0%AE/", "/%FF",
		"/%ED%A0%80", "/%E0%80%AF", "/%252e%252e", "/%25", "/%2541", "/%41gents", "/agents%3Ax", "/agents%7Ex",
		"/a%c3%a9",
		"/a\xc3\xa9", "/%", "/%4", "/%zz", "/%u002e", "*", "agents", "",
	} {
		cases = append(cases, rawCase{"path " + path, get(path), "", 400})
	}
	for _, path := range []string{
		"/", "/agents/billing", "/agents/billing/", "/agents/billing/v1/message:send", "/tasks/7:cancel",
		"/a%20b", "/a%C3%A9",
		"/.well-known/agent-card.json", "/agents/a.b.c", "/agents/..x", "/a@b,c=d+e$f&g", "/a~b_c-d", "/a%21",
	} {
		cases = append(cases, rawCase{"path " + path, get(path), "", 204})
	}
	runRaw(t, cases)
}

func TestL12_Fragment(t *testing.T) {
	t.Parallel()
	runRaw(t, []rawCase{
		{"path", get("/agents#x"), "", 400},
		{"end", get("/agents#"), "", 400},
		{"query", get("/agents?a=1#x"), "", 400},
		{"encoded, in the query", get("/agents?a=%23x"), "", 204},
	})
}

func TestL13_Query(t *testing.T) {
	t.Parallel()
	runRaw(t, []rawCase{
		{"64 parameters", get("/?" + strings.TrimSuffix(many(64, "a%d=1&"), "&")), "", 204},
		{"65 parameters", get("/?" + strings.TrimSuffix(many(65, "a%d=1&"), "&")), "", 414},
		{"65 empty parameters", get("/?" + strings.Repeat("&", 64)), "", 414},
		{"10000 parameters and a hidden one", get("/?" + strings.Repeat("&", 4000) + "api_key=1"), "", 414},
		{"4 KiB", get("/?a=" + strings.Repeat("x", 4094)), "", 204},
		{"more than 4 KiB", get("/?a=" + strings.Repeat("x", 4095)), "", 414},
		{"semicolon", get("/?a=1;b=2"), "", 400},
		{"cut escape", get("/?a=%4"), "", 400},
		{"no escape", get("/?a=%zz"), "", 400},
		{"no escape in a name", get("/?%zz=1"), "", 400},
		{"NUL", get("/?a=%00"), "", 400},
		{"line end", get("/?a=%0d%0a"), "", 400},
		{"invalid UTF-8", get("/?a=%ff"), "", 400},
		{"overlong", get("/?a=%c0%af"), "", 400},
		{"nothing", get("/?"), "", 204},
		{"plus and escapes", get("/?a=b+c%20d%C3%A9"), "", 204},
	})
}

func TestL15_Verbs(t *testing.T) {
	t.Parallel()
	var cases []rawCase
	for _, verb := range []string{"TRACE", "CONNECT", "get", "Post", "GETT", "PROPFIND", "PRI",
		strings.Repeat("A", 32)} {
		cases = append(cases, rawCase{verb, verb + " / HTTP/1.1\nHost: localhost", "", 405})
	}
	for _, verb := range []string{"GET", "HEAD", "DELETE", "OPTIONS"} {
		start := verb + " / HTTP/1.1\nHost: localhost\n"
		cases = append(cases,
			rawCase{verb, strings.TrimSpace(start), "", 204},
			rawCase{verb + " length 0", start + "Content-Length: 0", "", 204},
			rawCase{verb + " with a body", start + "Content-Length: 2", "{}", 400},
			rawCase{verb + " with chunks", start + "Transfer-Encoding: chunked", "2\r\n{}\r\n0\r\n\r\n", 400},
			rawCase{verb + " with no chunks", start + "Transfer-Encoding: chunked", "0\r\n\r\n", 400})
	}
	runRaw(t, append(cases,
		rawCase{"CONNECT as proxies do", "CONNECT evil:443 HTTP/1.1\nHost: evil:443", "", 405},
		rawCase{"a method of 33 letters", strings.Repeat("A", 33) + " / HTTP/1.1\nHost: localhost", "", 400},
		rawCase{"OPTIONS *", "OPTIONS * HTTP/1.1\nHost: localhost", "", 204},
		rawCase{"OPTIONS of a host", "OPTIONS http://localhost HTTP/1.1\nHost: localhost", "", 204},
		rawCase{"OPTIONS of a host, with a path", "OPTIONS http://localhost/ HTTP/1.1\nHost: localhost", "", 204},
		rawCase{"OPTIONS of another host", "OPTIONS http://evil HTTP/1.1\nHost: localhost", "", 400},
		rawCase{"OPTIONS of another scheme", "OPTIONS ftp://localhost HTTP/1.1\nHost: localhost", "", 400},
		rawCase{"OPTIONS * with a query", "OPTIONS *?a=b HTTP/1.1\nHost: localhost", "", 400},
		rawCase{"OPTIONS ** ", "OPTIONS ** HTTP/1.1\nHost: localhost", "", 400},
		rawCase{"OPTIONS * with a body", "OPTIONS * HTTP/1.1\nHost: localhost\nContent-Length: 2", "{}", 400},
		rawCase{"POST *", "POST * HTTP/1.1\nHost: localhost", "", 400},
		rawCase{"POST with a body", "POST / HTTP/1.1\nHost: localhost\nContent-Length: 2", "{}", 204},
		rawCase{"POST without", "POST / HTTP/1.1\nHost: localhost", "", 204},
		rawCase{"Expect", "POST / HTTP/1.1\nHost: localhost\nExpect: 200-ok\nContent-Length: 2", "{}", 417},
	))
}

func TestL16_Upgrade(t *testing.T) {
	t.Parallel()
	runRaw(t, []rawCase{
		// What the JDK's client sends. It is served, in HTTP/1.1.
		{"h2c", get("/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
			"HTTP2-Settings: AAMAAABkAAQAAP__"), "", 204},
		{"h2c and more", get("/", "Connection: Upgrade, HTTP2-Settings, Authorization", "Upgrade: h2c",
			"HTTP2-Settings: AAMAAABkAAQAAP__"), "", 400},
		// What nginx says of every request with its usual lines for WebSockets.
		{"Connection alone", get("/", "Connection: upgrade"), "", 204},
		{"Connection and an empty Upgrade", get("/", "Connection: upgrade", "Upgrade:"), "", 204},
		// Offers are not answered, whatever they are of: no connection becomes another's.
		{"h2c and websocket", get("/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c, websocket",
			"HTTP2-Settings: AAMAAABkAAQAAP__"), "", 204},
		{"h2c twice", get("/", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "Upgrade: h2c",
			"HTTP2-Settings: AAMAAABkAAQAAP__"), "", 204},
		{"h2c, two Connections", get("/", "Connection: Upgrade", "Connection: HTTP2-Settings", "Upgrade: h2c",
			"HTTP2-Settings: AAMAAABkAAQAAP__"), "", 204},
		{"h2c without settings", get("/", "Connection: Upgrade", "Upgrade: h2c"), "", 204},
		{"websocket", get("/", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"), "", 204},
		{"a WebSocket", get("/", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="), "", 400},
		{"without Connection", get("/", "Upgrade: h2c"), "", 204},
		{"empty", get("/", "Upgrade:"), "", 204},
		{"settings alone", get("/", "HTTP2-Settings: AAMAAABkAAQAAP__"), "", 204},
		{"TE", get("/", "Connection: TE", "TE: trailers"), "", 204},
		{"TE alone", get("/", "TE: gzip, trailers;q=0.5"), "", 204},
		{"what proxies said once", get("/", "Proxy-Connection: keep-alive", "Keep-Alive: timeout=5"), "", 204},
	})
}

func TestL22_Sizes(t *testing.T) {
	t.Parallel()
	runRaw(t, []rawCase{
		{"100 fields", get("/", strings.TrimSpace(many(100, "X-%d: 1\n"))), "", 204},
		{"101 fields", get("/", strings.TrimSpace(many(101, "X-%d: 1\n"))), "", 431},
		{"101 lines of one field", get("/", strings.TrimSpace(strings.Repeat("X-A: 1\n", 101))), "", 431},
		{"target 8 KiB", get("/" + strings.Repeat("a", 8<<10-1)), "", 204},
		{"target longer", get("/" + strings.Repeat("a", 8<<10)), "", 414},
		{"target longer, in absolute form", get("http://localhost/" + strings.Repeat("a", 8<<10)), "", 414},
		{"head 48 KiB", get("/", "X-A: "+strings.Repeat("a", 48<<10)), "", 431},
		{"field 40 KiB", get("/", "X-A: "+strings.Repeat("a", 40<<10)), "", 204},
		{"target 100 KiB", get("/" + strings.Repeat("a", 100<<10)), "", 414},
		{"method 100 KiB", strings.Repeat("A", 100<<10) + " / HTTP/1.1\nHost: localhost", "", 400},
	})
}

func TestL23_ContentEncoding(t *testing.T) {
	t.Parallel()
	post := "POST / HTTP/1.1\nHost: localhost\nContent-Length: 2\nContent-Encoding: "
	runRaw(t, []rawCase{
		{"gzip", post + "gzip", "{}", 415},
		{"br", post + "br", "{}", 415},
		{"nested", post + "identity, gzip", "{}", 415},
		{"unknown", post + "x", "{}", 415},
		{"identity", post + "identity", "{}", 204},
		{"IDENTITY", post + "IDENTITY", "{}", 204},
		{"empty", post, "{}", 204},
		{"transfer coding", "POST / HTTP/1.1\nHost: localhost\nTransfer-Encoding: gzip, chunked", "0\r\n\r\n", 501},
	})
}
