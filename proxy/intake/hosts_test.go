package intake_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/apikey"
	"github.com/a2a-gateway/a2a-gateway/authn/jwt"
	"github.com/a2a-gateway/a2a-gateway/authn/schemes"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/proxy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestHosts: an agent has the root of its hosts, with the public port where the
// host was written without one, and cards and metadata name it that way.
func TestHosts(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Agent.Hosts = []string{"Agent.example", "agent.example:9443"}
		s.Authn.OIDC = []jwt.Issuer{{Issuer: "http://127.0.0.1:1", Audiences: []string{"x"}}}
	})
	port := w.URL[strings.LastIndexByte(w.URL, ':'):]
	for _, host := range []string{"agent.example", "AGENT.example" + port, "agent.example:9443"} {
		got := w.Do("alice", "POST", w.URL+"/", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0", "Host: "+host)
		proxytest.WantStatus(t, host, got, 200)
		w.Agent.One(t)
		proxytest.WantStatus(t, host, w.Do("alice", "POST", w.URL+"/skills/write%20it/message:send", proxytest.Message(""), "Host: "+host), 200)
		w.Agent.One(t)
		card := w.Do("", "GET", w.URL+"/.well-known/agent-card.json", "", "Host: "+host)
		if !strings.Contains(card.Body, `"http://Agent.example`+port) && !strings.Contains(card.Body, `"http://agent.example`+port) {
			t.Errorf("%s: card %s", host, card.Body)
		}
		unknown := w.Do("", "POST", w.URL+"/", "{}", "Host: "+host)
		proxytest.WantStatus(t, host, unknown, 401)
		resource := "http://" + strings.ToLower(host)
		if challenge := unknown.Header.Get("Www-Authenticate"); !strings.Contains(challenge, resource+"/.well-known/oauth-protected-resource") {
			t.Errorf("%s: challenge %s", host, challenge)
		}
		about := w.Do("", "GET", w.URL+"/.well-known/oauth-protected-resource", "", "Host: "+host)
		if !strings.Contains(about.Body, `"resource":"`+resource+`"`) {
			t.Errorf("%s: metadata %s", host, about.Body)
		}
	}
	for _, host := range []string{"agent.example:1", "other.example" + port, "agent.example.evil"} {
		proxytest.WantStatus(t, host, w.Do("alice", "POST", w.URL+"/", "{}", "Host: "+host), 421)
	}
	proxytest.WantStatus(t, "another path", w.Do("alice", "POST", w.URL+"/agents/rec", "{}", "Host: agent.example"), 404)
	w.Agent.Silent(t, "hosts")
}

// TestOwnOrigin: an agent at the gateway's own origin has the root there, and the gateway's
// paths stay what they are.
func TestOwnOrigin(t *testing.T) {
	t.Parallel()
	w := proxytest.NewGateway(t, func(s *proxytest.Setup) {
		s.Agent.Hosts = []string{"127.0.0.1"}
		s.Authn.OIDC = []jwt.Issuer{{Issuer: "http://127.0.0.1:1", Audiences: []string{"x"}}}
	})
	for _, path := range []string{"/", "/agents/rec", "/skills/write%20it", "/a2a/rec/message:send", "/message:send"} {
		body := proxytest.Message("")
		if !strings.Contains(path, "message:") {
			body = proxytest.RPCBody("SendMessage", proxytest.Message(""))
		}
		proxytest.WantStatus(t, path, w.Do("alice", "POST", w.URL+path, body, "A2A-Version: 1.0"), 200)
		w.Agent.One(t)
	}
	card := w.Do("", "GET", w.URL+"/.well-known/agent-card.json", "")
	if !strings.Contains(card.Body, `"`+w.URL+`"`) {
		t.Errorf("card %s", card.Body)
	}
	proxytest.WantStatus(t, "the card below /agents", w.Do("", "GET", w.URL+"/agents/rec/.well-known/agent-card.json", ""), 200)
	proxytest.WantStatus(t, "the catalog", w.Do("alice", "GET", w.URL+"/agents", ""), 200)
	proxytest.WantStatus(t, "an agent that is not there", w.Do("alice", "POST", w.URL+"/agents/none", proxytest.RPCBody("SendMessage", proxytest.Message("")), "A2A-Version: 1.0"), 404)
	for path, resource := range map[string]string{"/": w.URL, "/agents/rec": w.URL + "/agents/rec"} {
		metadata := w.URL + "/.well-known/oauth-protected-resource" + strings.TrimSuffix(path, "/")
		if challenge := w.Do("", "POST", w.URL+path, "{}").Header.Get("Www-Authenticate"); !strings.Contains(challenge, `"`+metadata+`"`) {
			t.Errorf("%s: challenge %s", path, challenge)
		}
		if about := w.Do("", "GET", metadata, ""); !strings.Contains(about.Body, `"resource":"`+resource+`"`) {
			t.Errorf("%s: metadata %s", path, about.Body)
		}
	}
	w.Agent.Silent(t, "the gateway's own paths")
}

// TestIndex: what is ambiguous is no configuration.
func TestIndex(t *testing.T) {
	t.Parallel()
	chain, err := schemes.New(t.Context(), schemes.Config{
		APIKeys: &apikey.Config{File: t.TempDir() + "/keys", Header: "X-Company-Key"},
	}, schemes.Options{})
	proxytest.Must(t, err)
	t.Cleanup(chain.Close)
	agent := func(id string, hosts ...string) *agents.Agent {
		return &agents.Agent{Config: agents.Config{ID: id, Hosts: hosts}}
	}
	leaking := agent("a")
	leaking.Headers.Request = []string{"x-company-key"}
	var config server.Config
	config.Defaults()
	for name, tt := range map[string]struct {
		agents []*agents.Agent
		want   string
	}{
		"fine":                {[]*agents.Agent{agent("a", "a.example"), agent("b", "a.example:1")}, ""},
		"id twice":            {[]*agents.Agent{agent("a"), agent("a")}, "used twice"},
		"host twice":          {[]*agents.Agent{agent("a", "x.example"), agent("b", "X.EXAMPLE")}, "used twice"},
		"host with port":      {[]*agents.Agent{agent("a", "x.example"), agent("b", "x.example:8443")}, "used twice"},
		"the gateway's":       {[]*agents.Agent{agent("a", "gw.example:8443"), agent("b")}, ""},
		"the gateway's, bare": {[]*agents.Agent{agent("a", "gw.example")}, ""},
		"a further one":       {[]*agents.Agent{agent("a", "also.example")}, ""},
		"the gateway's twice": {[]*agents.Agent{agent("a", "gw.example:8443"), agent("b", "gw.example")}, "used twice"},
		"no host":             {[]*agents.Agent{agent("a", "http://x")}, "not a host name"},
		"credential header":   {[]*agents.Agent{leaking}, "carries credentials"},
	} {
		_, err := proxy.New(proxy.Options{
			PublicURL: &url.URL{Scheme: "https", Host: "gw.example:8443"}, Hosts: []string{"also.example"},
			Server: config, Agents: tt.agents, Authn: chain,
		})
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
