package server

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/server/screen"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
)

// patience bounds every wait of these tests; nothing is measured with it.
const patience = time.Minute

// plaintext is the smallest configuration that serves.
func plaintext() Config {
	return Config{Address: "127.0.0.1:0", PublicURL: "http://localhost:8080"}
}

// defaults are the limits that nobody changed.
func defaults() Limits {
	var l Limits
	l.Defaults()
	return l
}

// start runs a Server and shuts it down behind the test.
func start(t *testing.T, cfg Config, h http.Handler, prepare ...func(*Server)) *Server {
	t.Helper()
	s, err := New(cfg, h, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range prepare {
		f(s)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // close at once
		_ = s.Shutdown(ctx)
	})
	return s
}

// recorder is a handler that screens and counts what passes: the oracle.
type recorder struct{ reached atomic.Int64 }

func (rec *recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	lim := defaults()
	if e := screen.Request(r, lim.Screen()); e != nil {
		failure.Write(w, nil, e)
		return
	}
	rec.reached.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	w.WriteHeader(http.StatusNoContent)
}

// dial opens a raw connection that cannot hang the test.
func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c
}

// raw sends bytes on a connection of their own and returns the first answer's
// status.
func raw(t *testing.T, s *Server, request string) int {
	t.Helper()
	c := dial(t, s)
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	verb, _, _ := strings.Cut(request, " ") // an answer to HEAD has no body
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: verb})
	if err != nil {
		t.Fatalf("%.80q: %v", request, err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// rawCase is a request head, lines separated by LF here, without the blank line.
type rawCase struct {
	name, head string
	body       string
	want       int
}

// runRaw sends every case and checks status and recorder.
func runRaw(t *testing.T, cases []rawCase) {
	t.Helper()
	var rec recorder
	s := start(t, plaintext(), &rec)
	for _, tt := range cases {
		before := rec.reached.Load()
		status := raw(t, s, strings.ReplaceAll(tt.head, "\n", "\r\n")+"\r\n\r\n"+tt.body)
		if status != tt.want {
			t.Errorf("%s: status %d, want %d", tt.name, status, tt.want)
		}
		if reached := rec.reached.Load() > before; reached != (tt.want == 204) {
			t.Errorf("%s: the handler was reached: %v", tt.name, reached)
		}
	}
}

// get is a GET with a Host and further lines.
func get(target string, lines ...string) string {
	return strings.Join(append([]string{"GET " + target + " HTTP/1.1", "Host: localhost"}, lines...), "\n")
}

// identity makes a certificate for the names and writes it and its key.
func identity(t *testing.T, dir string, names ...string) Certificate {
	t.Helper()
	files := Certificate{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	certtest.Issue(t, x509.Certificate{
		Subject:     pkix.Name{CommonName: names[0]},
		DNSNames:    names,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, nil).Write(t, files.Cert, files.Key)
	return files
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// secured is a TLS configuration with the certificates.
func secured(certs ...Certificate) Config {
	return Config{Address: "127.0.0.1:0", PublicURL: "https://localhost", TLS: &TLS{Certificates: certs}}
}

// served is the first name of the certificate that the server shows for a
// server name, or the error.
func served(s *Server, name string) string {
	c, err := tls.Dial("tcp", s.Addr().String(), &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	return c.ConnectionState().PeerCertificates[0].DNSNames[0]
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("still not: %s", what)
		}
	}
}

// lines is a log that can be read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) count(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), part)
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// many repeats a header line with a counter.
func many(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// networks parses prefixes.
func networks(list ...string) []netip.Prefix {
	var all []netip.Prefix
	for _, s := range list {
		all = append(all, netip.MustParsePrefix(s))
	}
	return all
}
