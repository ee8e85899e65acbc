//go:build minimal

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// minimalBase is a configuration with nothing in it that a minimal build lacks.
const minimalBase = `
server: {address: "127.0.0.1:0"%s}
authn: {apiKeys: {file: keys.yaml}}
policy: {rules: [{name: all, effect: allow, agents: [a]}]%s}
agents: [{id: a, card: "http://127.0.0.1:9/card.json"}]
%s`

// TestMinimalRefuses: a configuration that asks for what the program was built without is refused,
// with the key and the reason, and by `validate` with the exit code of a wrong configuration.
func TestMinimalRefuses(t *testing.T) {
	t.Parallel()
	const plain = `, publicURL: "http://localhost:8080"`
	for key, c := range map[string]struct{ server, policy, rest, part string }{
		"": {server: plain},
		"server.tls.acme": {
			server: `, publicURL: "https://gw.example", tls: {acme: {domains: [gw.example], email: ops@gw.example, agreeTerms: true}}`, part: "ACME",
		},
		"server.mcp": {server: plain + `, mcp: {path: /mcp}`, part: "MCP"},
		"policy.authorizers[0].kind": {
			server: plain, policy: `, authorizers: [{name: opa, kind: ext_authz, url: "grpc://127.0.0.1:9191"}]`, part: "ext_authz",
		},
		"state.driver":                      {server: plain, rest: `state: {driver: redis, redis: {addresses: ["127.0.0.1:6379"]}}`, part: "Redis"},
		"telemetry.audit.sinks[0].kafka":    {server: plain, rest: `telemetry: {audit: {sinks: [{kafka: {brokers: ["k:9092"], topic: t}}]}}`, part: "Kafka"},
		"telemetry.audit.sinks[0].otlp":     {server: plain, rest: `telemetry: {audit: {sinks: [{otlp: {endpoint: "https://c:4318"}}]}}`, part: "OTLP logs"},
		"telemetry.audit.sinks[0].postgres": {server: plain, rest: `telemetry: {audit: {sinks: [{postgres: {url: "postgres://u@db/a"}}]}}`, part: "PostgreSQL"},
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "config.yaml")
			text := fmt.Sprintf(minimalBase, c.server, c.policy, c.rest)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "keys.yaml"), []byte("keys: []\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			code := run(t.Context(), []string{"validate", "-c", file}, &out, &errs)
			if key == "" {
				if code != 0 {
					t.Errorf("exit code %d: %s", code, &errs)
				}
				return
			}
			if code != 2 || !strings.Contains(errs.String(), key) || !strings.Contains(errs.String(), "built without "+c.part) {
				t.Errorf("exit code %d: %s", code, &errs)
			}
		})
	}
}

// TestMinimalSays: `version` lists what is left out, and `demo` says that it is.
func TestMinimalSays(t *testing.T) {
	t.Parallel()
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"version"}, &out, &errs); code != 0 || !strings.HasSuffix(out.String(),
		"\nbuilt without ACME, demo, ext_authz, Kafka, MCP, OpenTelemetry exporters, OTLP logs, PostgreSQL, Redis\n") {
		t.Errorf("exit code %d: %s%s", code, &out, &errs)
	}
	if code := run(t.Context(), []string{"demo", "--traffic=false"}, &out, &errs); code != 2 || !strings.Contains(errs.String(), "built without demo") {
		t.Errorf("exit code %d: %s", code, &errs)
	}
}
