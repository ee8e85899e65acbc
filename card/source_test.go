package card_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

func TestFetch(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"name":"elsewhere"}`)
	}))
	t.Cleanup(elsewhere.Close)
	mux := http.NewServeMux()
	answer := func(path, contentType, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			_, _ = io.WriteString(w, body)
		})
	}
	answer("/json", "application/json", `{"name":"n"}`)
	answer("/a2a+json", "application/a2a+json; charset=utf-8", `{"name":"n"}`)
	answer("/text", "text/plain", "\n"+`{"name":"n"}`)
	answer("/html", "text/html; charset=utf-8", "<html><body>Log in</body></html>")
	answer("/html-as-json", "application/json", "<html>")
	answer("/exact", "application/json", `{"name":"`+strings.Repeat("n", 89)+`"}`)
	answer("/long", "application/json", `{"name":"`+strings.Repeat("n", 90)+`"}`)
	mux.HandleFunc("/endless", func(w http.ResponseWriter, _ *http.Request) {
		for range 1 << 16 {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<10)); err != nil {
				return
			}
		}
	})
	mux.Handle("/moved", http.RedirectHandler("/json", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.Handle("/away", http.RedirectHandler(elsewhere.URL, http.StatusFound))
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	tests := []struct {
		path  string
		limit int64
		want  string // in the error, "" for none
	}{
		{"/json", 0, ""},
		{"/a2a+json", 0, ""},
		{"/text", 0, ""},
		{"/moved", 0, ""},
		{"/exact", 100, ""},
		{"/long", 100, "more than 100 bytes"},
		{"/endless", 0, "more than 1048576 bytes"},
		{"/html", 0, `HTML or XML (served as "text/html; charset=utf-8")`},
		{"/html-as-json", 0, "HTML or XML"},
		{"/none", 0, "404 Not Found"},
		{"/away", 0, `redirected to another origin, "http://127.0.0.1:`},
		{"/loop", 0, "redirected more than 3 times"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			t.Parallel()
			c, err := card.Fetch(t.Context(), srv.Client(), secret.URL(srv.URL+tt.path), tt.limit)
			if tt.want == "" {
				if err != nil || !strings.HasPrefix(c.Name, "n") {
					t.Errorf("%v, %v", c, err)
				}
				return
			}
			if err == nil || c != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v; want %q", c, err, tt.want)
			}
		})
	}
}

func TestFetchErrorsKeepCredentialsOut(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	srv.Close()
	for _, url := range []string{
		strings.Replace(srv.URL, "://", "://user:s3cret@", 1), "ftp://user:s3cret@host/x",
		"http://user:s3cret@ho st/",
	} {
		_, err := card.Fetch(t.Context(), nil, secret.URL(url), 0)
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}

// TestSourceAsksForChanges: the validators of the last good answer go along, and
// 304 keeps the card and is no change.
func TestSourceAsksForChanges(t *testing.T) {
	t.Parallel()
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := r.Header
		asked = append(asked, h.Get("If-None-Match")+"|"+h.Get("If-Modified-Since")+"|"+h.Get("A2A-Version"))
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = io.WriteString(w, `{"name":"n"}`)
	}))
	t.Cleanup(srv.Close)
	s := card.NewSource(card.Config{URL: secret.URL(srv.URL)}, srv.Client(), nil)
	changes := 0
	s.OnChange(func(*card.Card) { changes++ })
	for range 2 {
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"||", `"1"|Sat, 21 Nov 2026 12:00:00 GMT|`}, asked); diff != "" {
		t.Error(diff)
	}
	if changes != 1 || s.Current() == nil || s.Err() != nil {
		t.Errorf("%d changes, current %v, %v", changes, s.Current(), s.Err())
	}
}

// agent answers in virtual time.
type agent func(attempt int) (status int, body string)

// transport records when it was asked and answers as agent says.
type transport struct {
	agent agent
	start time.Time
	times []time.Duration
}

func (tr *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	tr.times = append(tr.times, time.Since(tr.start))
	status, body := tr.agent(len(tr.times))
	if status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{
		StatusCode: status, Status: fmt.Sprint(status), Header: http.Header{}, Request: r,
		Body: io.NopCloser(strings.NewReader(body)),
	}, nil
}

// TestSourceRecovers: unreachable at the start, tried again after 1, 2, 4 …
// seconds, then found; later broken, and the last good card stays.
func TestSourceRecovers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s *card.Source
		tr := &transport{start: time.Now()}
		tr.agent = func(attempt int) (int, string) {
			switch attempt {
			case 1, 2, 3:
				return 0, ""
			case 4, 5:
				return 200, `{"name":"first"}`
			case 6:
				if s.Err() != nil {
					t.Errorf("an unchanged card is no error: %v", s.Err())
				}
				return 200, `<html>`
			case 7:
				if !errors.Is(s.Err(), card.ErrNotCard) || s.Current().Name != "first" {
					t.Errorf("broken: %v, %v", s.Current(), s.Err())
				}
				return 500, ""
			default:
				return 200, `{"name":"second"}`
			}
		}
		s = card.NewSource(
			card.Config{URL: "https://agent.test/card", Refresh: quantity.Duration(time.Minute)},
			&http.Client{Transport: tr}, nil,
		)
		changed := make(chan string, 2)
		s.OnChange(func(c *card.Card) { changed <- c.Name })
		if !errors.Is(s.Err(), card.ErrPending) || s.Current() != nil {
			t.Errorf("before the first attempt: %v, %v", s.Current(), s.Err())
		}
		ctx, cancel := context.WithCancel(t.Context())
		go s.Run(ctx) // synctest fails the test if it outlives ctx
		if err := s.Wait(ctx); err == nil || errors.Is(err, card.ErrPending) {
			t.Errorf("first attempt: %v", err)
		}
		for _, want := range []string{"first", "second"} {
			if got := <-changed; got != want || s.Current().Name != want {
				t.Errorf("changed to %s, want %s", got, want)
			}
			synctest.Wait()
			if s.Err() != nil {
				t.Errorf("%s: %v", want, s.Err())
			}
		}
		cancel()
		synctest.Wait()
		for i, want := range []time.Duration{1, 2, 4, 60, 60, 1, 2} {
			gap := tr.times[i+1] - tr.times[i]
			if want *= time.Second; gap < want*9/10 || gap > want*11/10 {
				t.Errorf("attempt %d came after %v, want about %v", i+2, gap, want)
			}
		}
	})
}

// TestSourceBackoffIsBounded: an agent that never comes back is asked every two
// minutes, or every refresh interval where that is shorter.
func TestSourceBackoffIsBounded(t *testing.T) {
	t.Parallel()
	for refresh, most := range map[time.Duration]time.Duration{time.Hour: 2 * time.Minute,
		30 * time.Second: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			tr := &transport{start: time.Now(), agent: func(int) (int, string) { return 0, "" }}
			s := card.NewSource(
				card.Config{URL: "https://agent.test/card", Refresh: quantity.Duration(refresh)},
				&http.Client{Transport: tr}, nil,
			)
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			s.Run(ctx)
			for i := len(tr.times) - 5; i < len(tr.times); i++ {
				if gap := tr.times[i] - tr.times[i-1]; gap < most*9/10 || gap > most*11/10 {
					t.Errorf("refresh %v: gap of %v, want about %v", refresh, gap, most)
				}
			}
		})
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := card.NewSource(card.Config{URL: "https://agent.test/card"}, nil, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestConfigFromYAML(t *testing.T) {
	t.Parallel()
	full := card.Config{URL: "https://a.test/c", Visibility: card.Caller,
		Refresh: quantity.Duration(time.Hour), Form: "1.0", Requirements: "spec"}
	tests := []struct {
		in   string
		want card.Config
		err  string
	}{
		{in: "https://a.test/c", want: card.Config{URL: "https://a.test/c"}},
		{in: "{url: https://a.test/c, visibility: caller, refresh: 1h, form: \"1.0\", requirements: spec}", want: full},
		{in: "{url: https://a.test/c, refesh: 1h}", err: "refesh"},
		{in: "[a]", err: "cannot"},
	}
	for _, tt := range tests {
		var got card.Config
		err := yaml.Load([]byte(tt.in), &got, yaml.WithKnownFields())
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v", tt.in, err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" && err == nil {
			t.Errorf("%s: %s", tt.in, diff)
		}
	}
	bad := card.Config{URL: "a.test/c", Visibility: "all", Refresh: quantity.Duration(time.Millisecond),
		Form: "2.0", Requirements: "x"}
	for _, want := range []string{"absolute", "visibility", "refresh", `form "2.0" is not auto, mixed, 1.0 or 0.3`, "requirements"} {
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q in it", err, want)
		}
	}
	if err := full.Validate(); err != nil {
		t.Error(err)
	}
	if err := (card.Config{}).Validate(); err == nil {
		t.Error("a missing url passed")
	}
}
