package credentials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestClientCredentials: the request is that of RFC 6749 §4.4.2, with the id and the secret
// encoded as §2.3.1 has it.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	u := newSet(t, []Credential{{OAuth2: &OAuth2{
		TokenURL: secret.URL(s.URL), ClientID: "a:b c", ClientSecret: secret.New("p&:"), Scopes: []string{"x", "y"}, Audience: "agent",
	}}})
	got, err := authorizedAs(t, u, nil)
	must(t, err)
	requests := s.take()
	if got != "Bearer t1" || len(requests) != 1 {
		t.Fatalf("%q after %v", got, requests)
	}
	header := http.Header{}
	for _, name := range []string{"Content-Type", "Accept", "User-Agent"} {
		header[name] = requests[0].Header[name]
	}
	requests[0].Header = header
	if diff := cmp.Diff(asked{
		Form: url.Values{"grant_type": {"client_credentials"}, "scope": {"x y"}, "audience": {"agent"}},
		ID:   "a%3Ab+c", Password: "p%26%3A",
		Header: http.Header{
			"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}, "User-Agent": {"a2a-gateway"},
		},
	}, requests[0]); diff != "" {
		t.Error(diff)
	}
}

// TestStrictAnswers: x/oauth2 takes more for a token than RFC 6749 has, and its errors quote
// the server. Neither gets through.
func TestStrictAnswers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status      int
		kind, body  string
		takenBefore bool // by the library alone
	}{
		"a form":             {200, "text/plain", "access_token=canary", true},
		"created":            {201, "application/json", `{"access_token":"canary"}`, true},
		"twice":              {200, "application/json", `{"access_token":"canary","access_token":"canary"}`, true},
		"another case":       {200, "application/json", `{"ACCESS_TOKEN":"canary"}`, true},
		"of another type":    {200, "application/json", `{"access_token":"canary","token_type":"DPoP"}`, true},
		"large":              {200, "application/json", `{"access_token":"canary","x":"` + strings.Repeat("x", maxAnswer) + `"}`, true},
		"not for a header":   {200, "application/json", `{"access_token":"canary\n"}`, true},
		"a page":             {502, "text/html", "<h1>canary</h1>", false},
		"an error":           {400, "application/json", `{"error":"invalid_scope","error_description":"canary"}`, false},
		"an error that lies": {400, "application/json", `{"error":"canary of the server's own making"}`, false},
	} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tt.kind)
			w.WriteHeader(tt.status)
			_, _ = w.Write([]byte(tt.body))
		})
		bare := clientcredentials.Config{TokenURL: s.URL, ClientID: "gw", AuthStyle: oauth2.AuthStyleInParams}
		if _, err := bare.Token(t.Context()); (err == nil) != tt.takenBefore {
			t.Errorf("%s: the library alone says %v", name, err)
		}
		u := newSet(t, []Credential{{OAuth2: &OAuth2{TokenURL: secret.URL(s.URL + "/?q=canary"), ClientID: "gw"}}})
		if got, err := authorizedAs(t, u, nil); err == nil || got != "" || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestSecretInForm: a server that does not know HTTP Basic is asked in its way, and from
// then on in no other.
func TestSecretInForm(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	s.answer = func(a asked) (int, string) {
		if a.ID != "" || a.Form.Get("client_id") != "gate way" || a.Form.Get("client_secret") != "s&cret" {
			return http.StatusUnauthorized, `{"error":"invalid_client"}`
		}
		return http.StatusOK, `{"access_token":"t","token_type":"Bearer","expires_in":0}`
	}
	u := newSet(t, []Credential{exchangeAt(s)})
	for range 3 {
		_, err := authorizedAs(t, u, alice())
		must(t, err)
	}
	if n := len(s.take()); n != 4 {
		t.Errorf("%d requests", n)
	}
	// A client without a secret says who it is, and nothing else.
	public := newSet(t, []Credential{{OAuth2: &OAuth2{TokenURL: secret.URL(s.URL), ClientID: "app"}}})
	_, err := authorizedAs(t, public, nil)
	requests := s.take()
	if err == nil || len(requests) != 1 || requests[0].Form.Get("client_id") != "app" || requests[0].Header["Authorization"] != nil {
		t.Errorf("%v, %v", err, requests)
	}
}

// TestReadGrant: what counts as a token.
func TestReadGrant(t *testing.T) {
	t.Parallel()
	good := grant{token: "t", lifetime: time.Hour}
	for body, want := range map[string]grant{
		`{"access_token":"t","token_type":"Bearer","expires_in":3600}`:               good,
		`{"access_token":"t","token_type":"bearer","expires_in":"3600","scope":"x"}`: good,
		`{"access_token":"t","token_type":"N_A","expires_in":3.6e3}`:                 good,
		`{"access_token":"t"}`:                                       {token: "t", lifetime: lifetimeUnsaid},
		`{"access_token":"t","expires_in":null}`:                     {token: "t", lifetime: lifetimeUnsaid},
		`{"access_token":"t","expires_in":0}`:                        {token: "t"},
		`{"access_token":"t","expires_in":1e300}`:                    {token: "t", lifetime: lifetimeMost},
		`{"access_token":"t","token_type":"DPoP","expires_in":3600}`: {},
		`{"access_token":"t","token_type":"mac","expires_in":3600}`:  {},
		`{"access_token":"t","expires_in":-1}`:                       {},
		`{"access_token":"t","expires_in":"NaN"}`:                    {},
		`{"access_token":"t","expires_in":"soon"}`:                   {},
		`{"access_token":"t","expires_in":{}}`:                       {},
		`{"access_token":""}`:                                        {},
		`{"access_token":"a b"}`:                                     {},
		`{"access_token":"a\r\nX: y"}`:                               {},
		`{"access_token":"ä"}`:                                       {},
		`{"access_token":1}`:                                         {},
		`{"Access_Token":"t"}`:                                       {},
		`{"access_token":"t","error":"x"}`:                           {},
		`{"access_token":"t","access_token":"u"}`:                    {},
		`{"access_token":"t"} {}`:                                    {},
		`{"access_token":"t","issued_token_type":"urn:ietf:params:oauth:token-type:refresh_token"}`: {},
		`["t"]`:          {},
		`access_token=t`: {},
		``:               {},
		`{"access_token":"t` + strings.Repeat("t", maxAnswer) + `"}`: {},
	} {
		got, err := readGrant(http.StatusOK, []byte(body))
		if (err == nil) != (want.token != "") || err == nil && got != want {
			t.Errorf("%.100s: %v, %v", body, got, err)
		}
		for _, status := range []int{201, 204, 302, 400, 500} {
			if _, err := readGrant(status, []byte(body)); err == nil {
				t.Errorf("%d %.100s is a token", status, body)
			}
		}
	}
}

// FuzzReadGrant: what is taken for a token can stand in a header for a bounded time.
func FuzzReadGrant(f *testing.F) {
	for _, seed := range []string{
		`{"access_token":"t","token_type":"Bearer","expires_in":"3600","issued_token_type":"x"}`, `{"error":"invalid_grant"}`, `{"expires_in":1e999}`,
	} {
		f.Add(200, []byte(seed))
		f.Add(400, []byte(seed))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		g, err := readGrant(status, body)
		if err != nil {
			if text := err.Error(); len(text) > 200 || !printable(text) {
				t.Errorf("the error is %q", text)
			}
			return
		}
		if status != http.StatusOK || g.token == "" || !printable(g.token) || strings.Contains(g.token, " ") || g.lifetime < 0 || g.lifetime > lifetimeMost {
			t.Errorf("%d: %+v", status, g)
		}
	})
}

// TestBreakerOfServer: a server that is down is not asked by every caller in turn.
func TestBreakerOfServer(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	s.says(http.StatusBadGateway, "")
	var failed atomic.Int64
	u, err := made([]Credential{exchangeAt(s)}, Options{Fetched: func(kind, result string) {
		if kind == "exchange" && result == "failed" {
			failed.Add(1)
		}
	}})
	must(t, err)
	t.Cleanup(u.Close)
	for i := range 3 * breaker.Failures {
		c := alice()
		c.Token = fmt.Sprint("token ", i)
		c.Principal.Subject = fmt.Sprint("caller ", i)
		_, err := authorizedAs(t, u, c)
		if err == nil || errors.Is(err, ErrDeclined) || (i >= breaker.Failures) != errors.Is(err, breaker.ErrResting) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if n := len(s.take()); n != breaker.Failures || failed.Load() != breaker.Failures {
		t.Errorf("asked %d times, %d counted", n, failed.Load())
	}
}

// TestOneCallersTokens: a caller whose tokens the server fails at, each time another one,
// takes it from nobody, and is left alone itself.
func TestOneCallersTokens(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]struct {
		status int
		body   string
	}{
		"server error": {500, `{"error":"server_error"}`}, "unavailable": {503, ""}, "too many": {429, ""},
		"a firewall's page": {403, "<html>blocked</html>"}, "no token": {200, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTokenServer(t)
			well := s.answer
			s.answer = func(a asked) (int, string) {
				if strings.HasPrefix(a.Form.Get("subject_token"), "mallory") {
					return answer.status, answer.body
				}
				return well(a)
			}
			u := newSet(t, []Credential{exchangeAt(s)})
			for i := range 3 * breaker.Failures {
				mallory := alice()
				mallory.Principal.Subject, mallory.Token = "mallory", fmt.Sprint("mallory", i)
				_, err := authorizedAs(t, u, mallory)
				if err == nil || (i >= breaker.Failures) != errors.Is(err, breaker.ErrOwn) {
					t.Errorf("token %d: %v", i, err)
				}
			}
			if n := len(s.take()); n != breaker.Failures {
				t.Errorf("asked %d times for mallory", n)
			}
			for i := range 2 * breaker.Failures {
				other := alice()
				other.Principal.Subject, other.Token = fmt.Sprint("user", i), fmt.Sprint("token", i)
				if _, err := authorizedAs(t, u, other); err != nil {
					t.Errorf("user %d: %v", i, err)
				}
			}
		})
	}
}

// TestA23_TokensOfTwoCallers: however calls fall together, each agent call shows the token
// of its own caller, and each caller's is asked for once.
func TestA23_TokensOfTwoCallers(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	s.answer = func(a asked) (int, string) {
		return http.StatusOK, `{"access_token":"for-` + a.Form.Get("subject_token") + `","token_type":"Bearer","expires_in":3600}`
	}
	u := newSet(t, []Credential{exchangeAt(s)})
	start := make(chan struct{})
	var calls sync.WaitGroup
	for i := range 10_000 {
		calls.Go(func() {
			<-start
			c := alice() // the same in everything but the token
			c.Token = []string{"A", "B"}[i%2]
			h := http.Header{}
			if err := u.Authorize(context.Background(), h, c); err != nil || h.Get("Authorization") != "Bearer for-"+c.Token {
				t.Errorf("%s was shown with %q, %v", c.Token, h.Get("Authorization"), err)
			}
		})
	}
	close(start)
	calls.Wait()
	var subjects []string
	for _, a := range s.take() {
		subjects = append(subjects, a.Form.Get("subject_token"))
	}
	slices.Sort(subjects)
	if !slices.Equal(subjects, []string{"A", "B"}) {
		t.Errorf("asked for %v", subjects)
	}
}

// TestL30_ExchangeKeys: whatever tells two callers apart gives each a token of its own.
func TestL30_ExchangeKeys(t *testing.T) {
	t.Parallel()
	s := newTokenServer(t)
	u := newSet(t, []Credential{exchangeAt(s, func(x *Exchange) {
		x.Permissions = &Permissions{Groups: map[string][]string{"finance": {"f"}}, Always: []string{"openid"}}
	})})
	shown := map[string]string{}
	for name, edit := range map[string]func(*Caller){
		"alice":            func(*Caller) {},
		"another subject":  func(c *Caller) { c.Principal.Subject = "bob" },
		"another issuer":   func(c *Caller) { c.Principal.Issuer = "https://other.example" },
		"another token":    func(c *Caller) { c.Token = "other-token" },
		"another client":   func(c *Caller) { c.Principal.Client = "other" },
		"another tenant":   func(c *Caller) { c.Principal.Tenant = "other" },
		"another context":  func(c *Caller) { c.Principal.ACR = "mfa" },
		"another method":   func(c *Caller) { c.Principal.AMR = []string{"otp"} },
		"another time":     func(c *Caller) { c.Principal.AuthTime = time.Unix(1, 0) },
		"an actor":         func(c *Caller) { c.Principal.Actors = delegate(t).Principal.Actors },
		"one actor":        func(c *Caller) { c.Principal.Actors = delegate(t).Principal.Actors[:1] },
		"a workload":       func(c *Caller) { c.Principal.Workload = delegate(t).Principal.Workload },
		"other permission": func(c *Caller) { c.Principal.Groups = nil },
	} {
		for range 2 {
			c := alice()
			edit(c)
			got, err := authorizedAs(t, u, c)
			must(t, err)
			if who, ok := shown[got]; ok && who != name {
				t.Errorf("%s was shown with the token of %s", name, who)
			}
			shown[got] = name
		}
	}
	if n := len(s.take()); n != 13 || len(shown) != n {
		t.Errorf("%d requests, %d tokens", n, len(shown))
	}
}

// TestCloseEndsFetches: what nobody waits for any more is given up.
func TestCloseEndsFetches(t *testing.T) {
	t.Parallel()
	arrived, left := make(chan struct{}), make(chan struct{})
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm() // a server notices that the other end has gone once it has read all
		close(arrived)
		<-r.Context().Done()
		close(left)
	})
	u := newSet(t, []Credential{{OAuth2: &OAuth2{TokenURL: secret.URL(s.URL), ClientID: "gw"}}})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- u.Authorize(ctx, http.Header{}, nil) }()
	<-arrived
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	select {
	case <-left:
		t.Error("the fetch went with its caller")
	default:
	}
	u.Close()
	<-left
}
