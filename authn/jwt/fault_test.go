package jwt

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2a-gateway/a2a-gateway/authn"
)

// Each fault has a sentence of its own but for those that must look alike.
func TestReasons(t *testing.T) {
	t.Parallel()
	seen := map[string]authn.Fault{authn.ReasonScheme: authn.FaultScheme, authn.ReasonCombination: authn.FaultCombination, "the API key is not known": "unknown-api-key",
		"the API key has expired": "api-key-expired"}
	for _, f := range []authn.Fault{authn.FaultMalformed, faultHeader, faultAlgorithm, faultType,
		faultIssuer, faultAudience, faultExpired,
		faultNotYet, faultClaims, faultIDToken, faultBound, faultUnbound, faultUnknownKey, faultSignature} {
		if was, ok := seen[reason(f)]; ok || reason(f) == "" {
			t.Errorf("%s says the same as %s: %q", f, was, reason(f))
		}
		seen[reason(f)] = f
	}
	cause := errors.New("cause")
	r := refuse(faultIssuer, cause)
	if !errors.Is(r, cause) || !strings.HasSuffix(r.Error(), ": cause") || refuse(faultIssuer,
		nil).Error() != r.Reason {
		t.Errorf("error text %q", r.Error())
	}
}
