package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/internal/config"
)

func proxyHere(plain bool) plainProxy {
	return plainProxy{
		setup: setup{plain: plain}, address: "127.0.0.1:1234", agent: "127.0.0.1:5678", rpc: "127.0.0.1:9012", workers: 3, descriptors: 4000,
		cert: "/x/cert.pem", key: "/x/key.pem", both: "/x/both.pem",
	}
}

// has says what a configuration should and should not have in it.
func has(t *testing.T, config string, want, not []string) {
	t.Helper()
	for _, s := range want {
		if !strings.Contains(config, s) {
			t.Errorf("no %q in\n%s", s, config)
		}
	}
	for _, s := range not {
		if strings.Contains(config, s) {
			t.Errorf("%q in\n%s", s, config)
		}
	}
}

func TestNginxConfig(t *testing.T) {
	t.Parallel()
	tls := []string{"127.0.0.1:1234 ssl http2", `ssl_certificate "/x/cert.pem";`, `ssl_certificate_key "/x/key.pem";`}
	both := []string{
		"worker_processes 3;", "worker_connections 4000;", "server 127.0.0.1:5678;", "keepalive 512;",
		"proxy_http_version 1.1;", `proxy_set_header Connection "";`, "proxy_buffering off;", "access_log off;", "server 127.0.0.1:9012;", "location /lf.a2a.v1.A2AService/ {", "grpc_pass",
	}
	has(t, nginxConfig(proxyHere(false)), append(tls, both...), []string{"user root"})
	has(t, nginxConfig(proxyHere(true)), append(both, "listen 127.0.0.1:1234 reuseport"), append(tls, "ssl"))
	asRoot := proxyHere(false)
	asRoot.root = true
	has(t, nginxConfig(asRoot), []string{"user root;"}, nil)
}

func TestHAProxyConfig(t *testing.T) {
	t.Parallel()
	both := []string{
		"nbthread 3", "maxconn 1750", "bind 127.0.0.1:1234", "server agent 127.0.0.1:5678", "http-reuse always", "option http-no-delay",
		"server agent 127.0.0.1:9012 proto h2",
	}
	tls := []string{"ssl crt '/x/both.pem' alpn h2,http/1.1"}
	has(t, haproxyConfig(proxyHere(false), ""), append(tls, both...), []string{"http-request"})
	has(t, haproxyConfig(proxyHere(true), ""), both, tls)
	has(t, haproxyConfig(proxyHere(false), haproxyRules("/x/issuer.pem", "http://127.0.0.1:9")), []string{
		`jwt_verify(ES256,'"/x/issuer.pem"') 1`, "-m str http://127.0.0.1:9", "json_query('$.method') -m str SendMessage",
	}, nil)
}

// TestHAProxyTakesIt asks the program itself.
func TestHAProxyTakesIt(t *testing.T) {
	t.Parallel()
	path := need(t, "haproxy")
	key := "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt\n" +
		"6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==\n-----END PUBLIC KEY-----\n"
	file := filepath.Join(t.TempDir(), "issuer.pem")
	if err := os.WriteFile(file, []byte(key), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "haproxy.cfg")
	if err := os.WriteFile(config, []byte(haproxyConfig(proxyHere(true), haproxyRules(file, "http://127.0.0.1:9"))), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), path, "-c", "-f", config).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

func TestHAProxyVersion(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"HAProxy version 2.6.12-1+deb12u4 2026/10/17 - https://haproxy.org/\nStatus: x": "2.6.12-1+deb12u4",
		"something else": "",
	} {
		if got := haproxyVersion(said); got != want {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

func TestCaddyConfig(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		config, err := caddyConfig(proxyHere(plain))
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid([]byte(config)) {
			t.Errorf("no JSON: %s", config)
		}
		both := []string{`"127.0.0.1:1234"`, `"dial": "127.0.0.1:5678"`, `"flush_interval": -1`}
		tls := []string{`"certificate": "/x/cert.pem"`, `"tls1.3"`, `"h2"`}
		if plain {
			has(t, config, both, tls)
		} else {
			has(t, config, append(tls, both...), nil)
		}
	}
}

// TestGatewayConfig: the gateway takes all that the benchmark gives it.
func TestGatewayConfig(t *testing.T) {
	t.Parallel()
	for _, plain := range []bool{false, true} {
		for _, audit := range []string{"durability: write", "durability: sync"} {
			dir := t.TempDir()
			file := filepath.Join(dir, "config.yaml")
			content := gatewayConfig(gatewaySettings{
				setup: setup{plain: plain}, dir: dir, cert: "cert.pem", key: "key.pem",
				issuer: "http://127.0.0.1:1", agent: "http://127.0.0.1:2", agentRPC: "127.0.0.1:3", audit: audit, state: "driver: sqlite",
			})
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := config.Load(file); err != nil {
				t.Errorf("%v in\n%s", err, content)
			}
		}
	}
}
