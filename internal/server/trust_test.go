package server

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// states is a handler that keeps the TLS state of the last request.
type states struct {
	mu    sync.Mutex
	state *tls.ConnectionState
}

func (s *states) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = r.TLS
}

func (s *states) last() *tls.ConnectionState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// caller is a client with certificates, which it shows whatever CAs it is told of.
type caller struct {
	certs   []tls.Certificate
	version uint16 // the only one it speaks
	cache   tls.ClientSessionCache
	h2      bool
}

func (c caller) transport(t *testing.T) *http.Transport {
	t.Helper()
	config := &tls.Config{
		InsecureSkipVerify: true, ServerName: "localhost", MinVersion: c.version, MaxVersion: c.version,
		ClientSessionCache: c.cache,
	}
	if len(c.certs) > 0 {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &c.certs[0], nil
		}
	}
	var p http.Protocols
	p.SetHTTP1(!c.h2)
	p.SetHTTP2(c.h2)
	tr := &http.Transport{Protocols: &p, TLSClientConfig: config}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// get asks on a connection of its own.
func (c caller) get(t *testing.T, s *Server) (int, error) {
	t.Helper()
	tr := c.transport(t)
	defer tr.CloseIdleConnections()
	status, _, err := ask(tr, s)
	return status, err
}

// ask asks for the host that the handshake names.
func ask(tr *http.Transport, s *Server) (status int, resumed bool, err error) {
	r, err := http.NewRequest(http.MethodGet, s.URL(), nil)
	if err != nil {
		return 0, false, err
	}
	r.Host = tr.TLSClientConfig.ServerName
	resp, err := (&http.Client{Transport: tr, Timeout: patience}).Do(r)
	if err != nil {
		return 0, false, err
	}
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is kept, and tickets are read
	_ = resp.Body.Close()
	return resp.StatusCode, resp.TLS.DidResume, nil
}

// TestR03_RemovedClientCA takes one of two CAs away from a running gateway. Its
// clients are refused at new handshakes, with sessions of before and on connections
// that are open; the other CA's clients notice nothing.
func TestR03_RemovedClientCA(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"optional", "require"} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for _, h2 := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %x h2 %v", mode, version, h2), func(t *testing.T) {
					t.Parallel()
					removeCA(t, mode, version, h2)
				})
			}
		}
	}
}

func removeCA(t *testing.T, mode string, version uint16, h2 bool) {
	t.Helper()
	goes, stays := newAuthority(t, "goes"), newAuthority(t, "stays")
	cfg, path := asking(t, mode, "1.2", goes, stays)
	var seen states
	s := start(t, cfg, &seen)
	who := caller{
		certs: []tls.Certificate{goes.client(t, "a.example")}, version: version, h2: h2,
		cache: tls.NewLRUClientSessionCache(4),
	}
	if status, err := who.get(t, s); status != 200 {
		t.Fatalf("at first: status %d, %v", status, err)
	}
	kept := who.transport(t)
	if status, resumed, err := ask(kept, s); status != 200 || !resumed {
		t.Fatalf("status %d, resumed %v, %v", status, resumed, err)
	}
	before := seen.last()
	if err := s.Trusted(before); err != nil {
		t.Fatal(err)
	}
	stop := keepAsking(t, s, caller{certs: []tls.Certificate{stays.client(t, "b.example")}, version: version, h2: h2})

	write(t, path, bundle(stays))
	eventually(t, "the CA is gone", func() bool { return s.Trusted(before) != nil })
	wantKept := map[string]int{"optional": 200, "require": 421}[mode]
	if status, _, err := ask(kept, s); status != wantKept {
		t.Errorf("kept connection: status %d, %v, want %d", status, err, wantKept)
	}
	if status, err := who.get(t, s); err == nil {
		t.Errorf("session of before: status %d", status)
	}
	who.cache = nil
	if status, err := who.get(t, s); err == nil {
		t.Errorf("new handshake: status %d", status)
	}
	if n := stop(); n == 0 {
		t.Error("the other CA's client was not heard")
	}
}

// keepAsking has c ask again and again, each time on a new connection, and fails
// the test when one fails. stop ends it and tells how often it asked.
func keepAsking(t *testing.T, s *Server, c caller) (stop func() int64) {
	t.Helper()
	var n atomic.Int64
	quit, done, first := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			tr := c.transport(t)
			if status, _, err := ask(tr, s); status != 200 {
				t.Errorf("another CA's client: status %d, %v", status, err)
			}
			tr.CloseIdleConnections()
			if n.Add(1) == 1 {
				close(first)
			}
		}
	}()
	<-first
	return func() int64 {
		close(quit)
		<-done
		return n.Load()
	}
}

// TestR03_NewClientCA: the clients of a CA that is added come in, without a restart.
func TestR03_NewClientCA(t *testing.T) {
	t.Parallel()
	was, comes := newAuthority(t, "was"), newAuthority(t, "comes")
	cfg, path := asking(t, "require", "1.3", was)
	s := start(t, cfg, empty())
	who := caller{certs: []tls.Certificate{comes.client(t, "b.example")}, version: tls.VersionTLS13}
	if status, err := who.get(t, s); err == nil {
		t.Fatalf("before: status %d", status)
	}
	write(t, path, bundle(was, comes))
	eventually(t, "the new CA's client", func() bool {
		status, _ := who.get(t, s)
		return status == 200
	})
}

// TestL24_ClientAuthChangesLive: the setting is for connections that are open, too.
func TestL24_ClientAuthChangesLive(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	required, _ := asking(t, "require", "1.3", ca)
	open := required
	open.TLS = &TLS{Certificates: required.TLS.Certificates}
	var seen states
	s := start(t, open, &seen)
	known := caller{certs: []tls.Certificate{ca.client(t, "a.example")}, version: tls.VersionTLS13}
	nobody := caller{version: tls.VersionTLS13}
	kept := nobody.transport(t)
	want := func(what string, got int, err error, want int) {
		t.Helper()
		if got != want {
			t.Errorf("%s: status %d, %v, want %d", what, got, err, want)
		}
	}
	status, _, err := ask(kept, s)
	want("off", status, err, 200)

	must(t, s.Reload(required))
	status, _, err = ask(kept, s)
	want("require, on a connection without certificate", status, err, 421)
	status, err = nobody.get(t, s)
	want("require, without certificate", status, err, 0)
	status, err = known.get(t, s)
	want("require, with certificate", status, err, 200)
	certified := seen.last()
	if err := s.Trusted(certified); err != nil {
		t.Error(err)
	}

	must(t, s.Reload(open))
	status, err = nobody.get(t, s)
	want("off again", status, err, 200)
	if s.Trusted(certified) == nil {
		t.Error("a certificate is trusted although none is asked for")
	}
}

func TestTrustedNeedsACertificate(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "ca")
	leaf := ca.client(t, "a.example").Leaf
	cfg, _ := asking(t, "optional", "1.3", ca)
	s, err := New(cfg, empty(), nil)
	must(t, err)
	plain, err := New(plaintext(), empty(), nil)
	must(t, err)
	tests := []struct {
		name  string
		s     *Server
		state *tls.ConnectionState
		ok    bool
	}{
		{"plaintext", s, nil, false},
		{"no certificate", s, &tls.ConnectionState{}, false},
		{"certificate", s, &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}, true},
		{"without TLS", plain, &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}}, false},
	}
	for _, tt := range tests {
		if err := tt.s.Trusted(tt.state); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestVerdicts: what is remembered does not outlive the certificate, is not taken
// for another chain's, and does not pile up.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	root := newAuthority(t, "root")
	middle := authority{certtest.Issue(t, x509.Certificate{IsCA: true, BasicConstraintsValid: true}, root.Identity)}
	pool := x509.NewCertPool()
	pool.AddCert(root.Cert)
	now := time.Now()
	soon := now.Add(10 * time.Second).Truncate(time.Second)
	short := root.client(t, "short", func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = now.Add(-time.Minute), soon
	}).Leaf
	leaf := middle.client(t, "leaf").Leaf
	var v verdicts
	steps := []struct {
		name  string
		chain []*x509.Certificate
		now   time.Time
		ok    bool
	}{
		{"valid", []*x509.Certificate{short}, now, true},
		{"until the last moment", []*x509.Certificate{short}, soon, true},
		{"expired", []*x509.Certificate{short}, soon.Add(time.Nanosecond), false},
		{"after the clock was put back", []*x509.Certificate{short}, now, true},
		{"before it began", []*x509.Certificate{short}, now.Add(-time.Hour), false},
		{"without the intermediate", []*x509.Certificate{leaf}, now, false},
		{"with it", []*x509.Certificate{leaf, middle.Cert}, now, true},
		{"without it again", []*x509.Certificate{leaf}, now, false},
	}
	for _, step := range steps {
		for range 2 { // found out, and remembered
			if err := v.on(step.chain, pool, step.now); (err == nil) != step.ok {
				t.Errorf("%s: %v", step.name, err)
			}
		}
	}
	for i := range 3 * mostVerdicts {
		v.keep([sha256.Size]byte{byte(i), byte(i >> 8)}, verdict{})
	}
	if n := len(v.young) + len(v.old); n > 2*mostVerdicts {
		t.Errorf("%d verdicts are kept", n)
	}
}

func BenchmarkTrusted(b *testing.B) {
	ca := newAuthority(b, "ca")
	pool := x509.NewCertPool()
	pool.AddCert(ca.Cert)
	chain := []*x509.Certificate{ca.client(b, "a.example").Leaf}
	b.Run("remembered", func(b *testing.B) {
		var v verdicts
		b.ReportAllocs()
		for b.Loop() {
			if err := v.on(chain, pool, time.Now()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("found out", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if found := verify(chain, pool, time.Now()); found.err != nil {
				b.Fatal(found.err)
			}
		}
	})
}
