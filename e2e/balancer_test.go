package e2e

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
)

// balancer is HAProxy, with the configuration that operators are given.
type balancer struct {
	t            *testing.T
	url, metrics string
	trust        *x509.CertPool
	*process
}

// newBalancer starts one for callers in front of gateways, each by its address and that of its
// status listener.
func newBalancer(t *testing.T, callers string, gateways map[string][2]string) *balancer {
	t.Helper()
	dir := t.TempDir()
	certificate(t, dir)
	cert, key := read(t, filepath.Join(dir, "cert.pem")), read(t, filepath.Join(dir, "key.pem"))
	both := filepath.Join(dir, "both.pem")
	write(t, both, cert+key)
	b := &balancer{t: t, trust: x509.NewCertPool()}
	b.trust.AppendCertsFromPEM([]byte(cert))
	metrics := gatewaytest.FreeAddress()
	b.url, b.metrics = "https://"+callers, "http://"+metrics+"/metrics"
	env := []string{"CALLERS=" + callers, "METRICS=" + metrics, "CERTIFICATE=" + both}
	for name, at := range gateways {
		_, port, err := net.SplitHostPort(at[1])
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, "GATEWAY_"+strings.ToUpper(name)+"="+at[0], "STATUS_"+strings.ToUpper(name)+"="+port)
	}
	b.process = launch(t, "haproxy", env, "-db", "-f", "../deploy/haproxy/haproxy.cfg")
	eventually(t, "HAProxy serves its metrics", 30*time.Second, func() bool { return b.scrape() != nil || b.ended() })
	return b
}

// ended says that HAProxy does not run, which fails the test.
func (b *balancer) ended() bool {
	select {
	case <-b.done:
		b.t.Fatalf("HAProxy has ended: %v", b.err)
		return true
	default:
		return false
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// scrape reads what it says of itself, or nil.
func (b *balancer) scrape() []byte {
	resp, err := http.Get(b.metrics)
	if err != nil {
		return nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if !bytes.Contains(text, []byte("haproxy_server_status")) {
		return nil
	}
	return text
}

// sees waits until a gateway gets calls, or gets none.
func (b *balancer) sees(name, state string) time.Duration {
	b.t.Helper()
	series := fmt.Sprintf(`haproxy_server_status{proxy="gateways",server=%q,state=%q}`, name, state)
	return eventually(b.t, name+" is "+state, time.Minute, func() bool { return value(b.scrape(), series) == 1 })
}

// client is one of its callers, over HTTP/2 or HTTP/1.1.
func (b *balancer) client(http2 bool) *http.Client {
	protocols := []string{"http/1.1"}
	if http2 {
		protocols = []string{"h2", "http/1.1"}
	}
	transport := &http.Transport{
		MaxIdleConnsPerHost: 100, ForceAttemptHTTP2: http2,
		TLSClientConfig: &tls.Config{RootCAs: b.trust, NextProtos: protocols, MinVersion: tls.VersionTLS13},
	}
	b.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
