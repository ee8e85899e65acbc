package egress_test

import (
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/egress"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/internal/tunnel"
)

// trusted is a file with the certificate of a server.
func trusted(t *testing.T, s *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestL41_AProxyIsToldAddresses: through the operator's proxy, which may itself be anywhere,
// only addresses that were judged are reached, whatever a name has meant to the proxy; TLS is
// with the name.
func TestL41_AProxyIsToldAddresses(t *testing.T) {
	t.Parallel()
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Host-Was", r.Host)
	}))
	defer target.Close()
	names := map[string]string{
		"example.com": "93.184.216.34", "inside.example.com": "10.0.0.7", "meta.example.com": "169.254.169.254",
	}
	resolver := gatewaytest.DNS(t, func(name string, _ int) []netip.Addr { return []netip.Addr{netip.MustParseAddr(names[name])} })
	via := gatewaytest.NewTunnels(t)
	via.To = map[string]string{"*": target.Listener.Addr().String()}
	p, err := tunnel.New(tunnel.Config{Proxy: secret.URL(via.Start().URL)})
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, egress.Options{Resolver: resolver, Proxy: p, CA: trusted(t, target)})
	a, err := c.Send(t.Context(), http.MethodPost, "https://example.com/hook", nil, []byte("{}"))
	if err != nil || a.Header.Get("Host-Was") != "example.com" {
		t.Fatalf("got %+v, %v", a, err)
	}
	if asked := via.Asked(); !slices.Equal(asked, []string{"93.184.216.34:443"}) {
		t.Errorf("the proxy was asked for %q", asked)
	}
	for _, target := range []string{"https://inside.example.com/", "https://meta.example.com/", "https://10.0.0.7/"} {
		if _, err := c.Send(t.Context(), http.MethodPost, target, nil, nil); !errors.Is(err, egress.ErrRefused) {
			t.Errorf("%s: %v", target, err)
		}
	}
	if n := len(via.Asked()); n != 1 {
		t.Errorf("the proxy was asked %d times", n)
	}
}

// some is a proxy that serves some addresses.
type some struct {
	egress.Proxy
	not string
}

func (s some) Serves(address string) bool { return !strings.HasPrefix(address, s.not) }

// TestWithoutAProxy: what the proxy does not serve is reached without, the name or the address.
func TestWithoutAProxy(t *testing.T) {
	t.Parallel()
	target := listen(t)
	resolver := gatewaytest.DNS(t, func(string, int) []netip.Addr { return []netip.Addr{home} })
	for n, not := range []string{"hooks.example.com", "127.0.0.1"} {
		c := newClient(t, egress.Options{AllowPrivate: true, Plaintext: true, Resolver: resolver, Proxy: some{not: not}})
		if _, err := c.Send(t.Context(), http.MethodPost, "http://hooks.example.com:"+target.port+"/", nil, nil); err != nil {
			t.Error(err)
		}
		if got := target.conns.Load(); got != int64(n+1) {
			t.Errorf("%s: %d connections", not, got)
		}
	}
}

// TestAProxyThatFails is of the closed set as well.
func TestAProxyThatFails(t *testing.T) {
	t.Parallel()
	resolver := gatewaytest.DNS(t, func(string, int) []netip.Addr { return []netip.Addr{netip.MustParseAddr("93.184.216.34")} })
	for status, want := range map[int]struct {
		kind error
		why  egress.Why
	}{
		403: {egress.ErrUnreachable, egress.WhyProxy},
		407: {egress.ErrUnreachable, egress.WhyProxy},
		502: {egress.ErrUnreachable, egress.WhyConnection},
		504: {egress.ErrTimeout, egress.WhySlow},
	} {
		via := gatewaytest.NewTunnels(t)
		via.Answer = func(string) int { return status }
		p, err := tunnel.New(tunnel.Config{Proxy: secret.URL(via.Start().URL)})
		if err != nil {
			t.Fatal(err)
		}
		c := newClient(t, egress.Options{Resolver: resolver, Proxy: p})
		_, err = c.Send(t.Context(), http.MethodPost, "https://hooks.example.com/canary", nil, nil)
		var e *egress.Error
		if !errors.As(err, &e) || !errors.Is(err, want.kind) || e.Why != want.why {
			t.Errorf("%d: %v", status, err)
		}
	}
}
