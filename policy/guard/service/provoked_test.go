package service_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

// TestProvoked: with onFailure allow, a short text passes that a service says nothing of. What its sender could
// have had fail does not.
func TestProvoked(t *testing.T) {
	t.Parallel()
	many := service.Question{Who: "mallory", Phase: hook.Request}
	for i := range 9 {
		many.Texts, many.Parts = append(many.Texts, "x"), append(many.Parts, i)
	}
	late := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	throttled := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }
	for name, tt := range map[string]struct {
		use    string
		f      http.HandlerFunc // nil where nobody is there
		q      service.Question
		passes bool
	}{
		"one, late":             {"llamaGuard", late, question("alice", "x"), true},
		"one, refused":          {"llamaGuard", throttled, question("alice", "x"), true},
		"one, away":             {"llamaGuard", nil, question("alice", "x"), true},
		"many, late":            {"llamaGuard", late, many, false},
		"many, refused":         {"llamaGuard", throttled, many, false},
		"many, away":            {"llamaGuard", nil, many, true},
		"long, in pieces, late": {"llamaGuard", late, question("mallory", strings.Repeat("x", 10_001)), false},
		"long, in one piece":    {"presidio", late, question("mallory", strings.Repeat("x", 10_001)), false},
		"as long as it may be":  {"presidio", late, question("alice", strings.Repeat("x", 10_000)), true},
		"more than is sent":     {"presidio", late, question("mallory", strings.Repeat("x", 256<<10+1)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := minimal()[tt.use]
			c.OnFailure, c.Timeout = "allow", quantity.Duration(100*time.Millisecond)
			var s *service.Service
			if tt.f != nil {
				s = asking(t, tt.use, c, tt.f)
			} else {
				c.URL = secret.URL("http://127.0.0.1:1")
				var err error
				if s, err = service.New(tt.use, c, service.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Find(t.Context(), tt.q); err == nil || s.Passes(err) != tt.passes {
				t.Errorf("%v passes: %t", err, s.Passes(err))
			}
		})
	}
}

// TestProvokedBefore: nobody gets texts past a service by having it fail at others first, nor by hanging up.
func TestProvokedBefore(t *testing.T) {
	t.Parallel()
	c := minimal()["hook"]
	c.OnFailure = "allow"
	s := asking(t, "hook", c, func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "poison") {
			panic(http.ErrAbortHandler)
		}
		says(`{"action":"deny"}`)(w, r)
	})
	for range 2 * breaker.Failures {
		if _, err := s.Find(t.Context(), question("mallory", "poison")); err == nil {
			t.Error("it does not fail")
		}
	}
	if found, err := s.Find(t.Context(), question("mallory", "hush")); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	if _, err := s.Find(gone, question("mallory", "hush")); err == nil || s.Passes(err) {
		t.Errorf("%v passes", err)
	}
}

// TestPassingIsLogged: the log says why texts pass, and not for every one of them.
func TestPassingIsLogged(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	t.Cleanup(server.Close)
	for _, mode := range []string{"allow", "deny"} {
		var log strings.Builder
		c := service.Config{URL: secret.URL(server.URL), OnFailure: mode}
		s, err := service.New("hook", c, service.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		for range 3 {
			if _, err := s.Find(t.Context(), question("alice", "hush")); err == nil {
				t.Error("it answers")
			}
		}
		want := map[string]int{"allow": 1}[mode]
		if strings.Count(log.String(), "HTTP status 401") != want || strings.Contains(log.String(), "hush") {
			t.Errorf("%s: the log has %s", mode, log.String())
		}
	}
}
