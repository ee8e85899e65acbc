package forward_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// errorBodies are those with which agents, and what stands in front of them, refuse calls
// by their HTTP status, by media type.
var errorBodies = []struct{ media, body string }{
	{"application/json", `{"message":"busy"}`},
	{"application/json", `{"detail":"busy"}`},
	{"application/json", `{"detail":[{"loc":["body"],"msg":"busy"}]}`},
	{"application/json", `{"error":"busy"}`},
	{"application/json", `{"error":{"message":"busy","type":"requests","code":"busy"}}`},
	{"application/json", `{"code":14,"message":"busy","details":[]}`},
	{"application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32000,"message":"busy"}}`},
	{"application/json", `"busy"`},
	{"application/json", `["busy"]`},
	{"application/json", `{"busy":`},
	{"application/problem+json", `{"type":"about:blank","title":"busy","detail":"busy"}`},
	{"text/html", "<h1>busy</h1>"},
	{"text/html", `{"error":"busy"}`},
	{"text/plain; charset=utf-8", "busy"},
	{"text/event-stream", "data: busy\n\n"},
	{"application/octet-stream", "\xff\xfeb\x00u\x00s\x00y\x00"},
	{"", ""},
	{"application/json", ""},
	{"application/grpc", ""},
}

// TestStatusesThatStand: what 402, 413, 429, 503 and 504 say reaches the caller in its
// own words whatever the body, with the time to come back, whether the call is retold or
// not, opens a stream or asks for a task.
func TestStatusesThatStand(t *testing.T) {
	t.Parallel()
	kinds := map[int]*wire.Kind{
		402: wire.PaymentRequired, 413: wire.TooLarge, 429: wire.RateLimited, 503: wire.Unavailable, 504: wire.AgentTimeout,
	}
	statuses := []int{402, 413, 429, 503, 504}
	for _, agent := range proxytest.Sides {
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
			for i, of := range errorBodies {
				status := statuses[i%len(statuses)]
				w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
					rw.Header()["Content-Type"] = nil
					if of.media != "" {
						rw.Header().Set("Content-Type", of.media)
					}
					rw.Header().Set("Retry-After", "7")
					rw.WriteHeader(status)
					_, _ = io.WriteString(rw, of.body)
				})
				for _, caller := range proxytest.Sides {
					sends(w, caller, func(what string, got proxytest.Reply) {
						name := fmt.Sprintf("%s from %s, %d %s %q", what, agent, status, of.media, of.body)
						wantKept(t, name, got, caller, agent, kinds[status])
					})
				}
			}
		})
	}
}

// wantKept holds what a caller got for a refusal by status to the kind that it is.
func wantKept(t *testing.T, name string, got proxytest.Reply, caller, agent wire.Side, want *wire.Kind) {
	t.Helper()
	alike := caller == agent && agent.Binding == wire.HTTPJSON // whose objects go on as they are
	switch {
	case caller.Binding == wire.GRPC:
		if got.Err == nil || got.Err.GRPC != want.GRPC {
			t.Fatalf("%s: %d %v", name, got.Code, got.Err)
		}
	case got.Status != want.HTTP:
		t.Errorf("%s: %d %s", name, got.Status, got.Body)
	case !alike && (got.Err == nil || got.Err.Reason != want.Reason && !proxytest.SameMeaning(caller, got.Err.Kind, want)):
		t.Errorf("%s: %v %s", name, got.Err, got.Body)
	}
	if agent.Binding != wire.HTTPJSON && strings.Contains(got.Body, "busy") {
		t.Errorf("%s: the body got through: %s", name, got.Body)
	}
	if got.Header.Get("Retry-After") != "7" {
		t.Errorf("%s: come back %v", name, got.Header)
	}
	if caller == proxytest.GRPC10 && !strings.Contains(fmt.Sprint(got.Err.Details), "RetryInfo") {
		t.Errorf("%s: details %s", name, got.Err.Details)
	}
}

// TestStatusesUnread: a refusal whose body is compressed, breaks off or is larger than
// any answer may be is one by its status.
func TestStatusesUnread(t *testing.T) {
	t.Parallel()
	head := func(more string) string {
		return "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Type: application/json\r\nConnection: close\r\n" + more + "\r\n\r\n"
	}
	for name, text := range map[string]string{
		"compressed":      head("Content-Encoding: gzip\r\nContent-Length: 4") + "\x1f\x8b\x08\x00",
		"truncated":       head("Content-Length: 400") + `{"error":`,
		"truncated chunk": head("Transfer-Encoding: chunked") + "500\r\n{\"json",
		"huge":            head("Content-Length: 99999999999") + "{}",
		"no length":       head("X-Kong: 1") + `{"message":"busy"}`,
		"NUL":             head("Content-Length: 2") + "\x00\x00",
	} {
		w := proxytest.NewGateway(t)
		w.Agent.Answers(proxytest.RawAnswer(text))
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			got := w.Call("alice", method, proxytest.Message(""))
			if got.Status != 429 || got.Header.Get("Retry-After") != "7" || !strings.Contains(got.Body, `"reason":"RATE_LIMITED"`) {
				t.Errorf("%s %s: %d %v %s", method, name, got.Status, got.Header, got.Body)
			}
		}
	}
}

// TestStatusesOfStalledBodies: nobody waits for the rest of a page to hear of a refusal, nor
// for a redirect's, unary or where a stream is opened.
func TestStatusesOfStalledBodies(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		head, body string
		want       int
	}{
		"page":        {"503 X\r\nContent-Type: text/html\r\nContent-Length: 50", "", 503},
		"begun":       {"429 X\r\nContent-Type: text/html\r\nContent-Length: 50", "<h1>", 429},
		"chunks":      {"503 X\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked", "5\r\nhello\r\n", 503},
		"JSON":        {"503 X\r\nContent-Type: application/json\r\nContent-Length: 500", `{"jsonrpc":"2.0","id":7,"err`, 503},
		"no length":   {"504 X\r\nContent-Type: application/json", `{"detail":"busy"`, 504},
		"redirect":    {"307 X\r\nLocation: /elsewhere\r\nContent-Length: 50", "", 200},
		"no such":     {"999 X\r\nContent-Length: 50", "", 502},
		"bad request": {"400 X\r\nContent-Type: text/plain\r\nContent-Length: 50", "", 200},
	} {
		for _, method := range []string{"SendMessage", "SendStreamingMessage"} {
			t.Run(name+" "+method, func(t *testing.T) {
				t.Parallel()
				w := proxytest.NewGateway(t)
				end := make(chan struct{})
				w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
					conn, out, err := http.NewResponseController(rw).Hijack()
					if err != nil {
						t.Error(err)
						return
					}
					defer conn.Close()
					_, _ = out.WriteString("HTTP/1.1 " + tt.head + "\r\n\r\n" + tt.body)
					_ = out.Flush()
					<-end
				})
				defer close(end)
				answered := make(chan proxytest.Response, 1)
				go func() { answered <- w.Call("alice", method, proxytest.Message("")) }()
				select {
				case got := <-answered:
					if got.Status != tt.want || !strings.Contains(got.Body, `"error"`) || strings.Contains(got.Body, "busy") {
						t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
					}
				case <-time.After(20 * time.Second): // of the five minutes that a call has
					t.Error("no answer")
				}
			})
		}
	}
}

// TestStatusesOfResults: what an agent refuses by its status it has refused, though a result
// stands beside it: nobody is shown it, and what it names is nobody's.
func TestStatusesOfResults(t *testing.T) {
	t.Parallel()
	for _, agent := range proxytest.Sides {
		if agent.Binding == wire.GRPC { // which says nothing by statuses of HTTP
			continue
		}
		t.Run(agent.String(), func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGatewayFor(t, proxytest.CardFor(agent), proxytest.WithTied)
			for status, kind := range map[int]*wire.Kind{500: wire.BadAgentResponse, 503: wire.Unavailable, 429: wire.RateLimited} {
				w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
					rw.Header().Set("Content-Type", "application/json")
					rw.WriteHeader(status)
					task := proxytest.TaskIn(agent, "taken", "c", "working", "")
					if agent.Version == wire.V10 || agent.Binding == wire.HTTPJSON {
						task = `{"task":` + task + `}`
					}
					if agent.Binding == wire.JSONRPC {
						task = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.RPC().ID, task)
					}
					_, _ = io.WriteString(rw, task)
				})
				for _, caller := range proxytest.Sides {
					sends(w, caller, func(what string, got proxytest.Reply) {
						if got.Err == nil || got.Err.Reason != kind.Reason && !proxytest.SameMeaning(caller, got.Err.Kind, kind) ||
							strings.Contains(got.Body, "taken") {
							t.Errorf("%s from %s, %d: %d %v %s", what, agent, status, got.Status, got.Err, got.Body)
						}
					})
				}
			}
		})
	}
}

// TestStatusesOfObjects: an object beside a status of HTTP+JSON that is no result passes as it
// is, with the time to come back, where it cannot be one.
func TestStatusesOfObjects(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGatewayFor(t, proxytest.CardFor(wire.Side{Binding: wire.HTTPJSON, Version: wire.V10}), proxytest.WithTied)
	w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(rw, `{"detail":"busy"}`)
	})
	sends(w, wire.Side{Binding: wire.HTTPJSON, Version: wire.V10}, func(what string, got proxytest.Reply) {
		if got.Status != 503 || got.Body != `{"detail":"busy"}` || got.Header.Get("Retry-After") != "5" {
			t.Errorf("%s: %d %v %s", what, got.Status, got.Header, got.Body)
		}
	})
}

// TestStatusesOfAgents: every other status is named, and is no word about the caller.
func TestStatusesOfAgents(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for status := range 700 {
		rpc, text := 200, fmt.Sprintf("the agent answered %d (text/plain)", status)
		switch {
		case status < 201, status == 204, status == 205: // see TestL16, and TestAnswersWithoutBody
			continue
		case status < 300:
			rpc, text = 502, "the agent's answer is no JSON (text/plain)"
		case status >= 600:
			rpc = 502
		case status == 304: // has no body and no type
			text = "the agent answered 304 ("
		case status == 402, status == 413, status == 429:
			rpc, text = status, "the agent "
		case status == 408, status == 425, status == 503, status == 521, status == 523, status == 529:
			rpc, text = 503, "the agent is not available at the moment"
		case status == 504, status == 522, status == 524:
			rpc, text = 504, "The agent did not answer in time"
		case status == 300, status == 301, status == 302, status == 303, status == 307, status == 308:
			text = fmt.Sprintf("the agent answered %d, a redirect, and redirects are not followed", status)
		}
		w.Agent.Answers(proxytest.RawAnswer("HTTP/1.1 " + strconv.Itoa(status) + " \r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nbusy"))
		got := w.Call("alice", "SendMessage", proxytest.Message(""))
		if got.Status != rpc || !strings.Contains(got.Body, text) || strings.Contains(got.Body, "busy") {
			t.Errorf("%d: %d %s", status, got.Status, got.Body)
		}
	}
}

// TestAnswersWithoutBody: a success that says nothing is none where something is due.
func TestAnswersWithoutBody(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	for _, status := range []int{200, 201, 202, 204, 205} {
		w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) { rw.WriteHeader(status) })
		got := w.Call("alice", "SendMessage", proxytest.Message(""))
		if want := fmt.Sprintf("the agent answered %d without a body", status); got.Status != 502 || !strings.Contains(got.Body, want) {
			t.Errorf("%d: %d %s", status, got.Status, got.Body)
		}
	}
}

// TestStatusesOfPolls: a client that asks for its task hears when to ask again.
func TestStatusesOfPolls(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
		if strings.Contains(string(r.Content), "GetTask") {
			rw.Header().Set("Retry-After", "7")
			rw.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(rw, `{"detail":"busy"}`)
			return
		}
		proxytest.Respond(rw, r, `{"task":{"id":"polled","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`)
	})
	if got := w.Call("alice", "SendMessage", proxytest.Message("")); got.Status != 200 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	got := w.Call("alice", "GetTask", `{"id":"polled"}`)
	if got.Status != 503 || got.Header.Get("Retry-After") != "7" || !strings.Contains(got.Body, `"reason":"UNAVAILABLE"`) {
		t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
	}
}

// TestUnauthorizedAgents: whether an agent that answers 401 or 403 has judged the caller
// depends on whose credentials it was shown.
func TestUnauthorizedAgents(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		shows      []credentials.Credential
		status     int
		want       int
		challenged bool
		text       string
	}{
		"none":                  {nil, 401, 200, false, "it does not accept what the gateway shows it"},
		"a secret":              {[]credentials.Credential{{Value: secret.New("Bearer shown")}}, 401, 200, false, "it does not accept what the gateway shows it"},
		"a secret, forbidden":   {[]credentials.Credential{{Value: secret.New("Bearer shown")}}, 403, 200, false, "it does not accept what the gateway shows it"},
		"the caller's":          {[]credentials.Credential{{Passthrough: true}}, 401, 401, true, "Authentication required"},
		"the caller's, refused": {[]credentials.Credential{{Passthrough: true}}, 403, 403, false, "permission denied by the agent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, func(s *proxytest.Setup) { s.Agent.Credentials = tt.shows })
			w.Agent.Answers(func(rw http.ResponseWriter, _ *proxytest.Request) {
				rw.Header().Set("Www-Authenticate", `Bearer realm="agents"`)
				rw.Header().Set("Content-Type", "application/json")
				rw.WriteHeader(tt.status)
				_, _ = io.WriteString(rw, `{"detail":"busy"}`)
			})
			got := w.Call("alice", "SendMessage", proxytest.Message(""))
			if got.Status != tt.want || !strings.Contains(got.Body, tt.text) || strings.Contains(got.Body, "busy") ||
				(got.Header.Get("Www-Authenticate") != "") != tt.challenged {
				t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
			}
		})
	}
}

// TestStatusesReachGoClients: the official client reads no body but under 200, and yet
// its user sees what the agent answered, and not a bare number.
func TestStatusesReachGoClients(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	w.Agent.Answers(proxytest.RawAnswer("HTTP/1.1 500 Internal Server Error\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 21\r\n\r\nInternal Server Error"))
	client := &http.Client{Transport: proxytest.KeyTransport{Key: w.Keys["alice"], RoundTripper: w.Client.Transport}}
	msg := &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart("go"))}
	for name, c := range map[string]a2aclient.Transport{
		"1.0": a2aclient.NewJSONRPCTransport(w.Base, client),
		"0.3": a2av0.NewJSONRPCTransport(a2av0.JSONRPCTransportConfig{URL: w.Base, Client: client}),
	} {
		params := a2aclient.ServiceParams{}
		if name == "1.0" {
			params["A2A-Version"] = []string{"1.0"}
		}
		_, err := c.SendMessage(t.Context(), params, msg)
		if err == nil || !strings.Contains(err.Error(), "the agent answered 500 (text/plain)") || !errors.Is(err, a2a.ErrInvalidAgentResponse) {
			t.Errorf("%s: %v", name, err)
		}
		err = nil
		for _, err = range c.SendStreamingMessage(t.Context(), params, msg) {
		}
		if err == nil || !strings.Contains(err.Error(), "the agent answered 500 (text/plain)") {
			t.Errorf("%s, streaming: %v", name, err)
		}
	}
}

// TestAnswersThatAreNoHTTP: an agent that answers in no form of HTTP's is not said to have
// kept silent.
func TestAnswersThatAreNoHTTP(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ answer, text string }{
		"line feeds alone": {"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}", "the agent's answer is not valid HTTP"},
		"two lengths":      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "the agent's answer is not valid HTTP"},
		"a huge head":      {"HTTP/1.1 200 OK\r\nX-Big: " + strings.Repeat("y", 400_000) + "\r\n\r\n{}", "the agent's answer is not valid HTTP"},
		"no answer":        {"", "the agent did not answer"},
	} {
		w := proxytest.NewGateway(t)
		w.Agent.Answers(proxytest.RawAnswer(tt.answer))
		if got := w.Call("alice", "SendMessage", proxytest.Message("")); got.Status != 502 || !strings.Contains(got.Body, tt.text) {
			t.Errorf("%s: %d %s", name, got.Status, got.Body)
		}
	}
}

// TestBodiesThatCannotBeRead: where the next request would begin nobody knows, and the client
// hears that none is read.
func TestBodiesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t)
	c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
	proxytest.Must(t, err)
	defer func() { _ = c.Close() }()
	proxytest.Must(t, c.SetDeadline(time.Now().Add(proxytest.Patience)))
	_, err = io.WriteString(c, w.Head("POST "+strings.TrimPrefix(w.Base, w.URL)+" HTTP/1.1",
		"A2A-Version: 1.0", "Content-Type: application/json", "Transfer-Encoding: chunked")+"zz\r\n")
	proxytest.Must(t, err)
	got, _ := io.ReadAll(c)
	if text := string(got); !strings.HasPrefix(text, "HTTP/1.1 400 ") || !strings.Contains(text, "the body could not be read") ||
		!strings.Contains(text, "\r\nConnection: close\r\n") {
		t.Error(text)
	}
}

// TestUnlabelledStreams: a stream that does not say it is one is told by how it begins,
// in whatever pieces that comes.
func TestUnlabelledStreams(t *testing.T) {
	t.Parallel()
	event := `data: {"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"said"}]}}}` + "\n\n"
	for name, tt := range map[string]struct {
		label, body string
		fault       string
	}{
		"data":              {"", event, ""},
		"plain":             {"Content-Type: text/plain\r\n", event, ""},
		"binary":            {"Content-Type: application/octet-stream\r\n", event, ""},
		"comment":           {"", ": hello\n\n" + event, ""},
		"id":                {"", "id: 1\r\n" + event, ""},
		"retry":             {"", "retry: 7\n" + event, ""},
		"name":              {"", "event: message\n" + event, ""},
		"byte order mark":   {"", "\ufeff" + event, ""},
		"blank lines":       {"", "\n\r\n\r" + event, ""},
		"labelled and mark": {"Content-Type: text/event-stream;charset=utf-8\r\n", "\ufeff" + event, ""},
		"document":          {"", strings.ReplaceAll(strings.TrimPrefix(event, "data: "), ",", ",\n  "), ""},
		"words":             {"", "database is down", "no JSON (no Content-Type)"},
		"nothing":           {"", "", "without a body"},
		"page":              {"Content-Type: text/html\r\n", event, "no JSON (text/html)"},
		"lines":             {"Content-Type: application/x-ndjson\r\n", strings.TrimPrefix(event, "data: "), "no JSON (application/x-ndjson)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t)
			var chunks strings.Builder
			for i := range len(tt.body) {
				if i < 16 {
					fmt.Fprintf(&chunks, "1\r\n%s\r\n", tt.body[i:i+1])
					continue
				}
				fmt.Fprintf(&chunks, "%x\r\n%s\r\n", len(tt.body)-i, tt.body[i:])
				break
			}
			w.Agent.Answers(proxytest.RawAnswer("HTTP/1.1 200 OK\r\nConnection: close\r\n" + tt.label + "Transfer-Encoding: chunked\r\n\r\n" + chunks.String() + "0\r\n\r\n"))
			got := w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
			if tt.fault != "" {
				if got.Status != 502 || !strings.Contains(got.Body, tt.fault) {
					t.Errorf("%d %s", got.Status, got.Body)
				}
				return
			}
			if got.Status != 200 || got.Header.Get("Content-Type") != "text/event-stream" || !strings.Contains(got.Body, event) {
				t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
			}
		})
	}
}

// TestOneEvent: a stream that answers a call for one answer is read as other streams are.
func TestOneEvent(t *testing.T) {
	t.Parallel()
	answer := `{"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"said"}]}}}`
	event := "data: " + answer + "\n\n"
	for name, tt := range map[string]struct{ body, fault string }{
		"one":                       {event, ""},
		"behind a comment":          {": hello\n\n" + event, ""},
		"without a blank line":      {"data: " + answer + "\n", ""},
		"without a line end":        {"data: " + answer, ""},
		"cut off":                   {"data: " + answer[:len(answer)-1] + "\n", "broke off"},
		"with pings":                {"event: ping\ndata: {}\n\n" + event + "event: ping\ndata: now\n\n", ""},
		"with empty data":           {"data:\n\ndata:  \n\n" + event, ""},
		"by a name of its own":      {"event: answer\n" + event, ""},
		"a ping alone":              {"event: ping\ndata: {}\n\n", "streamed 0 events where one answer was due"},
		"two":                       {event + event, "streamed 2 events where one answer was due"},
		"two, one without an end":   {event + "data: " + answer, "streamed 2 events where one answer was due"},
		"one and one without sense": {event + "data: what\n\n", "streamed 2 events where one answer was due"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t)
			w.Agent.Answers(proxytest.RawAnswer("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\n\r\n" + tt.body))
			got := w.Call("alice", "SendMessage", proxytest.Message(""))
			switch {
			case tt.fault != "":
				if got.Status != 502 || !strings.Contains(got.Body, tt.fault) {
					t.Errorf("%d %s", got.Status, got.Body)
				}
			case got.Status != 200 || got.Header.Get("Content-Type") != "application/json" || got.Body != answer:
				t.Errorf("%d %v %s", got.Status, got.Header, got.Body)
			}
		})
	}
}

// TestDocumentsOfStreams: where an agent answers a call for a stream by a document, its result
// is an event, as clients that stream read nothing else, and its error passes as it came: some
// tell which one it is by a document alone.
func TestDocumentsOfStreams(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ answer, label string }{
		"a result": {`{"jsonrpc":"2.0","id":7,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"said"}]}}}`, "text/event-stream"},
		"an error": {`{"jsonrpc":"2.0","error":{"code":-32004,"message":"not here"},  "id":7}`, "application/json"},
	} {
		w := proxytest.NewGateway(t)
		w.Agent.Answers(proxytest.RawAnswer("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" + tt.answer))
		got := w.Call("alice", "SendStreamingMessage", proxytest.Message(""))
		if got.Status != 200 || got.Header.Get("Content-Type") != tt.label || !strings.Contains(got.Body, tt.answer) ||
			tt.label == "application/json" && got.Body != tt.answer {
			t.Errorf("%s: %d %v %s", name, got.Status, got.Header, got.Body)
		}
	}
}
