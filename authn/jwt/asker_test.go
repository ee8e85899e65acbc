package jwt

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
)

// bySource has the tests say from which address a request comes.
func bySource() Options {
	return Options{Source: func(r *http.Request) string { return r.Header.Get("X-From") }}
}

// from presents a token from an address, as a gateway does.
func from(c *authn.Chain, address, token string) string {
	r := authntest.BearerOf(token)
	r.Header.Set("X-From", address)
	_, err := c.Authenticate(r)
	if err = c.Blame(address, err); err == nil {
		return "ok"
	}
	if _, late := err.(*failures.Throttled); late {
		return "throttled"
	}
	return authntest.FaultOf(err)
}

// guessing knows the tokens that begin with "good".
func guessing(t *testing.T) *authServer {
	t.Helper()
	a := newAuthServer(t)
	a.answer = func(token string) string {
		if strings.HasPrefix(token, "good") {
			return activeAnswer(t, M{"sub": token})
		}
		return `{"active":false}`
	}
	return a
}

// TestL31_IntrospectionShares: one address that makes up tokens has its share of the questions, and
// who calls from elsewhere is asked about meanwhile.
func TestL31_IntrospectionShares(t *testing.T) {
	t.Parallel()
	a := guessing(t)
	gate := make(chan struct{})
	a.set(func(a *authServer) { a.gate = gate })
	cfg := a.config()
	c := chainOfTokens(t.Context(), cfg, bySource()) // the shares alone: failures have no limit
	t.Cleanup(c.Close)
	var flood sync.WaitGroup
	results := make(chan string, 2*maxQuestions)
	for i := range 2 * maxQuestions {
		flood.Go(func() { results <- from(c, fmt.Sprintf("203.0.113.%d", i%4), fmt.Sprint("made-up-", i)) })
	}
	for range 2*maxQuestions - 4*questionShare {
		authntest.Want(t, "beyond the share", <-results, "unavailable")
	}
	good := make(chan string, 20)
	for i := range 20 {
		flood.Go(func() { good <- from(c, fmt.Sprintf("192.0.2.%d", i), fmt.Sprint("good-", i)) })
	}
	for end := time.Now().Add(time.Minute); a.asked.Load() < 4*questionShare+20 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	close(gate)
	flood.Wait()
	for range 20 {
		authntest.Want(t, "another address", <-good, "ok")
	}
	if n := a.asked.Load(); n != 4*questionShare+20 {
		t.Errorf("%d questions", n)
	}
	in := From(c).headers[0].opaque.asked
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.shares) != 0 {
		t.Errorf("shares are held after the last question: %v", in.shares)
	}
}

// TestL31_IntrospectionAfterThrottle: for an address that is answered 429 no question is put, and
// good tokens cost it nothing.
func TestL31_IntrospectionAfterThrottle(t *testing.T) {
	t.Parallel()
	a := guessing(t)
	clock := authntest.NewClock(time.Now())
	o := bySource()
	o.Now = clock.Now
	c := openTokens(t, a.config(), o)
	for i := range 3 * burst {
		authntest.Want(t, "good", from(c, "203.0.113.9", fmt.Sprint("good-", i)), "ok")
	}
	asked := a.asked.Load()
	for i := range 10 * burst {
		authntest.Want(t, "made up", from(c, "203.0.113.9", fmt.Sprint("made-up-", i)), map[bool]string{true: "inactive", false: "throttled"}[i < burst])
	}
	if n := a.asked.Load() - asked; n != burst {
		t.Errorf("%d questions for %d refusals", n, burst)
	}
	authntest.Want(t, "asked about before", from(c, "203.0.113.9", "good-1"), "ok")
	authntest.Want(t, "another address", from(c, "192.0.2.1", "made-up"), "inactive")
	clock.Pass(time.Second)
	authntest.Want(t, "after a while", from(c, "203.0.113.9", "good-later"), "ok")
}

// TestHeldTokensAreAskedAbout: whose token was good lately is asked about again when the answer
// has run out, though somebody at the same address makes tokens up.
func TestHeldTokensAreAskedAbout(t *testing.T) {
	t.Parallel()
	for name, age := range map[string]*quantity.Duration{"by default": nil, "without cache": new(quantity.Duration)} {
		a := guessing(t)
		clock := authntest.NewClock(time.Now())
		o := bySource()
		o.Now = clock.Now
		c := openTokens(t, a.config(func(is *Issuer) { is.Introspection.Cache = age }), o)
		authntest.Want(t, name, from(c, "203.0.113.9", "good"), "ok")
		clock.Pass(2 * defaultAnswerAge)
		for i := range 2 * burst {
			from(c, "203.0.113.9", fmt.Sprint("made-up-", i))
		}
		authntest.Want(t, name+", another", from(c, "203.0.113.9", "good-another"), "throttled")
		asked := a.asked.Load()
		authntest.Want(t, name+", held", from(c, "203.0.113.9", "good"), "ok")
		if n := a.asked.Load() - asked; n != 1 {
			t.Errorf("%s: %d questions about a token that was good", name, n)
		}
		a.set(func(a *authServer) { a.answer = func(string) string { return `{"active":false}` } })
		clock.Pass(defaultAnswerAge)
		authntest.Want(t, name+", revoked", from(c, "203.0.113.9", "good"), "inactive")
		clock.Pass(heldFor)
		for i := range 2 * burst {
			from(c, "203.0.113.9", fmt.Sprint("made-up-again-", i))
		}
		authntest.Want(t, name+", later", from(c, "203.0.113.9", "good"), "throttled")
	}
}

// TestVerifiedTokensHaveNoShare: tokens that were verified here are no guesses, and those of
// many callers behind one address are asked about together.
func TestVerifiedTokensHaveNoShare(t *testing.T) {
	t.Parallel()
	a := guessing(t)
	gate := make(chan struct{})
	a.set(func(a *authServer) {
		a.gate = gate
		a.answer = func(string) string { return `{"active":true}` }
	})
	c := openTokens(t, a.config(always), bySource())
	const callers = 2 * questionShare
	results := make(chan string, callers)
	for i := range callers {
		token := a.jwt(t, M{"sub": fmt.Sprint("caller-", i)})
		go func() { results <- from(c, "203.0.113.9", token) }()
	}
	for end := time.Now().Add(time.Minute); a.asked.Load() < callers && len(results) == 0 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	close(gate)
	for range callers {
		authntest.Want(t, "verified", <-results, "ok")
	}
}

// TestIntrospectionOutageIsNobodysFault: questions that come to nothing are given back.
func TestIntrospectionOutageIsNobodysFault(t *testing.T) {
	t.Parallel()
	a := guessing(t)
	a.set(func(a *authServer) {
		a.handle = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) } // says nothing about others
	})
	c := openTokens(t, a.config(), bySource())
	for i := range 3 * burst {
		authntest.Want(t, "cannot be judged", from(c, "203.0.113.9", fmt.Sprint("opaque-", i)), "unavailable")
	}
}

// TestIntrospectionCacheOfZero: each call is a question, but about what is known to be bad.
func TestIntrospectionCacheOfZero(t *testing.T) {
	t.Parallel()
	a := guessing(t)
	c := openTokens(t, a.config(func(is *Issuer) { is.Introspection.Cache = new(quantity.Duration) }), Options{})
	for _, token := range []string{"good", "good", "bad", "bad", "bad"} {
		judgeToken(c, token)
	}
	if n := a.asked.Load(); n != 3 {
		t.Errorf("%d questions, want two and one", n)
	}
}

// TestClockSkewOfZero: 0s is no tolerance, and not the default.
func TestClockSkewOfZero(t *testing.T) {
	t.Parallel()
	cfg := issuerConfig()
	cfg.ClockSkew = new(quantity.Duration)
	c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
	now := time.Now()
	for name, claims := range map[string]map[string]any{
		"expired":         {"exp": now.Add(-2 * time.Second).Unix()},
		"not yet valid":   {"nbf": now.Add(30 * time.Second).Unix()},
		"issued tomorrow": {"iat": now.Add(30 * time.Second).Unix()},
	} {
		if _, err := authenticate(t, c, authntest.Good(t, claims)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestNoActors: a depth of 0 lets nobody act for another, and is not the default.
func TestNoActors(t *testing.T) {
	t.Parallel()
	for want, depth := range map[bool]*int{true: nil, false: new(0)} {
		c := openTokens(t, Config{OIDC: []Issuer{issuerConfig()}, Actors: Actors{Depth: depth}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
		if _, err := authenticate(t, c, authntest.Good(t, map[string]any{"act": map[string]any{"sub": "agent"}})); (err == nil) != want {
			t.Errorf("depth %v: %v", depth, err)
		}
	}
}
