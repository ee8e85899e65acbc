package jwt

import (
	"errors"
	"net/netip"
	"time"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/authn/failures"
)

// asker is the client for whom an issuer is asked about a token. A token that nobody can
// read is cheap to make up: what it may turn out to be is charged before the question, and
// given back where it was good, or nobody could tell.
type asker struct {
	from  netip.Addr        // as block has it; not valid where clients are not told apart
	blame *failures.Counter // nil: nothing is charged
	known bool              // the token is none that was made up: it was verified here, or was good lately
}

// pays reports whether a question is charged to anybody.
func (a asker) pays() bool { return a.blame != nil && a.from.IsValid() && !a.known }

// share is how many of the questions to an issuer may be the client's.
func (a asker) share() int {
	if a.known {
		return maxQuestions
	}
	return questionShare
}

// charge is a *Throttled where the client has presented too many bad credentials, and is
// answered so before the issuer is asked.
func (a asker) charge(now time.Time) error {
	if !a.pays() {
		return nil
	}
	if wait := a.blame.Charge(a.from, now); wait > 0 {
		return &failures.Throttled{After: wait, Err: errUnasked}
	}
	return nil
}

// refund gives back what was charged, and returns err.
func (a asker) refund(err error) error {
	if a.pays() {
		a.blame.Refund(a.from)
	}
	return err
}

// counted marks the refusal of a token as one that was charged for by the question: the one
// that is remembered counts for each who presents the token again.
func counted(err error, who asker) error {
	refused, ok := err.(*authn.Refused) //nolint:errorlint // as findings have it
	if !ok || !who.pays() {
		return err
	}
	r := *refused
	r.Charged = true
	return &r
}

var errUnasked = errors.New("the issuer was not asked about another token")
