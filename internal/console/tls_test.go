package console

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/console/api"
	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/server"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// issue writes a new certificate of a name into a directory.
func issue(t *testing.T, dir, name string) server.Certificate {
	t.Helper()
	files := server.Certificate{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	certtest.Issue(t, x509.Certificate{DNSNames: []string{name}}, nil).Write(t, files.Cert, files.Key)
	return files
}

// shown is the name in the certificate that the listener shows.
func (w *world) shown() string {
	at, _ := url.Parse(w.console.URL())
	c, err := tls.Dial("tcp", at.Host, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].DNSNames[0]
}

// TestTLS: over TLS cookies are this host's alone, and a new certificate is used without a
// restart.
func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := issue(t, dir, "first.example")
	issuer := newIssuer(t)
	w := newWorld(t, func(c *Config) {
		signsIn(issuer.URL)(c)
		c.TLS = &TLS{Certificates: []server.Certificate{files}}
	})
	b := w.browser()
	b.client.Transport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	if !strings.HasPrefix(w.console.URL(), "https://") {
		t.Fatal(w.console.URL())
	}
	got := b.signIn("carol")
	cookies := strings.Join(got.header["Set-Cookie"], "\n")
	if got.status != http.StatusSeeOther || strings.Count(cookies, "__Host-") != 2 || strings.Count(cookies, "; Secure") != 2 {
		t.Errorf("%s\n%s", got, cookies)
	}
	if m := b.me(); m.Role != api.Admin || got.header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%+v", m)
	}
	issue(t, dir, "second.example")
	for begun := time.Now(); w.shown() != "second.example"; {
		if time.Since(begun) > time.Minute {
			t.Fatalf("it still shows %s", w.shown())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestTLSFiles: what cannot be served is named.
func TestTLSFiles(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]*TLS{
		"tls.certificates: is empty":                   {},
		"tls.certificates[0]: needs both cert and key": {Certificates: []server.Certificate{{Cert: "x"}}},
		"tls.clientAuth: is \"maybe\"":                 {Certificates: []server.Certificate{{Cert: "x", Key: "y"}}, ClientAuth: "maybe"},
	} {
		err := Config{Address: "0.0.0.0:9901", TLS: c}.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err := Open(Config{Address: "127.0.0.1:0", OIDC: &OIDC{Issuer: "http://127.0.0.1:1", Audiences: []string{demo.SignInClient}},
		TLS: &TLS{Certificates: []server.Certificate{{Cert: "none.crt", Key: "none.key"}}}}, Options{Dir: t.TempDir(), Log: newWorld(t, nil).console.Log})
	if err == nil || !strings.HasPrefix(err.Error(), "tls.certificates[0]: open none.crt") {
		t.Error(err)
	}
}
