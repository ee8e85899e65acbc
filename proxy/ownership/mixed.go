package ownership

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
)

// fasta2a's clients since 1.0 call the methods of 0.3 (message/send) without saying a version,
// with objects of 1.0 in which roles and states have 0.3's words, and read answers of that
// kind: in one of 0.3 they find nothing, and no error. Such a call is one of 1.0 here, and
// its answer is said in the caller's words.

// recogniseMixed has a call of a mixed caller be one of 1.0. A send shows by its message what it is;
// calls about a task are like the one that the task came from.
//
// It says whether the call was such a one; x.Call is then one of 1.0, and Mixed has its answer
// written in the caller's mixture.
func (ow *Owners) recogniseMixed(x *exchange.Exchange, v *agents.View) (bool, error) {
	if !mayMix(x, v) {
		return false, nil
	}
	if x.Call.Method.Subject == wire.OfMessage {
		if !translate.Mixed(&x.Call) {
			return false, nil
		}
	} else {
		made, err := ow.Ledger.MadeIn(x.Ctx, x.Principal, x.Agent.ID, x.Call.TaskID)
		if err != nil || made != exchange.MixedVersion {
			return false, err
		}
	}
	if e := x.Call.DecodeJSONRPC(translate.Renamed(&x.Call), wire.V10, ow.ChangedLimits()); e != nil {
		return false, e
	}
	x.Call.Mixed = true
	x.UsesQuirk(agents.MixedObjects)
	return true, nil
}

// mayMix reports whether a call may be one of a mixed caller. Where the agent speaks 0.3
// itself, calls by 0.3's names pass as they are: it answers as it would directly.
func mayMix(x *exchange.Exchange, v *agents.View) bool {
	c := &x.Call
	switch {
	case c.Binding != wire.JSONRPC || c.Version != wire.V03 || c.Method.Extension != "" || !x.Agent.Tolerates(agents.MixedObjects):
		return false
	case c.Method.Subject != wire.OfMessage && (!c.Shared || c.Method.Subject != wire.OfTask):
		return false
	case slices.ContainsFunc(v.Endpoints, func(e agents.Endpoint) bool { return e.Side == x.Side() }):
		return false
	}
	said, e := wire.RequestVersion(x.Request.Header, x.Request.URL.Query())
	return e == nil && said == ""
}
