package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// stage is what all subjects share: the agent, the issuer, a certificate.
type stage struct {
	options options
	dir     string
	roots   *x509.CertPool
	issuer  *demo.Issuer
	token   string
	agent   string // URL
	stops   []func()
}

func newStage(o options) (*stage, error) {
	dir, err := os.MkdirTemp("", "a2a-gateway-bench-")
	if err != nil {
		return nil, err
	}
	st := &stage{options: o, dir: dir}
	st.stops = append(st.stops, func() { _ = os.RemoveAll(dir) })
	if err := st.prepare(); err != nil {
		st.close()
		return nil, err
	}
	return st, nil
}

func (st *stage) prepare() (err error) {
	if err := st.certificate(); err != nil {
		return err
	}
	if st.issuer, err = demo.NewIssuer(demo.IssuerOptions{}); err != nil {
		return err
	}
	st.stops = append(st.stops, func() { _ = st.issuer.Close(context.Background()) })
	st.token, err = st.issuer.Issue("alice", demo.IssueOptions{Groups: []string{"finance"}, Scopes: []string{"billing.read"}})
	if err != nil {
		return err
	}
	_, st.agent, err = st.spawn(os.Args[0], "role", "agent")
	return err
}

func (st *stage) close() {
	for i := len(st.stops) - 1; i >= 0; i-- {
		st.stops[i]()
	}
}

// request is a call of about 700 bytes, in a context that is known after the
// first.
func request() []byte {
	return []byte(`{"jsonrpc":"2.0","id":"01a1fe36-7a96-7cb8-a529-0be518f37800","method":"SendMessage","params":{"message":` +
		`{"messageId":"m-1","contextId":"bench","role":"ROLE_USER","parts":[{"text":"` + strings.Repeat("summarize ", 48) +
		`"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`)
}

// request03 is the same call in A2A 0.3.
func request03() []byte {
	return []byte(`{"jsonrpc":"2.0","id":"01a1fe36-7a96-7cb8-a529-0be518f37800","method":"message/send","params":{"message":` +
		`{"kind":"message","messageId":"m-1","contextId":"bench","role":"user","parts":[{"kind":"text","text":"` +
		strings.Repeat("summarize ", 48) + `"}]},"configuration":{"acceptedOutputModes":["text/plain"]}}}`)
}

// translated is the subject whose caller and agent differ in version.
const translated = "gateway 0.3 to 1.0"

// subjects starts everything that is compared.
func (st *stage) subjects() ([]subject, error) {
	floorPID, floorURL, err := st.spawn(os.Args[0], "role", "floor", st.agent, st.cert(), st.key())
	if err != nil {
		return nil, err
	}
	gatewayPID, gatewayURL, err := st.gateway()
	if err != nil {
		return nil, err
	}
	rpc := gatewayURL + "/agents/billing"
	return []subject{
		{name: "direct, no TLS", target: st.agent},
		{name: "floor", target: floorURL, pid: floorPID},
		{name: "gateway", target: rpc, pid: gatewayPID},
		{name: translated, target: rpc, pid: gatewayPID, old: true},
		{name: "floor h2", target: floorURL, pid: floorPID, h2: true},
		{name: "gateway h2", target: rpc, pid: gatewayPID, h2: true},
	}, nil
}

// gateway starts the real binary with everything on.
func (st *stage) gateway() (int, string, error) {
	binary := st.options.binary
	if binary == "" {
		binary = filepath.Join(st.dir, "a2a-gateway")
		build := exec.Command("go", "build", "-o", binary, "./cmd/a2a-gateway")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return 0, "", fmt.Errorf("build gateway: %w", err)
		}
	}
	path := filepath.Join(st.dir, "config.yaml")
	if err := os.WriteFile(path, []byte(st.config()), 0o600); err != nil {
		return 0, "", err
	}
	return st.spawn(binary, "serve", "-c", path)
}

// config is the full set: TLS, tokens, 100 rules, ownership, extensions, audit,
// metrics, traces sampled where OTEL_* says so.
func (st *stage) config() string {
	var b strings.Builder
	_, _ = fmt.Fprintf(&b, `server:
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "https://127.0.0.1:8443"
  dataDir: %q
  tls: {certificates: [{cert: %q, key: %q}]}
authn:
  oidc: [{issuer: %q, audiences: [a2a-gateway]}]
agents:
  - {id: billing, card: "%s/.well-known/agent-card.json"}
policy:
  rules:
    - {name: finance, effect: allow, agents: [billing], groups: [finance], scopes: [billing.read]}
`, st.dir, st.cert(), st.key(), st.issuer.URL, st.agent)
	for i := range 99 {
		_, _ = fmt.Fprintf(&b, "    - {name: rule-%d, effect: allow, agents: [billing], skills: [skill-%d], groups: [group-%d]}\n", i, i, i)
	}
	return b.String()
}

// spawn starts a process and waits for the URL it serves at: the first line
// with one.
func (st *stage) spawn(name string, args ...string) (int, string, error) {
	cmd := exec.Command(name, args...)
	r, w, err := os.Pipe()
	if err != nil {
		return 0, "", err
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		return 0, "", err
	}
	_ = w.Close()
	st.stops = append(st.stops, func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(r)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if url := servingAt(lines.Text()); url != "" {
			go func() {
				for lines.Scan() { // keep the pipe empty
				}
			}()
			return cmd.Process.Pid, url, nil
		}
	}
	return 0, "", errors.New(name + " did not start: " + strings.Join(said, "\n"))
}

// servingAt finds the URL in a line like `url=http://…` or `"url":"http://…"`.
func servingAt(line string) string {
	for _, mark := range []string{`"url":"`, "url="} {
		if _, rest, ok := strings.Cut(line, mark); ok {
			return rest[:strings.IndexAny(rest+" ", "\" ")]
		}
	}
	return ""
}

func (st *stage) cert() string { return filepath.Join(st.dir, "cert.pem") }
func (st *stage) key() string  { return filepath.Join(st.dir, "key.pem") }

func (st *stage) certificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bench"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	st.roots = x509.NewCertPool()
	st.roots.AppendCertsFromPEM(cert)
	return errors.Join(os.WriteFile(st.cert(), cert, 0o600),
		os.WriteFile(st.key(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}), 0o600))
}
