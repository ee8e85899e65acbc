package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

const acmeName = "gateway.test"

// certified is a gateway that has its certificates from pebble.
type certified struct {
	t      *testing.T
	dir    string
	config string
	yaml   string
	status string
	*process
}

// newCertified writes a configuration and starts nothing. acme are further keys of
// server.tls.acme, rest sections of their own.
func newCertified(t *testing.T, p *pebble, address, acme, rest string) *certified {
	t.Helper()
	agent, err := demo.Agent10(demo.Options{Step: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	g := &certified{t: t, dir: t.TempDir(), status: vacant(t)}
	g.config = filepath.Join(g.dir, "config.yaml")
	g.yaml = fmt.Sprintf(`server:
  address: %q
  statusAddress: %q
  publicURL: "https://%s:8443"
  dataDir: data
  tls:
    acme: {directory: %q, ca: %q, agreeTerms: true, email: ops@example.com, domains: [%s]%s}
authn: {anonymous: true}
admin: {address: "127.0.0.1:0"}
telemetry: {logs: {level: debug}}
policy: {rules: [{name: all, effect: allow}]}
agents: [{id: billing, card: %q}]
%s
`, address, g.status, acmeName, p.directory(), p.ca(), acmeName, acme, agent.CardURL, rest)
	write(t, g.config, g.yaml)
	return g
}

func (g *certified) start() *certified {
	g.t.Helper()
	g.process = launch(g.t, must(binary()), []string{"OTEL_SDK_DISABLED=true"}, "serve", "-c", g.config)
	g.await(`"msg":"serving"`)
	return g
}

// page is one of the status listener's, with its status.
func (g *certified) page(path string) (int, string) {
	resp, err := (&http.Client{Timeout: 5 * time.Second}).Get("http://" + g.status + path)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body)
}

// ready waits until the gateway is.
func (g *certified) ready() {
	g.t.Helper()
	within(g.t, "the gateway is ready", func() bool {
		code, _ := g.page("/readyz")
		return code == http.StatusOK
	})
}

// metric waits for a line of the metrics.
func (g *certified) metric(line string) {
	g.t.Helper()
	within(g.t, line, func() bool {
		_, text := g.page("/metrics")
		return strings.Contains(text, line+"\n")
	})
}

// leaf is the certificate that a gateway shows, verified.
func leaf(t *testing.T, address string, roots *x509.CertPool) *x509.Certificate {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{ServerName: acmeName, RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0]
}

// shown is the certificate that a gateway shows, whatever is to be said of it.
func shown(address string) []byte {
	conn, err := tls.Dial("tcp", address, &tls.Config{ServerName: acmeName, InsecureSkipVerify: true})
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].Raw
}

// trusting is a client that takes the name for the address, and the roots for good.
func trusting(address string, roots *x509.CertPool) *http.Client {
	return &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}}
}

const greeting = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`

// greet makes a call, and fails the test unless it is answered.
func greet(t *testing.T, client *http.Client) {
	t.Helper()
	resp, err := client.Post("https://"+acmeName+":8443/agents/billing/message:send", "application/json", strings.NewReader(greeting))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if body, _ := io.ReadAll(resp.Body); !strings.Contains(string(body), "Hello from billing.") {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
}

// secretless fails the test if what a gateway said, or has in its files, shows a key.
func (g *certified) secretless() {
	g.t.Helper()
	marks := []string{"PRIVATE KEY", "BEGIN CERTIFICATE", pebbleMAC}
	texts := map[string]string{"the log": g.out.text()}
	files, err := filepath.Glob(filepath.Join(g.dir, "data", "*"))
	if err != nil || len(files) == 0 {
		g.t.Fatalf("no files in the data directory: %v", err)
	}
	for _, path := range files {
		if content, err := os.ReadFile(path); err == nil {
			texts[path] = string(content)
		}
	}
	for where, text := range texts {
		for _, mark := range marks {
			if strings.Contains(text, mark) {
				g.t.Errorf("%s has %q", where, mark)
			}
		}
	}
}

// TestACME: a gateway gets a certificate by a handshake on its own listener, serves with
// it, and has it after a restart without asking again.
func TestACME(t *testing.T) {
	t.Parallel()
	p := newPebble(t).start()
	g := newCertified(t, p, p.alpn, "", "").start()
	g.ready()
	roots := p.roots()
	greet(t, trusting(p.alpn, roots))
	first := leaf(t, p.alpn, roots)
	g.metric(`a2a_gateway_acme_failing{domain="gateway.test"} 0`)
	g.metric(`a2a_gateway_acme_orders_total{domain="gateway.test",result="issued"} 1`)
	g.metric(fmt.Sprintf(`a2a_gateway_acme_certificate_expiry_timestamp_seconds{domain="gateway.test"} %g`, float64(first.NotAfter.Unix())))
	if n := p.orders(); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
	if code := g.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
	g.secretless()

	g.start()
	if code, text := g.page("/readyz"); code != http.StatusOK {
		t.Errorf("after a restart /readyz is %d %s", code, text)
	}
	greet(t, trusting(p.alpn, roots))
	if again := leaf(t, p.alpn, roots); !again.Equal(first) {
		t.Error("another certificate after a restart")
	}
	// A reload keeps it too, and orders one for a name that has come.
	write(t, g.config, strings.Replace(g.yaml, "domains: [gateway.test", "domains: [gateway.test, other.test", 1))
	g.send(syscall.SIGHUP)
	g.await(`"msg":"configuration reloaded"`)
	if again := leaf(t, p.alpn, roots); !again.Equal(first) {
		t.Error("another certificate after a reload")
	}
	within(t, "a certificate for the second name", func() bool {
		_, text := g.page("/readyz?verbose")
		return strings.Contains(text, "certificate other.test: ok\n")
	})
	if n := p.orders(); n != 2 {
		t.Errorf("%d orders for two names, want 2", n)
	}
	if out, err := exec.Command(must(binary()), "audit", "query", "--dir", filepath.Join(g.dir, "data", "audit")).CombinedOutput(); err != nil ||
		strings.Count(string(out), "certificate.issued") != 2 {
		t.Errorf("audit query: %v\n%s", err, out)
	}
}

func must(path string, err error) string {
	if err != nil {
		panic(err)
	}
	return path
}

// TestACMEByHTTP: the same by a request to the plaintext listener, which answers nothing
// else; with a key of another type, and an account that the CA knows.
func TestACMEByHTTP(t *testing.T) {
	t.Parallel()
	p := newPebble(t).start()
	g := newCertified(t, p, vacant(t), fmt.Sprintf(", challenges: [http-01], httpListen: %q, keyType: p384, "+
		"externalAccount: {keyID: kid-1, macKey: {file: mac}}", p.http), "")
	write(t, filepath.Join(g.dir, "mac"), pebbleMAC+"\n")
	g.start().ready()
	if n := p.count("Successful newAccount Binding"); n != 1 {
		t.Errorf("%d accounts were bound, want 1", n)
	}
	for _, path := range []string{"/", "/agents/billing", "/.well-known/acme-challenge/x"} {
		resp, err := (&http.Client{Timeout: 5 * time.Second}).Get("http://" + p.http + path)
		if err != nil {
			t.Fatal(err)
		}
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s is %d on the listener for checks", path, resp.StatusCode)
		}
	}
	g.signal(syscall.SIGTERM)
	g.secretless()
}

// TestACMERenewal: a certificate that ends soon is replaced while
// connections go on that began with the first one.
func TestACMERenewal(t *testing.T) {
	t.Parallel()
	p := newPebble(t)
	p.validity = 20
	p.start()
	g := newCertified(t, p, p.alpn, "", "").start()
	g.ready()
	roots := p.roots()
	client := trusting(p.alpn, roots)
	greet(t, client)
	first := leaf(t, p.alpn, roots)
	conn, err := tls.Dial("tcp", p.alpn, &tls.Config{ServerName: acmeName, RootCAs: roots})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	answers := bufio.NewReader(conn)
	ask := func() {
		if _, err := io.WriteString(conn, "GET /agents HTTP/1.1\r\nHost: "+acmeName+":8443\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(answers, nil)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("on the connection that began with the first certificate: %v, %v", resp, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	ask()
	within(t, "another certificate", func() bool { return !bytes.Equal(shown(p.alpn), first.Raw) })
	ask()
	greet(t, client)
	p.end() // now renewals fail, and the last certificate goes on being served
	g.await(`"msg":"certificate not renewed, the old one stays"`)
	g.metric(`a2a_gateway_acme_failing{domain="gateway.test"} 1`)
	if code, text := g.page("/readyz?verbose"); code != http.StatusOK ||
		!strings.Contains(text, "certificate gateway.test: failed: renewal: ") {
		t.Errorf("/readyz?verbose is %d\n%s", code, text)
	}
	greet(t, client)
}

// TestACMEBadNonces: a CA that refuses every third request for its nonce, as it may, is
// asked again.
func TestACMEBadNonces(t *testing.T) {
	t.Parallel()
	p := newPebble(t)
	p.env = append(p.env, "PEBBLE_WFE_NONCEREJECT=33")
	g := newCertified(t, p.start(), p.alpn, "", "").start()
	g.ready()
	greet(t, trusting(p.alpn, p.roots()))
}

// TestACMEWithoutCA: the gateway starts without the CA, says so, and has a certificate
// soon after the CA has come.
func TestACMEWithoutCA(t *testing.T) {
	t.Parallel()
	p := newPebble(t)
	g := newCertified(t, p, p.alpn, "", "").start()
	g.await(`"msg":"certificate not obtained"`)
	if code, text := g.page("/readyz"); code != http.StatusServiceUnavailable || text != "no certificate yet\n" {
		t.Errorf("/readyz is %d %q", code, text)
	}
	if _, text := g.page("/readyz?verbose"); !strings.Contains(text, "certificate gateway.test: failed: ") {
		t.Errorf("/readyz?verbose:\n%s", text)
	}
	if _, text := g.page("/metrics"); !strings.Contains(text, `a2a_gateway_acme_orders_total{domain="gateway.test",result="failed"} `) {
		t.Error("the order that failed is not counted")
	}
	p.start()
	g.ready()
	greet(t, trusting(p.alpn, p.roots()))
}

// TestACMEReplicas: of two gateways on one Redis one makes the order, and both serve its
// certificate. The CA's checks all reach the first, whichever of them has ordered.
func TestACMEReplicas(t *testing.T) {
	t.Parallel()
	p := newPebble(t).start()
	rest := fmt.Sprintf("state: {driver: redis, redis: {addresses: [%q]}}\nkeys: {dir: %q}", startRedis(t).address, filepath.Join(t.TempDir(), "keys"))
	addresses := []string{p.alpn, vacant(t)}
	var all []*certified
	for _, address := range addresses {
		all = append(all, newCertified(t, p, address, "", rest).start())
	}
	var leaves []*x509.Certificate
	for i, g := range all {
		g.ready()
		leaves = append(leaves, leaf(t, addresses[i], p.roots()))
	}
	if !leaves[0].Equal(leaves[1]) {
		t.Error("the replicas serve different certificates")
	}
	if n := p.orders(); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}
