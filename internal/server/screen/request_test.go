package screen

import (
	"bufio"
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

// usual are the limits that server.limits has by default.
func usual() Limits { return Limits{Target: 8 << 10, Query: 4 << 10, Parameters: 64, Fields: 100} }

// parse reads a request as net/http's server does.
func parse(tb testing.TB, text string) *http.Request {
	tb.Helper()
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(text, "\n",
		"\r\n") + "\r\n\r\n")))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// typical is a call as the Go SDK sends it, with a few fields of proxies.
func typical(tb testing.TB) *http.Request {
	return parse(tb, `POST /agents/billing/v1/message:send?A2A-Version=1.0&pageSize=10 HTTP/1.1
Host: gateway.example.com:8443
User-Agent: a2a-go/2.4.0
Content-Length: 700
Content-Type: application/json
Accept: application/json, text/event-stream
Accept-Encoding: gzip
A2A-Version: 1.0
A2A-Extensions: https://example.com/ext/a/v1
Authorization: Bearer abc
Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
X-Forwarded-For: 192.0.2.1
Connection: keep-alive`)
}

func TestRequestAllocatesNothing(t *testing.T) {
	r, lim := typical(t), usual()
	n := testing.AllocsPerRun(1000, func() {
		if e := Request(r, lim); e != nil {
			t.Fatal(e)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkRequest(b *testing.B) {
	r, lim := typical(b), usual()
	b.ReportAllocs()
	for b.Loop() {
		if e := Request(r, lim); e != nil {
			b.Fatal(e)
		}
	}
}

// FuzzRequestTarget: what is let through has one spelling, climbs nowhere, and
// reads the same to net/url.
func FuzzRequestTarget(f *testing.F) {
	for _, s := range []string{
		"/agents/x/message:send", "/a%20b?c=d+e", "/../x", "/a//b", "/%2e", "/%41", "/;a", "/?api_key=1", "/#",
		"/?a;b", "/?%ff",
		"/?a=%00", "/%C3%A9", "http://h/", "http://h", "http://h?a=b", "http:h", "http://u@h/", "http://h//", "http:///", "//h", "http://h#/", "*", "/a%5Cb", "/%252e",
	} {
		f.Add(s)
	}
	lim := usual()
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil {
			return
		}
		host := cmp.Or(u.Host, "localhost")
		if u.Host != "" {
			u.Path = cmp.Or(u.Path, "/") // as package http1 reads it
		}
		r := &http.Request{Method: "GET", URL: u, RequestURI: target, Host: host, ProtoMajor: 1, Header: http.Header{"Host": {host}}}
		if Request(r, lim) != nil {
			return
		}
		if u.Host != "" { // the rest is a path like any other
			_, behind, _ := strings.Cut(target, "://")
			target = strings.TrimPrefix(behind, u.Host)
		}
		path, query, _ := strings.Cut(target, "?")
		if u.Host != "" {
			path = cmp.Or(path, "/")
		}
		if canonical := (&url.URL{Path: u.Path}).EscapedPath(); canonical != path {
			t.Fatalf("%q passed, canonical %q", path, canonical)
		}
		for _, segment := range strings.Split(strings.Trim(u.Path, "/"), "/") {
			if u.Path != "/" && strings.Trim(segment, ".") == "" {
				t.Fatalf("%q passed with segment %q", target, segment)
			}
		}
		if strings.ContainsAny(u.Path, "\\;%\x00\r\n\x7f") || !utf8.ValidString(u.Path) {
			t.Fatalf("%q passed", target)
		}
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatalf("query %q passed: %v", query, err)
		}
		for name := range values {
			if strings.EqualFold(name, "api_key") || strings.EqualFold(name, "access_token") || name == "key" {
				t.Fatalf("%q passed", query)
			}
		}
	})
}
