package signature

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/a2a-gateway/a2a-gateway/internal/jws/jwstest"
)

// TestA15_SignatureVectors has each vector sign a card.
func TestA15_SignatureVectors(t *testing.T) {
	t.Parallel()
	var set []string
	for _, name := range jwstest.Names() {
		set = append(set, signingKey{jwstest.Key(name), name}.jwk(t, ""))
	}
	verifier := newVerifier(t, Trust{Keys: []string{file(t, `{"keys":[`+strings.Join(set, ",")+`]}`)}})
	vectors, err := jwstest.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		if v.Card == "" {
			continue
		}
		t.Run(v.Rule+"/"+v.Name, func(t *testing.T) {
			t.Parallel()
			compact, err := v.Compact(jwstest.Base{
				Now: time.Now(), Header: map[string]any{"alg": "ES256", "kid": "ec", "typ": "JOSE"},
				Payload: canonical(t, plainCard, AsReceived),
			})
			if err != nil {
				t.Fatal(err)
			}
			protected, rest, _ := strings.Cut(compact, ".")
			_, signature, _ := strings.Cut(rest, ".")
			verdict, err := verifier.Verify(t.Context(), signed(t, plainCard, entry{Protected: protected, Signature: signature}))
			if got := refusedFor(verdict, err); got != v.Card {
				t.Errorf("got %s (%v), want %s", got, err, v.Card)
			}
		})
	}
}

// refusedFor is why a card with one signature is refused.
func refusedFor(v Verdict, err error) string {
	switch {
	case err == nil:
		return "ok"
	case !errors.Is(err, ErrUntrusted) || len(v.Signatures) != 1 || v.Payload != nil:
		return err.Error()
	}
	for word, reason := range map[string]error{
		"header": errHeader, "algorithm": errAlgorithm, "kid": errKeyID, "key": errKey, "signature": errMismatch,
	} {
		if errors.Is(v.Signatures[0].Err, reason) {
			return word
		}
	}
	return v.Signatures[0].Err.Error()
}
