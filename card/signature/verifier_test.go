package signature

import (
	"testing"
)

// TestVerify goes through every algorithm and every way to write a public key.
func TestVerify(t *testing.T) {
	t.Parallel()
	for _, alg := range []string{"ES256", "ES384", "EdDSA", "Ed25519", "RS256", "PS256"} {
		t.Run(alg, func(t *testing.T) {
			t.Parallel()
			k := newSigningKey(t, alg, "k1")
			card := signed(t, plainCard, k.sign(t, `{"alg":"`+alg+`","kid":"k1","typ":"JOSE"}`, canonical(t, plainCard, AsReceived)))
			for name, path := range map[string]string{
				"PEM": k.pem(t), "JWK": file(t, k.jwk(t, "")), "JWK set": file(t, `{"keys":[`+k.jwk(t, `,"use":"sig"`)+`]}`),
			} {
				verdict, err := newVerifier(t, Trust{Keys: []string{path}}).Verify(t.Context(), card)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				r := verdict.Holds()
				if r.Algorithm != alg || r.KeyID != "k1" || r.Form != AsReceived || r.Source != path || r.Thumbprint == "" {
					t.Errorf("%s: %+v", name, r)
				}
				if string(verdict.Payload) != string(canonical(t, plainCard, AsReceived)) || verdict.Uncovered != nil {
					t.Errorf("%s: covers %s, not %s", name, verdict.Payload, verdict.Uncovered)
				}
			}
		})
	}
}
