package validatecmd

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card"
	"github.com/a2a-gateway/a2a-gateway/internal/secret"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/upstream"
)

// TestVouched: of an agent whose certificate nobody vouches for, the key to set is told, and the
// file that is not the one.
func TestVouched(t *testing.T) {
	t.Parallel()
	agent := httptest.NewTLSServer(http.NotFoundHandler())
	defer agent.Close()
	other := filepath.Join(t.TempDir(), "other.pem")
	// Any certificate but the agent's own: one with another key.
	if err := os.WriteFile(other, []byte(otherCA), 0o600); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: agent.Certificate().Raw})
	if err := os.WriteFile(own, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		tls  upstream.TLS
		want string
	}{
		{upstream.TLS{}, "name the file with its CA under agents[].tls.ca"},
		{upstream.TLS{CA: other}, "its CA is not in " + other},
		{upstream.TLS{CA: own, ServerName: "agent.internal"}, "agents[].tls.serverName"},
		{upstream.TLS{CA: own}, "404"},
	} {
		a := &agents.Config{ID: "a", Card: card.Config{URL: secret.URL(agent.URL + "/card")}, Config: upstream.Config{TLS: tt.tls}}
		got, _ := checkAgent(t.Context(), a, nil, nil)
		if got.Err == nil || !strings.Contains(got.Err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.tls, got.Err, tt.want)
		}
	}
}

// otherCA is of nobody who signs anything.
const otherCA = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUFi/t4zuiJ0pZ8TW0OyT/j+fOpKIwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTI4MjMwMDAxWhgPMjEyNjExMDQyMzAw
MDFaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
R9ruZ/WdSh/uD3sFhMLpR/E7nOE/MRj5ay9TEBUXo+2GCD65wXiBK6Mnf8LJ3LUL
aifIHsExeRF80ON2pQnSJaNTMFEwHQYDVR0OBBYEFOW7Csd6GwxXX4Tz8EUeUx7k
fnv4MB8GA1UdIwQYMBaAFOW7Csd6GwxXX4Tz8EUeUx7kfnv4MA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhAJtk5X0WzyGtOhF5wYYBcGzbkKfVgbGV
wYKBgZNsc13jAiAs9h2B2yZclDNzSSD9cz7HmxGtBYOisIsiXja/PIG36A==
-----END CERTIFICATE-----
`
