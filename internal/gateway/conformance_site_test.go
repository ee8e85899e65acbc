package gateway_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// site is a gateway that lets everybody in, in front of an agent of every flavour
// and of some that cannot do much.
type site struct {
	url    string // of the gateway
	agents []*gatewaytest.Agent
	client *http.Client
	conn   *grpc.ClientConn
	direct map[string]*conversation // by agent: those of 1.0, without the gateway
}

// Agents that can do nothing beside having tasks, of which one wants an extension
// and one says that it can. Each fails with the code that a message names.
const (
	poorAgent      = "poor"
	demandingAgent = "demanding"
	failingAgent   = "failing"
)

const needed = "https://example.com/ext/needed"

// openDoors follows the authn section. Every conversation tries bad credentials, all of
// them from one address, and wants to hear that they are.
const openDoors = `  anonymous: true
  failures: {perMinute: -1}
push: {mode: passthrough}
extensions: [{uri: "` + needed + `"}]
policy:
  rules: [{name: everybody, effect: allow, issuers: [anonymous]}]
  skills: {undeclared: agent}
`

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{client: client(t), direct: map[string]*conversation{}}
	for _, f := range gatewaytest.AllFlavours() {
		if f.Version == "0.1" {
			continue
		}
		a := gatewaytest.Start(t, f)
		s.agents = append(s.agents, a)
		if f.Version != "1.0" {
			continue
		}
		c := &conversation{site: s, on: "jsonrpc", base: a.URL, agent: a.ID}
		target := ""
		switch f.Binding {
		case "HTTP+JSON":
			c.on = "http_json"
		case "GRPC":
			c.on, target = "grpc", strings.TrimPrefix(a.Endpoints[0], "http://")
		}
		var conn *grpc.ClientConn
		if target != "" {
			conn = plaintext(t, target)
		}
		c.transport = over(c.on, s.client, conn, c.base, "")
		s.direct[a.ID] = c
	}
	agents := origins(s.agents)
	for id, capabilities := range map[string]string{
		poorAgent:      `{}`,
		demandingAgent: `{"extensions":[{"uri":"` + needed + `","required":true}]}`,
		failingAgent:   `{"streaming":true,"pushNotifications":true}`,
	} {
		agents += fmt.Sprintf("  - {id: %q, card: %s}\n", id, everyBinding(stub(t, capabilities)))
	}
	w := newWorld(t)
	g := w.start(w.yaml(plain, openDoors+agents))
	s.url = g.URL()
	s.conn = plaintext(t, strings.TrimPrefix(s.url, "http://"))
	return s
}

// stub is an agent of 0.3 that has tasks and nothing else, and gives its card's URL.
func stub(t *testing.T, capabilities string) string {
	var tasks atomic.Int64
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.HandleFunc("GET /.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"protocolVersion":"0.3.0","name":"Stub","description":"Fails.","version":"1","url":%q,
			"preferredTransport":"JSONRPC","capabilities":%s,"supportsAuthenticatedExtendedCard":%t,
			"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
			"skills":[{"id":"fail","name":"Fail","description":"Fails.","tags":["test"]}]}`,
			server.URL, capabilities, strings.Contains(capabilities, "streaming"))
	})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		var call object
		_ = json.NewDecoder(r.Body).Decode(&call)
		id, _ := json.Marshal(call["id"])
		w.Header().Set("Content-Type", "application/json")
		if code := incapable(call); code != "" {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":"no"}}`, id, code)
			return
		}
		task := cmp.Or(text(call, "params.id"), fmt.Sprintf("task %d", tasks.Add(1)))
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"kind":"task","id":%q,"contextId":"c",
			"status":{"state":"input-required"}}}`, id, task)
	})
	return server.URL + "/.well-known/agent-card.json"
}

// incapable is the error of a call that a stub cannot answer, or "".
func incapable(call any) string {
	method := text(call, "method")
	switch said := text(call, "params.message.parts.0.text"); {
	case strings.HasPrefix(said, "-"):
		return said
	case strings.Contains(method, "pushNotification"):
		return "-32003"
	case method == "message/stream", method == "tasks/resubscribe":
		return "-32004"
	case method == "agent/getAuthenticatedExtendedCard":
		return "-32007"
	}
	return ""
}

// card is what the gateway says about an agent to a client of 1.0.
func (s *site) card(t *testing.T, agent string) any {
	t.Helper()
	_, body := fetch(t, s.url+"/agents/"+agent+"/.well-known/agent-card.json", http.Header{"A2a-Version": {"1.0"}})
	var card any
	if err := json.Unmarshal([]byte(body), &card); err != nil {
		t.Fatal(err)
	}
	return card
}

// bindings are the names of transports in cards.
var bindings = map[string]string{"JSONRPC": "jsonrpc", "HTTP+JSON": "http_json", "GRPC": "grpc"}

// place is where the card says that 1.0 is spoken with the agent on the transport.
func (s *site) place(t *testing.T, agent, on string) *conversation {
	t.Helper()
	for _, i := range list(s.card(t, agent), "supportedInterfaces") {
		if bindings[text(i, "protocolBinding")] != on || text(i, "protocolVersion") != "1.0" {
			continue
		}
		base, tenant := text(i, "url"), text(i, "tenant")
		if at := strings.TrimPrefix(s.url, "http://"); on == "grpc" && base != at {
			t.Fatalf("gRPC at %s, not %s", base, at)
		}
		return &conversation{
			transport: over(on, s.client, s.conn, base, tenant),
			site:      s, on: on, base: base, agent: agent, tenant: tenant,
		}
	}
	t.Fatalf("%s: no 1.0 over %s", agent, on)
	return nil
}

// elsewhere is the same client in front of another agent.
func (c *conversation) elsewhere(agent string) *conversation {
	other := c.site.place(c.t, agent, c.on)
	other.t, other.ctx, other.wrong = c.t, c.ctx, c.wrong
	return other
}

// across is the same client of the same agent on another transport.
func (c *conversation) across(on string) *conversation {
	other := c.site.place(c.t, c.agent, on)
	other.t, other.ctx, other.wrong = c.t, c.ctx, c.wrong
	return other
}
