package inspect

import (
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/failure"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// ObserveAnswer learns from an answer or event what later calls depend on, before the
// caller sees it, and returns the bytes to pass on.
//
// The order is that of trust: the JSON-RPC id is matched, then the ids that the answer shows are
// recorded as the caller's (or the answer is withheld, because they are somebody else's), then it
// is held against what the agent has shown of the task before, then against extensions and
// schemas, and last the caller's own names for ids are put back. An error of the agent passes
// with its reason noted, and shows no task.
func (in *Inspector) ObserveAnswer(x *exchange.Exchange, seen wire.Answer, body []byte) ([]byte, error) {
	body, err := x.MatchID(seen, body)
	if err != nil {
		return nil, err
	}
	in.StateOf(x, seen.State)
	if exchange.IsError(seen) {
		reason := failure.ReasonOf(&seen, x.Upstream.Version, x.Rec.UpstreamStatus)
		if err := x.Stray(reason); err != nil {
			return nil, err
		}
		x.Rec.Reason, x.Rec.Decision = reason, "error"
		return x.RestoreContext(body), nil
	}
	switch {
	case seen.Kind == "list": // of ListTasks or an extension's method
		var err error
		if !x.Filtered {
			in.WitnessList(x, x.Sent, seen.Tasks)
			body, seen, err = in.FilterList(x, seen, body)
		}
		if err == nil {
			err = in.CheckDemands(x, seen, body)
		}
		if err == nil {
			body, err = in.GovernAnswer(x, seen, body)
		}
		if err != nil {
			return nil, err
		}
		return in.RestoreIDs(x, &seen, body)
	case x.Call.Method.Name == wire.GetExtendedAgentCard:
		return in.ExtendedCard(x, seen, body)
	}
	if err := in.LearnIDs(x, seen); err != nil {
		return nil, err
	}
	if !x.Fed { // else the judge has
		if err := in.Witness(x, x.Upstream, seen, body); err != nil {
			return nil, err
		}
	}
	x.Tally(seen)
	if body, err = in.GovernAnswer(x, seen, body); err != nil {
		return nil, err
	}
	return in.RestoreIDs(x, &seen, body)
}
