package jwt

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn/authntest"
)

// Proofs are for the address as clients write it, over HTTP/1.1 and HTTP/2, with a
// port, with characters in any spelling, and whatever follows the question mark.
func TestDPoPOverRealConnections(t *testing.T) {
	t.Parallel()
	chain := openIssuer(t, authntest.Standard())
	jkt := authntest.Thumbprint(t, authntest.ProofKey().Public())
	token := authntest.Good(t, map[string]any{"cnf": map[string]any{"jkt": jkt}})
	for _, h2 := range []bool{false, true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			p, err := chain.Authenticate(r)
			if err != nil {
				_, _ = io.WriteString(w, authntest.FaultOf(err))
				return
			}
			_, _ = io.WriteString(w, p.Subject+" "+p.Proof)
		}))
		s.EnableHTTP2 = h2
		s.StartTLS()
		for _, tt := range []struct{ sent, proved, want string }{
			{"/agents/billing", "/agents/billing", "alice dpop"},
			{"/agents/a%2fb?x=%zz", "/agents/a%2Fb", "alice dpop"},
			{"/agents/a%2fb", "/agents/a/b", "dpop-request"},
			{"/agents/%62illing", "/agents/billing?x#y", "alice dpop"},
			{"/agents/billing", "/agents/billing/", "dpop-request"},
			{"", "", "alice dpop"},
			{"/lf.a2a.v1.A2AService/SendMessage", "/lf.a2a.v1.A2AService/SendMessage", "alice dpop"},
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+tt.sent, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "DPoP "+token)
			r.Header.Set("DPoP", authntest.ProofOf(t, nil, map[string]any{"ath": authntest.Hash(token), "htu": s.URL + tt.proved}))
			resp, err := s.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || string(body) != tt.want || (resp.ProtoMajor == 2) != h2 {
				t.Errorf("%s %s, proof for %s: %s, want %s (%v)", resp.Proto, tt.sent, tt.proved, body, tt.want, err)
			}
		}
		s.Close()
	}
}
