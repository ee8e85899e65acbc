package forward_test

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// odd are bodies that only a gateway which re-encodes would change.
var odd = []string{
	proxytest.Message(`,"unknown":{"a":[1,2,{"b":null}]},"x_y":1e400`),
	proxytest.Message(`,"metadata":{"n":12345678901234567890123,"f":1.10,"e":1E+2,"z":-0.0}`),
	proxytest.Message(`,"metadata":{"s":"\u0061\/\ud83d\ude00\u2028"}`),
	"{ \"message\"\t:\n{\r\n\"messageId\" : \"m\" ,\"parts\":[ ] } , \"later\" : [ ] }",
	proxytest.Message(`,"metadata":{"dup":{"a":1},"é":"ü😀"}`),
}

// TestUnaryBytes: what is not the gateway's business passes byte for byte.
func TestUnaryBytes(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for i, params := range odd {
		for _, id := range []string{"7", `"7"`, "9007199254740993", `"\u0061\/b"`, "-1", `""`} {
			body := fmt.Sprintf("{\"jsonrpc\" : \"2.0\", \"id\":%s ,\n\"method\":\"SendMessage\",\"params\":%s}\n", id, params)
			result := fmt.Sprintf(" {\"jsonrpc\":\"2.0\", \"id\": %s,\"x\":1e400,\n\"result\":{\"task\":"+
				"{\"id\":\"t\",\"unknown\":[%s],\"status\":{}}}}\n", id, params)
			w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
				rw.Header().Set("Content-Type", "application/json; charset=utf-8")
				_, _ = io.WriteString(rw, result)
			})
			got := w.Do("alice", "POST", "", body, "A2A-Version: 1.0")
			proxytest.WantStatus(t, fmt.Sprint(i, id), got, 200)
			if seen := string(w.Agent.One(t).Content); seen != body {
				t.Errorf("%d, id %s: agent got\n%s\nwant\n%s", i, id, seen, body)
			}
			if got.Body != result {
				t.Errorf("%d, id %s: caller got\n%s\nwant\n%s", i, id, got.Body, result)
			}
			if media := got.Header.Get("Content-Type"); media != "application/json; charset=utf-8" {
				t.Errorf("media type %q", media)
			}
		}
	}
}

// TestUnaryBytesHTTP is TestUnaryBytes for HTTP+JSON, path and query included.
func TestUnaryBytesHTTP(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	result := "{ \"task\":{\"id\":\"t\", \"x\":1.0e2,\"status\":{ } }}"
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/a2a+json")
		rw.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(rw, result)
	})
	for i, body := range odd {
		got := w.Do("alice", "POST", "/message:send?x=1&y=%20&A2A-Version=1.0&z", body)
		seen := w.Agent.One(t)
		if string(seen.Content) != body || seen.URL.RequestURI() != "/rest/message:send?x=1&y=%20&z" {
			t.Errorf("%d: agent got %s\n%s", i, seen.URL, seen.Content)
		}
		if got.Status != http.StatusCreated || got.Body != result {
			t.Errorf("%d: caller got %d\n%s", i, got.Status, got.Body)
		}
	}
}

// TestUnaryLabelHTTP: an answer is application/a2a+json if the agent says so, but not for a
// caller who takes application/json alone.
func TestUnaryLabelHTTP(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	result := `{"task":{"id":"t","status":{ } }}`
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/a2a+json")
		_, _ = io.WriteString(rw, result)
	})
	for accept, want := range map[string]string{
		"":                 "application/a2a+json",
		"*/*":              "application/a2a+json",
		"text/plain":       "application/a2a+json",
		"application/json": "application/json",
		"Application/JSON; q=0.9, text/event-stream": "application/json",
		"application/json, application/*":            "application/a2a+json",
		"application/json, application/a2a+json":     "application/a2a+json",
		"application/json, application/a2a+json;q=0": "application/json",
	} {
		got := w.Do("alice", "POST", "/message:send", proxytest.Message(""), "A2A-Version: 1.0", "Accept: "+accept)
		if media := got.Header.Get("Content-Type"); got.Status != http.StatusOK || got.Body != result || media != want {
			t.Errorf("Accept: %s: %d, %s, want %s\n%s", accept, got.Status, media, want, got.Body)
		}
		w.Agent.Take()
	}
}

// TestBigIDIsRestored: an agent that read the id into a float answers with
// another one; the caller gets its own.
func TestBigIDIsRestored(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(rw, `{"result":{"message":{"messageId":"a"}},"id": 9007199254740992 ,"jsonrpc":"2.0"}`)
	})
	got := w.Do("alice", "POST", "",
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"SendMessage","params":`+proxytest.Message("")+`}`, "A2A-Version: 1.0")
	want := `{"result":{"message":{"messageId":"a"}},"id": 9007199254740993 ,"jsonrpc":"2.0"}`
	if got.Body != want {
		t.Errorf("got %s", got.Body)
	}
}

// TestLargeAnswerArray: an answer may hold a larger array than a request.
func TestLargeAnswerArray(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	rows := strings.TrimSuffix(strings.Repeat("1,", 50_000), ",")
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		proxytest.Respond(rw, r, `{"message":{"messageId":"a","parts":[{"data":[`+rows+`]}]}}`)
	})
	proxytest.WantStatus(t, "answer", w.Call("alice", "SendMessage", proxytest.Message("")), 200)
	w.Agent.Take()
	got := w.Call("alice", "SendMessage", proxytest.Message(`,"metadata":{"rows":[`+rows+`]}`))
	if !strings.Contains(got.Body, `"code":-32`) {
		t.Errorf("request: %s", got.Body)
	}
	w.Agent.Silent(t, "a request with a large array")
}

func TestL16_AgentSwitchesProtocols(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, to := range []string{"h2c", "websocket"} {
		// The connection stays open: nothing may wait for a body that never comes.
		stay := make(chan struct{})
		w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
			c, _, err := http.NewResponseController(rw).Hijack()
			proxytest.Must(t, err)
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+to+"\r\n\r\n")
			<-stay
			_ = c.Close()
		})
		got := w.Call("alice", "SendMessage", proxytest.Message(""))
		close(stay)
		proxytest.WantStatus(t, to, got, 502)
		if got.Header.Get("Upgrade") != "" {
			t.Errorf("%s: the caller got an Upgrade", to)
		}
	}
}

func TestL16_CallerUpgrades(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	// Offers are not answered: what comes is what would come without.
	for path, want := range map[string]int{
		"/agents/rec": 200, "/agents/rec/tasks/1": 404, "/agents/rec/.well-known/agent-card.json": 200,
	} {
		for _, lines := range [][]string{{"Connection: Upgrade", "Upgrade: websocket"}, {"Upgrade: h2c"}} {
			got := w.Raw(w.Head("GET "+path+" HTTP/1.1", lines...))
			proxytest.WantStatus(t, path, got, want)
			if got.Header.Get("Upgrade") != "" || got.Header.Get("Connection") == "Upgrade" {
				t.Errorf("%s: %v", path, got.Header)
			}
		}
		got := w.Raw(w.Head("GET "+path+" HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
			"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
		proxytest.WantStatus(t, path, got, 400)
		if !strings.Contains(got.Body, "WebSockets are not offered") {
			t.Errorf("%s: %s", path, got.Body)
		}
	}
	w.Agent.Silent(t, "upgrade")

	// The offer that the JDK's client makes is declined, and goes no further.
	body := proxytest.RPCBody("SendMessage", proxytest.Message(""))
	got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
		"HTTP2-Settings: AAMAAABkAAQAAP__", "Content-Type: application/json", "A2A-Version: 1.0",
		"Content-Length: "+strconv.Itoa(len(body))) + body)
	proxytest.WantStatus(t, "the offer of h2c", got, 200)
	seen := w.Agent.One(t).Header
	if seen["Upgrade"] != nil || seen["Http2-Settings"] != nil || got.Header.Get("Upgrade") != "" {
		t.Errorf("the agent got %v; the caller got %v", seen, got.Header)
	}
}

// TestL23_CompressedAnswer: nobody asked for it and nobody could check it.
func TestL23_CompressedAnswer(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, media := range []string{"application/json", "text/event-stream"} {
		for _, coding := range []string{"gzip", "br", "x", "identity, gzip"} {
			w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
				rw.Header().Set("Content-Type", media)
				rw.Header().Set("Content-Encoding", coding)
				_, _ = rw.Write(make([]byte, 10<<10))
			})
			for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
				got := w.Call("alice", method, proxytest.Message(""), "Accept-Encoding: gzip")
				proxytest.WantStatus(t, media+" "+coding, got, 502)
				if seen := w.Agent.One(t); seen.Header.Get("Accept-Encoding") != "identity" {
					t.Errorf("the agent was asked for %q", seen.Header.Get("Accept-Encoding"))
				}
			}
		}
	}
}

func TestL23_CompressedRequest(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	proxytest.WantStatus(t, "gzip", w.Call("alice", "SendMessage", proxytest.Message(""), "Content-Encoding: gzip"), 415)
	w.Agent.Silent(t, "a compressed body")
}

func TestL22_LargeBodies(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Server.Limits.Body, s.Server.Limits.Answer = 10<<10, 20<<10
	})
	big := proxytest.Message(`,"metadata":{"x":"` + strings.Repeat("x", 10<<10) + `"}`)
	proxytest.WantStatus(t, "known length", w.Call("alice", "SendMessage", big), 413)
	body := proxytest.RPCBody("SendMessage", big)
	got := w.Raw(w.Head("POST /agents/rec HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked") +
		fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body))
	proxytest.WantStatus(t, "chunks", got, 413)
	w.Agent.Silent(t, "a large body")

	for _, flush := range []bool{false, true} {
		w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
			rw.Header().Set("Content-Type", "application/json")
			if flush {
				_ = http.NewResponseController(rw).Flush() // no length in the head
			}
			_, _ = io.WriteString(rw, `{"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":"`+
				strings.Repeat("x", 20<<10)+`"}}}`)
		})
		got := w.Call("alice", "SendMessage", proxytest.Message(""))
		proxytest.WantStatus(t, "answer", got, 502)
		if !strings.Contains(got.Body, "server.limits.answer") {
			t.Errorf("the limit is not named: %s", got.Body)
		}
	}
}

// TestExtendedCardNotDeclared: the agent is not asked for what it does not say
// it has.
func TestExtendedCardNotDeclared(t *testing.T) {
	t.Parallel()
	plain := proxytest.NewAgent(t)
	plain.Doc = func(base string) string {
		return strings.Replace(proxytest.Card(base), `"extendedAgentCard":true`, `"x":1`, 1)
	}
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.More = []agents.Config{{ID: "plain"}}
		s.More[0].Card.URL = secret.URL(plain.URL + "/card")
	})
	got := w.Do("alice", "POST", w.URL+"/agents/plain", proxytest.RPCBody("GetExtendedAgentCard", "{}"), "A2A-Version: 1.0")
	if got.Status != 200 || !strings.Contains(got.Body, `"code":-32004`) || !strings.Contains(got.Body, `"id":7`) {
		t.Errorf("JSON-RPC: %d %s", got.Status, got.Body)
	}
	got = w.Do("alice", "GET", w.URL+"/agents/plain/extendedAgentCard", "", "A2A-Version: 1.0")
	if got.Status != 400 || !strings.Contains(got.Body, "UNSUPPORTED_OPERATION") {
		t.Errorf("HTTP+JSON: %d %s", got.Status, got.Body)
	}
	plain.Silent(t, "an extended card that is not declared")
}

// TestVersionRefusalCarriesID: a caller can match even the refusal of a version.
func TestVersionRefusalCarriesID(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	got := w.Do("alice", "POST", "", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 9.9")
	if !strings.Contains(got.Body, `"id":7`) || !strings.Contains(got.Body, "-32009") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	w.Agent.Silent(t, "an unknown version")
}
