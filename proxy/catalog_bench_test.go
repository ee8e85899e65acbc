package proxy_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// BenchmarkCatalog is a catalog of 1,000 agents under 1,000 rules; first is the request of a
// caller for whom the rules have not been asked yet.
func BenchmarkCatalog(b *testing.B) {
	w := proxytest.NewGateway(b, func(s *proxytest.Setup) {
		for i := range 999 {
			a := agents.Config{ID: fmt.Sprintf("agent-%03d", i)}
			a.Card.URL = s.Agent.Card.URL
			s.More = append(s.More, a)
			s.Policy.Rules = append(s.Policy.Rules, policy.Rule{
				Name: a.ID, Effect: "deny", Agents: []string{a.ID}, Subjects: []string{fmt.Sprint(i), "bob"}, Skills: []string{"read"},
			})
		}
	})
	w.Logs = nil
	for _, target := range []string{"/agents", "/agents?limit=1000", "/agents?q=agent-999+read", "/.well-known/api-catalog"} {
		for _, first := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/first=%v", target, first), func(b *testing.B) {
				r := w.Request("alice", "GET", w.URL+target, "")
				r.RequestURI, r.Host = target, strings.TrimPrefix(w.URL, "http://")
				r.URL.Host, r.URL.Scheme = "", ""
				r.RemoteAddr = "127.0.0.1:1"
				b.ReportAllocs()
				for b.Loop() {
					if first {
						w.Proxy.ForgetCatalog()
					}
					out := &sink{header: http.Header{}}
					w.Proxy.ServeHTTP(out, r)
					if out.status >= 400 {
						b.Fatal(out.status)
					}
				}
			})
		}
	}
}
