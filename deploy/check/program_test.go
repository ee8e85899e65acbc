package check

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// root is that of the repository.
const root = "../.."

// built is where the program is, once somebody has asked.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("A2A_GATEWAY_TEST_PROGRAM"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "a2a-gateway-check-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "a2a-gateway")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-o", path, "./cmd/a2a-gateway")
	cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return path, cmd.Run()
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("A2A_GATEWAY_TEST_PROGRAM") == "" {
		if path, err := built(); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
	}
	os.Exit(code)
}

func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("build the program: %v", err)
	}
	return path
}

// required skips a test for want of a program, but not in CI.
func required(t *testing.T, name, from string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("A2A_GATEWAY_TEST_REQUIRE_ALL") != "" {
			t.Fatalf("%s is required: %v", name, err)
		}
		t.Skipf("%s is not installed (it comes with %s)", name, from)
	}
	return path
}

// machine is a directory that stands for the file system of a container: validate looks at
// the files that a configuration names, and these are mounted.
type machine struct{ dir string }

// newMachine has files at those paths, of the kind that their names tell.
func newMachine(t *testing.T, program string, paths ...string) machine {
	t.Helper()
	m := machine{t.TempDir()}
	for _, path := range paths {
		m.put(t, program, path)
	}
	return m
}

func (m machine) put(t *testing.T, program, path string) {
	t.Helper()
	file := filepath.Join(m.dir, path)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	switch filepath.Base(path) {
	case "tls.crt":
		cert, key := pair(t)
		write(t, file, cert)
		write(t, filepath.Join(filepath.Dir(file), "tls.key"), key)
	case "ca.crt":
		cert, _ := pair(t)
		write(t, file, cert)
	case "signing.pem":
		_, key := pair(t)
		write(t, file, key)
	case "sealing.key":
		secret := make([]byte, 32)
		_, _ = rand.Read(secret)
		write(t, file, []byte(hex.EncodeToString(secret)))
	case "keys.yaml":
		out, err := exec.Command(program, "keys", "create", "--file", file, "--id", "alice").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	case "tls.key":
	default:
		write(t, file, nil)
	}
}

func write(t *testing.T, file string, text []byte) {
	t.Helper()
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// pair is a certificate of its own making with its key.
func pair(t *testing.T) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "agents.example.com"}, DNSNames: []string{"agents.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})
}

// accepts has the program look at a configuration, in which the paths below prefixes are
// those of the machine.
func (m machine) accepts(t *testing.T, program, config string, prefixes []string, env ...string) string {
	t.Helper()
	for _, prefix := range prefixes {
		config = strings.ReplaceAll(config, prefix, m.dir+prefix)
	}
	file := filepath.Join(m.dir, "config.yaml")
	write(t, file, []byte(config))
	cmd := exec.Command(program, "validate", "-c", file)
	cmd.Env = append([]string{"HOME=" + m.dir}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("validate: %v\n%s\n%s", err, out, config)
	}
	return string(out)
}
