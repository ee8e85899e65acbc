package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/testenv"
)

// pebbleProgram is what make pebble builds, and beside it a DNS server of which every name
// is this machine's.
const pebbleProgram = "../bin/pebble"

// pebble is Let's Encrypt's small CA for tests, which checks names as the large one does:
// by DNS, and then on the ports that it is told here.
type pebble struct {
	t                   *testing.T
	dir, address, admin string
	alpn, http          string // where gateways listen for checks
	validity            int    // of certificates, in seconds
	env                 []string
	process             *process
}

// newPebble is one that does not run yet.
func newPebble(t *testing.T) *pebble {
	t.Helper()
	if _, err := os.Stat(pebbleProgram); err != nil {
		testenv.Missing(t, "no pebble was built; make pebble does")
	}
	p := &pebble{
		t: t, dir: t.TempDir(), address: vacant(t), admin: vacant(t), alpn: vacant(t), http: vacant(t), validity: 90 * 86400,
		env: []string{"PEBBLE_VA_NOSLEEP=1", "PEBBLE_WFE_NONCEREJECT=0", "PEBBLE_AUTHZREUSE=0"},
	}
	certificate(t, p.dir) // of its own server
	return p
}

// ca is the file that its server is known by.
func (p *pebble) ca() string { return filepath.Join(p.dir, "cert.pem") }

func (p *pebble) directory() string { return "https://" + p.address + "/dir" }

// start runs it with a DNS server of its own.
func (p *pebble) start() *pebble {
	p.t.Helper()
	dns, config := vacant(p.t), filepath.Join(p.dir, "pebble.json")
	_, alpn, _ := net.SplitHostPort(p.alpn)
	_, plain, _ := net.SplitHostPort(p.http)
	write(p.t, config, fmt.Sprintf(`{"pebble": {"listenAddress": %q, "managementListenAddress": %q, "certificate": %q,
"privateKey": %q, "tlsPort": %s, "httpPort": %s, "retryAfter": {"authz": 1, "order": 1},
"externalAccountMACKeys": {"kid-1": %q},
"profiles": {"default": {"description": "", "validityPeriod": %d}}}}`,
		p.address, p.admin, p.ca(), filepath.Join(p.dir, "key.pem"), alpn, plain, pebbleMAC, p.validity))
	names := launch(p.t, pebbleProgram+"-challtestsrv", nil, "-dnsserver", dns, "-defaultIPv6", "", "-doh", "",
		"-http01", "", "-https01", "", "-tlsalpn01", "", "-management", vacant(p.t))
	names.await("Starting management server")
	p.process = launch(p.t, pebbleProgram, p.env, "-config", config, "-dnsserver", dns, "-strict")
	within(p.t, "pebble listens", func() bool { return p.get("/roots/0") != "" })
	return p
}

// pebbleMAC is the key of an account that it knows from elsewhere.
const pebbleMAC = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W"

// get is a page of its admin's, "" while it does not answer.
func (p *pebble) get(path string) string {
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	resp, err := client.Get("https://" + p.admin + path)
	if err != nil {
		return ""
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

// roots are what its certificates lead to; they are made anew with every start.
func (p *pebble) roots() *x509.CertPool {
	p.t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(p.get("/roots/0"))) {
		p.t.Fatal("pebble has no root")
	}
	return pool
}

// count is how often it has said something.
func (p *pebble) count(what string) int { return strings.Count(p.process.out.text(), what) }

func (p *pebble) orders() int { return p.count(`Added order "`) }

// end kills it.
func (p *pebble) end() { p.process.signal(syscall.SIGKILL) }
