package jwt

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// authServer is an issuer that answers questions about tokens, with switches.
type authServer struct {
	*httptest.Server

	keys  *authntest.IDP
	asked atomic.Int64 // questions
	found atomic.Int64 // times the metadata was read
	last  atomic.Pointer[http.Request]

	mu     sync.Mutex
	answer func(token string) string // document of an answer
	handle http.HandlerFunc          // in place of answer
	gate   chan struct{}             // when not nil, answers wait for it
}

func newAuthServer(t testing.TB) *authServer {
	t.Helper()
	a := &authServer{answer: func(token string) string { return activeAnswer(t, M{"sub": token}) }}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	a.keys = authntest.NewIDP(a.URL, authntest.JWK("ec", "ES256", authntest.EcKey()))
	return a
}

type M = map[string]any

// activeAnswer is a good answer with changes; nil removes a member.
func activeAnswer(t testing.TB, change M) string {
	t.Helper()
	a := M{"active": true, "sub": "alice", "aud": authntest.TestAudience, "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(a, change)
	maps.DeleteFunc(a, func(_ string, v any) bool { return v == nil })
	doc, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

func (a *authServer) set(change func(*authServer)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *authServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if a.Server != nil && r.URL.Path == "/.well-known/openid-configuration" {
		a.found.Add(1)
		_ = json.NewEncoder(w).Encode(M{"issuer": a.URL, "jwks_uri": a.URL + "/jwks",
			"introspection_endpoint": a.URL + "/introspect"})
		return
	}
	if r.URL.Path != "/introspect" {
		a.keys.ServeHTTP(w, r)
		return
	}
	a.asked.Add(1)
	_ = r.ParseForm()
	a.last.Store(r)
	a.mu.Lock()
	gate, handle, answer := a.gate, a.handle, a.answer
	a.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return
		}
	}
	if handle != nil {
		handle(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_, _ = io.WriteString(w, answer(r.PostForm.Get("token")))
}

// config is the configuration for an authServer.
func (a *authServer) config(change ...func(*Issuer)) Config {
	is := Issuer{Issuer: a.URL, Audiences: []string{authntest.TestAudience},
		Introspection: &Introspection{ClientID: "gw", ClientSecret: secret.New("geheim"),
			Timeout: quantity.Duration(maxAskTimeout)}} // however slow the machine
	for _, c := range change {
		c(&is)
	}
	return Config{OIDC: []Issuer{is}}
}

func always(is *Issuer) { is.Introspection.Always = true }

// jwt is a good token of the server.
func (a *authServer) jwt(t testing.TB, change M) string {
	t.Helper()
	claims := M{"iss": a.URL}
	maps.Copy(claims, change)
	return authntest.Good(t, claims)
}

// judgeToken is the fault of a bearer token.
func judgeToken(c *authn.Chain, token string) string {
	_, err := c.Authenticate(authntest.BearerOf(token))
	return authntest.FaultOf(err)
}

func TestIntrospectionRequest(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	c := openTokens(t, a.config(func(is *Issuer) {
		is.Introspection.ClientID, is.Introspection.ClientSecret = "gw:1 ü", secret.New("a&b:c%")
	}), Options{})
	const token = "opaque+/=~._-"
	authntest.Want(t, "token", judgeToken(c, token), "ok")
	r := a.last.Load()
	if d := cmp.Diff(url.Values{"token": {token}, "token_type_hint": {"access_token"}}, r.PostForm); d != "" {
		t.Error(d)
	}
	user, password, _ := r.BasicAuth()
	got := []string{r.Method, r.URL.RawQuery, user, password, r.Header.Get("Accept"), r.Header.Get("Content-Type")}
	expected := []string{"POST", "", "gw%3A1+%C3%BC", "a%26b%3Ac%25", "application/json",
		"application/x-www-form-urlencoded"}
	if d := cmp.Diff(expected, got); d != "" {
		t.Error(d)
	}
}

// Each row is what the issuer says about a token. An empty document stands for the good
// answer with the change.
func TestIntrospectionAnswers(t *testing.T) {
	t.Parallel()
	now := time.Now().Unix()
	tests := []struct {
		name   string
		change M
		want   string
	}{
		{"control", nil, "ok"},
		{"inactive", M{"active": false}, "inactive"},
		{"active absent", M{"active": nil}, "unavailable"},
		{"active a string", M{"active": "true"}, "unavailable"},
		{"active a number", M{"active": 1}, "unavailable"},
		{"iss ours", M{"iss": "SELF"}, "ok"},
		{"iss another", M{"iss": "https://evil.test"}, "unknown-issuer"},
		{"iss a list", M{"iss": []string{"SELF"}}, "unknown-issuer"},
		{"iss empty", M{"iss": ""}, "unknown-issuer"},
		{"aud absent", M{"aud": nil}, "audience"},
		{"aud another", M{"aud": "https://other.test"}, "audience"},
		{"aud a prefix", M{"aud": authntest.TestAudience + "/x"}, "audience"},
		{"aud a list with ours", M{"aud": []string{"other", authntest.TestAudience}}, "ok"},
		{"aud a mixed list", M{"aud": []any{authntest.TestAudience, 1}}, "audience"},
		{"exp absent", M{"exp": nil}, "ok"},
		{"exp a string", M{"exp": "99999999999"}, "claims"},
		{"exp within tolerance", M{"exp": now - 30}, "ok"},
		{"exp past tolerance", M{"exp": now - 100}, "expired"},
		{"nbf in the future", M{"nbf": now + 300}, "not-yet-valid"},
		{"nbf in the future, no exp", M{"nbf": now + 300, "exp": nil}, "not-yet-valid"},
		{"iat in the future", M{"iat": now + 300}, "not-yet-valid"},
		{"auth_time in the future", M{"auth_time": now + 300}, "not-yet-valid"},
		{"iat a string, no exp", M{"iat": "0", "exp": nil}, "claims"},
		{"sub absent", M{"sub": nil}, "claims"},
		{"sub absent, client", M{"sub": nil, "client_id": "robot"}, "ok"},
		{"sub empty, client", M{"sub": "", "client_id": "robot"}, "claims"},
		{"sub a number", M{"sub": 7, "client_id": "robot"}, "claims"},
		{"client a list", M{"sub": nil, "client_id": []string{"robot"}}, "claims"},
		{"groups a number", M{"groups": 1}, "claims"},
		{"bearer", M{"token_type": "bearer"}, "ok"},
		{"refresh token", M{"token_type": "refresh_token"}, "id-token"},
		{"N_A", M{"token_type": "N_A"}, "id-token"},
		{"token_type a number", M{"token_type": 1}, "id-token"},
		{"Hydra's access token", M{"token_use": "access_token"}, "ok"},
		{"Hydra's refresh token", M{"token_use": "refresh_token", "token_type": "Bearer"}, "id-token"},
		{"Keycloak's access token", M{"typ": "Bearer"}, "ok"},
		{"Keycloak's refresh token", M{"typ": "Refresh"}, "id-token"},
		{"Keycloak's ID token", M{"typ": "ID"}, "id-token"},
		{"DPoP without a key", M{"token_type": "DPoP"}, "sender-constrained"},
		{"bound to a key, as bearer", M{"cnf": M{"jkt": authntest.Base64(make([]byte, 32))}}, "sender-constrained"},
		{"bound to a certificate", M{"cnf": M{"x5t#S256": authntest.Base64(make([]byte, 32))}}, "sender-constrained"},
		{"bound to what is not known", M{"cnf": M{"kid": "x"}}, "sender-constrained"},
		{"cnf malformed", M{"cnf": "x"}, "sender-constrained"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := newAuthServer(t)
			doc := strings.ReplaceAll(activeAnswer(t, tt.change), "SELF", a.URL)
			a.set(func(a *authServer) { a.answer = func(string) string { return doc } })
			at := func() time.Time { return time.Unix(now, 0) }
			authntest.Want(t, doc, judgeToken(openTokens(t, a.config(), Options{Now: at}), "opaque"), tt.want)
		})
	}
}

func TestIntrospectedPrincipal(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	exp := time.Now().Add(time.Hour).Truncate(time.Second)
	tests := []struct {
		name   string
		change func(*Issuer)
		answer M
		want   authn.Principal
	}{
		{"user", func(*Issuer) {}, M{"scope": "x y", "client_id": "cli", "groups": []string{"g"}},
			authn.Principal{Subject: "alice", Client: "cli", Scopes: []string{"x", "y"}, Groups: []string{"g"},
				Expires: exp}},
		{"client", func(*Issuer) {}, M{"sub": nil, "client_id": "robot", "exp": nil},
			authn.Principal{Subject: "robot", Client: "robot"}},
		{"mapped", func(is *Issuer) { is.Claims = Claims{Subject: "ext.uid", Tenant: "org"} },
			M{"ext": M{"uid": "u1"}, "org": "acme"},
			authn.Principal{Subject: "u1", Tenant: "acme", Expires: exp}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := M{"exp": exp.Unix()}
			maps.Copy(change, tt.answer)
			doc := activeAnswer(t, change)
			a.set(func(a *authServer) { a.answer = func(string) string { return doc } })
			p, err := openTokens(t, a.config(tt.change), Options{}).Authenticate(authntest.BearerOf("opaque"))
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Issuer, tt.want.Method, tt.want.Carrier = a.URL, "introspection", "Authorization"
			opts := cmp.Options{cmpopts.IgnoreUnexported(authn.Principal{}), cmpopts.IgnoreFields(authn.Principal{}, "Claims")}
			if d := cmp.Diff(&tt.want, p, opts); d != "" {
				t.Error(d)
			}
		})
	}
	// A configured subject that is missing is not replaced by something else.
	doc := activeAnswer(t, M{"client_id": "robot"})
	a.set(func(a *authServer) { a.answer = func(string) string { return doc } })
	c := openTokens(t, a.config(func(is *Issuer) { is.Claims.Subject = "uid" }), Options{})
	authntest.Want(t, "no uid", judgeToken(c, "opaque"), "claims")
}

// Whatever the endpoint does instead of answering is no statement about the token, and
// over a second after it ends.
// A user is the same one by every kind of token, and keeps what is the user's.
func TestIntrospectedPrincipalIsTheTokens(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	c := openTokens(t, a.config(), Options{})
	opaque, err := c.Authenticate(authntest.BearerOf("alice"))
	if err != nil {
		t.Fatal(err)
	}
	signed, err := c.Authenticate(authntest.BearerOf(a.jwt(t, M{"sub": "alice"})))
	if err != nil {
		t.Fatal(err)
	}
	if opaque.Method == signed.Method || opaque.Key() != signed.Key() {
		t.Errorf("%s %q and %s %q", opaque.Method, opaque.Key(), signed.Method, signed.Key())
	}
}

func TestIntrospectionOutages(t *testing.T) {
	t.Parallel()
	raw := func(kind, doc string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, doc)
		}
	}
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = io.WriteString(w, activeAnswer(t, nil))
		}
	}
	tests := map[string]http.HandlerFunc{
		"status 500":   status(500),
		"status 401":   status(401),
		"status 404":   status(404),
		"status 400":   status(400),
		"status 201":   status(201),
		"status 429":   status(429),
		"HTML":         raw("text/html", activeAnswer(t, nil)),
		"JWT":          raw("application/token-introspection+jwt", activeAnswer(t, nil)),
		"no type":      raw("", activeAnswer(t, nil)),
		"not JSON":     raw("application/json", "active"),
		"empty":        raw("application/json", ""),
		"null":         raw("application/json", "null"),
		"list":         raw("application/json", "["+activeAnswer(t, nil)+"]"),
		"two":          raw("application/json", activeAnswer(t, nil)+activeAnswer(t, nil)),
		"member twice": raw("application/json", `{"active":false,`+activeAnswer(t, nil)[1:]),
		"member twice, escaped": raw("application/json", `{"\u0061ctive":false,`+
			activeAnswer(t, nil)[1:]),
		"member twice, below": raw("application/json", `{"a":{"b":1,"b":2},`+activeAnswer(t, nil)[1:]),
		"huge": raw("application/json", `{"pad":"`+strings.Repeat("x", maxAnswer)+`",`+
			activeAnswer(t, nil)[1:]),
		"padded": raw("application/json", activeAnswer(t, nil)+strings.Repeat(" ", maxAnswer)),
		"nested": raw("application/json", `{"a":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+","+
			activeAnswer(t, nil)[1:]),
		"invalid UTF-8": raw("application/json", "{\"a\":\"\xff\","+activeAnswer(t, nil)[1:]),
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		},
		"cut off": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
	for name, handle := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAuthServer(t)
			a.set(func(a *authServer) { a.handle = handle })
			var log authntest.Log
			ticks := authntest.NewClock(time.Now())
			c := openTokens(t, a.config(), Options{Logger: log.Logger(), Now: ticks.Now})
			_, err := c.Authenticate(authntest.BearerOf("opaque-token"))
			authntest.Want(t, "while it lasts", authntest.FaultOf(err), "unavailable")
			for _, word := range []string{"geheim", "opaque-token"} {
				if strings.Contains(err.Error()+log.String(), word) {
					t.Errorf("%q is told: %v\n%s", word, err, log.String())
				}
			}
			a.set(func(a *authServer) { a.handle = nil })
			ticks.Pass(questionPause)
			authntest.Want(t, "afterwards", judgeToken(c, "opaque-token"), "ok")
		})
	}
}

// An endpoint that takes a question and says nothing holds nobody up for longer than
// the configuration says.
func TestIntrospectionSilence(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	gate := make(chan struct{})
	defer close(gate)
	a.set(func(a *authServer) { a.gate = gate })
	c := openTokens(t, a.config(func(is *Issuer) {
		is.Introspection.Timeout = quantity.Duration(50 * time.Millisecond)
	}), Options{})
	authntest.Want(t, "silent", judgeToken(c, "opaque"), "unavailable")
}

// After a failure nobody asks for a second, and what is known is still good.
func TestIntrospectionPause(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	ticks := authntest.NewClock(time.Now())
	c := openTokens(t, a.config(), Options{Now: ticks.Now})
	authntest.Want(t, "up", judgeToken(c, "known"), "ok")
	a.set(func(a *authServer) {
		a.handle = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	})
	authntest.Want(t, "down", judgeToken(c, "new"), "unavailable")
	ticks.Pass(questionPause - 1)
	before := a.asked.Load()
	authntest.Want(t, "within the pause", judgeToken(c, "another"), "unavailable")
	if n := a.asked.Load() - before; n != 0 {
		t.Errorf("%d questions within the pause", n)
	}
	a.set(func(a *authServer) { a.handle = nil })
	authntest.Want(t, "known", judgeToken(c, "known"), "ok")
	ticks.Pass(1)
	authntest.Want(t, "back", judgeToken(c, "another"), "ok")
}

// An odd token that the endpoint takes for a bad request keeps nobody else waiting.
func TestIntrospectionBadRequest(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	a.set(func(a *authServer) {
		a.handle = func(w http.ResponseWriter, r *http.Request) {
			if r.PostForm.Get("token") == "odd" {
				http.Error(w, "what?", http.StatusBadRequest)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, activeAnswer(t, nil))
		}
	})
	c := openTokens(t, a.config(), Options{})
	for range 3 {
		authntest.Want(t, "odd", judgeToken(c, "odd"), "unavailable")
		authntest.Want(t, "even", judgeToken(c, "even"), "ok")
	}
	if n := a.found.Load(); n != 1 {
		t.Errorf("the endpoint was looked up %d times", n)
	}
}

// An answer is good for as long as the configuration says, and no longer than the token.
func TestIntrospectionCache(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	start := time.Now()
	a.set(func(a *authServer) {
		a.answer = func(token string) string {
			switch token {
			case "bad":
				return `{"active":false}`
			case "foreign":
				return activeAnswer(t, M{"aud": "other"})
			case "short":
				return activeAnswer(t, M{"exp": start.Add(5 * time.Second).Unix()})
			}
			return activeAnswer(t, M{"exp": nil})
		}
	})
	for token, tt := range map[string]struct {
		result string
		within time.Duration
	}{
		"good": {"ok", 9 * time.Second}, "bad": {"inactive", 9 * time.Second},
		"foreign": {"audience", 9 * time.Second}, "short": {"ok", 3 * time.Second},
	} {
		ticks := authntest.NewClock(start)
		c := openTokens(t, a.config(), Options{Now: ticks.Now})
		before := a.asked.Load()
		authntest.Want(t, token, judgeToken(c, token), tt.result)
		authntest.Want(t, token, judgeToken(c, token), tt.result)
		ticks.Pass(tt.within)
		authntest.Want(t, token, judgeToken(c, token), tt.result)
		if n := a.asked.Load() - before; n != 1 {
			t.Errorf("%s: %d questions while the answer is good", token, n)
		}
		ticks.Pass(2 * time.Second)
		authntest.Want(t, token, judgeToken(c, token), tt.result)
		if n := a.asked.Load() - before; n != 2 {
			t.Errorf("%s: %d questions after it", token, n)
		}
	}
}

// However many present a token at once, the issuer is asked once; and who leaves early
// takes the answer from nobody.
func TestIntrospectionSingleFlight(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	gate := make(chan struct{})
	a.set(func(a *authServer) { a.gate = gate })
	c := openTokens(t, a.config(), Options{})
	results := make(chan string, 50)
	left := make(chan string)
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		_, err := c.Authenticate(authntest.BearerOf("opaque").WithContext(ctx))
		left <- authntest.FaultOf(err)
	}()
	for range cap(results) {
		go func() { results <- judgeToken(c, "opaque") }()
	}
	leave()
	authntest.Want(t, "left", <-left, "unavailable")
	close(gate)
	for range cap(results) {
		authntest.Want(t, "waited", <-results, "ok")
	}
	if n := a.asked.Load(); n != 1 {
		t.Errorf("%d questions", n)
	}
}

// A flood of made-up tokens has no more than 64 questions open.
func TestIntrospectionFlood(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	gate := make(chan struct{})
	a.set(func(a *authServer) { a.gate = gate })
	c := openTokens(t, a.config(), Options{})
	const flood = 3 * maxQuestions
	results := make(chan string, flood)
	for i := range flood {
		go func() { results <- judgeToken(c, "made-up-"+strconv.Itoa(i)) }()
	}
	for range flood - maxQuestions {
		authntest.Want(t, "too many", <-results, "unavailable")
	}
	close(gate)
	for range maxQuestions {
		authntest.Want(t, "asked", <-results, "ok")
	}
	if n := a.asked.Load(); n != maxQuestions {
		t.Errorf("%d questions", n)
	}
}

// Ten thousand concurrent calls of two callers, each asked about anew, never swap.
func TestL30_IntrospectionNeverSwapsCallers(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	c := openTokens(t, a.config(func(is *Issuer) { is.Introspection.Cache = new(quantity.Duration(1)) }),
		Options{Client: &http.Client{Transport: inMemory{a}}})
	calls := 5000
	if testing.Short() {
		calls = 200
	}
	var wg sync.WaitGroup
	for worker := range 20 {
		token := []string{"opaque-a", "opaque-b"}[worker%2]
		wg.Go(func() {
			for range calls / 10 {
				p, err := c.Authenticate(authntest.BearerOf(token))
				if err != nil || p.Subject != token {
					t.Errorf("%s is %v: %v", token, p, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// inMemory answers without a connection.
type inMemory struct{ h http.Handler }

func (s inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, r)
	return w.Result(), nil
}

// Nothing is asked about what is no opaque token.
func TestIntrospectionLeavesOut(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	c := openTokens(t, a.config(), Options{})
	for token, result := range map[string]string{
		a.jwt(t, nil):               "ok",
		a.jwt(t, nil) + "x":         "malformed",
		a.jwt(t, M{"aud": "other"}): "audience",
		authntest.Base64([]byte(`{"enc":"x"}`)) + ".a.b.c.d": "malformed",
		authntest.Base64([]byte(`{}`)) + "..":                "malformed",
		"a2a_alice_" + strings.Repeat("A", 43):               "malformed",
		"":                                                   "malformed",
		"two words":                                          "malformed",
		"naïve":                                              "malformed",
		strings.Repeat("x", int(authn.Limits{}.TokenBytes())+1): "too-long",
	} {
		authntest.Want(t, token, judgeToken(c, token), result)
	}
	if n := a.asked.Load(); n != 0 {
		t.Errorf("%d questions", n)
	}
	for _, token := range []string{"a.b", "ya29.a0-xyz", "a.b.c", "...", "x.y.z.w.v"} {
		authntest.Want(t, token, judgeToken(c, token), "ok")
	}
}

// With always, a JWT that the issuer has revoked is good no longer than Cache.
func TestIntrospectionAlways(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	ticks := authntest.NewClock(time.Now())
	c := openTokens(t, a.config(always), Options{Now: ticks.Now})
	token := a.jwt(t, M{"jti": "1"})
	say := func(doc string) { a.set(func(a *authServer) { a.answer = func(string) string { return doc } }) }
	say(`{"active":true}`)
	p, err := c.Authenticate(authntest.BearerOf(token))
	if err != nil || p.Method != Method || p.Subject != "alice" {
		t.Fatal(p, err)
	}
	say(`{"active":false}`)
	authntest.Want(t, "still cached", judgeToken(c, token), "ok")
	for _, tt := range []struct{ answer, want string }{
		{`{"active":false}`, "inactive"},
		{activeAnswer(t, M{"jti": "1"}), "ok"},
		{activeAnswer(t, M{"jti": "2"}), "claims"},
		{activeAnswer(t, M{"sub": "bob"}), "claims"},
		{activeAnswer(t, M{"cnf": M{"jkt": "x"}}), "claims"},
		{activeAnswer(t, M{"aud": "other"}), "audience"},
		{activeAnswer(t, M{"iss": "https://evil.test"}), "unknown-issuer"},
		{activeAnswer(t, M{"exp": 1}), "expired"},
		{`{"active":true}`, "ok"},
		{`{}`, "unavailable"},
	} {
		say(tt.answer)
		ticks.Pass(11 * time.Second)
		authntest.Want(t, tt.answer, judgeToken(c, token), tt.want)
	}
	n := a.asked.Load()
	input, _, _ := cutLast(a.jwt(t, M{"sub": "x"}))
	_, signature, _ := cutLast(token)
	authntest.Want(t, "bad signature", judgeToken(c, input+"."+signature), "signature")
	if a.asked.Load() != n {
		t.Error("asked about a token that was not verified")
	}
}

// What was said about a token ends what rests on it.
func TestIntrospectionRevokes(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	ticks := authntest.NewClock(time.Now())
	c := openTokens(t, a.config(), Options{Now: ticks.Now})
	p, err := c.Authenticate(authntest.BearerOf("opaque"))
	if err != nil {
		t.Fatal(err)
	}
	authntest.Want(t, "good", authntest.FaultOf(c.Stands(p)), "ok")
	a.set(func(a *authServer) { a.answer = func(string) string { return `{"active":false}` } })
	ticks.Pass(11 * time.Second)
	authntest.Want(t, "not asked yet", authntest.FaultOf(c.Stands(p)), "ok")
	authntest.Want(t, "asked", judgeToken(c, "opaque"), "inactive")
	authntest.Want(t, "known", authntest.FaultOf(c.Stands(p)), "inactive")
}

// A reload that changes nothing keeps the answers; one that changes how they are read
// does not.
func TestIntrospectionReload(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	first := openTokens(t, a.config(), Options{})
	authntest.Want(t, "first", judgeToken(first, "opaque"), "ok")
	second := openTokens(t, a.config(), Options{Previous: From(first)})
	first.Close()
	authntest.Want(t, "same", judgeToken(second, "opaque"), "ok")
	if n := a.asked.Load(); n != 1 {
		t.Errorf("%d questions after a reload without a change", n)
	}
	third := openTokens(t, a.config(func(is *Issuer) { is.Audiences = []string{"other"} }), Options{Previous: From(second)})
	second.Close()
	authntest.Want(t, "changed", judgeToken(third, "opaque"), "audience")
}

// The endpoint comes from the issuer's metadata, over TLS like everything of an issuer
// that is not written as http://.
func TestIntrospectionDiscovery(t *testing.T) {
	t.Parallel()
	for endpoint, expected := range map[string]string{
		authntest.TestIssuer + "/introspect": "ok",
		"http://idp.test/introspect":         "unavailable",
		"https://u:p@idp.test/introspect":    "unavailable",
		"":                                   "unavailable",
		"/introspect":                        "unavailable",
	} {
		a := &authServer{Server: &httptest.Server{URL: authntest.TestIssuer},
			answer: func(string) string { return activeAnswer(t, nil) }}
		mux := http.NewServeMux()
		mux.Handle("/introspect", a)
		mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode(M{"issuer": authntest.TestIssuer, "introspection_endpoint": endpoint})
		})
		c := openTokens(t, a.config(), Options{Client: &http.Client{Transport: inMemory{mux}}})
		authntest.Want(t, endpoint, judgeToken(c, "opaque"), expected)
	}
}

func TestIntrospectionConfig(t *testing.T) {
	t.Parallel()
	for key, change := range map[string]func(*Introspection){
		"url":          func(i *Introspection) { i.URL = "http://idp.test/introspect" },
		"clientID":     func(i *Introspection) { i.ClientID = "" },
		"clientSecret": func(i *Introspection) { i.ClientSecret = secret.Value{} },
		"cache":        func(i *Introspection) { i.Cache = new(quantity.Duration(6 * time.Minute)) },
		"timeout":      func(i *Introspection) { i.Timeout = quantity.Duration(2 * time.Minute) },
	} {
		cfg := Introspection{ClientID: "gw", ClientSecret: secret.New("s")}
		if err := cfg.validate(false); err != nil {
			t.Fatal(err)
		}
		change(&cfg)
		if err := cfg.validate(false); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

// What is remembered is bounded, and the newest is always in it.
func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	var f findings
	now := time.Now()
	for i := range 3 * memoryShards * memoryEach {
		id := digest(strconv.Itoa(i))
		f.add(id, finding{asked: now, until: now.Add(time.Minute)}, now)
		if _, ok := f.find(id, now); !ok {
			t.Fatalf("finding %d is not there", i)
		}
	}
	for i := range f.shards {
		if n := len(f.shards[i].known); n > memoryEach {
			t.Errorf("%d findings in a shard", n)
		}
	}
}

// A token that could be read here is never taken for an opaque one, whatever an issuer
// would say about it.
func FuzzOpaque(f *testing.F) {
	f.Add(authntest.Good(f, nil))
	f.Add("opaque")
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, raw string) {
		if _, err := precheck(raw); err == nil && opaque(raw) {
			t.Fatalf("%q is a JWT", raw)
		}
	})
}

// Only an answer that says active outright makes a principal, and it has a subject.
func FuzzAnswer(f *testing.F) {
	f.Add(`{"active":true,"sub":"alice","aud":"https://gateway.test"}`)
	f.Add(`{"active":false}`)
	f.Add(`{"active":true,"active":false,"client_id":"x","aud":["https://gateway.test"]}`)
	f.Add(`{"active":true,"cnf":{"jkt":"x"},"act":{"sub":"b"}}`)
	cfg := issuerConfig()
	cfg.Introspection = &Introspection{URL: authntest.TestIssuer + "/introspect"}
	f.Fuzz(func(t *testing.T, doc string) {
		client := &http.Client{Transport: inMemory{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, doc)
		})}}
		o := Options{Client: client, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
		is := &issuer{cfg: cfg}
		is.asked = newIntrospector(t.Context(), &is.cfg, &o)
		p, _, err := is.introspect(t.Context(), "opaque", func() asker { return asker{} })
		if (p == nil) == (err == nil) {
			t.Fatalf("%v and %v", p, err)
		}
		if p != nil && (p.Subject == "" || p.Issuer != authntest.TestIssuer || p.Claims["active"] != true) {
			t.Fatalf("principal %+v", p)
		}
	})
}

func BenchmarkIntrospectedToken(b *testing.B) {
	a := newAuthServer(b)
	c := openTokens(b, a.config(func(is *Issuer) { is.Introspection.Cache = new(quantity.Duration(maxAnswerAge)) }), Options{})
	r := authntest.BearerOf("opaque")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}
