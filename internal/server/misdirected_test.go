package server

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
)

// sniClient is a client whose connections say name in the handshake, to whatever host
// its requests are; "" for no name.
func sniClient(t *testing.T, s *Server, name string, h2 bool) *http.Client {
	t.Helper()
	c := client(t, h2)
	tr, ok := c.Transport.(*http.Transport)
	if !ok {
		t.Fatal("another transport")
	}
	if name == "" {
		name = "127.0.0.1" // crypto/tls names no address
	}
	tr.TLSClientConfig.ServerName = name
	tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", s.Addr().String())
	}
	return c
}

// TestL24_HostOfAnotherHandshake: the name in the handshake and the host of the request
// are one, or the request is not heard.
func TestL24_HostOfAnotherHandshake(t *testing.T) {
	t.Parallel()
	cfg := secured(identity(t, t.TempDir(), "localhost", "a.example", "b.example"))
	behind := cfg
	behind.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	elsewhere := cfg
	elsewhere.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	for _, tt := range []struct {
		name, sni, host string
		cfg             Config
		want            int
	}{
		{"the same", "a.example", "a.example", cfg, 204},
		{"another port", "a.example", "a.example:8443", cfg, 204},
		{"another case", "a.example", "A.Example", cfg, 204},
		{"case of the handshake", "A.EXAMPLE", "a.example", cfg, 204},
		{"another host of the certificate", "a.example", "b.example", cfg, 421},
		{"another host, with a port", "a.example", "b.example:443", cfg, 421},
		{"a part of the name", "a.example", "example", cfg, 421},
		{"more than the name", "a.example", "x.a.example", cfg, 421},
		{"no SNI", "", "b.example", cfg, 204},
		{"no SNI, an address", "", "127.0.0.1:8443", cfg, 204},
		{"no SNI, an address of IPv6", "", "[::1]:8443", cfg, 204},
		{"an address", "a.example", "127.0.0.1:8443", cfg, 421},
		{"an address without a port", "a.example", "127.0.0.1", cfg, 421},
		{"another address", "a.example", "192.0.2.1", cfg, 421},
		{"an address of IPv6", "a.example", "[::1]:8443", cfg, 421},
		{"an address, behind a proxy", "a.example", "127.0.0.1", behind, 204},
		{"no host name at all", "a.example", "b_.example/", cfg, 400},
		{"behind a proxy", "a.example", "b.example", behind, 204},
		{"behind no proxy", "a.example", "b.example", elsewhere, 421},
	} {
		for _, h2 := range []bool{false, true} {
			var rec recorder
			s := start(t, tt.cfg, &rec)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://gateway.test/", nil)
			must(t, err)
			r.Host = tt.host
			resp, err := sniClient(t, s, tt.sni, h2).Do(r)
			if err != nil {
				if tt.want != 400 { // net/http may refuse to write such a host
					t.Errorf("%s, h2 %v: %v", tt.name, h2, err)
				}
				continue
			}
			body, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != tt.want || rec.reached.Load() != btoi(tt.want == 204) {
				t.Errorf("%s, h2 %v: status %d, want %d: %s", tt.name, h2, resp.StatusCode, tt.want, body)
			}
			if tt.want == 421 && (!strings.Contains(string(body), wire.Misdirected.Reason) || resp.Close) {
				t.Errorf("%s, h2 %v: %s, closed %v", tt.name, h2, body, resp.Close)
			}
		}
	}
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// TestL24_SharedConnection: of two hosts on one HTTP/2 connection the one that it was
// opened for is served, before and after the other was turned away.
func TestL24_SharedConnection(t *testing.T) {
	t.Parallel()
	var rec recorder
	s := start(t, secured(identity(t, t.TempDir(), "a.example", "b.example")), &rec)
	c := sniClient(t, s, "a.example", true)
	for i, want := range []int{204, 421, 204} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://gateway.test/", nil)
		must(t, err)
		r.Host = []string{"a.example", "b.example", "a.example"}[i]
		resp, err := c.Do(r)
		must(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("request %d: status %d, want %d", i, resp.StatusCode, want)
		}
	}
}

// TestL24_ResumedSessionHasItsOwnName: a session of one host's handshake, resumed in
// another's, is the other's.
func TestL24_ResumedSessionHasItsOwnName(t *testing.T) {
	t.Parallel()
	s := start(t, secured(identity(t, t.TempDir(), "a.example", "b.example")), &recorder{})
	sessions := tls.NewLRUClientSessionCache(4)
	for i, name := range []string{"a.example", "b.example"} {
		c := sniClient(t, s, name, false)
		tr, _ := c.Transport.(*http.Transport)
		tr.TLSClientConfig.ClientSessionCache = oneSession{sessions}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://gateway.test/", nil)
		must(t, err)
		r.Host = name
		resp, err := c.Do(r)
		must(t, err)
		_ = resp.Body.Close()
		tr.CloseIdleConnections()
		if resp.StatusCode != 204 || resp.TLS.DidResume != (i > 0) {
			t.Errorf("%s: status %d, resumed %v", name, resp.StatusCode, resp.TLS.DidResume)
		}
	}
}

// oneSession keeps one session for all names.
type oneSession struct{ tls.ClientSessionCache }

func (s oneSession) Get(string) (*tls.ClientSessionState, bool) { return s.ClientSessionCache.Get("") }
func (s oneSession) Put(_ string, cs *tls.ClientSessionState)   { s.ClientSessionCache.Put("", cs) }
