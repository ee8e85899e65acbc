package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// authority is a CA made for a test.
type authority struct{ *certtest.Identity }

func newAuthority(t testing.TB, name string) authority {
	t.Helper()
	return authority{certtest.Authority(t, name)}
}

// client is a certificate of a caller, changed by edit.
func (a authority) client(t testing.TB, name string, edit ...func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	template := x509.Certificate{
		DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	for _, change := range edit {
		change(&template)
	}
	return certtest.Issue(t, template, a.Identity).TLS()
}

// bundle is the PEM of CAs, as a file holds it.
func bundle(cas ...authority) string {
	var b strings.Builder
	for _, ca := range cas {
		b.WriteString("# " + ca.Cert.Subject.CommonName + "\n")
		b.Write(ca.PEM())
	}
	return b.String()
}

// asking is a TLS configuration that asks clients for certificates of the CAs,
// which stand in a file of that path.
func asking(t *testing.T, mode, minVersion string, cas ...authority) (cfg Config, path string) {
	t.Helper()
	cfg = secured(identity(t, t.TempDir(), "localhost"))
	cfg.TLS.ClientAuth, cfg.TLS.MinVersion = mode, minVersion
	if len(cas) > 0 {
		path = filepath.Join(t.TempDir(), "clients.pem")
		write(t, path, bundle(cas...))
		cfg.TLS.ClientCA = []string{path}
	}
	return cfg, path
}

func TestClientAuthAndCAAreHeldTogether(t *testing.T) {
	t.Parallel()
	tests := []struct {
		mode string
		cas  []string
		want string // in the error; "" for none
	}{
		{"", nil, ""},
		{"off", nil, ""},
		{"request", nil, ""},
		{"optional", []string{"ca.pem"}, ""},
		{"require", []string{"ca.pem", "more.pem"}, ""},
		{"optional", nil, "server.tls.clientCA: is required"},
		{"require", nil, "server.tls.clientCA: is required"},
		{"", []string{"ca.pem"}, "server.tls.clientAuth: must be"},
		{"off", []string{"ca.pem"}, "server.tls.clientAuth: must be"},
		{"request", []string{"ca.pem"}, "server.tls.clientAuth: must be"},
		{"require", []string{"ca.pem", ""}, "server.tls.clientCA[1]: is empty"},
		{"Require", []string{"ca.pem"}, `server.tls.clientAuth: is "Require"`},
		{"any", nil, `server.tls.clientAuth: is "any"`},
	}
	for _, tt := range tests {
		cfg := secured(Certificate{"cert", "key"})
		cfg.TLS.ClientAuth, cfg.TLS.ClientCA = tt.mode, tt.cas
		cfg.Defaults()
		err := cfg.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q with %q: %v, want %q", tt.mode, tt.cas, err, tt.want)
		}
	}
}

// TestL24_BadClientCA: nothing that a file of CAs may turn into is taken for fewer
// CAs: the gateway does not start with it, and does not take it over.
func TestL24_BadClientCA(t *testing.T) {
	t.Parallel()
	a, b := newAuthority(t, "A"), newAuthority(t, "B")
	both := bundle(a, b)
	leaf := a.client(t, "leaf.example").Leaf
	key, err := x509.MarshalPKCS8PrivateKey(a.Key)
	must(t, err)
	block := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	tests := []struct{ name, content, want string }{
		{"empty", "", "empty"},
		{"words", "no CAs yet\n", "holds no certificate"},
		{"cut off", both[:len(both)-20], "not whole PEM"},
		{"cut off in the first", both[:100], "not whole PEM"},
		{"a key", bundle(a) + block("PRIVATE KEY", key), "something else"},
		{"garbage in a block", bundle(a) + block("CERTIFICATE", []byte("garbage")), "x509"},
		{"no CA", bundle(a) + block("CERTIFICATE", leaf.Raw), "leaf.example is not a CA"},
	}
	for _, tt := range tests {
		cfg, path := asking(t, "require", "1.3", a)
		s := start(t, cfg, empty())
		before := s.tls.Load()
		write(t, path, tt.content)
		for what, err := range map[string]error{"reload": s.Reload(cfg), "start": startError(cfg)} {
			if err == nil || !strings.Contains(err.Error(), "server.tls.clientCA[0]: read "+path) ||
				!strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %s: %v, want %q", tt.name, what, err, tt.want)
			}
		}
		s.refresh()
		if s.tls.Load() != before {
			t.Errorf("%s: the old CAs were given up", tt.name)
		}
	}
}

func startError(cfg Config) error {
	_, err := New(cfg, empty(), nil)
	return err
}

// TestL24_ClientAuthModes: who gets through the handshake, in both versions.
func TestL24_ClientAuthModes(t *testing.T) {
	t.Parallel()
	known, unknown := newAuthority(t, "known"), newAuthority(t, "unknown")
	over := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	}
	early := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(time.Hour), time.Now().Add(2*time.Hour)
	}
	forServers := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	certs := []struct {
		name  string
		certs []tls.Certificate
		modes string // in which the handshake succeeds
	}{
		{"none", nil, "off request optional"},
		{"known", []tls.Certificate{known.client(t, "a.example")}, "off request optional require"},
		{"unknown", []tls.Certificate{unknown.client(t, "a.example")}, "off request"},
		{"expired", []tls.Certificate{known.client(t, "a.example", over)}, "off request"},
		{"not yet valid", []tls.Certificate{known.client(t, "a.example", early)}, "off request"},
		{"for servers", []tls.Certificate{known.client(t, "a.example", forServers)}, "off request"},
	}
	for _, mode := range []string{"off", "request", "optional", "require"} {
		var cas []authority
		if mode == "optional" || mode == "require" {
			cas = []authority{known}
		}
		cfg, _ := asking(t, mode, "1.2", cas...)
		var seen states
		s := start(t, cfg, &seen)
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			for _, c := range certs {
				who := caller{certs: c.certs, version: version}
				status, err := who.get(t, s)
				if ok := err == nil && status == 200; ok != strings.Contains(c.modes, mode) {
					t.Errorf("%s, %s, %x: status %d, %v", mode, c.name, version, status, err)
				}
				if err != nil {
					continue
				}
				trusted := s.Trusted(seen.last()) == nil
				if want := c.name == "known" && len(cas) > 0; trusted != want {
					t.Errorf("%s, %s, %x: trusted %v", mode, c.name, version, trusted)
				}
			}
		}
	}
}
