//go:build !minimal

package acme

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	libacme "github.com/mholt/acmez/v3/acme"
	"go.uber.org/zap"

	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
)

// TestPause: a CA that refuses is asked less often than one that is not there.
func TestPause(t *testing.T) {
	t.Parallel()
	refusal := libacme.Problem{Status: http.StatusForbidden, Type: libacme.ProblemTypeUnauthorized}
	for name, tt := range map[string]struct {
		failures int
		err      error
		want     time.Duration
	}{
		"not there":           {0, errors.New("connection refused"), away},
		"still not there":     {3, errors.New("connection refused"), 8 * away},
		"for hours":           {60, errors.New("connection refused"), latest},
		"refused":             {0, errors.Join(errors.New("order"), refusal), rejected},
		"refused again":       {2, refusal, 4 * rejected},
		"refused for days":    {200, refusal, latest},
		"the CA has a defect": {0, libacme.Problem{Status: http.StatusInternalServerError}, away},
		"a nonce too old":     {1, libacme.Problem{Status: http.StatusBadRequest, Type: libacme.ProblemTypeBadNonce}, 2 * away},
	} {
		if got := pause(tt.failures, tt.err); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// wanted is a section that names a CA where nobody listens.
func wanted(names ...string) server.ACME {
	return server.ACME{
		Directory: "https://127.0.0.1:1/dir", AgreeTerms: true, Domains: names, Challenges: []string{server.ChallengeHTTP},
		RenewalWindow: .33, KeyType: "p256",
	}
}

// TestKeeperWithoutCA: nothing is provided, every name says why, and the end is not waited
// for.
func TestKeeperWithoutCA(t *testing.T) {
	t.Parallel()
	values := state.NewMemory(state.Config{})
	defer func() { _ = values.Close() }()
	failed := make(chan string, 10)
	var log bytes.Buffer
	k, err := Open(wanted("a.example"), Options{
		Values: values, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Provide: func(certs []tls.Certificate) error {
			if len(certs) > 0 {
				t.Errorf("%d certificates", len(certs))
			}
			return nil
		},
		Ordered: func(domain string, _ *x509.Certificate, err error) {
			if err != nil {
				failed <- domain
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if domain := <-failed; domain != "a.example" {
		t.Errorf("an order for %s", domain)
	}
	for status := k.Status(); status[0].Err == nil; status = k.Status() {
		time.Sleep(10 * time.Millisecond)
	}
	if got := k.Status(); len(got) != 1 || got[0].Domain != "a.example" || !got[0].NotAfter.IsZero() {
		t.Errorf("%+v", got)
	}
	bad := wanted("b.example")
	bad.CA = filepath.Join(t.TempDir(), "ca.pem")
	if err := k.Configure(bad); err == nil || !strings.HasPrefix(err.Error(), "server.tls.acme.ca: ") {
		t.Errorf("roots that are not there: %v", err)
	}
	if err := os.WriteFile(bad.CA, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := k.Configure(bad); err == nil || k.Status()[0].Domain != "a.example" {
		t.Errorf("roots that are none: %v, %+v", err, k.Status())
	}
	if err := k.Configure(wanted("b.example")); err != nil || k.Status()[0].Domain != "b.example" {
		t.Errorf("another name: %v, %+v", err, k.Status())
	}
	for _, host := range []string{"a.example", "b.example", "b.example:80", ""} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/.well-known/acme-challenge/token", nil)
		r.Host = host
		if k.ServeHTTP(w, r); w.Code != http.StatusNotFound {
			t.Errorf("%q: %d without an order", host, w.Code)
		}
	}
	k.Close()
	if text := log.String(); !strings.Contains(text, "certificate not obtained") || strings.Contains(text, "PRIVATE KEY") {
		t.Errorf("the log says:\n%s", text)
	}
}

// TestLogLevel: what the library says is for who looks for it.
func TestLogLevel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := newLog(slog.New(slog.NewTextHandler(&out, nil)))
	log.Error("lost")
	if out.Len() > 0 {
		t.Errorf("the library's errors come back as such, and were logged: %s", out.String())
	}
	log = newLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))).With(zap.String("a", "b"))
	log.Named("x").Info("said", zap.Stringer("key", secret.New("hunter2")))
	if text := out.String(); !strings.Contains(text, `msg="acme: said"`) || !strings.Contains(text, "a=b") || !strings.Contains(text, "key=[redacted]") {
		t.Errorf("%s", text)
	}
}
