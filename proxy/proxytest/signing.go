package proxytest

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/card/signature"
	"github.com/a2a-gateway/a2a-gateway/internal/keys"
)

// WithSignedCards has cards signed, and returns a verifier by the published keys.
func WithSignedCards(t *testing.T, s *Setup) *signature.Verifier {
	t.Helper()
	ring, err := keys.Open(keys.Config{Dir: t.TempDir()}, slog.New(slog.DiscardHandler))
	Must(t, err)
	t.Cleanup(ring.Close)
	s.Signing, s.JWKS = ring, ring.JWKS
	path := filepath.Join(t.TempDir(), "jwks.json")
	Must(t, os.WriteFile(path, ring.JWKS(), 0o600))
	v, err := signature.New(signature.Trust{Keys: []string{path}}, signature.Options{})
	Must(t, err)
	return v
}
