package jwt

import "github.com/a2a-gateway/a2a-gateway/authn"

// Faults of tokens. Like the others they are metric labels and sentences.
const (
	faultLong       authn.Fault = "too-long"
	faultHeader     authn.Fault = "forbidden-header"
	faultAlgorithm  authn.Fault = "algorithm"
	faultType       authn.Fault = "token-type"
	faultIssuer     authn.Fault = "unknown-issuer"
	faultAudience   authn.Fault = "audience"
	faultExpired    authn.Fault = "expired"
	faultNotYet     authn.Fault = "not-yet-valid"
	faultClaims     authn.Fault = "claims"
	faultIDToken    authn.Fault = "id-token"
	faultBound      authn.Fault = "sender-constrained"
	faultUnbound    authn.Fault = "not-bound"
	faultUnknownKey authn.Fault = "unknown-key"
	faultSignature  authn.Fault = "signature"
	faultInactive   authn.Fault = "inactive"
)

// reason is the sentence for a fault of tokens.
func reason(f authn.Fault) string {
	switch f {
	case faultLong:
		return "the token is longer than authn.limits.token permits"
	case faultHeader:
		return "the token header holds a parameter that is not accepted"
	case faultAlgorithm:
		return "the token algorithm is not accepted"
	case faultType:
		return "the token type is not accepted"
	case faultIssuer:
		return "the token issuer is not accepted"
	case faultAudience:
		return "the token is not meant for this audience"
	case faultExpired:
		return "the token has expired"
	case faultNotYet:
		return "the token is not valid yet"
	case faultClaims:
		return "the token claims are not acceptable"
	case faultIDToken:
		return "an access token is needed, not another kind of token"
	case faultBound:
		return "the token is bound to a proof that was not presented"
	case faultUnbound:
		return "the token is not bound to its sender"
	case faultUnknownKey:
		return "the token names a key that its issuer does not publish"
	case faultSignature:
		return "the token signature is not valid"
	case faultInactive:
		return "the token is not active"
	default:
		return authn.ReasonMalformed
	}
}

// refuse makes the refusal of a token.
func refuse(f authn.Fault, err error) *authn.Refused { return authn.Refuse(f, reason(f), err) }
