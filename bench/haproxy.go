package main

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// HAProxy is Debian's, or whichever is in PATH: as a plain proxy, and with the part
// of the gateway's policy that it can express.
var (
	haproxy = subject{
		name:  "haproxy",
		what:  "HAProxy as a plain proxy: a thread per core, kept-alive connections, no delay",
		start: startHAProxy(false),
	}
	haproxyJWT = subject{
		name:      "haproxy-jwt",
		what:      "HAProxy that verifies the token and reads the method from the JSON",
		workloads: []string{"unary", "unary-h2"}, // what is larger than its buffer it cannot read
		start:     startHAProxy(true),
	}
)

func startHAProxy(policy bool) func(*stage, setup) (*running, error) {
	return func(st *stage, how setup) (*running, error) {
		path, err := exec.LookPath("haproxy")
		if err != nil {
			if path, err = exec.LookPath("/usr/sbin/haproxy"); err != nil {
				return nil, fmt.Errorf("haproxy %w: not in PATH", errMissing)
			}
		}
		address, err := freePort()
		if err != nil {
			return nil, err
		}
		rules := ""
		if policy {
			key, err := st.issuerKey()
			if err != nil {
				return nil, err
			}
			rules = haproxyRules(key, st.issuer.URL)
		}
		config, err := st.write("haproxy.cfg", haproxyConfig(plainProxy{
			setup: how, address: address, agent: st.agent, rpc: st.agentRPC, workers: runtime.NumCPU(), descriptors: descriptors(), both: st.file("both.pem"),
		}, rules))
		if err != nil {
			return nil, err
		}
		said, _ := exec.CommandContext(st.ctx, path, "-v").Output()
		return st.listening(exec.Command(path, "-db", "-f", config), address, how, haproxyVersion(string(said)))
	}
}

// haproxyVersion is the number in "HAProxy version 2.6.12-1 2026/10/17 - …".
func haproxyVersion(said string) string {
	_, rest, _ := strings.Cut(said, "version ")
	version, _, _ := strings.Cut(rest, " ")
	return strings.TrimSpace(version)
}

// issuerKey writes the issuer's public key as PEM, which is what HAProxy reads.
func (st *stage) issuerKey() (string, error) {
	keys, err := st.jwksURL()
	if err != nil {
		return "", err
	}
	var set jose.JSONWebKeySet
	if err := fetch(keys, &set); err != nil {
		return "", err
	}
	if len(set.Keys) != 1 {
		return "", fmt.Errorf("the issuer has %d keys", len(set.Keys))
	}
	der, err := x509.MarshalPKIXPublicKey(set.Keys[0].Key)
	if err != nil {
		return "", err
	}
	return st.write("issuer.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
}

// jwksURL is where the issuer's keys are.
func (st *stage) jwksURL() (string, error) {
	var metadata struct {
		Keys string `json:"jwks_uri"`
	}
	err := fetch(st.issuer.URL+"/.well-known/openid-configuration", &metadata)
	return metadata.Keys, err
}

func fetch(url string, into any) error {
	client := &http.Client{Timeout: 10 * time.Second}
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	return json.NewDecoder(resp.Body).Decode(into)
}

// haproxyRules let calls pass with a token of the issuer for the gateway, a group,
// a scope and a method.
func haproxyRules(key, issuer string) string {
	const refuse = "  http-request deny deny_status %d unless { %s }\n"
	const claims = "http_auth_bearer,jwt_payload_query('$."
	var b strings.Builder
	b.WriteString("  http-request wait-for-body time 5s\n")
	for _, rule := range []string{
		"http_auth_bearer,jwt_header_query('$.alg') -m str ES256",
		`http_auth_bearer,jwt_verify(ES256,'"` + key + `"') 1`,
		claims + "iss') -m str " + issuer,
		claims + "aud[0]') -m str a2a-gateway", // it reads members of arrays, not arrays
	} {
		_, _ = fmt.Fprintf(&b, refuse, 401, rule)
	}
	b.WriteString("  http-request set-var(txn.exp) " + claims + "exp','int')\n")
	b.WriteString("  http-request deny deny_status 401 if { date,neg,add(txn.exp) -m int lt 0 }\n")
	for _, rule := range []string{
		claims + "groups[0]') -m str finance",
		claims + "scope') -m sub billing.read",
		"req.body,json_query('$.method') -m str SendMessage",
	} {
		_, _ = fmt.Fprintf(&b, refuse, 403, rule)
	}
	return b.String()
}

func haproxyConfig(p plainProxy, rules string) string {
	tls := ""
	if !p.plain {
		tls = " ssl crt '" + p.both + "' alpn h2,http/1.1"
	}
	return fmt.Sprintf(`global
  nbthread %d
  maxconn %d
  ssl-default-bind-options ssl-min-ver TLSv1.3
defaults
  mode http
  timeout connect 5s
  timeout client 1h
  timeout server 1h
  timeout http-keep-alive 1h
  option http-no-delay
  http-reuse always
frontend callers
  bind %s backlog 4096%s
%s  use_backend rpc if { path_beg %s }
  default_backend agent
backend rpc
  server agent %s proto h2
backend agent
  server agent %s pool-purge-delay 1h
`, p.workers, max(100, (p.descriptors-500)/2), p.address, tls, rules, grpcService, p.rpc, p.agent)
}
