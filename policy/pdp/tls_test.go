//go:build !minimal

package pdp

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// newPair writes a self-signed certificate for a name, which is its own CA, and its key.
func newPair(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	dir := t.TempDir()
	certificate, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certtest.Issue(t, x509.Certificate{
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, nil).Write(t, certificate, key)
	return certificate, key
}

// TestTLS: the service is known by its CA and name, and gets to see a certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	serverCert, serverKey := newPair(t, "pdp.internal")
	clientCert, clientKey := newPair(t, "gateway")
	_, otherCA := newPair(t, "other")
	pair, err := tls.LoadX509KeyPair(serverCert, serverKey)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	text, err := os.ReadFile(clientCert)
	if err != nil || !known.AppendCertsFromPEM(text) {
		t.Fatal("no client CA", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: known, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, wellKnown) {
			http.NotFound(w, r)
			return
		}
		say(w, `{"decision": true}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS, server.EnableHTTP2 = config.Clone(), true
	server.StartTLS()
	t.Cleanup(server.Close)
	s := newService(t, config.Clone(), always(code(codes.OK, ""), nil))
	whole := TLS{CA: serverCert, Certificate: clientCert, Key: clientKey, ServerName: "pdp.internal"}
	for name, test := range map[string]struct {
		change func(*TLS)
		ok     bool
	}{
		"whole":          {func(*TLS) {}, true},
		"without a CA":   {func(c *TLS) { c.CA = "" }, false},
		"another CA":     {func(c *TLS) { c.CA = strings.Replace(otherCA, "key.pem", "cert.pem", 1) }, false},
		"another name":   {func(c *TLS) { c.ServerName = "" }, false},
		"no certificate": {func(c *TLS) { c.Certificate, c.Key = "", "" }, false},
	} {
		files := whole
		test.change(&files)
		for _, a := range []Authorizer{{Kind: kindAuthZEN, URL: secret.URL(server.URL)}, {Kind: kindExtAuthz, URL: secret.URL(s.url)}} {
			a.Name, a.TLS, a.Timeout = "pdp", files, quantity.Duration(10*time.Second)
			if _, err := ask(t, newPanel(t, a), newQuestion(t)); (err == nil) != test.ok {
				t.Errorf("%s, %s: got %v", name, a.Kind, err)
			}
		}
	}
}
