package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// TestGreedyCallers: a caller whose calls take for ever gets half of the places that there are,
// of the gateway's and of an agent's, and who comes then is served. What has ended makes room.
func TestGreedyCallers(t *testing.T) {
	t.Parallel()
	for key, edit := range map[string]func(*setup){
		"server.limits.requests": func(s *setup) { s.server.Limits.Requests = 6 },
		"agents[].connections":   func(s *setup) { s.agent.Connections = 6 },
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			w := build(t, edit)
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
			greedy := func() answer { return w.call("alice", wire.SendMessage, message(`,"metadata":{"who":"greedy"}`)) }
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
					if !strings.Contains(got.body, key) {
						t.Errorf("the refusal does not name the limit: %s", got.body)
					}
				}
			}
			if held == 0 || held > 3 { // less where several come at once
				t.Errorf("one caller holds %d places of 6", held)
			}
			for range 3 {
				wantStatus(t, "somebody else meanwhile", w.call("bob", wire.SendMessage, message("")), http.StatusOK)
			}
			letGo()
			for range held {
				wantStatus(t, "what was held", <-ended, http.StatusOK)
			}
			eventually(t, "place", func() bool { return greedy().status == http.StatusOK })
		})
	}
}
