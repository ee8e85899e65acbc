package gateway_test

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/demo"
	"github.com/a2a-gateway/a2a-gateway/internal/gatewaytest"
	"github.com/a2a-gateway/a2a-gateway/internal/testenv/certtest"
)

// clientCA vouches for workloads.
type clientCA struct {
	*certtest.Identity

	t testing.TB
}

func newClientCA(t testing.TB, name string) *clientCA {
	t.Helper()
	return &clientCA{certtest.Authority(t, name), t}
}

// workload gives a certificate with a SPIFFE id.
func (ca *clientCA) workload(id string) tls.Certificate {
	ca.t.Helper()
	name, err := url.Parse(id)
	if err != nil {
		ca.t.Fatal(err)
	}
	return certtest.Issue(ca.t, x509.Certificate{
		URIs: []*url.URL{name}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, ca.Identity).TLS()
}

// castle is a world whose gateway asks for client certificates.
type castle struct {
	*world

	server string // section
	roots  *x509.CertPool
	cas    string // file
}

// newCastle trusts the CAs; ask is server.tls.clientAuth.
func newCastle(t testing.TB, ask string, cas ...*clientCA) *castle {
	t.Helper()
	c := &castle{world: newWorld(t)}
	c.roots = certificate(t, filepath.Join(c.dir, "cert.pem"), filepath.Join(c.dir, "key.pem"), "castle")
	c.cas = filepath.Join(c.dir, "clients.pem")
	c.trust(cas...)
	c.server = fmt.Sprintf("publicURL: https://127.0.0.1\ntls: {certificates: [{cert: cert.pem, key: key.pem}], clientCA: [clients.pem], clientAuth: %s}", ask)
	return c
}

// trust replaces the file of CAs at once.
func (c *castle) trust(cas ...*clientCA) {
	c.t.Helper()
	var all []byte
	for _, ca := range cas {
		all = append(all, ca.PEM()...)
	}
	next := c.cas + ".next"
	if err := os.WriteFile(next, all, 0o600); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Rename(next, c.cas); err != nil {
		c.t.Fatal(err)
	}
}

// transport reaches the gateway, with a certificate or without.
func (c *castle) transport(certs ...tls.Certificate) *http.Transport {
	config := &tls.Config{RootCAs: c.roots, ClientSessionCache: tls.NewLRUClientSessionCache(8)}
	if len(certs) > 0 { // whatever CAs it is told of
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certs[0], nil }
	}
	tr := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	c.t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// spiffe lets workloads of one trust domain in, payments among them with a group.
const spiffe = `mtls:
  trustDomains: [example.org]
  identities:
    - {name: "spiffe://example.org/ns/pay/*", groups: [payers]}
    - {name: "spiffe://example.org/*"}`

// TestSPIFFEIdentities: a workload is known by its certificate over every binding, and
// by nothing that it could write into a header.
func TestSPIFFEIdentities(t *testing.T) {
	t.Parallel()
	trusted, stranger := newClientCA(t, "trusted"), newClientCA(t, "stranger")
	c := newCastle(t, "optional", trusted)
	agent := gatewaytest.Start(t, jsonrpc10())
	g := c.start(c.authn(spiffe, c.server, fmt.Sprintf(`policy: {rules: [{name: pay, effect: allow, issuers: [mtls], groups: [payers]}]}
agents: [{id: a, card: %s}]
`, everyBinding(agent.CardURL))))
	for _, side := range proven() {
		t.Run(string(side.binding)+" "+string(side.version), func(t *testing.T) {
			hc := gatewaytest.HTTPClient(t, nil, c.transport(trusted.workload("spiffe://example.org/ns/pay/robot")))
			client, _ := gatewaytest.Dial(t, side.sdk, hc, g.URL()+"/agents/a", side.version, side.binding)
			if _, err := client.SendMessage(t.Context(), say("message")); err != nil {
				t.Error(err)
			}
		})
	}
	if n := agent.Exec.Calls(); n != int64(len(proven())) {
		t.Errorf("%d calls reached the agent", n)
	}
	for _, r := range c.records("intent") {
		if r["principal"] != "spiffe://example.org/ns/pay/robot" || r["auth_method"] != "mtls" {
			t.Errorf("recorded as %v by %v", r["principal"], r["auth_method"])
		}
	}
	forged := http.Header{"X-Forwarded-Client-Cert": {"URI=spiffe://example.org/ns/pay/robot"}}
	for name, tt := range map[string]struct {
		certs  []tls.Certificate
		header http.Header
		status int // 0: no connection
	}{
		"none":                 {nil, nil, http.StatusUnauthorized},
		"a header":             {nil, forged, http.StatusUnauthorized},
		"another group":        {[]tls.Certificate{trusted.workload("spiffe://example.org/ns/ship/robot")}, nil, http.StatusNotFound},
		"another trust domain": {[]tls.Certificate{trusted.workload("spiffe://example.com/ns/pay/robot")}, nil, http.StatusUnauthorized},
		"another CA":           {[]tls.Certificate{stranger.workload("spiffe://example.org/ns/pay/robot")}, nil, 0},
	} {
		hc := &http.Client{Transport: c.transport(tt.certs...)}
		status, _, err := try(hc, http.MethodPost, g.URL()+"/agents/a", sendHeader(tt.header), sendBody("SendMessage", "1"))
		if status != tt.status || (err != nil) != (tt.status == 0) {
			t.Errorf("%s: %d, %v", name, status, err)
		}
	}
}

// TestR03_ClientCARotation takes one of two CAs away while callers of both call, on
// connections that are kept and on new ones, and listen: those of the one that is gone
// are refused within seconds, their streams end, and of the others not one call fails.
func TestR03_ClientCARotation(t *testing.T) {
	t.Parallel()
	leaving, staying := newClientCA(t, "leaving"), newClientCA(t, "staying")
	c := newCastle(t, "optional", leaving, staying)
	agent := newCounter(t, nil)
	g := c.start(c.authn(spiffe, c.server, openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL))))
	url := g.URL() + "/agents/a"
	out := leaving.workload("spiffe://example.org/out")
	in := staying.workload("spiffe://example.org/in")

	var calls, failed atomic.Int64
	stop := make(chan struct{})
	var calling sync.WaitGroup
	defer calling.Wait()
	defer close(stop)
	kept := &http.Client{Transport: c.transport(in)}
	for i := range 4 {
		calling.Go(func() {
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				case <-tick.C:
				}
				hc := kept
				if i%2 == 0 { // a connection of its own
					hc = &http.Client{Transport: c.transport(in)}
				}
				status, _, err := try(hc, http.MethodPost, url, sendHeader(nil), sendBody("SendMessage", fmt.Sprintf("%d-%d", i, n)))
				if calls.Add(1); err != nil || status != http.StatusOK {
					failed.Add(1)
					t.Errorf("a caller who stays got %d, %v", status, err)
				}
				if i%2 == 0 {
					hc.CloseIdleConnections()
				}
			}
		})
	}
	goes, stays := &http.Client{Transport: c.transport(out)}, &http.Client{Transport: c.transport(in)}
	ending, err := openStream(goes, url, nil, "ending")
	if err != nil {
		t.Fatal(err)
	}
	lasting, err := openStream(stays, url, nil, "lasting")
	if err != nil {
		t.Fatal(err)
	}
	status := func(hc *http.Client) int {
		got, _, err := try(hc, http.MethodPost, url, sendHeader(nil), sendBody("SendMessage", "out"))
		if err != nil {
			return 0
		}
		return got
	}
	if got := status(goes); got != http.StatusOK {
		t.Fatalf("before: %d", got)
	}
	c.trust(staying)
	began := time.Now()
	eventually(t, "the CA's workloads are refused on connections that are open", func() bool { return status(goes) == http.StatusUnauthorized })
	eventually(t, "and on new ones", func() bool { return status(&http.Client{Transport: c.transport(out)}) == 0 })
	last, err := ending.finish()
	if err != nil || !strings.Contains(last, "UNAUTHENTICATED") {
		t.Errorf("the stream of a caller who goes ended with %s, %v", last, err)
	}
	t.Logf("refused and ended after %v, with %d calls of others", time.Since(began), calls.Load())
	from := calls.Load()
	eventually(t, "the others still call", func() bool { return calls.Load() > from+20 })
	close(agent.release)
	if last, err := lasting.finish(); err != nil || !strings.Contains(last, "COMPLETED") {
		t.Errorf("the stream of a caller who stays ended with %s, %v", last, err)
	}
}

// TestCertificateBoundTokens: a token that is bound to a certificate (RFC 8705) is good
// on connections with that one, whoever signed it, and on no others.
func TestCertificateBoundTokens(t *testing.T) {
	t.Parallel()
	c := newCastle(t, "request", newClientCA(t, "of nobody"))
	c.server = strings.Replace(c.server, "clientCA: [clients.pem], ", "", 1)
	agent := greeter(t)
	g := c.start(c.yaml(c.server, openPolicy+fmt.Sprintf("agents: [{id: a, card: %s}]\n", everyBinding(agent.CardURL))))
	own := newClientCA(t, "own")
	right, wrong := own.workload("spiffe://example.org/right"), own.workload("spiffe://example.org/wrong")
	digest := sha256.Sum256(right.Certificate[0])
	token, err := c.issuer.Issue("alice", demo.IssueOptions{Claims: map[string]any{
		"cnf": map[string]any{"x5t#S256": base64.RawURLEncoding.EncodeToString(digest[:])},
	}})
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer " + token}}
	for _, side := range proven() {
		for name, tt := range map[string]struct {
			certs []tls.Certificate
			good  bool
		}{"right": {[]tls.Certificate{right}, true}, "wrong": {[]tls.Certificate{wrong}, false}, "none": {nil, false}} {
			hc := gatewaytest.HTTPClient(t, header, c.transport(tt.certs...))
			client, _ := gatewaytest.Dial(t, side.sdk, hc, g.URL()+"/agents/a", side.version, side.binding)
			_, err := client.SendMessage(t.Context(), say("message"))
			if (err == nil) != tt.good || err != nil && !unauthenticated(err) {
				t.Errorf("%s %s, %s: %v", side.binding, side.version, name, err)
			}
		}
	}
	if n := len(agent.Requests()); n != len(proven()) {
		t.Errorf("%d calls reached the agent", n)
	}
}
