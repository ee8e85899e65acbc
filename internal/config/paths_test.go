package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoadResolvesPaths makes sure that a file means the same from whichever
// directory the gateway is started.
func TestLoadResolvesPaths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const file = `server:
  publicURL: https://localhost:8443
  dataDir: data
  tls: {certificates: [{cert: tls/a.crt, key: /abs/a.key}]}
authn: {apiKeys: {file: keys.yaml}}
agents:
  - id: billing
    card: https://127.0.0.1/card.json
    credentials:
      - {header: X-Key, value: &secret {file: secrets/key}}
      - {header: X-Same, value: *secret}
      - header: Authorization
        oauth2: {tokenURL: "https://id.example.com/t", clientID: g, clientSecret: {file: secrets/key}}
    tls: {ca: ca.pem}
`
	write(t, filepath.Join(dir, "config.yaml"), file)
	write(t, filepath.Join(dir, "secrets", "key"), canary+"\n")
	c, err := Load(filepath.Join(dir, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	a := c.Agents[0]
	for i, got := range []string{a.Credentials[0].Value.Reveal(), a.Credentials[1].Value.Reveal(),
		a.Credentials[2].OAuth2.ClientSecret.Reveal()} {
		if got != canary {
			t.Errorf("secret %d is %q", i, got)
		}
	}
	pair := c.Server.TLS.Certificates[0]
	got := []string{c.Server.DataDir, pair.Cert, pair.Key, c.Authn.APIKeys.File, a.TLS.CA, c.Telemetry.Audit.Dir}
	want := []string{filepath.Join(dir, "data"), filepath.Join(dir, "tls/a.crt"), "/abs/a.key",
		filepath.Join(dir, "keys.yaml"), filepath.Join(dir, "ca.pem"), filepath.Join(dir, "data/audit")}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// TestLoadResolvesPathsOnce loads by a relative path, below which a path that is resolved
// twice leads somewhere else.
func TestLoadResolvesPathsOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "config.yaml"), `server: {publicURL: http://localhost:8080, dataDir: data}
authn: {anonymous: true}
policy:
  authorizers:
    - {name: pdp, kind: authzen, url: "https://pdp.example", tls: {ca: pdp.pem, certificate: c.pem, key: c.key}}
agents:
  - {id: billing, card: "https://127.0.0.1/card.json"}
state:
  sqlite: {path: state/a.db}
  redis: {addresses: [localhost:6379], tls: {ca: redis.pem}}
keys: {signing: [sign.pem], sealing: [seal.key], dir: keys}
`)
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(here, dir)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load(filepath.Join(rel, "config.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pdp := c.Policy.Authorizers[0].TLS
	got := []string{c.Server.DataDir, pdp.CA, pdp.Certificate, pdp.Key, c.State.SQLite.Path, c.State.Redis.TLS.CA,
		c.Keys.Signing[0], c.Keys.Sealing[0], c.Keys.Dir, c.Telemetry.Audit.Dir}
	var want []string
	for _, path := range []string{"data", "pdp.pem", "c.pem", "c.key", "state/a.db", "redis.pem",
		"sign.pem", "seal.key", "keys", "data/audit"} {
		want = append(want, filepath.Join(rel, path))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}
