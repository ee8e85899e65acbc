package clientcert

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// authority is a CA that signs whatever it is asked to.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	sent [][]byte // what a client sends beside its own certificate
}

// altName is one name of a certificate, of any bytes.
type altName struct {
	tag   int
	value string
}

// sanExtension makes the subjectAltName extension by hand: libraries refuse to make bad ones.
func sanExtension(t testing.TB, list ...altName) pkix.Extension {
	t.Helper()
	var all []asn1.RawValue
	for _, n := range list {
		all = append(all, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: n.tag, Bytes: []byte(n.value)})
	}
	doc, err := asn1.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return pkix.Extension{Id: subjectAltName(), Value: doc}
}

// issue signs a certificate; a nil ca signs itself.
func (ca *authority) issue(t testing.TB, cert x509.Certificate) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert.SerialNumber, _ = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100))
	if cert.NotAfter.IsZero() {
		cert.NotBefore, cert.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	}
	if ca == nil {
		ca = &authority{cert: &cert, key: key}
	}
	der, err := x509.CreateCertificate(rand.Reader, &cert, ca.cert, key.Public(), ca.key)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		made = &x509.Certificate{Raw: der} // the other side is to say so
	}
	return &authority{cert: made, key: key, sent: ca.sent}
}

// sub makes a CA below, whose certificates are sent with its own.
func (ca *authority) sub(t testing.TB, change func(*x509.Certificate)) *authority {
	t.Helper()
	cert := caCert("intermediate")
	if change != nil {
		change(&cert)
	}
	below := ca.issue(t, cert)
	below.sent = append([][]byte{below.cert.Raw}, ca.sent...)
	return below
}

func caCert(name string) x509.Certificate {
	return x509.Certificate{Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
}

// client is a good certificate but for the changes.
func (ca *authority) client(t testing.TB, change func(*x509.Certificate), list ...altName) tls.Certificate {
	t.Helper()
	cert := x509.Certificate{
		Subject: pkix.Name{CommonName: "alice"}, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(list) > 0 {
		cert.ExtraExtensions = []pkix.Extension{sanExtension(t, list...)}
	}
	if change != nil {
		change(&cert)
	}
	made := ca.issue(t, cert)
	return tls.Certificate{Certificate: append([][]byte{made.cert.Raw}, made.sent...), PrivateKey: made.key}
}

func (ca *authority) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(ca.cert)
	return p
}

// mtlsServer answers every request with what a chain says of it.
type mtlsServer struct {
	*httptest.Server

	last chan *authn.Principal
}

func serveMTLS(t testing.TB, clientAuth tls.ClientAuthType, ca *authority, chain *authn.Chain) *mtlsServer {
	t.Helper()
	s := &mtlsServer{last: make(chan *authn.Principal, 1)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := chain.Authenticate(r)
		if err != nil {
			_, _ = io.WriteString(w, authntest.FaultOf(err))
			return
		}
		s.last <- p
		_, _ = io.WriteString(w, "ok "+p.Subject)
	}))
	s.TLS = &tls.Config{ClientAuth: clientAuth, ClientCAs: ca.pool()}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// call is what the server says to a client with this certificate, or "handshake".
func (s *mtlsServer) call(t testing.TB, version uint16, cert *tls.Certificate, headers ...string) (string, *authn.Principal) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	cfg := &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: version, MaxVersion: version}
	if cert != nil { // whatever the server says about whom it trusts
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return cert, nil }
	}
	transport := &http.Transport{TLSClientConfig: cfg, DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL+"/agents/billing", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		var other net.Error
		if errors.As(err, &other) && other.Timeout() {
			t.Fatal(err)
		}
		return "handshake", nil
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	answer, _, in := strings.Cut(string(body), "ok ")
	if in {
		return string(body), <-s.last
	}
	return answer, nil
}

// zoo is a certificate of each kind and what is to become of it: in ("ok NAME"), a
// fault, or no connection at all.
type zoo []struct {
	name string
	cert tls.Certificate
	want string
}

func makeZoo(t *testing.T, root *authority) zoo {
	t.Helper()
	const id = "spiffe://test.example/ns/prod/sa/alice"
	uri, dns := altName{tagURI, id}, altName{tagDNS, "alice.test"}
	other := (*authority)(nil).issue(t, caCert("other"))
	middle := root.sub(t, nil)
	lost := root.sub(t, nil)
	lost.sent = nil
	short := root.sub(t, func(c *x509.Certificate) { c.MaxPathLenZero = true })
	bound := root.sub(t, func(c *x509.Certificate) {
		c.PermittedDNSDomainsCritical, c.PermittedDNSDomains = true, []string{"bob.test"}
		c.PermittedURIDomains = []string{"bob.example"}
	})
	server := root.sub(t, func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} })
	usage := func(list ...x509.ExtKeyUsage) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.ExtKeyUsage = list }
	}
	valid := func(from, until time.Duration) func(*x509.Certificate) {
		return func(c *x509.Certificate) { c.NotBefore, c.NotAfter = time.Now().Add(from), time.Now().Add(until) }
	}
	named := func(tag int, value string) tls.Certificate { return root.client(t, nil, altName{tag, value}) }
	ca := caCert("alice")
	return zoo{
		{"SPIFFE id", root.client(t, nil, uri), "ok " + id},
		{"host name", root.client(t, nil, dns), "ok alice.test"},
		{"both: the URI", root.client(t, nil, dns, uri), "ok " + id},
		{"by an intermediate", middle.client(t, nil, uri), "ok " + id},
		{"another URI", named(tagURI, "urn:uuid:4c1bb1d0-0000-4000-8000-000000000000"),
			"ok urn:uuid:4c1bb1d0-0000-4000-8000-000000000000"},
		{"a URI with a host", named(tagURI, "https://alice.test/me"), "ok https://alice.test/me"},
		{"clientAuth among others", root.client(t, usage(x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth), uri), "ok " + id},

		{"expired", root.client(t, valid(-2*time.Hour, -time.Hour), uri), "handshake"},
		{"not valid yet", root.client(t, valid(time.Hour, 2*time.Hour), uri), "handshake"},
		{"server only", root.client(t, usage(x509.ExtKeyUsageServerAuth), uri), "handshake"},
		{"mail only", root.client(t, usage(x509.ExtKeyUsageEmailProtection), uri), "handshake"},
		{"no extended key usage", root.client(t, usage(), uri), "certificate-use"},
		{"any extended key usage", root.client(t, usage(x509.ExtKeyUsageAny), uri), "certificate-use"},
		{"no signatures", root.client(t, func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyAgreement }, uri), "certificate-use"},
		{"another CA", other.client(t, nil, uri), "handshake"},
		{"self-signed", (*authority)(nil).client(t, nil, uri), "handshake"},
		{"intermediate missing", lost.client(t, nil, uri), "handshake"},
		{"name constraints, DNS", bound.client(t, nil, dns), "handshake"},
		{"name constraints, URI", bound.client(t, nil, uri), "handshake"},
		{"path too long", short.sub(t, nil).client(t, nil, uri), "handshake"},
		{"intermediate for servers", server.client(t, nil, uri), "handshake"},
		{"signed by a leaf", leafCA(t, root).client(t, nil, uri), "handshake"},
		{"a CA itself", root.client(t, func(c *x509.Certificate) {
			c.IsCA, c.KeyUsage = ca.IsCA, ca.KeyUsage
		}, uri), "certificate-use"},

		{"common name only", root.client(t, nil), "certificate-name"},
		{"common name a host", root.client(t, func(c *x509.Certificate) { c.Subject.CommonName = "alice.test" }), "certificate-name"},
		{"wildcard", named(tagDNS, "*.test"), "certificate-name"},
		{"wildcard inside", named(tagURI, "spiffe://test.example/ns/*"), "certificate-name"},
		{"two URIs", root.client(t, nil, uri, altName{tagURI, "spiffe://test.example/ns/prod/sa/bob"}), "certificate-name"},
		{"the same URI twice", root.client(t, nil, uri, uri), "certificate-name"},
		{"a SPIFFE id and another URI", root.client(t, nil, uri, altName{tagURI, "https://alice.test"}), "certificate-name"},
		{"two host names", root.client(t, nil, dns, altName{tagDNS, "bob.test"}), "certificate-name"},
		{"IP address", named(7, "\x7f\x00\x00\x01"), "certificate-name"},
		{"mail address", named(1, "alice@alice.test"), "certificate-name"},
		{"host in capitals", named(tagDNS, "Alice.test"), "certificate-name"},
		{"dot at the end", named(tagDNS, "alice.test."), "certificate-name"},
		{"underscore", named(tagDNS, "alice_1.test"), "certificate-name"},
		{"empty label", named(tagDNS, "alice..test"), "certificate-name"},
		{"empty host", named(tagDNS, ""), "certificate-name"},
		{"space", named(tagDNS, "alice test"), "certificate-name"},
		{"too long", named(tagDNS, strings.Repeat("a.", 128)+"test"), "certificate-name"},
		{"label too long", named(tagDNS, strings.Repeat("a", 64)+".test"), "certificate-name"},
		{"SPIFFE domain alone", named(tagURI, "spiffe://test.example"), "certificate-name"},
		{"SPIFFE domain and a slash", named(tagURI, "spiffe://test.example/"), "certificate-name"},
		{"SPIFFE dots", named(tagURI, "spiffe://test.example/ns/../sa"), "certificate-name"},
		{"SPIFFE two slashes", named(tagURI, "spiffe://test.example//sa"), "certificate-name"},
		{"SPIFFE slash at the end", named(tagURI, id+"/"), "certificate-name"},
		{"SPIFFE percent", named(tagURI, "spiffe://test.example/%61"), "certificate-name"},
		{"SPIFFE query", named(tagURI, id+"?a"), "certificate-name"},
		{"SPIFFE empty fragment", named(tagURI, id+"#"), "certificate-name"},
		{"SPIFFE user", named(tagURI, "spiffe://u@test.example/sa"), "certificate-name"},
		{"SPIFFE port", named(tagURI, "spiffe://test.example:1/sa"), "certificate-name"},
		{"SPIFFE scheme in capitals", named(tagURI, "SPIFFE://test.example/sa"), "certificate-name"},
		{"SPIFFE without slashes", named(tagURI, "spiffe:test.example/sa"), "certificate-name"},
		{"SPIFFE host in capitals", named(tagURI, "spiffe://Test.example/sa"), "certificate-name"},
		{"another URI with a fragment", named(tagURI, "https://alice.test/#me"), "certificate-name"},
		{"another URI with a user", named(tagURI, "https://me@alice.test/"), "certificate-name"},
		{"no scheme", named(tagURI, "//alice.test/"), "certificate-name"},
		// Whether x509 lets them through to us or not, nobody gets in by them.
		{"NUL in a host name", named(tagDNS, "alice.test\x00.evil"), "refused"},
		{"NUL in a URI", named(tagURI, id+"\x00x"), "refused"},
		{"not ASCII", named(tagDNS, "alicé.test"), "refused"},
		{"line break", named(tagDNS, "alice.test\n"), "refused"},
	}
}

// leafCA signs with a certificate that is no CA's.
func leafCA(t testing.TB, root *authority) *authority {
	t.Helper()
	leaf := root.issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "leaf"}, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature})
	leaf.sent = [][]byte{leaf.cert.Raw}
	return leaf
}

// Over real connections: only a certificate for clients, from our CA, with one name.
func TestL29_CertificateZoo(t *testing.T) {
	t.Parallel()
	root := (*authority)(nil).issue(t, caCert("root"))
	chain := openMTLS(t, &Config{}, Options{})
	verified := serveMTLS(t, tls.VerifyClientCertIfGiven, root, chain)
	asked := serveMTLS(t, tls.RequestClientCert, root, chain)
	for _, tt := range makeZoo(t, root) {
		t.Run(tt.name, func(t *testing.T) {
			for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
				got, p := verified.call(t, version, &tt.cert)
				switch {
				case tt.want == "refused" && (got == "handshake" || got == "certificate-name"):
				case got != tt.want:
					t.Errorf("%s: %s, want %s", tls.VersionName(version), got, tt.want)
				}
				if p != nil {
					wantCertificate(t, p, tt.cert.Certificate[0])
				}
				// A listener that does not verify certificates makes nobody of them.
				got, _ = asked.call(t, version, &tt.cert)
				if got != "certificate-untrusted" && (got != "handshake" || tt.want != "refused") {
					t.Errorf("%s, not verified: %s", tls.VersionName(version), got)
				}
			}
		})
	}
}

func wantCertificate(t *testing.T, p *authn.Principal, raw []byte) {
	t.Helper()
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	thumb := Thumbprint(&http.Request{TLS: &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}})
	if p.Issuer != "mtls" || p.Method != "mtls" || p.Proof != "mtls" || p.Carrier != "" || p.KeyID != thumb ||
		!p.Expires.Equal(cert.NotAfter) || p.Key() != (&authn.Principal{Issuer: p.Issuer, Subject: p.Subject}).Key() || p.Agents != nil {
		t.Errorf("principal %+v", p)
	}
}

// What a header says about a certificate is anybody's word.
func TestL29_HeadersAreNoCertificates(t *testing.T) {
	t.Parallel()
	root := (*authority)(nil).issue(t, caCert("root"))
	s := serveMTLS(t, tls.VerifyClientCertIfGiven, root, openMTLS(t, &Config{}, Options{}))
	cert := root.client(t, nil, altName{tagDNS, "alice.test"})
	bytes := ":" + authntest.Base64(cert.Certificate[0]) + ":"
	for _, name := range []string{"Client-Cert", "Client-Cert-Chain", "X-Client-Cert", "X-Forwarded-Client-Cert",
		"X-SSL-Client-Cert", "X-SSL-Client-S-DN", "Ssl-Client-Cert", "X-Forwarded-Tls-Client-Cert"} {
		if got, _ := s.call(t, tls.VersionTLS13, nil, name, bytes); got != authn.ErrNoCredentials.Error() {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The CAs of now decide, not those of the handshake, and so does the clock.
func TestL29_TrustIsAskedForEachTime(t *testing.T) {
	t.Parallel()
	root := (*authority)(nil).issue(t, caCert("root"))
	var trust error
	clock := authntest.NewClock(time.Now())
	chain := openMTLS(t, &Config{}, Options{Now: clock.Now, Trusted: func(s *tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 || len(s.VerifiedChains) == 0 {
			t.Error("asked about no certificate")
		}
		return trust
	}})
	s := serveMTLS(t, tls.VerifyClientCertIfGiven, root, chain)
	cert := root.client(t, nil, altName{tagDNS, "alice.test"})
	got, p := s.call(t, tls.VersionTLS13, &cert)
	if got != "ok alice.test" || chain.Stands(p) != nil {
		t.Fatal(got)
	}
	trust = errors.New("CA removed")
	if got, _ := s.call(t, tls.VersionTLS13, &cert); got != "certificate-untrusted" {
		t.Error("CA removed:", got)
	}
	if got := authntest.FaultOf(chain.Stands(p)); got != "certificate-untrusted" {
		t.Error("CA removed, a stream:", got)
	}
	trust = nil
	clock.Pass(61 * time.Minute)
	if got, _ := s.call(t, tls.VersionTLS13, &cert); got != "certificate-outdated" {
		t.Error("expired on an open connection:", got)
	}
	if got := authntest.FaultOf(chain.Stands(p)); got != "certificate-outdated" {
		t.Error("expired, a stream:", got)
	}
	clock.Pass(-3 * time.Hour)
	if got := authntest.FaultOf(chain.Stands(p)); got != "certificate-outdated" {
		t.Error("not valid yet:", got)
	}
}

// Identities say more of names; without one that matches, nobody is let in.
func TestCertificateIdentities(t *testing.T) {
	t.Parallel()
	root := (*authority)(nil).issue(t, caCert("root"))
	cfg := Config{TrustDomains: []string{"a.example", "b.example"}, Identities: []Identity{
		{Name: "spiffe://a.example/admin", Subject: "root", Groups: []string{"admins"}},
		{Name: "spiffe://a.example/*/sa/*", Groups: []string{"staff"}, Scopes: []string{"read"}, Tenant: "acme",
			Agents: []string{"billing"}},
		{Name: "*.internal", Groups: []string{"hosts"}},
	}}
	chain := openMTLS(t, &cfg, Options{})
	s := serveMTLS(t, tls.VerifyClientCertIfGiven, root, chain)
	var staff *authn.Principal
	for _, tt := range []struct {
		name altName
		want string
	}{
		{altName{tagURI, "spiffe://a.example/admin"}, "ok root"},
		{altName{tagURI, "spiffe://a.example/prod/sa/x"}, "ok spiffe://a.example/prod/sa/x"},
		{altName{tagURI, "spiffe://a.example/prod/sb/x"}, "certificate-unknown"},
		{altName{tagURI, "spiffe://b.example/prod/sa/x"}, "certificate-unknown"},
		{altName{tagURI, "spiffe://c.example/prod/sa/x"}, "certificate-name"},
		{altName{tagURI, "https://a.example/admin"}, "certificate-name"},
		{altName{tagDNS, "db.internal"}, "ok db.internal"},
		{altName{tagDNS, "internal"}, "certificate-unknown"},
	} {
		cert := root.client(t, nil, tt.name)
		got, p := s.call(t, tls.VersionTLS13, &cert)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name.value, got, tt.want)
		}
		if strings.Contains(got, "/sa/") {
			staff = p
		}
	}
	if staff == nil || staff.Tenant != "acme" || strings.Join(staff.Groups, " ") != "staff" ||
		strings.Join(staff.Scopes, " ") != "read" || !staff.MayUse("billing") || staff.MayUse("payroll") {
		t.Fatalf("%+v", staff)
	}
	// A stream goes on while the configuration makes the same principal of it.
	standsUnder := func(change func(*Config)) string {
		next := cfg
		next.Identities = append([]Identity(nil), cfg.Identities...)
		change(&next)
		return authntest.FaultOf(openMTLS(t, &next, Options{}).Stands(staff))
	}
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"unchanged", func(*Config) {}, "ok"},
		{"others changed", func(m *Config) { m.Identities[0].Subject = "admin" }, "ok"},
		{"groups changed", func(m *Config) { m.Identities[1].Groups = nil }, "certificate-unknown"},
		{"agents changed", func(m *Config) { m.Identities[1].Agents = []string{"payroll"} }, "certificate-unknown"},
		{"agents taken", func(m *Config) { m.Identities[1].Agents = []string{} }, "certificate-unknown"},
		{"gone", func(m *Config) { m.Identities = m.Identities[:1] }, "certificate-unknown"},
		{"domain gone", func(m *Config) { m.TrustDomains = m.TrustDomains[1:]; m.Identities = nil }, "certificate-name"},
	} {
		if got := standsUnder(tt.change); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestMTLSConfig(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		cfg  Config
		want string
	}{
		{"empty", Config{}, ""},
		{"all of it", Config{Names: []string{"dns", "uri"}, TrustDomains: []string{"a.example"},
			Identities: []Identity{{Name: "*", Subject: "all"}, {Name: "a.test"}, {Name: "spiffe://a.example/x"}}}, ""},
		{"unknown kind", Config{Names: []string{"cn"}}, "names[0]: "},
		{"kind twice", Config{Names: []string{"uri", "uri"}}, "names[1]: "},
		{"domain an id", Config{TrustDomains: []string{"spiffe://a.example"}}, "trustDomains[0]: "},
		{"domain in capitals", Config{TrustDomains: []string{"A.example"}}, "trustDomains[0]: "},
		{"domains for hosts", Config{Names: []string{"dns"}, TrustDomains: []string{"a.example"}}, "trustDomains: "},
		{"no name", Config{Identities: []Identity{{}}}, "identities[0].name: "},
		{"name twice", Config{Identities: []Identity{{Name: "a"}, {Name: "a"}}}, "identities[1]: name "},
		{"name that no certificate has", Config{Identities: []Identity{{Name: "CN=alice"}}}, "identities[0].name: "},
		{"name of another domain", Config{TrustDomains: []string{"a.example"},
			Identities: []Identity{{Name: "spiffe://b.example/x"}}}, "identities[0].name: "},
		{"subject unprintable", Config{Identities: []Identity{{Name: "a", Subject: "a\n"}}}, "identities[0].subject: "},
		{"empty group", Config{Identities: []Identity{{Name: "a", Groups: []string{""}}}}, "identities[0].groups: "},
		{"empty agent", Config{Identities: []Identity{{Name: "a", Agents: []string{""}}}}, "identities[0].agents: "},
	} {
		err := tt.cfg.Validate()
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// Names that are admitted read as they are written.
func FuzzCertificateName(f *testing.F) {
	for _, s := range []string{"spiffe://a.example/b", "alice.test", "urn:x:y", "https://a.test/b", "*.test", "a\x00b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		m := new(Config)
		for _, kind := range m.kinds() {
			if m.checkName(kind, name) != nil {
				continue
			}
			if name == "" || len(name) > 255 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) ||
				strings.ContainsAny(name, "*?#") || kind == nameDNS && strings.ToLower(name) != name {
				t.Errorf("%s %q", kind, name)
			}
		}
	})
}

func BenchmarkCertificate(b *testing.B) {
	root := (*authority)(nil).issue(b, caCert("root"))
	cert := root.client(b, nil, altName{tagURI, "spiffe://test.example/ns/prod/sa/alice"})
	leaf, _ := x509.ParseCertificate(cert.Certificate[0])
	chain := openMTLS(b, &Config{}, Options{})
	r := authntest.Request()
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf},
		VerifiedChains: [][]*x509.Certificate{{leaf, root.cert}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := chain.Authenticate(r); err != nil {
			b.Fatal(err)
		}
	}
}

// openMTLS builds a chain of certificates alone.
func openMTLS(t testing.TB, cfg *Config, o Options) *authn.Chain {
	t.Helper()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	c := authn.NewChain(authn.Setup{Schemes: []authn.Scheme{New(cfg, o)}, Now: time.Now, Observe: func(string, string) {}})
	t.Cleanup(c.Close)
	return c
}
