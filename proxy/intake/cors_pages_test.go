package intake_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// saysToPages are the fields of an answer that are for browsers.
func saysToPages(h http.Header) (names []string) {
	for name := range h {
		if strings.HasPrefix(name, "Access-Control-") {
			names = append(names, name+": "+strings.Join(h[name], "; "))
		}
	}
	return names
}

// variesByOrigin reports whether caches are told that another page gets another answer.
func variesByOrigin(h http.Header) bool {
	for name := range strings.SplitSeq(strings.Join(h["Vary"], ","), ",") {
		if strings.EqualFold(strings.TrimSpace(name), "Origin") {
			return true
		}
	}
	return false
}

// TestL45_AgentsInStreamsAndErrors: what an agent says to pages passes in no answer, whatever
// the answer is and whoever asks.
func TestL45_AgentsInStreamsAndErrors(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, withPages)
	broken := func(rw http.ResponseWriter, _ *proxytest.Request) {
		http.Error(rw, "broken", http.StatusInternalServerError)
	}
	refused := func(rw http.ResponseWriter, r *proxytest.Request) {
		_, _ = fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"none"}}`, r.RPC().ID)
	}
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, *proxytest.Request)
		ask    func(origin string) proxytest.Response
	}{
		"answer": {proxytest.Agreeable, func(o string) proxytest.Response { return w.Call("alice", "SendMessage", proxytest.Message(""), o) }},
		"stream": {proxytest.Agreeable, func(o string) proxytest.Response {
			return w.Call("alice", "SendStreamingMessage", proxytest.Message(""), o)
		}},
		"HTTP+JSON": {proxytest.Agreeable, func(o string) proxytest.Response {
			return w.Do("alice", "POST", "/message:stream", proxytest.Message(""), o, "A2A-Version: 1.0")
		}},
		"error":  {refused, func(o string) proxytest.Response { return w.Call("alice", "SendMessage", proxytest.Message(""), o) }},
		"broken": {broken, func(o string) proxytest.Response { return w.Call("alice", "SendMessage", proxytest.Message(""), o) }},
		"redirect": {func(rw http.ResponseWriter, r *proxytest.Request) {
			http.Redirect(rw, r.Request, "https://evil.example/", http.StatusFound)
		}, func(o string) proxytest.Response { return w.Call("alice", "SendMessage", proxytest.Message(""), o) }},
	} {
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			for _, field := range []string{"Allow-Origin", "Allow-Credentials", "Allow-Methods", "Allow-Headers", "Expose-Headers", "Max-Age", "Allow-Private-Network"} {
				rw.Header().Set("Access-Control-"+field, "of-the-agent")
			}
			tt.answer(rw, r)
		})
		for origin, want := range map[string]int{"Origin: " + page: 2, "Origin: https://of-the-agent": 0, "Origin: null": 0, "X-Custom: no origin": 0} {
			got := tt.ask(origin)
			said := saysToPages(got.Header)
			if len(said) != want || strings.Contains(fmt.Sprint(got.Header), "of-the-agent") || !variesByOrigin(got.Header) {
				t.Errorf("%s: %s: %d %v, Vary %q", name, origin, got.Status, said, got.Header["Vary"])
			}
		}
	}
}

// TestL45_PrivateNetwork: a page of the internet gets no leave to reach into a network by
// asking for it (Private Network Access).
func TestL45_PrivateNetwork(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, withPages)
	for _, name := range []string{"Private-Network", "Local-Network"} {
		got := w.Do("", http.MethodOptions, "", "", "Origin: "+page, "Access-Control-Request-Method: POST", "Access-Control-Request-"+name+": true")
		plain := preflight(w, "", page)
		if got.Status != http.StatusNoContent || len(saysToPages(got.Header)) != len(saysToPages(plain.Header)) || got.Header.Get("Access-Control-Allow-"+name) != "" {
			t.Errorf("%s: %d %v", name, got.Status, got.Header)
		}
	}
}

// TestL45_NoWebSockets: CORS says nothing of WebSockets, which pages of all origins may open:
// there is none to open.
func TestL45_NoWebSockets(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, withPages)
	for _, origin := range []string{page, "https://evil.example"} {
		for _, target := range []string{"/agents/rec", "/agents/rec/", "/a2a", "/agents", "/"} {
			got := w.Raw(w.Head("GET "+target+" HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Origin: "+origin,
				"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
			if got.Status == http.StatusSwitchingProtocols || got.Header.Get("Upgrade") != "" || got.Header.Get("Sec-Websocket-Accept") != "" {
				t.Errorf("%s from %s: %d %v", target, origin, got.Status, got.Header)
			}
		}
	}
	w.Agent.Silent(t, "WebSockets")
}

// TestL45_PreflightBelowAPath: pages may call below a path as elsewhere, and are told nothing
// of what is there either.
func TestL45_PreflightBelowAPath(t *testing.T) {
	t.Parallel()
	eachPrefix(t, func(t *testing.T, w *proxytest.Gateway, out func(string) string) {
		var first string
		for _, path := range []string{"/agents/rec", "/agents/rec/message:send", "/agents/none", "/a2a", "/agents", "/nothing", "/.well-known/jwks.json"} {
			got := preflight(w, out(w.URL+"/a2a"+path), page, "authorization")
			got.Header.Del("X-Request-Id")
			got.Header.Del("Date")
			if first == "" {
				first = fmt.Sprint(got.Header)
			}
			if got.Status != http.StatusNoContent || fmt.Sprint(got.Header) != first {
				t.Errorf("%s: %d %v, elsewhere %s", path, got.Status, got.Header, first)
			}
		}
		if got := preflight(w, out(w.URL+"/a2a/agents/rec"), "https://evil.example"); got.Status != 403 || len(saysToPages(got.Header)) != 0 || !variesByOrigin(got.Header) {
			t.Errorf("another page: %d %v", got.Status, got.Header)
		}
	}, withPages)
}

// TestL45_UnreadRequests: a page reads what is said to its request, and nothing of what is said
// before there is one, when nobody knows where it comes from.
func TestL45_UnreadRequests(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, withPages)
	long := strings.Repeat("x", 1<<20)
	for status, head := range map[int]string{
		414: w.Head("GET /"+long+" HTTP/1.1", "Origin: "+page),
		431: w.Head("GET / HTTP/1.1", "Origin: "+page, "X-Custom: "+long),
		400: w.Head("GET / HTTP/1.1", "Origin: "+page, "A_B: c"),
		413: w.Head("POST /agents/rec HTTP/1.1", "Origin: "+page, "Content-Type: application/json", "Content-Length: 999999999"),
		505: w.Head("GET / HTTP/3.0", "Origin: "+page),
	} {
		got := w.Raw(head)
		want := ""
		if status == 400 || status == 413 {
			want = page
		}
		if got.Status != status || got.Header.Get("Access-Control-Allow-Origin") != want {
			t.Errorf("want %d for %q: %d %v", status, want, got.Status, got.Header)
		}
	}
}
