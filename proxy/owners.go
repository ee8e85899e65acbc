package proxy

import (
	"errors"

	"github.com/a2a-gateway/a2a-gateway/authn"
	"github.com/a2a-gateway/a2a-gateway/internal/state"
	"github.com/a2a-gateway/a2a-gateway/internal/wire"
	"github.com/a2a-gateway/a2a-gateway/policy"
	"github.com/a2a-gateway/a2a-gateway/policy/ledger"
	"github.com/a2a-gateway/a2a-gateway/proxy/admit"
	"github.com/a2a-gateway/a2a-gateway/proxy/agents"
	"github.com/a2a-gateway/a2a-gateway/proxy/exchange"
	"github.com/a2a-gateway/a2a-gateway/proxy/intake"
	"github.com/a2a-gateway/a2a-gateway/proxy/stream"
	"github.com/a2a-gateway/a2a-gateway/proxy/webhooks"
	"github.com/a2a-gateway/a2a-gateway/telemetry"
)

// owners keeps whose tasks and contexts are, and under which ids both sides know them: of calls before
// they are sent, and of all that agents answer.
type owners struct {
	*admit.Authenticator
	*webhooks.Webhooks
	*intake.Frontend
	*intake.Decoder

	Hub          *stream.Hub
	Shown        *Shown
	StreamConfig stream.Config
	Telemetry    *telemetry.Telemetry
	ledger       *ledger.Ledger
	salt         []byte
}

// Sharing carries what rules say of tasks that are shared to the ledger, which does not
// know them: it is for ledger.Config.Share, where the configuration shares any.
func Sharing(rules *policy.Set) func(*authn.Principal, string, *wire.Method, state.Record) bool {
	return func(p *authn.Principal, agent string, m *wire.Method, r state.Record) bool {
		if !rules.MayShare(p, agent, m) {
			return false
		}
		t := intake.Recorded(&r)
		// A list shows what GetTask would, so both have to be shared.
		return rules.Shares(p, agent, m, &t) != "" &&
			(m.Name != wire.ListTasks || rules.Shares(p, agent, intake.GetTask, &t) != "")
	}
}

// checkOwnership: are the task, the context and the referenced tasks the caller's?
func (ow *owners) checkOwnership(x *exchange.Exchange) error {
	if e := agents.Incapable(x.Call.Method, x.View.Card, ow.Pushes()); e != nil {
		return e
	}
	if err := ow.rename(x); err != nil {
		return err
	}
	record, err := ow.ledger.Check(x.Ctx, x.Principal, x.Agent.ID, &x.Call)
	if err == nil {
		x.Record = record
		ow.linkTask(x)
		if err := ow.nameTask(x); err != nil {
			return err
		}
		return ow.recall(x)
	}
	var other *ledger.ForeignContext
	if errors.As(err, &other) || errors.Is(err, ledger.ErrAbsent) && x.InOtherContext() {
		return ow.outside(x, ow.replaceContext(x, other))
	}
	x.Record = record
	return err
}

// outside says of a call about a task which is there that it names another context beside
// it: no version has one there, so that a caller who hears of a task that is not found would
// look in the wrong place.
func (ow *owners) outside(x *exchange.Exchange, err error) error {
	m := x.Call.Method
	if !errors.Is(err, ledger.ErrAbsent) || m.Extension != "" || m.Subject != wire.OfTask && m.Subject != wire.OfConfig {
		return err
	}
	alone := x.Call
	alone.ContextID = ""
	if _, absent := ow.ledger.Check(x.Ctx, x.Principal, x.Agent.ID, &alone); absent != nil {
		return err
	}
	return wire.Errorf(wire.InvalidParams,
		"Invalid parameters: contextId or sessionId, which A2A %s does not have here, names another context than the task's",
		x.Call.Version).Because(err)
}

// linkTask links the call's span to the one that its task began with, whatever becomes of it
// from here on.
func (ow *owners) linkTask(x *exchange.Exchange) {
	if x.Record.Kind == state.Task {
		x.Rec.Agent, x.Rec.TaskID = x.Agent.ID, x.Record.ID
		ow.Telemetry.JoinTask(&x.Rec, x.Record.Trace)
	}
}
