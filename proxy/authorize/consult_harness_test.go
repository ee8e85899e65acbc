package authorize_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy/pdp"
	"github.com/a2a-gateway/a2a-gateway/proxy/proxytest"
)

// decider is a policy decision point (AuthZEN) without metadata that keeps what it is
// asked and answers as it is told; at first it allows everything.
type decider struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	answer string
	status int
}

func newDecider(t testing.TB) *decider {
	d := &decider{answer: `{"decision":true}`, status: http.StatusOK}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	return d
}

// decide sets what it answers from now on.
func (d *decider) decide(answer string, status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer, d.status = answer, status
}

// take gives the questions since the last take.
func (d *decider) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.asked
	d.asked = nil
	return asked
}

// ServeHTTP implements http.Handler.
func (d *decider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, string(body))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(d.status)
	_, _ = io.WriteString(w, d.answer)
}

// consulting builds a world whose gateway asks a decider about every call.
func consulting(t testing.TB, edit func(*pdp.Authorizer), more ...func(*proxytest.Setup)) (*proxytest.Gateway, *decider) {
	t.Helper()
	d := newDecider(t)
	w := proxytest.NewGateway(t, append([]func(*proxytest.Setup){func(s *proxytest.Setup) {
		s.Policy.Rules[0].Subjects = []string{"alice", "bob", "carol"}
		s.Bound = map[string]string{"carol": "rec"}
		a := pdp.Authorizer{Name: "pdp", Kind: "authzen", URL: secret.URL(d.URL), Timeout: 10e9}
		if edit != nil {
			edit(&a)
		}
		s.Authorizers = pdp.Config{a}
	}}, more...)...)
	w.Agent.Answers(proxytest.Fluent)
	return w, d
}
