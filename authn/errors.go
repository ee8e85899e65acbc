package authn

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/authn/credential"
)

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

	Fault  Fault  // label of the outcome in metrics
	Hint   string // what the caller may read instead of what Code says; "" for nothing
	Header string // that carried the token, unless it is Authorization

	AudienceAlone bool // it is a genuine token, with nothing wrong but whom it is for

	Charged   bool // counted already, when the issuer was asked
	Uncounted bool // not to be counted: being refused is how one learns what has to come along
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
	if r.Hint != "" {
		return r.Hint
	}
	switch r.Code {
	case "invalid_token":
		return "the credential is not accepted"
	case "invalid_dpop_proof":
		return "a proof that is accepted is needed"
	}
	return r.Reason
}

// Fault is why a credential was refused, as a closed set: it is a metric label. Schemes
// have faults of their own, with a sentence each for the record, and none of the sentences
// repeats a byte of the credential.
type Fault string

// Faults that belong to no scheme, or to several.
const (
	FaultMalformed Fault = "malformed"
	FaultScheme    Fault = "unknown-scheme"
	// The credential is good, and one that has to come with it is missing.
	FaultCombination Fault = "combination"
)

// Their sentences.
const (
	ReasonMalformed   = "the credential is malformed"
	ReasonScheme      = "no credential of this kind is accepted here"
	ReasonCombination = "another credential is needed beside this one"
)

// Refuse makes the refusal of a credential that came as a bearer token, or like one.
func Refuse(f Fault, reason string, err error) *Refused {
	return &Refused{Scheme: credential.SchemeBearer, Code: "invalid_token", Reason: reason, Err: err, Fault: f}
}
