package service_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking starts a service and a client of it.
func asking(t *testing.T, kind service.Kind, c service.Config, f http.HandlerFunc) *service.Service {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c.URL = secret.URL(server.URL + "/v1/")
	if err := c.Validate(kind); err != nil {
		t.Fatal(err)
	}
	s, err := service.New(kind, c, service.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

// TestOnTheWire: what the services are told, and where.
func TestOnTheWire(t *testing.T) {
	t.Parallel()
	for kind, want := range map[service.Kind]string{
		service.Presidio:   `POST /v1/analyze Bearer t {"text":"a\n\nb","language":"de","entities":["PERSON"],"score_threshold":0.7}`,
		service.Moderation: `POST /v1/moderations Bearer t {"model":"m","input":["a","b"]}`,
	} {
		got := ""
		c := service.Config{Token: secret.New("t"), Language: "de", Entities: []string{"PERSON"}, Score: 70}
		answer := `[]`
		if kind == service.Moderation {
			c = service.Config{Token: secret.New("t"), Model: "m"}
			answer = `{"results":[{"flagged":false},{"flagged":false}]}`
		}
		s := asking(t, kind, c, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			got = r.Method + " " + r.RequestURI + " " + r.Header.Get("Authorization") + " " + string(body)
			says(answer)(w, r)
		})
		if found, err := s.Find(t.Context(), "alice", []string{"a", "b"}); err != nil || found != nil || got != want {
			t.Errorf("%s: %v, %v, asked %s", kind, found, err, got)
		}
	}
}

// TestAnswers: what is found, by text and byte; and what is no answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	texts := []string{"ich heiße Jörg", "und du?"}
	for _, tt := range []struct {
		kind         service.Kind
		answer, want string // "" for an error
	}{
		{service.Presidio, `[]`, "[]"},
		{service.Presidio, `[{"entity_type":"PERSON","start":10,"end":14,"score":0.9}]`, "[{0 11 16 PERSON}]"},
		{service.Presidio, `[{"entity_type":"PERSON","start":16,"end":19}]`, "[{1 0 3 PERSON}]"},
		{service.Presidio, `[{"entity_type":"X","start":12,"end":18}]`, "[{0 14 16 X} {1 0 2 X}]"},
		{service.Presidio, `[{"entity_type":"X","start":14,"end":16}]`, "[]"},
		{service.Presidio, `[{"entity_type":"X","start":10,"end":99}]`, ""},
		{service.Presidio, `[{"entity_type":"X","start":5,"end":5}]`, ""},
		{service.Presidio, `[{"entity_type":"X","start":-1,"end":5}]`, ""},
		{service.Presidio, `[{"entity_type":"ich heiße","start":0,"end":5}]`, ""},
		{service.Presidio, `[{"start":0,"end":5}]`, ""},
		{service.Presidio, `null`, ""},
		{service.Presidio, `{"error":"no"}`, ""},
		{service.Presidio, `[`, ""},
		{service.Moderation, `{"results":[{"flagged":false},{"flagged":true,"categories":{"violence":true,"hate":false}}]}`, "[{1 0 0 violence}]"},
		{service.Moderation, `{"results":[{"flagged":true},{"flagged":false}]}`, "[{0 0 0 flagged}]"},
		{service.Moderation, `{"results":[{"flagged":false}]}`, ""},
		{service.Moderation, `{"results":[{},{}]}`, ""},
		{service.Moderation, `{}`, ""},
	} {
		s := asking(t, tt.kind, service.Config{}, says(tt.answer))
		found, err := s.Find(t.Context(), "alice", texts)
		if got := fmt.Sprint(found); (err == nil) != (tt.want != "") || err == nil && got != tt.want {
			t.Errorf("%s %s: %s, %v", tt.kind, tt.answer, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "Jörg") {
			t.Errorf("%v quotes the text", err)
		}
	}
}

// TestTrouble: a service that is late, away, refuses or says something else gives no answer, and one
// that goes on like this is left alone.
func TestTrouble(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]http.HandlerFunc{
		"status":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"text":     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "[]") },
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/else", http.StatusFound) },
		"huge":     says("[" + strings.Repeat(" ", 2<<20) + "]"),
		"late": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else nobody hears that the client has gone
			<-r.Context().Done()
		},
		"hangup": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		s := asking(t, service.Presidio, service.Config{Timeout: quantity.Duration(100 * time.Millisecond)}, f)
		var err error
		for i := range breaker.Failures {
			if _, err = s.Find(t.Context(), fmt.Sprint("caller ", i), []string{"a"}); err == nil || errors.Is(err, breaker.ErrResting) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err = s.Find(t.Context(), "one more", []string{"a"}); !errors.Is(err, breaker.ErrResting) {
			t.Errorf("%s: it is asked again: %v", name, err)
		}
	}
}

// TestCache: the same texts are asked about once, for as long as that is configured.
func TestCache(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := asking(t, service.Presidio, service.Config{Cache: quantity.Duration(time.Minute)}, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		says(`[{"entity_type":"X","start":0,"end":1}]`)(w, r)
	})
	for range 3 {
		if found, err := s.Find(t.Context(), "alice", []string{"a", "b"}); err != nil || len(found) != 1 {
			t.Errorf("%v, %v", found, err)
		}
	}
	if _, err := s.Find(t.Context(), "alice", []string{"ab", ""}); err != nil {
		t.Error(err)
	}
	if n := asked.Load(); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// TestTooLarge: what is too large is not sent.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	s := asking(t, service.Presidio, service.Config{OnFailure: "allow"}, func(http.ResponseWriter, *http.Request) { t.Error("it is asked") })
	if _, err := s.Find(t.Context(), "alice", []string{strings.Repeat("x", 256<<10+1)}); !errors.Is(err, service.ErrTooLarge) {
		t.Error(err)
	}
}
