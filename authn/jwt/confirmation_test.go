package jwt

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

// tlsWith is a connection whose client showed these bytes as its certificate.
func tlsWith(raw string) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{{Raw: []byte(raw)}}}
}

func x5tOf(raw string) string {
	sum := sha256.Sum256([]byte(raw))
	return authntest.Base64(sum[:])
}

// Whoever steals a bound token gets nowhere with it, also where the gateway has just
// seen it from its owner and knows it to be good.
func TestStolenBoundTokens(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	byKey := authntest.Good(t, map[string]any{"cnf": map[string]any{"jkt": jkt}})
	byCert := authntest.Good(t, map[string]any{"cnf": map[string]any{"x5t#S256": x5tOf("owner")}})
	byBoth := authntest.Good(t, map[string]any{"cnf": map[string]any{"jkt": jkt, "x5t#S256": x5tOf("owner")}})
	free := authntest.Good(t, nil)
	try := func(scheme, token, proof, certificate string) (string, string) {
		t.Helper()
		r := authntest.Request(credential.Authorization, scheme+" "+token)
		r.Host, r.TLS = "gateway.test", new(tls.ConnectionState)
		if proof != "" {
			r.Header.Set("DPoP", proof)
		}
		if certificate != "" {
			r.TLS = tlsWith(certificate)
		}
		p, err := c.Authenticate(r)
		if err != nil {
			return authntest.FaultOf(err), ""
		}
		return "ok", p.Proof
	}
	proof := func(token string) string {
		return authntest.ProofOf(t, nil, map[string]any{"ath": authntest.Hash(token)})
	}
	// Nobody's cache is warm in the first round; everybody's is in the others.
	for round := range 3 {
		used := proof(byKey)
		for _, tt := range []struct {
			name, scheme, token, proof, certificate string
			want, wantProof                         string
		}{
			{"with its proof", "DPoP", byKey, used, "", "ok", "dpop"},
			{"with the same proof again", "DPoP", byKey, used, "", "refused", ""},
			{"without a proof", "DPoP", byKey, "", "", "refused", ""},
			{"with the proof of another token", "DPoP", byKey, proof(free), "", "refused", ""},
			{"as a bearer token", "Bearer", byKey, "", "", "sender-constrained", ""},
			{"as a bearer token with its proof", "Bearer", byKey, proof(byKey), "", "sender-constrained", ""},
			{"with its certificate", "Bearer", byCert, "", "owner", "ok", "mtls"},
			{"with another certificate", "Bearer", byCert, "", "thief", "sender-constrained", ""},
			{"without a certificate", "Bearer", byCert, "", "", "sender-constrained", ""},
			{"certificate-bound as DPoP", "DPoP", byCert, proof(byCert), "owner", "not-bound", ""},
			{"with both", "dpop", byBoth, proof(byBoth), "owner", "ok", "dpop mtls"},
			{"both, without the certificate", "DPoP", byBoth, proof(byBoth), "", "sender-constrained", ""},
			{"both, without the proof", "DPoP", byBoth, "", "owner", "refused", ""},
			{"unbound as a bearer token", "Bearer", free, "", "", "ok", ""},
			{"unbound with a proof beside it", "Bearer", free, proof(free), "", "ok", ""},
			{"unbound as DPoP", "DPoP", free, proof(free), "", "not-bound", ""},
		} {
			got, gotProof := try(tt.scheme, tt.token, tt.proof, tt.certificate)
			if tt.want == "refused" && got != "ok" {
				got = tt.want // which fault it is says the judge of proofs
			}
			if got != tt.want || gotProof != tt.wantProof {
				t.Errorf("round %d, %s: got %s, proof %q; want %s, %q", round, tt.name, got, gotProof, tt.want, tt.wantProof)
			}
		}
		for _, token := range []string{byKey, byCert, byBoth, free} {
			if _, ok := From(c).cached(digest(token), time.Now()); !ok {
				t.Error("the cache is not warm: this tests nothing")
			}
		}
	}
}

func TestConfirmationForms(t *testing.T) {
	t.Parallel()
	sum := x5tOf("x")
	type m = map[string]any
	for _, tt := range []struct {
		name string
		cnf  any
		want string // "" is a refusal
	}{
		{"key", m{"jkt": sum}, "dpop"},
		{"certificate", m{"x5t#S256": sum}, "mtls"},
		{"key and kid", m{"jkt": sum, "kid": "x"}, "dpop"},
		{"null", nil, ""},
		{"empty", m{}, ""},
		{"text", sum, ""},
		{"list", []any{m{"jkt": sum}}, ""},
		{"kid alone", m{"kid": "x"}, ""},
		{"jwk alone", m{"jwk": m{"kty": "EC"}}, ""},
		{"x5t alone", m{"x5t": sum}, ""},
		{"in another case", m{"JKT": sum}, ""},
		{"number", m{"jkt": 1.0}, ""},
		{"empty text", m{"jkt": ""}, ""},
		{"cut off", m{"jkt": sum[:42]}, ""},
		{"padded", m{"jkt": sum + "="}, ""},
		{"not base64url", m{"jkt": strings.Repeat("+", 43)}, ""},
		{"not canonical", m{"jkt": strings.Repeat("A", 42) + "B"}, ""},
		{"good key, bad certificate", m{"jkt": sum, "x5t#S256": "x"}, ""},
	} {
		c, err := readConfirmation(m{"cnf": tt.cnf})
		if (err != nil) != (tt.want == "") || c.proof() != tt.want || err != nil && authntest.FaultOf(err) != "sender-constrained" {
			t.Errorf("%s: got %+v, %v", tt.name, c, err)
		}
	}
}

func TestSenderConstrained(t *testing.T) {
	t.Parallel()
	cfg := issuerConfig()
	cfg.SenderConstrained = true
	c := openTokens(t, Config{OIDC: []Issuer{cfg}}, Options{Client: &http.Client{Transport: authntest.Standard()}})
	if _, err := c.Authenticate(authntest.BearerOf(authntest.Good(t, nil))); authntest.FaultOf(err) != "not-bound" {
		t.Errorf("an unbound token: %v", err)
	}
	r := authntest.BearerOf(authntest.Good(t, map[string]any{"cnf": map[string]any{"x5t#S256": x5tOf("owner")}}))
	r.TLS = tlsWith("owner")
	if _, err := c.Authenticate(r); err != nil {
		t.Errorf("a bound token: %v", err)
	}
}

// A refusal under the DPoP scheme is explained in the DPoP challenge.
func TestRefusalUnderDPoP(t *testing.T) {
	t.Parallel()
	c := openIssuer(t, authntest.Standard())
	_, err := c.Authenticate(authntest.Request(credential.Authorization, "DPoP "+authntest.Good(t, map[string]any{"exp": 1})))
	got := c.Challenges(authn.Demand{Err: err})
	if len(got) != 2 || strings.Contains(got[0], "error") || !strings.Contains(got[1], `error="invalid_token"`) {
		t.Errorf("%v became %q", err, got)
	}
}
