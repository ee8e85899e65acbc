package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// ca is a certification authority of a script.
type ca struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// cmdCertificate writes NAME.pem and NAME-key.pem, self-signed for 127.0.0.1 and
// localhost. Calls of this script trust it from then on.
func cmdCertificate(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 2 {
		ts.Fatalf("usage: certificate FILES COMMON-NAME")
	}
	template := unsigned(args[1])
	template.DNSNames, template.IPAddresses = []string{"localhost"}, []net.IP{net.IPv4(127, 0, 0, 1)}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.IsCA = true
	worldOf(ts).client.trust(issue(ts, args[0], template, nil).cert)
}

// cmdCA makes a certification authority for client certificates: ca FILES.
func cmdCA(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	if len(args) != 1 {
		ts.Fatalf("usage: ca FILES")
	}
	template := unsigned(args[0])
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	worldOf(ts).cas[args[0]] = issue(ts, args[0], template, nil)
}

// cmdIdentify has a CA give out a client certificate for a name, a URI such as a SPIFFE
// id, or a host: identify FILES CA NAME.
func cmdIdentify(ts *testscript.TestScript, neg bool, args []string) {
	noNeg(ts, neg)
	w := worldOf(ts)
	if len(args) != 3 || w.cas[args[1]] == nil {
		ts.Fatalf("usage: identify FILES CA NAME, after ca CA")
	}
	template := unsigned("a client")
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	if u, err := url.Parse(args[2]); err == nil && u.Scheme != "" {
		template.URIs = []*url.URL{u}
	} else {
		template.DNSNames = []string{args[2]}
	}
	issue(ts, args[0], template, w.cas[args[1]])
}

func unsigned(name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(100 * 24 * time.Hour),
		BasicConstraintsValid: true,
	}
}

// issue signs a certificate, by itself without a CA, and writes NAME.pem and
// NAME-key.pem.
func issue(ts *testscript.TestScript, name string, template *x509.Certificate, by *ca) *ca {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	if by == nil {
		by = &ca{template, key}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.cert, key.Public(), by.key)
	ts.Check(err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	parsed, err := x509.ParseCertificate(der)
	ts.Check(err)
	write := func(name, kind string, bytes []byte) {
		data := pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
		ts.Check(os.WriteFile(ts.MkAbs(name), data, 0o600))
	}
	write(name+".pem", "CERTIFICATE", der)
	write(name+"-key.pem", "PRIVATE KEY", private)
	return &ca{parsed, key}
}

// transportFor is the way to the gateway of a client with the certificate that a call
// shows, if any. Connections are kept, as real clients do.
func (c *client) transportFor(ts *testscript.TestScript, q *request) *http.Transport {
	if q.certificate == "" {
		return c.transport
	}
	if t := c.shown[q.certificate]; t != nil {
		return t
	}
	t := c.transport.Clone()
	shows(ts, t.TLSClientConfig, q.certificate)
	c.shown[q.certificate] = t
	return t
}

// shows has a client show a certificate, also to who has not asked for one of its CA.
func shows(ts *testscript.TestScript, config *tls.Config, name string) {
	pair := clientCertificate(ts, name)
	config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
}

func clientCertificate(ts *testscript.TestScript, name string) tls.Certificate {
	name = strings.TrimSuffix(ts.MkAbs(name), ".pem")
	pair, err := tls.LoadX509KeyPair(name+".pem", name+"-key.pem")
	ts.Check(err)
	return pair
}
