package upstream

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestTLSFiles: changed files count at the next handshake, and bad ones not at all.
func TestTLSFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	ca, other := newAuthority(t, "ca"), newAuthority(t, "other")
	install := func(from, name string) {
		t.Helper()
		text, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(path(name), text, 0o600))
	}
	client := func(name string) (cert, key string) {
		return files(t, ca.sign(t, x509.Certificate{
			Subject: pkix.Name{CommonName: name}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}))
	}
	firstCert, firstKey := client("first")
	secondCert, secondKey := client("second")
	install(ca.file, "ca")
	install(firstCert, "cert")
	install(firstKey, "key")

	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	}))
	s.TLS = &tls.Config{
		Certificates: []tls.Certificate{ca.sign(t, x509.Certificate{DNSNames: []string{"agent.internal"}}).TLS()},
		ClientCAs:    ca.Pool(), ClientAuth: tls.RequireAndVerifyClientCert,
	}
	s.StartTLS()
	t.Cleanup(s.Close)

	var log bytes.Buffer
	u, err := New(Config{TLS: TLS{CA: path("ca"), Certificate: path("cert"), Key: path("key"), ServerName: "agent.internal"}},
		Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, err)
	t.Cleanup(u.Close)
	at := clock{at: time.Now()}
	u.files.now = at.now
	u.direct.json.Other.MaxIdleConnsPerHost = -1 // each call is a handshake
	want := func(when, name string, logged int) {
		t.Helper()
		at.pass(lookAgain)
		_, text, err := send(t, u, "POST", s.URL, "x")
		if (name == "") != (err != nil) || text != name {
			t.Errorf("%s: %q, %v; want %q", when, text, err, name)
		}
		if n := strings.Count(log.String(), "no good"); n != logged {
			t.Errorf("%s: logged %d times, want %d", when, n, logged)
		}
	}
	want("first", "first", 0)
	install(secondCert, "cert")
	want("half of the new pair", "first", 1)
	want("still", "first", 1)
	install(secondKey, "key")
	want("the other half", "second", 1)
	must(t, os.Remove(path("cert")))
	want("gone", "second", 2)
	install(secondCert, "cert")
	want("back", "second", 2)
	must(t, os.WriteFile(path("ca"), nil, 0o600))
	want("an empty pool", "second", 3)
	install(other.file, "ca")
	want("another CA", "", 3)
	install(ca.file, "ca")
	want("the CA again", "second", 3)

	// Within the second nothing is read.
	install(firstCert, "cert")
	install(firstKey, "key")
	if before := u.files.current(); before != u.files.current() {
		t.Error("read again at once")
	}
	want("a second later", "first", 3)
}

// clock is moved by hand.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
