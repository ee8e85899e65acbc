package proxy

import (
	"slices"

	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/internal/wire/translate"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
)

// fasta2a's clients since 1.0 call the methods of 0.3 (message/send) without saying a version,
// with objects of 1.0 in which roles and states have 0.3's words, and read answers of that
// kind: in one of 0.3 they find nothing, and no error. Such a call is one of 1.0 here, and
// its answer is said in the caller's words.

// mixedVersion is what records have as the version of the owner of a task that such a
// call made.
const mixedVersion = "1.0 mixed"

// mixes has a call of a mixed caller be one of 1.0. A send shows by its message what it is;
// calls about a task are like the one that the task came from.
func (ow *owners) mixes(x *exchange, v *agents.View) (bool, error) {
	if !mayMix(x, v) {
		return false, nil
	}
	if x.call.Method.Subject == wire.OfMessage {
		if !translate.Mixed(&x.call) {
			return false, nil
		}
	} else {
		made, err := ow.ledger.MadeIn(x.ctx, x.principal, x.agent.ID, x.call.TaskID)
		if err != nil || made != mixedVersion {
			return false, err
		}
	}
	if e := x.call.DecodeJSONRPC(translate.Renamed(&x.call), wire.V10, ow.changedLimits()); e != nil {
		return false, e
	}
	x.call.Mixed = true
	x.usesQuirk(agents.MixedObjects)
	return true, nil
}

// mayMix reports whether a call may be one of a mixed caller. Where the agent speaks 0.3
// itself, calls by 0.3's names pass as they are: it answers as it would directly.
func mayMix(x *exchange, v *agents.View) bool {
	c := &x.call
	switch {
	case c.Binding != wire.JSONRPC || c.Version != wire.V03 || c.Method.Extension != "" || !x.agent.Tolerates(agents.MixedObjects):
		return false
	case c.Method.Subject != wire.OfMessage && (!c.Shared || c.Method.Subject != wire.OfTask):
		return false
	case slices.ContainsFunc(v.Endpoints, func(e agents.Endpoint) bool { return e.Side == x.side() }):
		return false
	}
	said, e := wire.RequestVersion(x.r.Header, x.r.URL.Query())
	return e == nil && said == ""
}

// saidTo names how the caller's answers are said.
func (x *parsedCall) saidTo() string {
	if x.call.Mixed {
		return x.side().String() + ", mixed"
	}
	return x.side().String()
}

// alike reports whether the caller speaks as a side of the agent's, so that what one says can
// pass to the other as it is.
func (x *parsedCall) alike(s wire.Side) bool { return s == x.side() && !x.call.Mixed }
