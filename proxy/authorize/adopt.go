package authorize

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/record"
)

// Adopt: are the ids that the caller made up the caller's alone? It makes them so,
// whoever else uses them at the same moment. It comes after all that can refuse the
// call, so that a caller who is not allowed leaves nothing behind, and before the record,
// which says what the agent gets. At last it makes sure that there is a state to record in
// what the agent makes of the call.
func (az *Authorizer) Adopt(x *exchange.Exchange) error {
	err := az.ReserveIDs(x)
	if err == nil {
		return az.CheckRecordable(x)
	}
	if x.Foreign != nil {
		return err
	}
	var other *ledger.ForeignContext
	if !errors.As(err, &other) {
		return err
	}
	// When CheckOwnership looked nobody had the context, and now somebody has. The answer must not
	// tell, so the call is what it would have been a moment later.
	if err := az.Rejudge(x); err != nil {
		return err
	}
	if err := az.ReserveIDs(x); err != nil {
		return err
	}
	return az.CheckRecordable(x)
}

// Rejudge judges a call anew, as it came: rules, authorizers and hooks may look at the
// context that it is in. What it took of its caller's limits it has taken.
//
// The body is read anew because ownership may have put other ids into it. It is called as well
// where a call is sent a second time in another version.
func (az *Authorizer) Rejudge(x *exchange.Exchange) error {
	if e := az.ReadCall(x); e != nil {
		return e
	}
	if err := az.RecogniseVersion(x); err != nil {
		return err
	}
	x.Task, x.Session, x.Contexts = translate.Alias{}, translate.Alias{}, nil
	x.Skill, x.Agentwide, x.Known, x.CallMessage = x.Path, false, nil, exchange.CallMessage{}
	x.Rec.Violations, x.Rec.Sharing = nil, ""
	for _, judge := range []record.Stage{az.CheckOwnership, az.Authorize, az.Negotiate} {
		if err := judge(x); err != nil {
			return err
		}
	}
	return nil
}
