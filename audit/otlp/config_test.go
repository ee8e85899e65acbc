//go:build !minimal

package otlp

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/a2a-gateway/a2a-gateway/internal/quantity"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
)

// TestCheck: what is wrong is named by its key.
func TestCheck(t *testing.T) {
	t.Parallel()
	good := Config{Endpoint: "https://collector.example"}
	for _, change := range []func(*Config){
		func(*Config) {},
		func(c *Config) { c.Endpoint = "http://collector:4318/otlp" },
		func(c *Config) { c.Endpoint, c.Protocol = "https://collector:4317/", "grpc" },
		func(c *Config) {
			c.Headers = []Header{{"Authorization", secret.New("x")}, {"X-Scope-OrgID", secret.New("x")}}
		},
		func(c *Config) { c.Endpoint, c.Headers = "http://127.0.0.1:4318", []Header{{"X-Key", secret.New("x")}} },
		func(c *Config) {
			c.Compression, c.MaxRequest, c.GiveUp = "none", 64<<10, quantity.Duration(time.Minute)
		},
	} {
		c := good
		change(&c)
		if err := c.Check(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	header := func(name, value string) func(*Config) {
		return func(c *Config) {
			c.Headers = append(c.Headers, Header{"X-Key", secret.New("x")}, Header{name, secret.New(value)})
		}
	}
	for want, change := range map[string]func(*Config){
		"endpoint is missing":                   func(c *Config) { c.Endpoint = "" },
		"endpoint: not an absolute":             func(c *Config) { c.Endpoint = "collector:4317" },
		"endpoint: it must have no user":        func(c *Config) { c.Endpoint = "https://a:hunter2@collector" },
		"endpoint: the port is missing":         func(c *Config) { c.Protocol = "grpc" },
		"endpoint: gRPC has no path":            func(c *Config) { c.Endpoint, c.Protocol = "https://collector:4317/v1/logs", "grpc" },
		"tls: the endpoint is http://":          func(c *Config) { c.Endpoint, c.TLS.CA = "http://collector", "ca.pem" },
		"headers: they are sent by https":       func(c *Config) { c.Endpoint = "http://collector"; header("A", "b")(c) },
		`protocol: "http/json"`:                 func(c *Config) { c.Protocol = "http/json" },
		`compression: "zstd"`:                   func(c *Config) { c.Compression = "zstd" },
		"maxRequest: 1KiB":                      func(c *Config) { c.MaxRequest = 1 << 10 },
		"maxRequest: 1GiB":                      func(c *Config) { c.MaxRequest = 1 << 30 },
		"giveUp: 1s":                            func(c *Config) { c.GiveUp = quantity.Duration(time.Second) },
		"tls: certificate and key":              func(c *Config) { c.TLS.Key = "k.pem" },
		"headers[1].name: \"a b\"":              header("a b", "x"),
		"headers[1].name: Content-Type is set":  header("Content-Type", "x"),
		"headers[1].name: grpc-timeout is set":  header("grpc-timeout", "x"),
		"headers[1].name: x-key is given twice": header("x-key", "x"),
		"headers[1].value: empty":               header("Y", ""),
		"headers[1].value: empty, or has":       header("Y", "a\nb"),
	} {
		c := good
		change(&c)
		err := c.Check()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v, want %s", err, want)
		}
		if _, failed := New(c, Options{}); failed == nil {
			t.Errorf("New takes it: %s", want)
		}
	}
}

// TestTLS: only a receiver that the CA vouches for gets anything, and only from somebody
// whom it trusts, by either protocol.
func TestTLS(t *testing.T) {
	t.Parallel()
	web := &web{}
	web.Server = httptest.NewUnstartedServer(web)
	web.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	web.StartTLS()
	t.Cleanup(web.Close)
	dir := t.TempDir()
	file := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pair := web.TLS.Certificates[0] // its own, which does for the client as well
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	full := TLS{CA: file("ca.pem", "CERTIFICATE", pair.Certificate[0]), Certificate: file("cert.pem", "CERTIFICATE", pair.Certificate[0]),
		Key: file("key.pem", "PRIVATE KEY", key), ServerName: "example.com"}
	calls := &rpcServer{}
	address := serveGRPC(t, calls, grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12,
	})))
	for _, c := range []Config{{Endpoint: secret.URL(web.URL)}, {Endpoint: secret.URL("https://" + address), Protocol: protocolGRPC}} {
		for name, change := range map[string]func(*TLS){
			"no CA":          func(s *TLS) { s.CA = "" },
			"no certificate": func(s *TLS) { s.Certificate, s.Key = "", "" },
			"another name":   func(s *TLS) { s.ServerName = "other.test" },
		} {
			wrong := c
			wrong.TLS = full
			change(&wrong.TLS)
			if err := open(t, wrong).Put(t.Context(), entries(1, 1, 10)); err == nil {
				t.Errorf("%s %s: it is no error", c.Protocol, name)
			}
		}
		c.TLS = full
		if err := open(t, c).Put(t.Context(), entries(1, 10, 10)); err != nil {
			t.Error(err)
		}
	}
	if got, _, _ := calls.has(); !slices.Equal(web.has(), upTo(10)) || !slices.Equal(got, upTo(10)) {
		t.Errorf("they have %v and %v", web.has(), got)
	}
	for want, change := range map[string]func(*TLS){
		"otlp.tls.ca: open":          func(s *TLS) { s.CA = filepath.Join(dir, "none") },
		"key.pem has no certificate": func(s *TLS) { s.CA = s.Key },
		"otlp.tls.certificate: ":     func(s *TLS) { s.Certificate = s.Key },
	} {
		c := Config{Endpoint: secret.URL(web.URL), TLS: full}
		change(&c.TLS)
		if _, err := New(c, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
