package frameworks_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// TestCertificateOfJVM has LangChain4j, which has no option for a credential, call an agent
// through the gateway by the certificate of its JVM, and be refused without it. It looks for
// the card at the gateway's origin, where the only agent's is.
func TestCertificateOfJVM(t *testing.T) {
	if os.Getenv("A2A_GATEWAY_TEST_INTEROP") == "" {
		t.Skip("run by `make frameworks`")
	}
	t.Parallel()
	all := frameworks()
	f := all[slices.IndexFunc(all, func(f framework) bool { return f.id == "langchain4j" })]
	if lacking := f.lacks(); lacking != "" {
		testenv.Missing(t, "%s needs %s; run interop/frameworks/setup", f.id, lacking)
	}
	dir := t.TempDir()
	serverCertificate(t, dir)
	callerCertificate(t, dir)
	keytool(t, dir, "-importcert", "-noprompt", "-alias", "gateway", "-file", "server.pem", "-keystore", "trust.p12")
	g := startGatewayTLS(t, dir)
	url := strings.Replace(g.base("parrot"), "127.0.0.1", "localhost", 1)

	trust := "-Djavax.net.ssl.trustStorePassword=changeit -Djavax.net.ssl.trustStore=" + filepath.Join(dir, "trust.p12")
	own := " -Djavax.net.ssl.keyStorePassword=changeit -Djavax.net.ssl.keyStore=" + filepath.Join(dir, "caller.p12")
	for _, s := range runClient(t, f, url, "", "JAVA_TOOL_OPTIONS="+trust+own) {
		if !s.OK {
			t.Errorf("with the certificate: %s: %s", s.Name, s.Said)
		}
	}
	for _, s := range runClient(t, f, url, "", "JAVA_TOOL_OPTIONS="+trust) {
		if s.OK != (s.Name == "card") {
			t.Errorf("without the certificate: %s: %t %s", s.Name, s.OK, s.Said)
		}
	}
}

// keytool runs the JDK's program for keys.
func keytool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("keytool", append(args, "-storepass", "changeit", "-storetype", "PKCS12")...) //nolint:noctx // local and short
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("keytool %s: %v\n%s", args[0], err, out)
	}
}

// callerCertificate writes ca.pem, and caller.p12 with a key and a certificate of that CA.
func callerCertificate(t *testing.T, dir string) {
	t.Helper()
	for _, words := range []string{
		"-genkeypair -alias ca -keystore ca.p12 -keyalg EC -dname CN=ca -ext bc=ca:true",
		"-exportcert -alias ca -keystore ca.p12 -rfc -file ca.pem",
		"-genkeypair -alias caller -keystore caller.p12 -keyalg EC -dname CN=caller",
		"-certreq -alias caller -keystore caller.p12 -file caller.csr",
		"-gencert -alias ca -keystore ca.p12 -rfc -infile caller.csr -outfile caller.pem -ext san=uri:spiffe://example.com/caller -ext eku=clientAuth",
		"-importcert -alias ca -keystore caller.p12 -noprompt -file ca.pem",
		"-importcert -alias caller -keystore caller.p12 -noprompt -file caller.pem",
	} {
		keytool(t, dir, strings.Fields(words)...)
	}
}

// serverCertificate writes server.pem and server.key for localhost.
func serverCertificate(t *testing.T, dir string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	for name, text := range map[string][]byte{
		"server.pem": text, "server.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// startGatewayTLS runs a gateway in front of an agent of 0.3 that knows callers by their certificates.
func startGatewayTLS(t *testing.T, dir string) *gateway {
	t.Helper()
	agent := startNeutral(t, "0.3")
	file := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `server:
  address: "localhost:0"
  statusAddress: "127.0.0.1:0"
  publicURL: "https://localhost"
  dataDir: data
  tls: {certificates: [{cert: server.pem, key: server.key}], clientCA: [ca.pem], clientAuth: optional}
authn: {mtls: {trustDomains: [example.com]}}
policy: {rules: [{name: whoever-has-a-certificate, effect: allow, agents: ["*"]}]}
agents:
  - {id: parrot, card: %q}
`, agent.CardURL), 0o600); err != nil {
		t.Fatal(err)
	}
	g := &gateway{}
	g.serve(t, buildGateway(t), file)
	return g
}
