package interop_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// provider is a running oidc-provider; js/provider.mjs has its clients.
type provider struct {
	program

	pair  pair // of its TLS port
	trust *x509.CertPool
}

// startProvider runs a provider; its token exchange takes the tokens of another one.
func startProvider(t *testing.T, trusts string) provider {
	t.Helper()
	p := provider{pair: newPair(t), trust: x509.NewCertPool()}
	p.trust.AddCert(p.pair.Leaf)
	p.program = startProgram(t, []string{
		"A2A_INTEROP_TRUSTS=" + trusts, "A2A_INTEROP_CERT=" + p.pair.cert, "A2A_INTEROP_KEY=" + p.pair.key,
	}, "node", "js/issuer.mjs")
	return p
}

// grant is what a token is asked for with, beside the client.
type grant struct {
	client string
	form   url.Values        // default: client credentials for the gateway
	proof  *ecdsa.PrivateKey // of DPoP
	pair   *pair             // asked for over TLS with it
}

// issued is the answer of the token endpoint.
type issued struct {
	Token string `json:"access_token"`
	Type  string `json:"token_type"`
}

// token gets an access token.
func (p provider) token(t *testing.T, g grant) issued {
	t.Helper()
	hc, at := http.DefaultClient, p.URL+"/token"
	if g.pair != nil {
		hc, at = p.over(t, g.pair), p.TLS+"/token"
	}
	if g.form == nil {
		g.form = url.Values{"grant_type": {"client_credentials"}, "scope": {"a2a.invoke"}, "resource": {audience}}
	}
	header := http.Header{}
	if g.proof != nil {
		header.Set("DPoP", prove(t, g.proof, at, ""))
	}
	var answer issued
	p.ask(t, hc, at, g.client, g.form, header, &answer)
	if answer.Token == "" {
		t.Fatalf("the token endpoint answered %+v", answer)
	}
	return answer
}

// user gets a token of a user who signed in in this way.
func (p provider) user(t *testing.T, name, acr string) string {
	t.Helper()
	form := url.Values{"login_hint": {name}, "scope": {"openid a2a.invoke"}, "resource": {audience}, "acr_values": {acr}}
	var begun struct {
		ID string `json:"auth_req_id"`
	}
	p.ask(t, http.DefaultClient, p.URL+"/backchannel", "user", form, nil, &begun)
	form = url.Values{"grant_type": {"urn:openid:params:grant-type:ciba"}, "auth_req_id": {begun.ID}}
	return p.token(t, grant{client: "user", form: form}).Token
}

// revoke has a token end.
func (p provider) revoke(t *testing.T, client, token string) {
	t.Helper()
	p.ask(t, http.DefaultClient, p.URL+"/token/revocation", client, url.Values{"token": {token}}, nil, nil)
}

// rotate has the provider sign with another key.
func (p provider) rotate(t *testing.T) {
	t.Helper()
	p.ask(t, http.DefaultClient, p.URL+"/rotate", "", nil, nil, nil)
}

// take has the provider take the gateway's assertions in exchange.
func (p provider) take(t *testing.T, g *gateway) {
	t.Helper()
	query := url.Values{"issuer": {g.url}, "keys": {g.url + "/.well-known/jwks.json"}}
	p.ask(t, http.DefaultClient, p.URL+"/trust?"+query.Encode(), "", nil, nil, nil)
}

// ask posts a form and reads the answer, which has to be a good one.
func (p provider) ask(
	t *testing.T, hc *http.Client, at, client string, form url.Values, header http.Header, answer any,
) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		request.Header = header
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(client, client+"-secret")
	response, err := hc.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && answer != nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answered %s, %v: %s", at, response.Status, err, body)
	}
}

// over gives a client that shows a certificate to the provider.
func (p provider) over(t *testing.T, own *pair) *http.Client {
	t.Helper()
	return overTLS(t, p.trust, own)
}

// overTLS gives a client that trusts the roots and shows a certificate, or none.
func overTLS(t *testing.T, roots *x509.CertPool, own *pair) *http.Client {
	t.Helper()
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
	if own != nil {
		config.Certificates = []tls.Certificate{own.Certificate}
	}
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// pair is a certificate that nobody vouches for, good for 127.0.0.1, and its key.
type pair struct {
	tls.Certificate

	cert, key string // PEM
}

func newPair(t *testing.T) pair {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p := pair{
		cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		key:  string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})),
	}
	if p.Certificate, err = tls.X509KeyPair([]byte(p.cert), []byte(p.key)); err != nil {
		t.Fatal(err)
	}
	return p
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// prove makes a DPoP proof for a POST, with the token where there is one already.
func prove(t *testing.T, key *ecdsa.PrivateKey, at, token string) string {
	t.Helper()
	claims := map[string]any{"jti": rand.Text(), "htm": http.MethodPost, "htu": at, "iat": time.Now().Unix()}
	if token != "" {
		sum := sha256.Sum256([]byte(token))
		claims["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key},
		(&jose.SignerOptions{EmbedJWK: true}).WithType("dpop+jwt"))
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return proof
}
