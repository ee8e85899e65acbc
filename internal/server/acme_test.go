package server

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// examine makes the handshake of a CA's check.
func examine(s *Server, name string, protocols ...string) (*tls.Conn, error) {
	return tls.Dial("tcp", s.Addr().String(), &tls.Config{
		ServerName: name, InsecureSkipVerify: true, NextProtos: protocols,
	})
}

// pair reads a certificate as it is provided.
func pair(t *testing.T, names ...string) tls.Certificate {
	t.Helper()
	files := identity(t, t.TempDir(), names...)
	p, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// obtaining is a configuration with names to have certificates for.
func obtaining(names ...string) Config {
	return Config{Address: "127.0.0.1:0", PublicURL: "https://localhost", TLS: &TLS{
		ACME: &ACME{AgreeTerms: true, Domains: names},
	}}
}

// TestCertificatesFromElsewhere: a server without files has none at first, and takes those
// that are provided, also in the place of others, while a connection goes on.
func TestCertificatesFromElsewhere(t *testing.T) {
	t.Parallel()
	s := start(t, obtaining("a.example", "b.example"), http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	if s.Certified() || !s.Expiry().IsZero() {
		t.Error("there is a certificate before there is one")
	}
	if got := served(s, "a.example"); !strings.Contains(got, "tls: ") {
		t.Errorf("without a certificate a handshake ends in %q", got)
	}
	if err := s.Provide([]tls.Certificate{pair(t, "a.example"), pair(t, "b.example")}); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true,
	}}
	var fresh int
	ask := func() {
		t.Helper()
		resp, err := client.Get(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.TLS.PeerCertificates[0].DNSNames[0] != "a.example" {
			fresh++
		}
	}
	ask()
	if got := served(s, "b.example"); got != "b.example" || !s.Certified() {
		t.Errorf("b.example is shown %q", got)
	}
	if err := s.Provide([]tls.Certificate{pair(t, "c.example")}); err != nil {
		t.Fatal(err)
	}
	if ask(); fresh > 0 {
		t.Error("the connection did not go on")
	}
	if got := served(s, "a.example"); got != "c.example" {
		t.Errorf("after the swap a.example is shown %q", got)
	}
	cfg := obtaining("a.example")
	cfg.TLS.MinVersion = "1.2"
	if err := s.Reload(cfg); err != nil {
		t.Fatal(err)
	}
	if got := served(s, "a.example"); got != "c.example" {
		t.Errorf("after a reload a.example is shown %q", got)
	}
}

// TestChecksOfNames: a CA's handshake gets its answer for a configured name, whatever
// clients have to show, and nothing is served on its connection; all others get none.
func TestChecksOfNames(t *testing.T) {
	t.Parallel()
	clients := filepath.Join(t.TempDir(), "ca.pem")
	write(t, clients, bundle(newAuthority(t, "clients")))
	cfg := obtaining("a.example")
	cfg.TLS.ClientAuth, cfg.TLS.ClientCA = authRequire, []string{clients}
	var rec recorder
	s := start(t, cfg, &rec)
	if err := s.Provide([]tls.Certificate{pair(t, "a.example")}); err != nil {
		t.Fatal(err)
	}
	if _, err := examine(s, "a.example", alpnACME); err == nil {
		t.Error("an answer before there is anybody to give it")
	}
	answer := pair(t, "answer.example")
	s.Answer(func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &answer, nil })
	c, err := examine(s, "A.example", alpnACME)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if got := c.ConnectionState(); got.NegotiatedProtocol != alpnACME || got.PeerCertificates[0].DNSNames[0] != "answer.example" {
		t.Errorf("%q with the certificate of %q", got.NegotiatedProtocol, got.PeerCertificates[0].DNSNames)
	}
	_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
	if answer, _ := io.ReadAll(c); len(answer) > 0 || rec.reached.Load() > 0 {
		t.Errorf("a request was served: %q", answer)
	}
	for name, protocols := range map[string][]string{"b.example": {alpnACME}, "a.example": {alpnACME, "h2"}} {
		c, err := examine(s, name, protocols...)
		if err == nil && c.ConnectionState().PeerCertificates[0].DNSNames[0] == "answer.example" {
			t.Errorf("%s, %q: got the answer", name, protocols)
		}
	}
	cfg.TLS.ACME.Challenges, cfg.TLS.ACME.HTTPListen = []string{ChallengeHTTP}, ""
	if err := s.Reload(cfg); err == nil {
		t.Error("http-01 without a listener was accepted")
	}
}

// TestNameTwice: what of a file and of the CA is for the same name is refused.
func TestNameTwice(t *testing.T) {
	t.Parallel()
	cfg := obtaining("a.example", "b.example")
	cfg.TLS.Certificates = []Certificate{identity(t, t.TempDir(), "c.example", "b.example")}
	_, err := New(cfg, http.NotFoundHandler(), slog.New(slog.DiscardHandler))
	const want = "server.tls.certificates[0]: is for b.example, which is among server.tls.acme.domains too"
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestReloadOfACME: the names may change, the section itself and its listener may not.
func TestReloadOfACME(t *testing.T) {
	t.Parallel()
	cfg := obtaining("a.example")
	cfg.TLS.ACME.Challenges, cfg.TLS.ACME.HTTPListen = []string{ChallengeHTTP}, ":8080"
	s := start(t, cfg, http.NotFoundHandler())
	for want, change := range map[string]func(*TLS){
		"":                               func(c *TLS) { c.ACME.Domains = []string{"b.example"} },
		"server.tls.acme":                func(c *TLS) { c.ACME, c.Certificates = nil, []Certificate{identity(t, t.TempDir(), "x.example")} },
		"server.tls.acme.httpListen":     func(c *TLS) { c.ACME.HTTPListen = ":8081" },
		"server.tls.acme.domains[0]: \"": func(c *TLS) { c.ACME.Domains = []string{"*"} },
	} {
		now := cfg.own()
		change(now.TLS)
		err := s.Reload(now)
		if err == nil {
			err = errors.New("")
		}
		if !strings.HasPrefix(err.Error(), want) || want == "" && err.Error() != "" {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
