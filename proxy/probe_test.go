package proxy

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream/credentials"
)

// The answers below are told apart by how they come out.
const (
	well   = "well: "
	isOdd  = "odd: "
	failed = "fails: "
)

// graded is a finding with how it came out.
func graded(f Finding) string {
	switch {
	case f.Fails:
		return failed + f.Text
	case f.Odd:
		return isOdd + f.Text
	}
	return well + f.Text
}

// answerOf is what came back of a probe, as the table below writes it.
func answerOf(side wire.Side, status int, media, body string) *probed {
	a := &probed{
		Side: side, task: "T", id: []byte(`"T"`), verb: http.MethodPost, status: status,
		header: http.Header{}, body: []byte(body),
	}
	if a.method, _ = wire.ByName(wire.V10, wire.GetTask); media != "" {
		a.header.Set("Content-Type", media)
	}
	if side.Binding == wire.HTTPJSON {
		a.verb = http.MethodGet
	}
	return a
}

// TestFoundInBody: what an answer means that an agent, or something else in its place, gives
// to a question for a task that nobody has.
func TestFoundInBody(t *testing.T) {
	t.Parallel()
	const page = "<!DOCTYPE html><html><body>Welcome to mcp</body></html>"
	rpc := wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	old := wire.Side{Version: wire.V03, Binding: wire.JSONRPC}
	rest := wire.Side{Version: wire.V10, Binding: wire.HTTPJSON}
	failure := func(code, message string) string {
		return `{"jsonrpc":"2.0","id":"T","error":{"code":` + code + `,"message":"` + message + `"}}`
	}
	for name, c := range map[string]struct {
		side        wire.Side
		status      int
		media, body string
		want        string // how the finding begins
	}{
		"task not found":                {rpc, 200, "application/json", failure("-32001", "Task not found"), well + "it answers as it should"},
		"of an older version":           {old, 200, "application/json", failure("-32001", "Task not found"), well + "it answers as it should"},
		"with the status 404":           {rpc, 404, "application/json", failure("-32001", "Task not found"), well + "it answers as it should"},
		"without an id":                 {rpc, 200, "application/json", strings.Replace(failure("-32001", ""), `"T"`, "null", 1), well + "it answers as it should"},
		"REST":                          {rest, 404, "application/json", `{"error":{"code":404,"status":"NOT_FOUND","message":"x","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`, well + "it answers as it should"},
		"REST in a few words":           {rest, 404, "application/json", `{"message":"Task T not found"}`, well + "it answers as it should"},
		"REST, or a wrong path":         {rest, 404, "application/json", `{"detail":"Not Found"}`, isOdd + "HTTP 404 (application/json) in words that are not A2A's"},
		"REST, nothing":                 {rest, 404, "", "", isOdd + "HTTP 404 (no body) in words that are not A2A's"},
		"no tasks":                      {rpc, 200, "application/json", failure("-32004", "no tasks"), well + "it answers as it should, and says that it has no tasks"},
		"extension required":            {rpc, 200, "application/json", failure("-32008", "x"), well + "it answers as it should, and asks for an extension"},
		"a task":                        {rpc, 200, "application/json", `{"jsonrpc":"2.0","id":"T","result":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`, isOdd + "it has a task that nobody has made"},
		"a task of another call":        {rpc, 200, "application/json", `{"jsonrpc":"2.0","id":7,"result":{"id":"T","contextId":"C","status":{"state":"TASK_STATE_WORKING"}}}`, failed + "its answer has the id of another call"},
		"an error of another call":      {rpc, 200, "application/json", `{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"message":""}}`, failed + "its answer has the id of another call"},
		"nothing in the result":         {rpc, 200, "application/json", `{"jsonrpc":"2.0","id":"T","result":{}}`, failed + "HTTP 200 (application/json), and nothing that A2A 1.0 has over JSONRPC"},
		"another version":               {rpc, 200, "application/json", failure("-32009", "use 0.3"), failed + "it does not speak A2A 1.0 there"},
		"no such method":                {rpc, 200, "application/json", failure("-32601", "Method not found"), isOdd + "it knows no GetTask: it has no tasks, or speaks another version of A2A than 1.0"},
		"no such method, 0.3":           {old, 200, "application/json", failure("-32601", "Method not found"), isOdd + "it knows no tasks/get: it has no tasks, or speaks another version of A2A than 0.3"},
		"odd params":                    {rpc, 200, "application/json", failure("-32602", "id: want a number"), isOdd + `it answers error -32602, INVALID_PARAMS, where "task not found" is due: it says "id: want a number"`},
		"a crash":                       {rpc, 500, "application/json", failure("-32603", "KeyError"), isOdd + "it answers error -32603, INTERNAL_ERROR"},
		"busy":                          {rpc, 503, "application/json", failure("-32603", "later"), isOdd + "it is there, and refuses at the moment"},
		"401":                           {rpc, 401, "application/json", `{"error":"unauthorized"}`, failed + "it wants a credential, and is shown none: write it under agents[].credentials"},
		"403":                           {rest, 403, "text/html", page, failed + "it wants a credential, and is shown none: write it under agents[].credentials"},
		"401 in an answer":              {rpc, 200, "application/json", failure("-31401", "who?"), failed + "it wants a credential, and is shown none"},
		"wrong path":                    {rpc, 404, "text/plain; charset=utf-8", "404 page not found\n", failed + "HTTP 404 (text/plain): nothing is at this path"},
		"wrong path, FastAPI":           {rpc, 404, "application/json", `{"detail":"Not Found"}`, failed + "HTTP 404 (application/json): nothing is at this path"},
		"wrong path, REST":              {rest, 404, "text/html", page, failed + "HTTP 404 (text/html): nothing is at this path"},
		"405":                           {rpc, 405, "application/json", `{"detail":"Method Not Allowed"}`, failed + "HTTP 405 (application/json): what is at this path takes no POST"},
		"a web page":                    {rpc, 200, "text/html; charset=utf-8", page, failed + "HTTP 200 (text/html): a web page is there"},
		"a page of no type":             {rest, 200, "", page, failed + "HTTP 200 (of no media type): a web page is there"},
		"a redirect":                    {rpc, 302, "", "", failed + "HTTP 302, a redirect, and redirects are not followed"},
		"nothing":                       {rpc, 200, "", "", failed + "HTTP 200 (no body): no A2A is spoken there"},
		"plain HTTP where TLS is":       {rpc, 400, "", "Client sent an HTTP request to an HTTPS server.\n", failed + "HTTP 400 (of no media type): TLS is spoken there"},
		"a proxy without its backend":   {rpc, 502, "text/html", page, failed + "HTTP 502 (text/html): it fails, or what is in front of it does not reach it"},
		"too many":                      {rpc, 429, "text/plain", "slow down", isOdd + "HTTP 429 (text/plain): it is there, and has had too many requests"},
		"a stream":                      {rpc, 200, "text/event-stream", "data: {}\n\n", failed + "HTTP 200 (text/event-stream): a stream, where one answer is due"},
		"other JSON":                    {rpc, 200, "application/json", `{"hello":"world"}`, failed + "HTTP 200 (application/json), and nothing that A2A 1.0 has over JSONRPC"},
		"other JSON, REST":              {rest, 200, "application/json", `{"hello":"world"}`, failed + "HTTP 200 (application/json), and nothing that A2A 1.0 has over HTTP+JSON"},
		"MCP in TypeScript":             {rpc, 406, "application/json", `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Not Acceptable: Client must accept both application/json and text/event-stream"},"id":null}`, failed + "HTTP 406 (application/json), as an MCP server answers"},
		"MCP in Python":                 {rpc, 400, "application/json", `{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Bad Request: Missing session ID"}}`, failed + "HTTP 400 (application/json), as an MCP server answers"},
		"MCP in Go":                     {rpc, 400, "text/plain", "Accept must contain both 'application/json' and 'text/event-stream'", failed + "HTTP 400 (text/plain), as an MCP server answers"},
		"an agent that speaks of mcp":   {rpc, 200, "application/json", failure("-32001", "mcp-agent: Task not found"), well + "it answers as it should"},
		"a long message with an escape": {rpc, 200, "application/json", failure("-32602", strings.Repeat("a", 200)), isOdd + `it answers error -32602, INVALID_PARAMS, where "task not found" is due: it says "` + strings.Repeat("a", 120) + `…"`},
	} {
		if got := graded(answerOf(c.side, c.status, c.media, c.body).found()); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestFoundByStatus: what gRPC's status means in the same place.
func TestFoundByStatus(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ status, message, want string }{
		"not found":          {"5", "no task T", well + "it answers as it should"},
		"a task":             {"0", "", isOdd + "it has a task that nobody has made"},
		"no such method":     {"12", "method GetTask not implemented", isOdd + "it knows no GetTask"},
		"no such service":    {"12", "unknown service lf.a2a.v1.A2AService", failed + "another service of gRPC is there, or another version than 1.0"},
		"who is it":          {"16", "", failed + "it wants a credential, and is shown none"},
		"not for us":         {"7", "", failed + "it wants a credential, and is shown none"},
		"away at the moment": {"14", "", isOdd + "it is there, and refuses at the moment"},
		"a crash":            {"13", "boom", isOdd + "it answers error -32603, INTERNAL_ERROR"},
		"no status":          {"", "", isOdd + "it answers error -32006, INVALID_AGENT_RESPONSE"},
	} {
		a := answerOf(wire.Side{Version: wire.V10, Binding: wire.GRPC}, 200, "application/grpc", "")
		a.trailer = http.Header{"Grpc-Status": {c.status}, "Grpc-Message": {c.message}}
		if got := graded(a.found()); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

// TestProbeCredentials: who wants a credential is told apart by what it was shown, and never
// quoted when that may be in its words.
func TestProbeCredentials(t *testing.T) {
	t.Parallel()
	rpc := wire.Side{Version: wire.V10, Binding: wire.JSONRPC}
	for _, c := range []struct {
		shown, asks bool
		want        string
	}{
		{false, false, failed + "it wants a credential (Bearer), and is shown none"},
		{true, false, failed + "it does not accept the credential that it is shown (Bearer)"},
		{false, true, isOdd + "it wants a credential (Bearer), and what it is shown depends on who calls"},
		{true, true, isOdd + "it wants a credential (Bearer), and what it is shown depends on who calls"},
	} {
		a := answerOf(rpc, 401, "", "")
		a.header.Set("Www-Authenticate", `Bearer realm="CANARY"`)
		a.shown, a.asks = c.shown, c.asks
		if got := graded(a.found()); !strings.HasPrefix(got, c.want) || strings.Contains(got, "CANARY") {
			t.Errorf("shown %v, asks %v: %s", c.shown, c.asks, got)
		}
	}
	a := answerOf(rpc, 200, "application/json", `{"jsonrpc":"2.0","id":"T","error":{"code":-32602,"message":"you sent CANARY"}}`)
	if a.shown = true; strings.Contains(a.found().Text, "CANARY") {
		t.Errorf("it quotes what may be a credential: %s", a.found().Text)
	}
	a = answerOf(rpc, 307, "", "")
	a.header.Set("Location", "https://user:CANARY@other.example/a2a?key=CANARY")
	if got := a.found().Text; strings.Contains(got, "CANARY") || !strings.Contains(got, "https://other.example/a2a") {
		t.Errorf("redirect: %s", got)
	}
}

// TestProbe asks agents, and what is no agent, over connections.
func TestProbe(t *testing.T) {
	t.Parallel()
	start := func(make func(demo.Options) (*demo.Agent, error), o demo.Options) *demo.Agent {
		a, err := make(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close(context.WithoutCancel(t.Context())) })
		return a
	}
	secretly := upstream.Config{Credentials: []credentials.Credential{{Value: secret.New("Bearer CANARY")}}}
	open10, open03 := start(demo.Agent10, demo.Options{}), start(demo.Agent03, demo.Options{})
	grpc := overGRPC(t, start(demo.Agent10, demo.Options{GRPC: true}))
	closed := start(demo.Agent10, demo.Options{BearerToken: "CANARY"})
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secured := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secured.Close)
	for name, c := range map[string]struct {
		agent  *demo.Agent // all of its interfaces; nil for at
		at     card.Interface
		config upstream.Config
		want   string
	}{
		"1.0":                     {agent: open10, want: well + "it answers as it should"},
		"0.3":                     {agent: open03, want: well + "it answers as it should"},
		"without its credential":  {agent: closed, want: failed + "it wants a credential"},
		"with its credential":     {agent: closed, config: secretly, want: well + "it answers as it should"},
		"gRPC":                    {at: grpc, want: well + "it answers as it should"},
		"gRPC of 0.3":             {at: card.Interface{URL: grpc.URL, Version: wire.V03, Binding: wire.GRPC}, want: failed + "HTTP 404 (text/plain): no gRPC is spoken there, or another service"},
		"nobody":                  {at: card.Interface{URL: "http://127.0.0.1:1/", Version: wire.V10}, want: failed + "nobody listens there: "},
		"another server":          {at: card.Interface{URL: plain.URL + "/a2a", Version: wire.V10}, want: failed + "HTTP 404 (text/plain): nothing is at this path"},
		"gRPC at an HTTP server":  {at: card.Interface{URL: plain.URL, Version: wire.V10, Binding: wire.GRPC}, want: failed + "no answer comes over HTTP/2"},
		"TLS where there is none": {at: card.Interface{URL: strings.Replace(plain.URL, "http:", "https:", 1), Version: wire.V10}, want: failed + "no TLS is spoken there"},
		"no TLS where there is":   {at: card.Interface{URL: strings.Replace(secured.URL, "https:", "http:", 1), Version: wire.V10}, want: failed + "HTTP 400 (of no media type): TLS is spoken there"},
		"a stranger's TLS":        {at: card.Interface{URL: secured.URL, Version: wire.V10}, want: failed + "nobody who is trusted vouches for its certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, err := upstream.New(c.config, upstream.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer up.Close()
			interfaces := []card.Interface{c.at}
			if c.agent != nil {
				interfaces, _ = cardOf(t, c.agent).Endpoints(secret.URL(c.agent.CardURL), nil)
				if len(interfaces) != 2 {
					t.Errorf("it has %d interfaces", len(interfaces))
				}
			}
			for _, i := range interfaces {
				if got := graded(Probe(t.Context(), up, i)); !strings.HasPrefix(got, c.want) || strings.Contains(got, "CANARY") {
					t.Errorf("A2A %s %s: %s", i.Version, i.Binding, got)
				}
			}
		})
	}
}

// cardOf is an agent's card.
func cardOf(t *testing.T, a *demo.Agent) *card.Card {
	t.Helper()
	c, err := card.Fetch(t.Context(), &http.Client{Timeout: time.Minute}, secret.URL(a.CardURL), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// overGRPC is the one interface of an agent that has no other.
func overGRPC(t *testing.T, a *demo.Agent) card.Interface {
	t.Helper()
	usable, _ := cardOf(t, a).Endpoints(secret.URL(a.CardURL), nil)
	if len(usable) != 1 || usable[0].Binding != wire.GRPC {
		t.Fatalf("interfaces %+v", usable)
	}
	return usable[0]
}
