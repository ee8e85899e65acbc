package pdp

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestBreaker walks through an outage by the clock.
func TestBreaker(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	var b breaker
	fail := func(want bool) {
		t.Helper()
		if !b.enter(now) {
			t.Fatal("left alone too early")
		}
		if turned := b.leave(now, failed); turned != want {
			t.Fatalf("turned %v", turned)
		}
	}
	for range breakerFailures - 1 {
		fail(false)
	}
	if b.enter(now); b.leave(now, alive) {
		t.Fatal("back, without having been away")
	}
	for range breakerFailures - 1 {
		fail(false)
	}
	fail(true)
	for _, wait := range []time.Duration{1, 2, 4, 8, 16, 30, 30} {
		wait *= time.Second
		if b.enter(now.Add(wait - 1)) {
			t.Fatalf("asked again before %s", wait)
		}
		now = now.Add(wait)
		if !b.enter(now) || b.enter(now) {
			t.Fatal("not one question finds out whether it is back")
		}
		b.leave(now, failed)
	}
	now = now.Add(breakerLongest)
	if !b.enter(now) || b.leave(now, unknown) || !b.enter(now) {
		t.Fatal("a question that nobody waited for has settled something")
	}
	if !b.leave(now, alive) || !b.enter(now) || !b.enter(now) {
		t.Fatal("not back")
	}
}

// TestBreakerBurst: questions that were under way together are one outage.
func TestBreakerBurst(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_000_000, 0)
	var b breaker
	for range 100 {
		b.enter(now)
	}
	for range 100 {
		b.leave(now, failed)
	}
	if !b.enter(now.Add(breakerFirst)) {
		t.Error("left alone for longer than the first time")
	}
}

// TestOutage: a service that is down is not asked, and comes back by itself.
func TestOutage(t *testing.T) {
	t.Parallel()
	p := newPointFunc(t, raw(503, "text/plain", ""))
	var s setup
	panel := s.panel(t, Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: p.URL, OnFailure: failAllow, Timeout: secret.Duration(10 * time.Second)})
	for range 3 * breakerFailures {
		if notes, err := ask(t, panel, newQuestion(t)); err != nil || len(notes) != 1 {
			t.Fatal(notes, err)
		}
	}
	if n := len(p.questions()); n != breakerFailures {
		t.Errorf("the service was asked %d times", n)
	}
	if n := s.tally.of("pdp error"); n != 3*breakerFailures {
		t.Errorf("%d errors were counted", n)
	}
	p.become("", newPoint(t, `{"decision": true}`).answer)
	b := &panel.each[0].breaker
	b.mu.Lock()
	b.until = time.Now()
	b.mu.Unlock()
	for range 2 {
		if notes, err := ask(t, panel, newQuestion(t)); err != nil || notes != nil {
			t.Fatal(notes, err)
		}
	}
	if log := s.log.String(); strings.Count(log, "left alone") != 1 || strings.Count(log, "answers again") != 1 {
		t.Errorf("the log says %q", log)
	}
}

// TestGone: nobody listens, for either protocol.
func TestGone(t *testing.T) {
	t.Parallel()
	p := newPoint(t, "")
	p.Close()
	for _, a := range []Authorizer{
		{Name: "a", Kind: kindAuthZEN, URL: p.URL},
		{Name: "b", Kind: kindExtAuthz, URL: strings.Replace(p.URL, "http:", "grpc:", 1)},
	} {
		a.Timeout = secret.Duration(10 * time.Second)
		panel := newPanel(t, a)
		for range breakerFailures {
			if _, err := ask(t, panel, newQuestion(t)); err == nil || errors.Is(err, errResting) {
				t.Fatalf("%s: got %v", a.Kind, err)
			}
		}
		if _, err := ask(t, panel, newQuestion(t)); !errors.Is(err, errResting) {
			t.Fatalf("%s: got %v", a.Kind, err)
		}
	}
}
