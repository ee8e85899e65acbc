package authn

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// A clock that jumps decides by its new time, both ways, also for tokens that were
// verified before the jump.
func TestR17_TokensAreJudgedByTheNewTime(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	ticks := newClock(time.Now())
	start := ticks.now()
	claims := m{"iat": start.Unix(), "exp": start.Add(10 * time.Minute).Unix()}
	answer := activeAnswer(t, claims)
	a.set(func(a *authServer) { a.answer = func(string) string { return answer } })
	c := openTokens(t, a.config(), tokenOptions{Now: ticks.now})
	token := a.jwt(t, claims)
	for _, tt := range []struct {
		at   time.Duration
		want string
	}{
		{0, "ok"}, {time.Hour, "expired"}, {0, "ok"}, {-time.Hour, "not-yet-valid"}, {0, "ok"},
		{-59 * time.Second, "ok"}, {-61 * time.Second, "not-yet-valid"},
		{11*time.Minute - 2*time.Second, "ok"}, {11 * time.Minute, "expired"}, {-time.Hour, "not-yet-valid"},
		{9 * time.Minute, "ok"},
	} {
		ticks.pass(start.Add(tt.at).Sub(ticks.now()))
		want(t, "JWT at "+tt.at.String(), judgeToken(c, token), tt.want)
		want(t, "opaque token at "+tt.at.String(), judgeToken(c, "opaque"), tt.want)
	}
}

// A clock that is set back keeps nobody from fetching keys or asking until it has
// caught up.
func TestR17_IntervalsEndWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	ticks := newClock(time.Now().Add(time.Hour))
	c := openTokens(t, a.config(), tokenOptions{Now: ticks.now})
	sound := func(kid string) string {
		iat, exp := ticks.now().Unix(), ticks.now().Add(time.Hour).Unix()
		return sign(t, ecKey(), m{"alg": "ES256", "kid": kid},
			claimsOf(m{"iss": a.URL, "iat": iat, "exp": exp}))
	}
	want(t, "before", judgeToken(c, sound("ec")), "ok")
	want(t, "unknown key", judgeToken(c, sound("next")), "unknown-key")
	a.set(func(a *authServer) {
		a.handle = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	})
	want(t, "down", judgeToken(c, "opaque"), "unavailable")

	ticks.pass(-time.Hour)
	a.set(func(a *authServer) {
		a.handle = nil
		a.answer = func(string) string { return activeAnswer(t, nil) }
	})
	want(t, "asked again", judgeToken(c, "opaque"), "ok")
	a.keys.set(func(i *idp) { i.keys = append(i.keys, jwk("next", "ES256", ecKey())) })
	want(t, "fetched again", judgeToken(c, sound("next")), "ok")
}

// An hour without the issuer: what is known stays good, what is not known is refused
// or put off at once, and the issuer is left alone.
func TestR13_IssuerAwayForAnHour(t *testing.T) {
	testenv.Long(t, "an hour is gone through call by call")
	t.Parallel()
	a := &authServer{keys: standard(), answer: func(string) string { return activeAnswer(t, nil) }}
	a.keys.cache = "max-age=60"
	away := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	synctest.Test(t, func(t *testing.T) {
		cfg := issuerConfig()
		cfg.Introspection = &Introspection{URL: testIssuer + "/introspect", ClientID: "gw",
			ClientSecret: secret.New("s"), Cache: new(secret.Duration(maxAnswerAge))}
		c, err := tryTokens(t.Context(), tokenConfig{OIDC: []Issuer{cfg}}, tokenOptions{Client: &http.Client{Transport: inMemory{a}}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		want(t, "up", try(t, c, "ec", ecKey()), "ok")
		want(t, "up", judgeToken(c, "known"), "ok")
		a.set(func(a *authServer) { a.handle = away })
		a.keys.set(func(i *idp) { i.answer = away })
		dead := sign(t, ecKey(), m{"alg": "ES256", "kid": "dead"},
			claimsOf(m{"exp": time.Now().Add(3 * time.Hour).Unix()}))
		stale := 0
		for second := range 3600 {
			fetched, start := a.keys.jwks.Load(), time.Now()
			for range 3 {
				want(t, "unknown key", judgeToken(c, dead), "unknown-key")
			}
			want(t, "known key", try(t, c, "ec", ecKey()), "ok")
			want(t, "new opaque token", judgeToken(c, "new"), "unavailable")
			switch got := judgeToken(c, "known"); {
			case second < int(maxAnswerAge/time.Second)-1:
				want(t, "known opaque token", got, "ok")
			case got == "unavailable":
				stale++
			case got != "ok":
				t.Errorf("known opaque token: %s", got)
			}
			if d := time.Since(start); d > 0 {
				t.Fatalf("callers waited %v", d)
			}
			if n := a.keys.jwks.Load() - fetched; n > 2 {
				t.Fatalf("%d fetches within a second", n)
			}
			time.Sleep(time.Second)
		}
		if n := a.keys.jwks.Load(); n > 2*3600/30+1 {
			t.Errorf("%d fetches in an hour", n)
		}
		if n := a.asked.Load(); n > 3600+1 {
			t.Errorf("%d questions in an hour", n)
		}
		if stale == 0 {
			t.Error("an answer was good for an hour")
		}
		a.set(func(a *authServer) { a.handle = nil })
		a.keys.set(func(i *idp) { i.answer = nil })
		time.Sleep(2 * minInterval)
		want(t, "back", try(t, c, "ec", ecKey()), "ok")
		want(t, "back", judgeToken(c, "new"), "ok")
		synctest.Wait()
	})
}
