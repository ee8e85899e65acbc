package interop_test

import (
	"crypto/ecdsa"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// boundToKey: tokens that the provider bound to a DPoP key need a proof by it, once for
// each call.
func (i *identity) boundToKey(t *testing.T) {
	_, agent := recorder(t, "agent")
	g := i.start(t, house{issuer: asking + "\n      senderConstrained: true", agents: agent})
	own, other := newKey(t), newKey(t)
	shown := func(scheme, token, proof string) http.Header {
		h := http.Header{"Authorization": {scheme + " " + token}}
		if proof != "" {
			h.Set("DPoP", proof)
		}
		return h
	}
	for _, client := range []string{"interop", "opaque"} {
		got := i.issuer.token(t, grant{client: client, proof: own})
		if got.Type != "DPoP" {
			t.Fatalf("the provider gave a %s token", got.Type)
		}
		by := func(key *ecdsa.PrivateKey, at, token string) string { return prove(t, key, at, token) }
		at, token := g.base("agent"), got.Token
		once := by(own, at, token)
		for _, tt := range []struct {
			what   string
			header http.Header
			status int
		}{
			{"proof", shown("DPoP", token, once), http.StatusOK},
			{"the same proof", shown("DPoP", token, once), http.StatusUnauthorized},
			{"another proof", shown("DPoP", token, by(own, at, token)), http.StatusOK},
			{"bearer", shown("Bearer", token, ""), http.StatusUnauthorized},
			{"bearer with proof", shown("Bearer", token, by(own, at, token)), http.StatusUnauthorized},
			{"no proof", shown("DPoP", token, ""), http.StatusUnauthorized},
			{"proof by another key", shown("DPoP", token, by(other, at, token)), http.StatusUnauthorized},
			{"proof without the token", shown("DPoP", token, by(own, at, "")), http.StatusUnauthorized},
			{"proof for the provider", shown("DPoP", token, by(own, i.issuer.URL+"/token", token)), http.StatusUnauthorized},
			{"in the end", shown("DPoP", token, by(own, at, token)), http.StatusOK},
		} {
			g.want(t, client+", "+tt.what, tt.header, tt.status)
		}
		g.want(t, client+", not bound", bearer(i.issuer.token(t, grant{client: client}).Token), http.StatusUnauthorized)
	}
}

// boundToCertificate: tokens that the provider bound to the certificate of a connection
// are good on connections with that certificate alone. Nobody need vouch for it.
func (i *identity) boundToCertificate(t *testing.T) {
	_, agent := recorder(t, "agent")
	server, own, other := newPair(t), newPair(t), newPair(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"cert.pem": server.cert, "key.pem": server.key} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := i.start(t, house{
		url: "https://127.0.0.1", issuer: asking, agents: agent,
		tls: fmt.Sprintf("  tls: {clientAuth: request, certificates: [{cert: %q, key: %q}]}",
			filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")),
	})
	if !strings.HasPrefix(g.url, "https://") {
		t.Fatalf("the gateway is at %s", g.url)
	}
	trust := x509.NewCertPool()
	trust.AddCert(server.Leaf)
	clients := map[string]*http.Client{"own": overTLS(t, trust, &own), "other": overTLS(t, trust, &other),
		"none": overTLS(t, trust, nil)}
	for _, client := range []string{"bound", "opaque-bound"} {
		token := i.issuer.token(t, grant{client: client, pair: &own}).Token
		for _, tt := range []struct {
			certificate string
			status      int
		}{
			{"none", http.StatusUnauthorized}, {"other", http.StatusUnauthorized}, {"own", http.StatusOK},
			{"none", http.StatusUnauthorized}, {"other", http.StatusUnauthorized}, {"own", http.StatusOK},
		} {
			if got := g.status(t, clients[tt.certificate], "agent", bearer(token)); got != tt.status {
				t.Errorf("%s on a connection with certificate %s: %d, want %d", client, tt.certificate, got, tt.status)
			}
		}
	}
}
