package openstreams_test

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// TestGreedyCallers: a caller whose calls take for ever gets half of the places that there are,
// of the gateway's and of an agent's, and who comes then is served. What has ended makes room.
// Callers without a name are told apart by their addresses.
func TestGreedyCallers(t *testing.T) {
	t.Parallel()
	requests := func(s *proxytest.Setup) { s.Server.Limits.Requests = 6 }
	connections := func(s *proxytest.Setup) { s.Agent.Connections = 6 }
	for name, tt := range map[string]struct {
		key          string
		edit         func(*proxytest.Setup)
		greedy, good caller
	}{
		"calls":                {"server.limits.requests", requests, caller{who: "alice"}, caller{who: "bob"}},
		"of an agent":          {"agents[].connections", connections, caller{who: "alice"}, caller{who: "bob"}},
		"without a name":       {"server.limits.requests", requests, caller{from: "203.0.113.1"}, caller{from: "203.0.113.2"}},
		"one with a name":      {"agents[].connections", connections, caller{from: "203.0.113.1"}, caller{"bob", "203.0.113.1"}},
		"two networks of IPv6": {"server.limits.requests", requests, caller{from: "2001:db8::1"}, caller{from: "2001:db8:0:1::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := proxytest.NewGateway(t, tt.edit, func(s *proxytest.Setup) {
				s.Authn.Anonymous = true
				s.Policy.Rules[0].Subjects = append(s.Policy.Rules[0].Subjects, "anonymous")
				s.Server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			})
			arrived, release := make(chan struct{}, 10), make(chan struct{})
			letGo := sync.OnceFunc(func() { close(release) })
			t.Cleanup(letGo)
			w.Agent.Answers(func(rw http.ResponseWriter, r *proxytest.Request) {
				if strings.Contains(string(r.Content), "greedy") {
					arrived <- struct{}{}
					<-release
				}
				proxytest.Agreeable(rw, r)
			})
			greedy := func() proxytest.Response { return tt.greedy.calls(w, `,"metadata":{"who":"greedy"}`) }
			ended := make(chan proxytest.Response, 10)
			for range 10 {
				go func() { ended <- greedy() }()
			}
			held, refused := 0, 0
			for held+refused < 10 {
				select {
				case <-arrived:
					held++
				case got := <-ended:
					refused++
					proxytest.WantStatus(t, "one too many", got, http.StatusServiceUnavailable)
					if !strings.Contains(got.Body, tt.key) {
						t.Errorf("the refusal does not name the limit: %s", got.Body)
					}
				}
			}
			if held == 0 || held > 3 { // less where several come at once
				t.Errorf("one caller holds %d places of 6", held)
			}
			for range 3 {
				proxytest.WantStatus(t, "somebody else meanwhile", tt.good.calls(w, ""), http.StatusOK)
			}
			letGo()
			for range held {
				proxytest.WantStatus(t, "what was held", <-ended, http.StatusOK)
			}
			proxytest.Eventually(t, "place", func() bool { return greedy().Status == http.StatusOK })
		})
	}
}

// caller is somebody by name, or nobody, at an address.
type caller struct{ who, from string }

func (c caller) calls(w *proxytest.Gateway, more string) proxytest.Response {
	if c.from == "" {
		return w.Call(c.who, wire.SendMessage, proxytest.Message(more))
	}
	return w.Call(c.who, wire.SendMessage, proxytest.Message(more), "X-Forwarded-For: "+c.from)
}
