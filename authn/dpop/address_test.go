package dpop

import (
	"net/http"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

func TestNormalAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, want string }{ // "" is an error
		{"https://gw.test/a/b", "https://gw.test/a/b"},
		{"HTTPS://GW.Test/A/b", "https://gw.test/A/b"},
		{"https://gw.test", "https://gw.test/"},
		{"https://gw.test?q", "https://gw.test/"},
		{"https://gw.test/?q=https://x/", "https://gw.test/"},
		{"https://gw.test/#f", "https://gw.test/"},
		{"https://gw.test:443/", "https://gw.test/"},
		{"https://gw.test:/", "https://gw.test/"},
		{"http://gw.test:80/", "http://gw.test/"},
		{"http://gw.test:443/", "http://gw.test:443/"},
		{"https://[2001:DB8::1]:443/a", "https://[2001:db8::1]/a"},
		{"https://gw.test/%7ea%2fb%C3%a9", "https://gw.test/~a%2Fb%C3%A9"},
		{"https://gw.test/%2e%2E/a", "https://gw.test/../a"},
		{"https://gw.test/%2541", "https://gw.test/%2541"},
		{"https://gw.test/%", ""},
		{"https://gw.test/%4", ""},
		{"https://gw.test/%4g", ""},
		{"https://", ""},
		{"https:///a", ""},
		{"https://:443/a", ""},
		{"http://::", ""},
		{`http://gw.test:\`, ""},
		{"http://gw.test:8x/", ""},
		{"https://gw.test::/", ""},
		{"https://gw.test:443:/", ""},
		{"https://gw.test:443:443/", ""},
		{"https://[::1]/", "https://[::1]/"},
		{"https://[::1]:8443/", "https://[::1]:8443/"},
		{"https:/gw.test/", ""},
		{"gw.test/a", ""},
		{"//gw.test/a", ""},
		{"ftp://gw.test/a", ""},
		{"https://u@gw.test/a", ""},
		{`https://gw.test\a`, ""},
		{"https://gw.test/a b", ""},
		{"https://gw.test/\x00", ""},
		{"https://gw.test/é", ""},
		{"", ""},
	} {
		got, err := normalAddress(tt.in)
		if err != nil {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%q: %q (%v), want %q", tt.in, got, err, tt.want)
		}
	}
}

// The address of a request is as it was sent, not as it is understood.
func TestRequestAddress(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://GW.test:80/a%2Fb/%7e?x=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := requestAddress(r, ""); err != nil || got != "http://gw.test/a%2Fb/~" {
		t.Error(got, err)
	}
	if got, err := requestAddress(r, "https"); err != nil || got != "https://gw.test:80/a%2Fb/~" {
		t.Error(got, err)
	}
	r.Host = ""
	if got, err := requestAddress(r, ""); err == nil {
		t.Error("no host:", got)
	}
}

// What comes out is in its final form, and holds nothing that a comparison could
// stumble over.
func FuzzNormalAddress(f *testing.F) {
	f.Add("HTTPS://Gateway.TEST:443/%61gents/%2f?x#y")
	f.Add("http://[::1]:80/%zz")
	f.Add("https://gateway.test/agents/billing")
	f.Add("https://user:pass@gateway.test@evil.test/")
	f.Add("https://gateway.test:00443/./a/..//%2E%2e/%E2%82%AC\\")
	f.Add("https:///?#")
	f.Fuzz(func(t *testing.T, raw string) {
		once, err := normalAddress(raw)
		if err != nil {
			return
		}
		if host, _, _ := strings.Cut(once[strings.Index(once, "://")+3:], "/"); host == "" || strings.ContainsAny(host, "?# @\\") {
			t.Errorf("%q became %q", raw, once)
		}
		if twice, err := normalAddress(once); err != nil || twice != once {
			t.Errorf("%q became %q, and then %q (%v)", raw, once, twice, err)
		}
	})
}

// No bytes in a DPoP header may do more than be refused.
func FuzzDPoP(f *testing.F) {
	proof := authntest.ProofOf(f, nil, nil)
	head, rest, _ := strings.Cut(proof, ".")
	f.Add(proof)
	f.Add(head + "." + rest + "A")
	f.Add(authntest.Base64([]byte(`{"typ":"dpop+jwt","alg":"EdDSA","jwk":{"kty":"OKP","crv":"Ed25519","x":""}}`)) + "." + rest)
	f.Add(authntest.Base64([]byte(`{"typ":"dpop+jwt","alg":"RS256","jwk":{"kty":"RSA","n":"AQ","e":"AQAB"}}`)) + "." + rest)
	jkt := authntest.Thumbprint(f, authntest.ProofKey().Public())
	f.Fuzz(func(t *testing.T, raw string) {
		g := openProver(Config{}, nil)
		err := g.Check(authntest.ProofRequest(raw), authntest.ProofCaller, authntest.ProofToken, jkt)
		switch authntest.FaultOf(err) {
		case "ok":
			if raw != proof {
				t.Errorf("accepted %q", raw)
			}
		case string(faultProof), string(faultProofKey), string(faultProofRequest), string(faultProofToken),
			string(faultProofTime), string(faultProofSignature):
		default:
			t.Errorf("%q: %v", raw, err)
		}
		wantChallenge(t, err)
	})
}
