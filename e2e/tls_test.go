package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
)

// TestTLSWithCurl speaks HTTP/2 over TLS 1.3 with a client that is not Go's,
// through a gateway that serves a file, is reloaded and drained.
func TestTLSWithCurl(t *testing.T) {
	t.Parallel()
	need(t, "curl")
	agent, err := demo.Agent10(demo.Options{Step: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = agent.Close(context.Background()) })
	dir := t.TempDir()
	certificate(t, dir)
	config := filepath.Join(dir, "config.yaml")
	write(t, config, fmt.Sprintf(`server:
  address: "127.0.0.1:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "https://127.0.0.1:8443"
  dataDir: data
  tls: {certificates: [{cert: cert.pem, key: key.pem}]}
authn: {anonymous: true}
policy: {rules: [{name: all, effect: allow}]}
agents: [{id: billing, card: %q}]
`, agent.CardURL))
	p := start(t, "serve", "-c", config)
	serving := p.await(`"msg":"serving"`)
	_, rest, _ := strings.Cut(serving, `"url":"`)
	url, _, _ := strings.Cut(rest, `"`)

	call := func(args ...string) string {
		args = append([]string{
			"-sS", "-i", "--cacert", filepath.Join(dir, "cert.pem"), "-H", "Content-Type: application/json",
			"-d", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`,
		}, args...)
		out, err := exec.Command("curl", append(args, url+"/agents/billing/message:send")...).CombinedOutput()
		if err != nil {
			t.Fatalf("curl: %v\n%s", err, out)
		}
		return string(out)
	}
	answer := call("--http2", "--tlsv1.3")
	for _, mark := range []string{"HTTP/2 200", "strict-transport-security: max-age=", "Hello from billing."} {
		if !strings.Contains(answer, mark) {
			t.Errorf("answer lacks %q:\n%s", mark, answer)
		}
	}
	if out, err := exec.Command("curl", "-sS", "--tls-max", "1.2", "--cacert", filepath.Join(dir, "cert.pem"), url).CombinedOutput(); err == nil {
		t.Errorf("TLS 1.2 was accepted:\n%s", out)
	}
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	p.await(`"msg":"configuration reloaded"`)
	if answer := call("--http1.1"); !strings.Contains(answer, "HTTP/1.1 200") {
		t.Errorf("after a reload:\n%s", answer)
	}
	if code := p.signal(syscall.SIGTERM); code != 0 {
		t.Errorf("exit code after SIGTERM: %d", code)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func certificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "e2e"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "cert.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	write(t, filepath.Join(dir, "key.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})))
}
