package authn

// Faults of tokens. Like the others they are metric labels and sentences.
const (
	faultLong       fault = "too-long"
	faultHeader     fault = "forbidden-header"
	faultAlgorithm  fault = "algorithm"
	faultType       fault = "token-type"
	faultIssuer     fault = "unknown-issuer"
	faultAudience   fault = "audience"
	faultExpired    fault = "expired"
	faultNotYet     fault = "not-yet-valid"
	faultClaims     fault = "claims"
	faultIDToken    fault = "id-token"
	faultBound      fault = "sender-constrained"
	faultUnbound    fault = "not-bound"
	faultUnknownKey fault = "unknown-key"
	faultSignature  fault = "signature"
	faultInactive   fault = "inactive"
)

// reason is the sentence for a fault of tokens.
func reason(f fault) string {
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
		return reasonMalformed
	}
}

// refuse makes the refusal of a token.
func refuse(f fault, err error) *Refused { return newRefused(f, reason(f), err) }
