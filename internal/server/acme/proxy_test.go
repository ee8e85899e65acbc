//go:build !minimal

package acme

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// TestL47_TheCAIsAskedThroughTheProxy: a CA that only the proxy finds is asked through it, and
// what the log says of a proxy that does not reach it has no credential.
func TestL47_TheCAIsAskedThroughTheProxy(t *testing.T) {
	t.Parallel()
	values := state.NewMemory(state.Config{})
	defer func() { _ = values.Close() }()
	via := gatewaytest.NewTunnels(t)
	via.User = "gateway:CANARY"
	via.Answer = func(string) int { return 502 }
	via.Start()
	out, err := tunnel.New(tunnel.Config{Proxy: secret.URL(strings.Replace(via.URL, "://", "://gateway:CANARY@", 1))})
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 10)
	var log bytes.Buffer
	wanted := wanted("a.example")
	wanted.Directory = secret.URL("https://ca.test/dir")
	k, err := Open(wanted, Options{
		Values: values, Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), Proxy: out.For,
		Provide: func([]tls.Certificate) error { return nil },
		Ordered: func(_ string, _ *x509.Certificate, err error) {
			if err != nil {
				failed <- err
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	said := (<-failed).Error()
	k.Close()
	if asked := via.Asked(); !slices.Contains(asked, "ca.test:443") {
		t.Errorf("the proxy was asked for %q", asked)
	}
	if strings.Contains(said+log.String(), "CANARY") {
		t.Errorf("the error says %s, and the log\n%s", said, log.String())
	}
}
