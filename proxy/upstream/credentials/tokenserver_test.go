package credentials

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// asked is one request to a token endpoint.
type asked struct {
	Form         url.Values
	ID, Password string // HTTP Basic
	Header       http.Header
}

// tokenServer is a token endpoint that remembers what it was asked.
type tokenServer struct {
	*httptest.Server

	mu     sync.Mutex
	asked  []asked
	answer func(a asked) (status int, body string)
}

// newTokenServer answers with tokens t1, t2, … that are good for an hour, until told
// otherwise.
func newTokenServer(t testing.TB) *tokenServer {
	t.Helper()
	s := &tokenServer{}
	n := 0
	s.answer = func(asked) (int, string) {
		n++
		return http.StatusOK, fmt.Sprintf(`{"access_token":"t%d","token_type":"Bearer","expires_in":3600}`, n)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		a := asked{Form: r.PostForm, Header: r.Header}
		a.ID, a.Password, _ = r.BasicAuth()
		s.mu.Lock()
		s.asked = append(s.asked, a)
		status, body := s.answer(a)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(s.Close)
	return s
}

// says makes the server give this answer from now on.
func (s *tokenServer) says(status int, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = func(asked) (int, string) { return status, body }
}

// take returns what was asked since the last time.
func (s *tokenServer) take() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// exchangeAt is a credential that is exchanged at s.
func exchangeAt(s *tokenServer, edit ...func(*Exchange)) Credential {
	x := &Exchange{TokenURL: secret.URL(s.URL + "/token"), ClientID: "gate way", ClientSecret: secret.New("s&cret")}
	for _, e := range edit {
		e(x)
	}
	return Credential{Exchange: x}
}

// alice is a caller with a token.
func alice() *Caller {
	return &Caller{
		Principal: &authn.Principal{
			Subject: "alice", Issuer: "https://idp.example", Client: "app", Method: "oidc", Carrier: "Authorization",
			Scopes: []string{"billing.write", "billing.read"}, Groups: []string{"finance"},
			Claims: map[string]any{"email": "alice@example.com", "org": map[string]any{"id": "o-1"}, "level": 3.0},
		},
		Token: "alice-token", Agent: "billing", Method: "SendMessage",
	}
}

// authorized returns what Authorization says in a call.
func authorizedAs(t testing.TB, u *Set, c *Caller) (string, error) {
	t.Helper()
	h := http.Header{}
	err := u.Authorize(t.Context(), h, c)
	return h.Get("Authorization"), err
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// made makes credentials as an agent's configuration does: what cannot work is an error.
func made(configured []Credential, o Options) (*Set, error) {
	if err := Validate(configured); err != nil {
		return nil, err
	}
	return New(configured, o), nil
}

func newSet(t testing.TB, configured []Credential) *Set {
	t.Helper()
	s, err := made(configured, Options{})
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}
