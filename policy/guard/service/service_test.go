package service_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2a-gateway/a2a-gateway/ext/hook"
	"github.com/a2a-gateway/a2a-gateway/internal/breaker"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/policy/guard/service"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking starts a service and a client of it.
func asking(t *testing.T, use string, c service.Config, f http.HandlerFunc) *service.Service {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c.URL = secret.URL(server.URL + "/v1/")
	if err := c.Validate(use); err != nil {
		t.Fatal(err)
	}
	s, err := service.New(use, c, service.Options{Guard: "g"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// question is one about what a caller sends.
func question(who string, texts ...string) service.Question {
	return service.Question{Who: who, Phase: hook.Request, Texts: texts}
}

func says(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

// minimal are configurations of all uses, without URL.
func minimal() map[string]service.Config {
	return map[string]service.Config{
		"presidio":      {},
		"moderation":    {},
		"modelArmor":    {Template: "projects/p/locations/europe-west3/templates/t"},
		"bedrock":       {Guardrail: "abc123", Token: secret.New("key")},
		"contentSafety": {},
		"promptShields": {},
		"llamaGuard":    {Model: "llama-guard"},
		"shieldGemma":   {Model: "shieldgemma", Policy: "No harassment."},
		"hook":          {},
	}
}

// odd are answers that are none, of whatever use.
func odd() map[string]http.HandlerFunc {
	written := func(status int, media, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	return map[string]http.HandlerFunc{
		"status":    written(http.StatusInternalServerError, "application/json", `{}`),
		"throttled": written(http.StatusTooManyRequests, "application/json", `{"message":"Too many requests"}`),
		"created":   written(http.StatusCreated, "application/json", `{}`),
		"text":      written(http.StatusOK, "text/html", "<p>sign in</p>"),
		"no media": func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = io.WriteString(w, "{}")
		},
		"redirect": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/else", http.StatusFound) },
		"empty":    says(""),
		"null":     says("null"),
		"half":     says("{"),
		"twice":    says(`{"action":"NONE","action":"NONE"}`),
		"other":    says(`{"is": "this is the JSON of somebody else"}`),
		"number":   says("1"),
		"huge":     says("[" + strings.Repeat(" ", 2<<20) + "]"),
		"packed": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			says("{}")(w, nil)
		},
		"cut": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			says("{}")(w, nil)
		},
		"late": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // else nobody hears that the client has gone
			<-r.Context().Done()
		},
		"hangup": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	}
}

// TestTrouble: a service that is late, away, refuses or says something else gives no answer, and one
// that goes on like this is left alone.
func TestTrouble(t *testing.T) {
	t.Parallel()
	uses := minimal()
	for _, u := range service.Uses() {
		c, ok := uses[u.Name]
		if !ok {
			t.Errorf("use %s is not tested", u.Name)
		}
		for name, f := range odd() {
			t.Run(u.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				c := c
				c.Timeout = quantity.Duration(10 * time.Second)
				if name == "late" {
					c.Timeout = quantity.Duration(100 * time.Millisecond)
				}
				s := asking(t, u.Name, c, f)
				var err error
				for i := range breaker.Failures {
					if _, err = s.Find(t.Context(), question(fmt.Sprint("caller ", i), "hush")); err == nil || errors.Is(err, breaker.ErrResting) {
						t.Errorf("%v", err)
					}
					if err != nil && (strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "127.0.0.1")) {
						t.Errorf("%v says too much", err)
					}
				}
				if _, err = s.Find(t.Context(), question("one more", "hush")); !errors.Is(err, breaker.ErrResting) {
					t.Errorf("it is asked again: %v", err)
				}
			})
		}
	}
}

// TestCache: the same texts are asked about once, for as long as that is configured.
func TestCache(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := asking(t, "presidio", service.Config{Cache: quantity.Duration(time.Minute)}, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		says(`[{"entity_type":"X","start":0,"end":1}]`)(w, r)
	})
	for range 3 {
		if found, err := s.Find(t.Context(), question("alice", "a", "b")); err != nil || len(found) != 1 {
			t.Errorf("%v, %v", found, err)
		}
	}
	answer := question("alice", "a", "b")
	answer.Phase = hook.Response
	for _, q := range []service.Question{question("alice", "ab"), answer} {
		if _, err := s.Find(t.Context(), q); err != nil {
			t.Error(err)
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("asked %d times", n)
	}
}

// TestTooLarge: what is too large is not sent, and neither is what would take too many questions.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	parts := service.Question{Who: "alice", Phase: hook.Request}
	for i := range 513 {
		parts.Texts, parts.Parts = append(parts.Texts, "x"), append(parts.Parts, i)
	}
	for want, q := range map[string]service.Question{
		"larger than 262144 bytes": question("alice", strings.Repeat("x", 256<<10+1)),
		"more than 512 questions":  parts,
	} {
		c := minimal()["llamaGuard"]
		c.OnFailure = "allow"
		s := asking(t, "llamaGuard", c, func(http.ResponseWriter, *http.Request) { t.Error("it is asked") })
		if _, err := s.Find(t.Context(), q); !errors.Is(err, service.ErrTooLarge) || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
}

// TestOneByOne: a service that takes one text at a time is asked about parts beside each other, and about
// pieces of what is too long; what stands where two of them meet is found once.
func TestOneByOne(t *testing.T) {
	t.Parallel()
	var now, most, asked atomic.Int64
	s := asking(t, "bedrock", minimal()["bedrock"], func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		time.Sleep(20 * time.Millisecond)
		if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "hush") {
			says(`{"action":"GUARDRAIL_INTERVENED","assessments":[{"wordPolicy":{"customWords":[{"match":"hush","action":"BLOCKED"}]}}]}`)(w, r)
			return
		}
		says(`{"action":"NONE","assessments":[{}]}`)(w, r)
	})
	long := strings.Repeat("ö", 4900) + "hush" + strings.Repeat("ö", 9000)
	q := service.Question{Who: "alice", Phase: hook.Request, Texts: []string{long, "a", "hush", " "}, Parts: []int{0, 1, 1, 1}}
	for i := range 30 {
		q.Texts, q.Parts = append(q.Texts, "b"), append(q.Parts, 2+i)
	}
	found, err := s.Find(t.Context(), q)
	if got := fmt.Sprint(found); err != nil || got != "[{0 9800 9804 word.custom} {2 0 4 word.custom}]" {
		t.Errorf("%s, %v", got, err)
	}
	if asked.Load() != 3+1+30 || most.Load() > 8 || most.Load() < 2 {
		t.Errorf("asked %d times, %d at once", asked.Load(), most.Load())
	}
}

// TestTokenFile: a token that somebody renews is read again, and nothing is asked without one.
func TestTokenFile(t *testing.T) {
	t.Parallel()
	var got atomic.Value
	file := filepath.Join(t.TempDir(), "token")
	s := asking(t, "presidio", service.Config{TokenFile: file}, func(w http.ResponseWriter, r *http.Request) {
		got.Store(r.Header.Get("Authorization"))
		says("[]")(w, r)
	})
	for _, tt := range []struct{ text, want string }{{"one\n", "Bearer one"}, {"two", "Bearer two"}, {"t h\nree", ""}, {"", ""}} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got.Store("")
		_, err := s.Find(t.Context(), question("alice", "a"))
		if got.Load() != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: sent %q, %v", tt.text, got.Load(), err)
		}
		if err != nil && (!strings.Contains(err.Error(), "tokenFile") || strings.Contains(err.Error(), "ree")) {
			t.Error(err)
		}
	}
}
