package authn

import "errors"

// ErrNoCredentials says that the request carries no credential of the scheme that
// was asked, or none at all. Within the chain it means "not mine, ask the next";
// from [Chain.Authenticate] it means 401 with a challenge without an error code.
var ErrNoCredentials = errors.New("no credentials")

// ErrAmbiguous says that the request carries more than one credential. Nobody can
// tell which of them the agent, or a proxy in front, would believe; 400.
var ErrAmbiguous = errors.New("more than one credential: authn.prefer and authn.combinations say which count")

// ErrUnavailable says that a credential cannot be judged now: the keys of its issuer
// could not be fetched yet, its issuer does not answer, its proof cannot be remembered,
// or nobody knows whether it was revoked. It is no statement about the credential; 503,
// and a retry may succeed.
var ErrUnavailable = errors.New("credential cannot be judged now")

// Refused is a credential that was looked at and turned down; 401 with a challenge.
type Refused struct {
	Scheme string // "Bearer", "DPoP" or "ApiKey": the challenge that carries the error
	Code   string // RFC 6750 §3.1, RFC 9449 §7.1: "invalid_token", "invalid_dpop_proof" …
	Reason string // one sentence from a closed list, for the log and the record
	Err    error  // the cause with details, for the log only; may be nil

	fault  fault  // label of the outcome in metrics
	open   string // what the caller may read instead of what Code says; "" for nothing
	header string // that carried the token, unless it is Authorization

	audienceAlone bool // it is a genuine token, with nothing wrong but whom it is for

	charged bool // counted already, when the issuer was asked
}

// Error is for the log: the reason and, where there is one, the cause.
func (r *Refused) Error() string {
	if r.Err == nil {
		return r.Reason
	}
	return r.Reason + ": " + r.Err.Error()
}

// Unwrap gives the cause.
func (r *Refused) Unwrap() error { return r.Err }

// told is what the caller reads. What was wrong with a credential would tell whoever
// tries some how near they came; what has to come with a good one is for its holder to
// know.
func (r *Refused) told() string {
	if r.open != "" {
		return r.open
	}
	switch r.Code {
	case "invalid_token":
		return "the credential is not accepted"
	case "invalid_dpop_proof":
		return "a proof that is accepted is needed"
	}
	return r.Reason
}

// fault is why a credential was refused, as a closed set: it is a metric label
// and chooses the sentence for the record. None of the sentences repeats a byte of the
// credential.
type fault string

const (
	faultMalformed fault = "malformed"
	faultLong      fault = "too-long"
	faultScheme    fault = "unknown-scheme"
	faultHeader    fault = "forbidden-header"
	faultAlgorithm fault = "algorithm"
	faultType      fault = "token-type"
	faultIssuer    fault = "unknown-issuer"
	faultAudience  fault = "audience"
	faultExpired   fault = "expired"
	faultNotYet    fault = "not-yet-valid"
	faultClaims    fault = "claims"
	faultIDToken   fault = "id-token"
	faultBound     fault = "sender-constrained"
	faultUnbound   fault = "not-bound"
	// The credential is good, and one that has to come with it is missing.
	faultCombination fault = "combination"
	faultUnknownKey  fault = "unknown-key"
	faultSignature   fault = "signature"
	faultInactive    fault = "inactive"
	faultAPIKey      fault = "unknown-api-key"
	faultKeyExpired  fault = "api-key-expired"
)

// reason is the sentence for it.
func (f fault) reason() string {
	switch f {
	case faultMalformed:
		return "the credential is malformed"
	case faultLong:
		return "the token is longer than authn.limits.token permits"
	case faultScheme:
		return "no credential of this kind is accepted here"
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
	case faultCombination:
		return "another credential is needed beside this one"
	case faultUnknownKey:
		return "the token names a key that its issuer does not publish"
	case faultSignature:
		return "the token signature is not valid"
	case faultInactive:
		return "the token is not active"
	case faultKeyExpired:
		return "the API key has expired"
	default:
		if sentence, ok := proofReason(f); ok {
			return sentence
		}
		if sentence, ok := certificateReason(f); ok {
			return sentence
		}
		return "the API key is not known"
	}
}

// refuse makes the refusal of a bearer token.
func refuse(f fault, err error) *Refused {
	return &Refused{Scheme: schemeBearer, Code: "invalid_token", Reason: f.reason(), Err: err, fault: f}
}
