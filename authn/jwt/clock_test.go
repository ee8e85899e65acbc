package jwt

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// A clock that jumps decides by its new time, both ways, also for tokens that were
// verified before the jump.
func TestR17_TokensAreJudgedByTheNewTime(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	ticks := authntest.NewClock(time.Now())
	start := ticks.Now()
	claims := M{"iat": start.Unix(), "exp": start.Add(10 * time.Minute).Unix()}
	answer := activeAnswer(t, claims)
	a.set(func(a *authServer) { a.answer = func(string) string { return answer } })
	c := openTokens(t, a.config(), Options{Now: ticks.Now})
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
		ticks.Pass(start.Add(tt.at).Sub(ticks.Now()))
		authntest.Want(t, "JWT at "+tt.at.String(), judgeToken(c, token), tt.want)
		authntest.Want(t, "opaque token at "+tt.at.String(), judgeToken(c, "opaque"), tt.want)
	}
}

// A clock that is set back keeps nobody from fetching keys or asking until it has
// caught up.
func TestR17_IntervalsEndWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	a := newAuthServer(t)
	ticks := authntest.NewClock(time.Now().Add(time.Hour))
	c := openTokens(t, a.config(), Options{Now: ticks.Now})
	sound := func(kid string) string {
		iat, exp := ticks.Now().Unix(), ticks.Now().Add(time.Hour).Unix()
		return authntest.Sign(t, authntest.EcKey(), M{"alg": "ES256", "kid": kid},
			authntest.ClaimsOf(M{"iss": a.URL, "iat": iat, "exp": exp}))
	}
	authntest.Want(t, "before", judgeToken(c, sound("ec")), "ok")
	authntest.Want(t, "unknown key", judgeToken(c, sound("next")), "unknown-key")
	a.set(func(a *authServer) {
		a.handle = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	})
	authntest.Want(t, "down", judgeToken(c, "opaque"), "unavailable")

	ticks.Pass(-time.Hour)
	a.set(func(a *authServer) {
		a.handle = nil
		a.answer = func(string) string { return activeAnswer(t, nil) }
	})
	authntest.Want(t, "asked again", judgeToken(c, "opaque"), "ok")
	a.keys.Set(func(i *authntest.IDP) { i.Keys = append(i.Keys, authntest.JWK("next", "ES256", authntest.EcKey())) })
	authntest.Want(t, "fetched again", judgeToken(c, sound("next")), "ok")
}

// An hour without the issuer: what is known stays good, what is not known is refused
// or put off at once, and the issuer is left alone.
func TestR13_IssuerAwayForAnHour(t *testing.T) {
	testenv.Long(t, "an hour is gone through call by call")
	t.Parallel()
	a := &authServer{keys: authntest.Standard(), answer: func(string) string { return activeAnswer(t, nil) }}
	a.keys.Cache = "max-age=60"
	away := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }
	synctest.Test(t, func(t *testing.T) {
		cfg := issuerConfig()
		cfg.Introspection = &Introspection{URL: authntest.TestIssuer + "/introspect", ClientID: "gw",
			ClientSecret: secret.New("s"), Cache: new(quantity.Duration(maxAnswerAge))}
		c, err := tryTokens(t.Context(), Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: inMemory{a}}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		authntest.Want(t, "up", try(t, c, "ec", authntest.EcKey()), "ok")
		authntest.Want(t, "up", judgeToken(c, "known"), "ok")
		a.set(func(a *authServer) { a.handle = away })
		a.keys.Set(func(i *authntest.IDP) { i.Answer = away })
		dead := authntest.Sign(t, authntest.EcKey(), M{"alg": "ES256", "kid": "dead"},
			authntest.ClaimsOf(M{"exp": time.Now().Add(3 * time.Hour).Unix()}))
		stale := 0
		for second := range 3600 {
			fetched, start := a.keys.Jwks.Load(), time.Now()
			for range 3 {
				authntest.Want(t, "unknown key", judgeToken(c, dead), "unknown-key")
			}
			authntest.Want(t, "known key", try(t, c, "ec", authntest.EcKey()), "ok")
			authntest.Want(t, "new opaque token", judgeToken(c, "new"), "unavailable")
			switch got := judgeToken(c, "known"); {
			case second < int(maxAnswerAge/time.Second)-1:
				authntest.Want(t, "known opaque token", got, "ok")
			case got == "unavailable":
				stale++
			case got != "ok":
				t.Errorf("known opaque token: %s", got)
			}
			if d := time.Since(start); d > 0 {
				t.Fatalf("callers waited %v", d)
			}
			if n := a.keys.Jwks.Load() - fetched; n > 2 {
				t.Fatalf("%d fetches within a second", n)
			}
			time.Sleep(time.Second)
		}
		if n := a.keys.Jwks.Load(); n > 2*3600/30+1 {
			t.Errorf("%d fetches in an hour", n)
		}
		if n := a.asked.Load(); n > 3600+1 {
			t.Errorf("%d questions in an hour", n)
		}
		if stale == 0 {
			t.Error("an answer was good for an hour")
		}
		a.set(func(a *authServer) { a.handle = nil })
		a.keys.Set(func(i *authntest.IDP) { i.Answer = nil })
		time.Sleep(2 * minInterval)
		authntest.Want(t, "back", try(t, c, "ec", authntest.EcKey()), "ok")
		authntest.Want(t, "back", judgeToken(c, "new"), "ok")
		synctest.Wait()
	})
}
