package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCommon: what replicas may have each their own makes no difference, and what they have to
// decide alike by does, wherever it stands.
func TestCommon(t *testing.T) {
	t.Parallel()
	const file = `
server: {id: "${ID:-gw-1}", address: "127.0.0.1:8080", statusAddress: "127.0.0.1:9902", statusHosts: [gw-1.example],
  publicURL: "http://localhost", dataDir: data, timeouts: {drain: 30s}}
admin: {address: "127.0.0.1:9901"}
authn: {apiKeys: {file: keys.yaml}}
policy:
  rules: [{name: all, effect: allow, groups: ["${GROUP:-team}"]}]
agents: [{id: billing, card: "https://billing.example/card", credentials: [{header: X-Key, value: "${SECRET:-s3cret-s3cret}"}]}]
state: {sqlite: {path: state.db}}
telemetry: {audit: {dir: audit, sinks: [{name: siem, otlp: {endpoint: "http://${NODE:-10.0.0.1}:4318"}}]}}
keys: {dir: keys}
`
	load := func(text string, more map[string]string, env ...string) [32]byte {
		t.Helper()
		dir := t.TempDir()
		write(t, filepath.Join(dir, "config.yaml"), text)
		for name, text := range more {
			write(t, filepath.Join(dir, name), text)
		}
		data, err := os.ReadFile(filepath.Join(dir, "config.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		c, err := parse("config.yaml", dir, data, func(name string) (string, bool) {
			for _, line := range env {
				if key, value, _ := strings.Cut(line, "="); key == name {
					return value, true
				}
			}
			return "", false
		})
		if err != nil {
			t.Fatal(err)
		}
		return c.Common
	}
	base := load(file, nil)
	const rule = `{name: all, effect: allow, groups: ["${GROUP:-team}"]}`
	for name, sum := range map[string][32]byte{
		"another directory":        load(file, nil),
		"an id by the environment": load(file, nil, "ID=gw-2"),
		"a secret":                 load(file, nil, "SECRET=another-secret"),
		"the node's collector":     load(file, nil, "NODE=10.0.0.2"),
		"addresses":                load(strings.NewReplacer(":8080", ":1", ":9902", ":2", ":9901", ":3", "gw-1.example", "gw-2.example").Replace(file), nil),
		"directories":              load(strings.NewReplacer("dataDir: data", "dataDir: /d", "state.db", "/s.db", "dir: audit", "dir: /a", "dir: keys", "dir: /k").Replace(file), nil),
		"the place of a file":      load(strings.Replace(file, "keys.yaml", "/run/secrets/keys", 1), nil),
		"a comment":                load("# of gw-2\n"+file, nil),
		"a default written out":    load(strings.Replace(file, ", timeouts: {drain: 30s}", "", 1), nil),
		"rules in a file":          load(strings.Replace(file, "rules: ["+rule+"]", "files: [more.yaml]", 1), map[string]string{"more.yaml": "rules: [" + rule + "]"}),
	} {
		if sum != base {
			t.Errorf("%s makes a difference", name)
		}
	}
	for name, sum := range map[string][32]byte{
		"a value by the environment": load(file, nil, "GROUP=others"),
		"a rule":                     load(strings.Replace(file, "effect: allow", "effect: deny", 1), nil),
		"an agent":                   load(strings.Replace(file, "id: billing", "id: weather", 1), nil),
		"a timeout":                  load(strings.Replace(file, "drain: 30s", "drain: 31s", 1), nil),
		"no key file":                load(strings.Replace(file, "apiKeys: {file: keys.yaml}", "anonymous: true", 1), nil),
		"another rule in a file":     load(strings.Replace(file, "rules: ["+rule+"]", "files: [more.yaml]", 1), map[string]string{"more.yaml": "rules: [{name: all, effect: deny}]"}),
	} {
		if sum == base {
			t.Errorf("%s makes no difference", name)
		}
	}
}

// TestZeros: a 0 that a default takes the place of is told, and one that counts is not.
func TestZeros(t *testing.T) {
	t.Parallel()
	c, err := Parse("config.yaml", []byte(`
server: {publicURL: "http://localhost", timeouts: {lameDuck: 0s, heartbeat: 0s}, limits: {hops: 0}}
authn: {oidc: [{issuer: "https://issuer.example", audiences: [a], clockSkew: 0s}], actors: {depth: 0}}
policy: {rules: [{name: "0", effect: allow}]}
push: {perTask: 0, attempts: {for: 0s}}
streams: {linger: 0s}
agents: []
`), environment)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"server.timeouts.heartbeat: 0s is taken for the default, 15s", "server.limits.hops: 0 is taken for the default, 8",
		"push.perTask: 0 counts as if the key were left out", "push.attempts.for: 0s counts as if the key were left out",
	}
	if !slices.Equal(c.Zeros, want) {
		t.Errorf("%q", c.Zeros)
	}
	for _, text := range want {
		if !slices.Contains(c.Doubts(), text) {
			t.Errorf("validate does not warn: %s", text)
		}
	}
}

// TestZerosTellNoSecrets: a secret that begins with a 0 is no number, and is not shown.
func TestZerosTellNoSecrets(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"0", "0s", "0MiB", "0hunter", "${ZERO}"} {
		c, err := Parse("config.yaml", []byte(`
server: {publicURL: "http://localhost"}
authn: {oidc: [{issuer: "https://issuer.example", audiences: [a], introspection: {clientID: g, clientSecret: "`+value+`"}}]}
agents: []
`), func(string) (string, bool) { return "0hunter", true })
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Zeros) > 0 {
			t.Errorf("of the secret %q: %q", value, c.Zeros)
		}
	}
}
