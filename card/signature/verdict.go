package signature

import (
	"errors"
	"strings"
)

// Errors of Verify. The Verdict beside them has the reasons.
var (
	// ErrUnsigned means that the card has no signatures.
	ErrUnsigned = errors.New("the card is not signed")
	// ErrUntrusted means that the card has signatures, none of which holds.
	ErrUntrusted = errors.New("no signature of the card holds")
	// ErrUnavailable means that no signature holds, and that a set of keys which might
	// have made one hold could not be fetched: it may hold later.
	ErrUnavailable = errors.New("keys for the card's signatures cannot be fetched")
	// ErrMalformed means that the card is not JSON which has one reading only, or its
	// signatures are no list.
	ErrMalformed = errors.New("the card cannot be verified")
)

// Reasons of a Result, for errors.Is.
var (
	errHeader    = errors.New("the protected header is not acceptable")
	errAlgorithm = errors.New("the algorithm is not acceptable")
	errKeyID     = errors.New("no trusted key has this id")
	errKey       = errors.New("the key is not for this algorithm")
	errExpired   = errors.New("the key is not valid now")
	errJKU       = errors.New("the key set that the signature names is not trusted")
	errMismatch  = errors.New("the signature does not match the card")
)

// Form names a canonical form: what exactly is signed of a card.
type Form string

// Result is the verdict on one signature.
type Result struct {
	Algorithm string // alg of the protected header, "" where it could not be read
	KeyID     string // kid of the protected header, "" likewise
	JKU       string // jku of the protected header; it was used only if Source is the same

	// Err is nil for a signature that holds. Otherwise it wraps one of the reasons, or
	// ErrUnavailable, and says more.
	Err error

	// What follows is about a signature that holds.

	Form       Form   // what was signed
	Thumbprint string // of the key that verified it (RFC 7638), whatever kid says
	Source     string // where the key is from: the file, or the URL of the set
}

// Verdict is what the signatures of a card are worth.
type Verdict struct {
	// Signatures are the results in the card's order, all of them.
	Signatures []Result

	// Payload is what was signed: the card without signatures and without anything that
	// they do not cover. It is what may be used of the card, since whoever carried it
	// could have put the rest in. Where several hold, it is that of the one whose form
	// covers the most. Nil where none holds.
	Payload []byte

	// Uncovered are the members of the card, as JSON pointers, that Payload does not
	// have, apart from empty ones.
	Uncovered []string
}

// Holds is the signature that Payload is of, nil if none holds: the first of those whose
// form covers the most.
func (v Verdict) Holds() *Result {
	var best *Result
	for i := range v.Signatures {
		r := &v.Signatures[i]
		if r.Err == nil && (best == nil || r.Form.rank() < best.Form.rank()) {
			best = r
		}
	}
	return best
}

// String says in a line who signed the card, or why each signature does not hold.
func (v Verdict) String() string {
	if r := v.Holds(); r != nil {
		return "signed with " + r.Algorithm + " by key " + r.KeyID + " of " + r.Source
	}
	if len(v.Signatures) == 0 {
		return ErrUnsigned.Error()
	}
	reasons := make([]string, 0, len(v.Signatures))
	for _, r := range v.Signatures {
		reasons = append(reasons, r.Err.Error())
	}
	return strings.Join(reasons, "; ")
}
