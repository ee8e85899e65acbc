//go:build !minimal

package pdp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// somebody is a caller of that name.
func somebody(t testing.TB, name string) *Question {
	q := newQuestion(t)
	p := *q.Principal
	p.Subject = name
	q.Principal = &p
	return q
}

// TestOutage: a service that fails for everybody is not asked, and comes back by itself.
func TestOutage(t *testing.T) {
	t.Parallel()
	p := newPointFunc(t, raw(503, "text/plain", ""))
	var s setup
	panel := s.panel(t, Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), OnFailure: failAllow, Timeout: quantity.Duration(10 * time.Second)})
	for i := range 3 * breaker.Failures {
		if notes, err := ask(t, panel, somebody(t, fmt.Sprint(i))); err != nil || len(notes) != 1 {
			t.Fatal(notes, err)
		}
	}
	if n := len(p.questions()); n != breaker.Failures {
		t.Errorf("the service was asked %d times", n)
	}
	if n := s.tally.of("pdp error"); n != 3*breaker.Failures {
		t.Errorf("%d errors were counted", n)
	}
	p.become("", newPoint(t, `{"decision": true}`).answer)
	time.Sleep(breaker.First)
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
		{Name: "a", Kind: kindAuthZEN, URL: secret.URL(p.URL)},
		{Name: "b", Kind: kindExtAuthz, URL: secret.URL(strings.Replace(p.URL, "http:", "grpc:", 1))},
	} {
		a.Timeout = quantity.Duration(10 * time.Second)
		panel := newPanel(t, a)
		for range breaker.Failures {
			if _, err := ask(t, panel, newQuestion(t)); err == nil || errors.Is(err, breaker.ErrResting) {
				t.Fatalf("%s: got %v", a.Kind, err)
			}
		}
		if _, err := ask(t, panel, newQuestion(t)); !errors.Is(err, breaker.ErrResting) {
			t.Fatalf("%s: got %v", a.Kind, err)
		}
	}
}

// TestOneCallersFailures: a caller who knows what the service fails at takes it from nobody,
// and is not passed over for it.
func TestOneCallersFailures(t *testing.T) {
	t.Parallel()
	const bomb = "bomb"
	for name, fails := range map[string]http.HandlerFunc{
		"internal error": raw(500, "text/plain", ""),
		"unavailable":    raw(503, "text/plain", ""),
		"no decision":    raw(200, "application/json", `{}`),
		"no answer": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
	} {
		for _, onFailure := range []string{failAllow, failDeny} {
			t.Run(name+", "+onFailure, func(t *testing.T) {
				t.Parallel()
				p := newPointFunc(t, func(w http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					if strings.Contains(string(body), bomb) {
						fails(w, r)
						return
					}
					raw(200, "application/json", fmt.Sprintf(`{"decision": %v}`, !strings.Contains(string(body), "mallory")))(w, r)
				})
				a := Authorizer{Name: "pdp", Kind: kindAuthZEN, URL: secret.URL(p.URL), OnFailure: onFailure, Timeout: quantity.Duration(300 * time.Millisecond)}
				panel := newPanel(t, a)
				refused := func(task string) {
					t.Helper()
					q := somebody(t, "mallory")
					q.TaskID = task
					if _, err := ask(t, panel, q); err == nil {
						t.Fatalf("mallory may do %q", task)
					}
				}
				refused("t")
				for range breaker.Failures + 1 {
					refused(bomb)
				}
				refused("t")
				before := len(p.questions())
				if notes, err := ask(t, panel, somebody(t, "bob")); err != nil || notes != nil || len(p.questions()) != before+1 {
					t.Errorf("bob: %v %v", notes, err)
				}
			})
		}
	}
}
