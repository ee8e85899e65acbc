package clientcert

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// Thumbprint is x5t#S256 of the connection's client certificate (RFC 8705
// §3.1), "" without one. The handshake has shown that the caller holds its key; who
// signed it does not matter to a token that names it.
func Thumbprint(r *http.Request) string {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return ""
	}
	sum := sha256.Sum256(r.TLS.PeerCertificates[0].Raw)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
