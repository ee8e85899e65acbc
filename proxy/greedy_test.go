package proxy_test

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestGreedyCallers: a caller whose calls take for ever gets half of the places that there are,
// of the gateway's and of an agent's, and who comes then is served. What has ended makes room.
// Callers without a name are told apart by their addresses.
func TestGreedyCallers(t *testing.T) {
	t.Parallel()
	requests := func(s *setup) { s.server.Limits.Requests = 6 }
	connections := func(s *setup) { s.agent.Connections = 6 }
	for name, tt := range map[string]struct {
		key          string
		edit         func(*setup)
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
			w := build(t, tt.edit, func(s *setup) {
				s.authn.Anonymous = true
				s.policy.Rules[0].Subjects = append(s.policy.Rules[0].Subjects, "anonymous")
				s.server.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
			})
			arrived, release := make(chan struct{}, 10), make(chan struct{})
			letGo := sync.OnceFunc(func() { close(release) })
			t.Cleanup(letGo)
			w.agent.answers(func(rw http.ResponseWriter, r *record) {
				if strings.Contains(string(r.body), "greedy") {
					arrived <- struct{}{}
					<-release
				}
				agreeable(rw, r)
			})
			greedy := func() answer { return tt.greedy.calls(w, `,"metadata":{"who":"greedy"}`) }
			ended := make(chan answer, 10)
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
					wantStatus(t, "one too many", got, http.StatusServiceUnavailable)
					if !strings.Contains(got.body, tt.key) {
						t.Errorf("the refusal does not name the limit: %s", got.body)
					}
				}
			}
			if held == 0 || held > 3 { // less where several come at once
				t.Errorf("one caller holds %d places of 6", held)
			}
			for range 3 {
				wantStatus(t, "somebody else meanwhile", tt.good.calls(w, ""), http.StatusOK)
			}
			letGo()
			for range held {
				wantStatus(t, "what was held", <-ended, http.StatusOK)
			}
			eventually(t, "place", func() bool { return greedy().status == http.StatusOK })
		})
	}
}

// caller is somebody by name, or nobody, at an address.
type caller struct{ who, from string }

func (c caller) calls(w *world, more string) answer {
	if c.from == "" {
		return w.call(c.who, wire.SendMessage, message(more))
	}
	return w.call(c.who, wire.SendMessage, message(more), "X-Forwarded-For: "+c.from)
}
