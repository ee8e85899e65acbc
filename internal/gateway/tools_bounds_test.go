//go:build !minimal

package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// asHost is the header of a request of a host's.
func asHost(credential http.Header, more ...string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	for name, values := range credential {
		h[name] = values
	}
	for i := 0; i < len(more); i += 2 {
		h[more[i]] = []string{more[i+1]}
	}
	return h
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// begin begins a session and returns its id.
func beginSession(t *testing.T, url string, header http.Header) string {
	t.Helper()
	status, id, body := open(t, url, header)
	if status != http.StatusOK || id == "" {
		t.Fatalf("%d, session %q, %s", status, id, body)
	}
	return id
}

func open(t *testing.T, url string, header http.Header) (status int, id, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := client(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var text strings.Builder
	_ = resp.Write(&text)
	return resp.StatusCode, resp.Header.Get("Mcp-Session-Id"), text.String()
}

// TestToolsSessions: a session is its caller's; for others it does not exist. Sessions are bounded for
// each and for all, end with their host's word or after a while, and free their places.
func TestToolsSessions(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(plain+"\nmcp: {path: /mcp, sessions: {total: 3, perCaller: 2, idle: 3s}}", openPolicy+fleet(agent)))
	url, list := g.URL()+"/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	alice, mallory := w.token("alice"), w.token("mallory")
	first := beginSession(t, url, asHost(alice))
	if status, body := postTo(t, url, asHost(alice, "Mcp-Session-Id", first), list); status != http.StatusOK || !strings.Contains(body, "__work") {
		t.Errorf("%d, %s", status, body)
	}
	for name, header := range map[string]http.Header{
		"somebody else's": asHost(mallory, "Mcp-Session-Id", first), "none": asHost(mallory, "Mcp-Session-Id", "AAAAAAAAAAAAAAAAAAAAAAAAAA"),
	} {
		for _, verb := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
			said := list
			if verb != http.MethodPost {
				said = ""
			}
			status, body, err := try(client(t), verb, url, header, said)
			if err != nil || status != http.StatusNotFound || body != "session not found\n" {
				t.Errorf("%s, %s: %d, %s, %v", name, verb, status, body, err)
			}
		}
	}
	second := beginSession(t, url, asHost(alice))
	if status, _, body := open(t, url, asHost(alice)); status != http.StatusTooManyRequests || !strings.Contains(body, "server.mcp.sessions.perCaller") {
		t.Errorf("a third of hers: %d, %s", status, body)
	}
	beginSession(t, url, asHost(mallory))
	if status, _, body := open(t, url, asHost(w.token("bob"))); status != http.StatusServiceUnavailable || !strings.Contains(body, "server.mcp.sessions.total") {
		t.Errorf("a fourth: %d, %s", status, body)
	}
	if status, _, err := try(client(t), http.MethodDelete, url, asHost(alice, "Mcp-Session-Id", second), ""); err != nil || status != http.StatusNoContent {
		t.Errorf("delete: %d, %v", status, err)
	}
	if status, _ := postTo(t, url, asHost(alice, "Mcp-Session-Id", second), list); status != http.StatusNotFound {
		t.Errorf("deleted: %d", status)
	}
	beginSession(t, url, asHost(w.token("bob")))
	eventually(t, "the first session ends for want of requests", func() bool {
		time.Sleep(4 * time.Second) // each question is a request
		status, _ := postTo(t, url, asHost(alice, "Mcp-Session-Id", first), list)
		return status == http.StatusNotFound
	})
}

// TestToolsAtTheDoor: what is refused before it is read as MCP, and how.
func TestToolsAtTheDoor(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection+"\ncors: {origins: [\"https://inspector.example\"]}\nlimits: {body: 64KiB, delay: 1h}", openPolicy+fleet(agent)))
	url, alice := g.URL()+"/mcp", w.token("alice")
	huge := strings.Replace(initialize, `"name":"x"`, fmt.Sprintf(`"name":%q`, strings.Repeat("x", 70_000)), 1)
	for name, tt := range map[string]struct {
		url, verb, body string
		header          http.Header
		status          int
		want            string
	}{
		"no credential":        {url, "POST", initialize, asHost(nil), 401, "UNAUTHENTICATED"},
		"a page":               {url, "POST", initialize, asHost(alice, "Origin", "https://evil.example"), 403, "server.cors.origins"},
		"a page that listens":  {url, "GET", "", asHost(alice, "Origin", "https://evil.example"), 403, "server.cors.origins"},
		"a listed page":        {url, "POST", initialize, asHost(alice, "Origin", "https://inspector.example"), 200, "serverInfo"},
		"another host":         {url, "POST", initialize, asHost(alice, "Host", "evil.example"), 421, "MISDIRECTED"},
		"too large":            {url, "POST", huge, asHost(alice), 413, "server.limits.body"},
		"another verb":         {url, "PUT", initialize, asHost(alice), 405, "METHOD_NOT_ALLOWED"},
		"no JSON":              {url, "POST", "{", asHost(alice), 400, "malformed"},
		"an address of A2A":    {g.URL() + "/agents/" + agent.ID, "POST", initialize, asHost(alice), 200, "which is served at http://127.0.0.1"},
		"a loop":               {url, "POST", initialize, asHost(alice, "Via", "1.1 test"), 508, "LOOP_DETECTED"},
		"metadata":             {g.URL() + "/.well-known/oauth-protected-resource/mcp", "GET", "", nil, 200, `/mcp","authorization_servers"`},
		"a forged tool's call": {g.URL() + "/agents/" + agent.ID, "POST", sendBody("SendMessage", "1"), asHost(nil, "A2a-Version", "1.0", "Mcp-Method", "tools/call"), 401, "Authentication required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), tt.verb, tt.url, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if tt.header != nil {
				req.Header = tt.header
			}
			if h := tt.header.Get("Host"); h != "" {
				req.Host = h
			}
			resp, err := client(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var text strings.Builder
			_ = resp.Write(&text)
			if resp.StatusCode != tt.status || !strings.Contains(text.String(), tt.want) {
				t.Errorf("%d, want %d and %s: %s", resp.StatusCode, tt.status, tt.want, text.String())
			}
			if challenge := resp.Header.Get("Www-Authenticate"); name == "no credential" && !strings.Contains(challenge, `/.well-known/oauth-protected-resource/mcp"`) {
				t.Errorf("challenge %s", challenge)
			}
			if name == "a listed page" && !strings.Contains(resp.Header.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
				t.Errorf("%v", resp.Header)
			}
		})
	}
}

// TestToolsChange: a host with a session or a subscription hears that its tools have changed, by a
// reload as by another card; nobody hears of a change that is not theirs.
func TestToolsChange(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	rules := func(skills string) string {
		return w.yaml(mcpSection, `policy:
  rules:
    - {name: one, effect: allow, groups: [one], skills: [`+skills+`]}
    - {name: rest, effect: allow, groups: [other], skills: [rest]}
`+fleet(agent))
	}
	g := w.start(rules("work"))
	var hosts, others []*host
	for _, revision := range revisions {
		hosts = append(hosts, connect(t, g, revision, w.token("alice", "one")))
		others = append(others, connect(t, g, revision, w.token("bob", "other")))
	}
	for _, h := range hosts {
		if names := h.names(t); len(names) != 3 {
			t.Fatalf("%v", names)
		}
	}
	if err := w.reload(g, rules("work, rest")); err != nil {
		t.Fatal(err)
	}
	for i, h := range hosts {
		select {
		case <-h.changed:
		case <-time.After(patience):
			t.Fatalf("%s: not told", revisions[i])
		}
		if names := h.names(t); len(names) != 4 {
			t.Errorf("%v", names)
		}
	}
	for i, h := range others {
		if len(h.changed) > 0 {
			t.Errorf("%s: told of what is not theirs", revisions[i])
		}
	}
}

// TestToolsRenewed: a session goes on with another token of the principal who began it, after the one
// before has expired. It does not for anybody else.
func TestToolsRenewed(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, openPolicy+fleet(agent)))
	url := g.URL() + "/mcp"
	session := beginSession(t, url, asHost(w.token("alice")))
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":{"text":"work"}}}`, agent.ID+"__work")
	tokens := map[time.Duration]http.Header{}
	for _, ttl := range []time.Duration{-time.Hour, 7 * time.Minute} {
		token, err := w.issuer.Issue("alice", demo.IssueOptions{TTL: ttl})
		if err != nil {
			t.Fatal(err)
		}
		tokens[ttl] = http.Header{"Authorization": {"Bearer " + token}}
	}
	for i, tt := range []struct {
		as     http.Header
		status int
		says   string
	}{
		{w.token("alice"), http.StatusOK, `"state":"completed"`},
		{tokens[-time.Hour], http.StatusUnauthorized, ""},
		{tokens[7*time.Minute], http.StatusOK, `"state":"completed"`},
		{w.token("bob"), http.StatusNotFound, ""},
	} {
		header := asHost(tt.as, "Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25")
		if status, body := postTo(t, url, header, call); status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%d: %d %s", i, status, body)
		}
	}
}

// TestToolsExpired: a credential that is not good any more is refused in the middle of a session, by
// a status that has hosts get another.
func TestToolsExpired(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, openPolicy+fleet(agent)))
	h := connect(t, g, revisions[1], w.token("alice"))
	first := h.use(t, agent.ID+"__work", map[string]any{"text": "work"})
	expired, err := w.issuer.Issue("alice", demo.IssueOptions{TTL: -time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	h.as.set(http.Header{"Authorization": {"Bearer " + expired}})
	if _, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: agent.ID + "__work", Arguments: map[string]any{"text": "work"}}); err == nil ||
		!strings.Contains(err.Error(), "Unauthorized") {
		t.Errorf("expired: %v", err)
	}
	again := connect(t, g, revisions[1], w.token("alice"))
	if res := again.use(t, agent.ID+"__work", map[string]any{"text": "work", "contextId": field(t, first, "contextId")}); field(t, res, "contextId") != field(t, first, "contextId") {
		t.Errorf("%v", res.StructuredContent)
	}
}

// TestToolsConversation: a session's calls on an agent go on with one conversation, an empty contextId
// begins another, and another session has its own.
func TestToolsConversation(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection, openPolicy+fleet(agent)))
	h, other := connect(t, g, revisions[1], w.token("alice")), connect(t, g, revisions[1], w.token("alice"))
	in := func(h *host, arguments map[string]any) string {
		t.Helper()
		arguments["text"] = "work"
		return field(t, h.use(t, agent.ID+"__work", arguments), "contextId")
	}
	one := in(h, map[string]any{})
	if got := in(h, map[string]any{}); got != one {
		t.Errorf("it did not go on: %s, %s", one, got)
	}
	if got := in(other, map[string]any{}); got == one {
		t.Error("another session has the same")
	}
	two := in(h, map[string]any{"contextId": ""})
	if two == one {
		t.Error("it went on")
	}
	if got := in(h, map[string]any{}); got != two {
		t.Errorf("it did not go on: %s, %s", two, got)
	}
}

// TestToolsStateless: without sessions any revision is served, and nobody is asked for input.
func TestToolsStateless(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(plain+"\nmcp: {path: /mcp, stateless: true}", openPolicy+fleet(agent)))
	for _, revision := range revisions {
		h := connect(t, g, revision, w.token("alice"), "this")
		if h.ID() != "" {
			t.Errorf("%s: session %s", revision, h.ID())
		}
		if res := h.use(t, agent.ID+"__work", map[string]any{"text": "work"}); field(t, res, "state") != "completed" {
			t.Errorf("%v", res.StructuredContent)
		}
		res := h.use(t, agent.ID+"__work", map[string]any{"text": "input"})
		if want := map[string]string{revisions[0]: "completed", revisions[1]: "input-required"}[revision]; field(t, res, "state") != want {
			t.Errorf("%s: %v, want %s", revision, res.StructuredContent, want)
		}
	}
}

// TestToolsCountOnce: a call of a tool and the request that brings it are one call in flight, and a
// stream that waits is none.
func TestToolsCountOnce(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(mcpSection+"\nlimits: {requests: 1, delay: 1h}", openPolicy+fleet(agent)))
	for _, revision := range revisions {
		h := connect(t, g, revision, w.token("alice"))
		eventually(t, revision+": the stream waits", func() bool { // and is no call any more
			res, err := h.CallTool(t.Context(), &mcp.CallToolParams{Name: agent.ID + "__work", Arguments: map[string]any{"text": "work"}})
			return err == nil && !res.IsError
		})
	}
}

// TestToolsLeave: a host that hangs up ends its call, and so does one that cancels it.
func TestToolsLeave(t *testing.T) {
	t.Parallel()
	agent := gatewaytest.Start(t, gatewaytest.Flavours()[1])
	w := newWorld(t)
	g := w.start(w.yaml(plain+"\nmcp: {path: /mcp, wait: 1h}", openPolicy+fleet(agent)))
	for _, revision := range revisions {
		h := connect(t, g, revision, w.token("alice"))
		ctx, cancel := context.WithCancel(t.Context())
		params := &mcp.CallToolParams{Name: agent.ID + "__work", Arguments: map[string]any{"text": "tick"}}
		params.SetProgressToken("p")
		ended := make(chan error, 1)
		go func() {
			_, err := h.CallTool(ctx, params)
			ended <- err
		}()
		<-h.progress
		cancel()
		if err := <-ended; err == nil {
			t.Error("it was not ended")
		}
	}
	eventually(t, "both calls are on record", func() bool {
		n := 0
		for _, record := range w.audited(t) {
			if record["method"] == "SendStreamingMessage" && record["binding"] == "MCP" {
				n++
			}
		}
		return n == len(revisions)
	})
}
